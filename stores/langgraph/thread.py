"""One thread on one snapshot of the file: its headers and checkpoints, put together from rows.

Owns the joining of a checkpoint with its step's writes, its parent and its children; refuses SQL.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stores import ids
from stores.codec.msgpack import Decoder
from stores.errors import Corrupt, NotFound
from stores.langgraph import delta, rows, tasks
from stores.langgraph.next import Place, Triggers, due_tasks, learn
from stores.langgraph.rows import CheckpointRow, Outline, WriteRow
from stores.langgraph.skeleton import Key, Skeleton, level_of
from stores.langgraph.tables import Tables
from stores.langgraph.tasks import Ran
from stores.model import MISSING, Checkpoint, Header, Opaque, Ref, Status, Value
from stores.sqlite_errors import primary_code

# Already fields of a header; kept out of its metadata. Releases before 0.6 put the last three there as well.
_FIELDS: Final = frozenset({"source", "step", "thread_id", "checkpoint_ns", "checkpoint_id"})
_UNREAD: Final = "checkpoint"  # the one key of a state that is not decoded: encrypted, pickled


@dataclass(frozen=True, slots=True)
class Card:
    """What is remembered of a row: all that a listing needs, nothing of its state."""

    outline: Outline
    parent: str | None
    metadata: Mapping[str, Value]
    size: int
    problem: str | None

    @property
    def source(self) -> str:
        """input, loop, update, fork; "unknown" where the metadata does not say."""
        return str(self.metadata.get("source") or "unknown")


class Cards:
    """The cards read last, by thread, key and size: rows are only ever added, so that a card stays right."""

    def __init__(self, limit: int = 4096) -> None:
        self._known: OrderedDict[tuple[str, Key, int], Card] = OrderedDict()
        self._limit = limit

    def get(self, thread: str, key: Key, size: int) -> Card | None:
        """The card, when the row has still this size."""
        return self._known.get((thread, key, size))

    def put(self, thread: str, key: Key, card: Card) -> None:
        """Remember it; the oldest are let go."""
        self._known[thread, key, card.size] = card
        while len(self._known) > self._limit:
            self._known.popitem(last=False)


@dataclass(frozen=True, slots=True)
class ThreadReading:
    """Reads one thread. Without a ``skeleton`` only its newest checkpoint's header can be asked for."""

    db: sqlite3.Connection
    tables: Tables
    thread: str
    cards: Cards
    skeleton: Skeleton | None = None

    def header(self, key: Key) -> Header:
        """The header of a checkpoint that is there."""
        card = self._card(key)
        ran = self._ran(key, card, self.tables.writes(self.db, self.thread, key))
        return self._header(key, card, ran)

    def checkpoint(self, key: Key, decoder: Decoder) -> Checkpoint:
        """State and tasks. Raises NotFound, or Corrupt when nothing of the state can be read."""
        row = self.tables.checkpoint(self.db, self.thread, key)
        if row is None:
            raise NotFound(f"no checkpoint {key.id} in thread {self.thread!r}{_in(key.ns)}")
        writes = self.tables.writes(self.db, self.thread, key, values=True)
        card = self._card(key)
        ran = self._ran(key, card, writes)
        state, internals = self._content(row, card, decoder)
        decoded = tuple(
            tasks.to_task(one, lambda write: rows.decode_value(write.type, write.value, decoder)) for one in ran
        )
        return Checkpoint(self._header(key, card, ran), state, decoded, internals)

    def owners(self, key: Key) -> dict[str, str]:
        """Namespace → checkpoint of the steps around a checkpoint of a subgraph, as its metadata says."""
        found = rows.mapping(self._card(key).metadata.get("parents"))
        return {ns: id for ns, id in found.items() if isinstance(id, str)}

    def version(self, key: Key) -> int:
        """The format of a checkpoint, 4 since langgraph 0.6."""
        return self._card(key).outline.v

    def has_deltas(self, key: Key) -> bool:
        """Whether values of this checkpoint are rebuilt from what its ancestors wrote, or were just snapshot."""
        card = self._card(key)
        return bool(delta.delta_channels(card.metadata)) or card.outline.snapshot

    # --- the parts of a header

    def _card(self, key: Key) -> Card:
        try:
            size = self.tables.size(self.db, self.thread, key)
            known = None if size is None else self.cards.get(self.thread, key, size)
            if known is not None:
                return known
            row = self.tables.checkpoint(self.db, self.thread, key)
        except sqlite3.DatabaseError as error:
            if primary_code(error) != sqlite3.SQLITE_CORRUPT:
                raise
            return Card(Outline(problem=f"its row is damaged: {error}"), None, {}, 0, None)
        if row is None:
            return Card(Outline(problem="it is not in the file"), None, {}, 0, None)
        metadata, problem = rows.read_metadata(row.metadata)
        card = Card(rows.outline(row), row.parent or None, metadata, size or 0, problem)
        self.cards.put(self.thread, key, card)
        return card

    def _triggers(self, key: Key, card: Card) -> Triggers:
        newest = self.skeleton.newest.get(level_of(key.ns), key) if self.skeleton else key
        # What a graph's newest checkpoint has seen, its older ones may still wait for.
        return learn((self._card(newest).outline, card.outline))

    def _ran(self, key: Key, card: Card, writes: list[WriteRow]) -> tuple[Ran, ...]:
        triggers = self._triggers(key, card)
        place = Place(key.ns, key.id, _step(key, card) or 0, card.outline.v)
        names = {*triggers, *card.outline.seen}
        return tasks.match(place, due_tasks(place, card.outline, triggers), writes, names)

    def _header(self, key: Key, card: Card, ran: tuple[Ran, ...]) -> Header:
        has_child = self.skeleton is not None and key in self.skeleton.has_child
        status, odd = tasks.checkpoint_status(ran, has_child)
        if card.outline.problem and not has_child and not ran:
            status = Status.UNFINISHED
        parent = Key(card.parent, key.ns) if card.parent else None
        return Header(
            ref=Ref(self.thread, key.ns, key.id),
            parent=Ref(self.thread, key.ns, parent.id) if parent else None,
            step=_step(key, card),
            source=card.source,
            created=card.outline.created or ids.time_of(key.id),
            nodes=self._nodes(card, parent),
            next=tuple(task.node for task in ran if task.due),
            status=status,
            size=card.size,
            meta={name: value for name, value in card.metadata.items() if name not in _FIELDS},
            problem=card.outline.problem or card.problem or card.outline.odd or odd,
        )

    def _nodes(self, card: Card, parent: Key | None) -> tuple[str, ...]:
        """Who wrote a checkpoint: the tasks of its parent's superstep, or what its versions tell."""
        if card.source == "input":
            return ("__input__",)
        if card.source == "fork":
            return ()
        # Releases before 0.6 told it themselves.
        if written := rows.mapping(card.metadata.get("writes")):
            return tuple(written)
        if parent is None:
            return ()
        before = self._card(parent)
        seen = card.outline.seen
        by_versions = tuple(node for node, channels in seen.items() if before.outline.seen.get(node) != channels)
        if card.source != "loop":
            return by_versions
        ran = self._ran(parent, before, self.tables.writes(self.db, self.thread, parent))
        by_writes = tasks.writers(ran)
        return by_writes if by_writes and tasks.UNKNOWN not in by_writes else by_versions or by_writes

    # --- the parts of a checkpoint

    def _content(self, row: CheckpointRow, card: Card, decoder: Decoder) -> tuple[dict[str, Value], dict[str, Value]]:
        content = rows.decode_value(row.type, row.blob, decoder)
        if isinstance(content, Opaque) and content.kind != "undecodable":
            return {_UNREAD: content}, {}
        if card.outline.problem:
            raise Corrupt(
                f"checkpoint {row.id} of thread {self.thread!r}{_in(row.ns)}: {card.outline.problem}",
                hint="Only this checkpoint is concerned; its neighbours can be read.",
            )
        values = rows.mapping(content.get("channel_values"))
        state, own = rows.split_channels(
            {name: delta.whole(value) for name, value in values.items()}, card.outline.seen
        )
        missing = [name for name in delta.delta_channels(card.metadata) if name not in values]
        state.update(self._deltas([name for name in missing if name in card.outline.channels], row, decoder))
        rest = {name: value for name, value in content.items() if name not in ("channel_values", "id", "ts")}
        return state, own | rest

    def _deltas(self, names: list[str], row: CheckpointRow, decoder: Decoder) -> dict[str, Value]:
        if not names or self.skeleton is None:
            return {}

        def seed_at(key: Key, name: str) -> Value:
            if name not in self._card(key).outline.available:
                return MISSING
            found = self.tables.checkpoint(self.db, self.thread, key)
            content = rows.decode_typed(found.type, found.blob, decoder) if found else {}
            return rows.mapping(content.get("channel_values")).get(name, MISSING)

        return dict(
            delta.rebuild(
                names,
                self.skeleton.lineage(Key(row.id, row.ns))[1:],
                seed_at,
                lambda key: self.tables.writes(self.db, self.thread, key, values=True),
                lambda write: rows.decode_value(write.type, write.value, decoder),
            )
        )


def _step(key: Key, card: Card) -> int | None:
    step = card.metadata.get("step")
    return step if isinstance(step, int) else ids.step_of(key.id)


def _in(ns: str) -> str:
    return f", namespace {ns!r}" if ns else ""
