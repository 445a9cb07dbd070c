"""One thread on one snapshot of the store: its headers and checkpoints, put together from rows.

Owns the joining of a checkpoint with its step's writes, its parent and its children; refuses SQL.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from stores import ids
from stores.codec.msgpack import Decoder
from stores.errors import Corrupt, NotFound
from stores.langgraph import rows, tasks
from stores.langgraph.next import PUSH
from stores.langgraph.outline import send_given
from stores.langgraph.rows import CheckpointRow
from stores.langgraph.skeleton import Key, Skeleton, enclosing
from stores.langgraph.steps import Card, Steps
from stores.langgraph.tasks import Ran
from stores.model import MISSING, Checkpoint, Header, Opaque, Ref, Status, Value

FIELDS: Final = frozenset({"source", "step", "thread_id", "checkpoint_ns", "checkpoint_id"})
"""Already fields of a header; kept out of its metadata. Releases before 0.6 put the last three there as well."""
_UNREAD: Final = "checkpoint"  # the one key of a state that is not decoded: encrypted, pickled


class Content(NamedTuple):
    """What a row holds: the state, the runtime's own values, and which of the state are rebuilt."""

    state: dict[str, Value]
    internals: dict[str, Value]
    rebuilt: dict[str, str]


@dataclass(frozen=True, slots=True)
class ThreadReading:
    """Reads one thread. Without a ``skeleton`` only its newest checkpoint's header can be asked for."""

    steps: Steps

    @property
    def thread(self) -> str:
        """Its name."""
        return self.steps.thread

    @property
    def skeleton(self) -> Skeleton | None:
        """The addresses of its checkpoints."""
        return self.steps.skeleton

    def header(self, key: Key) -> Header:
        """The header of a checkpoint that is there."""
        card = self.steps.card(key)
        return self._header(key, card, self.steps.ran(key))

    def checkpoint(self, key: Key, decoder: Decoder) -> Checkpoint:
        """State and tasks. Raises NotFound, or Corrupt when nothing of the state can be read."""
        row = self.steps.tables.checkpoint(self.thread, key)
        if row is None:
            raise NotFound(f"no checkpoint {key.id} in thread {self.thread!r}{_in(key.ns)}")
        writes = self.steps.tables.writes(self.thread, key, values=True)
        card = self.steps.card(key)
        ran = self.steps.ran(key, writes)
        content = self._content(row, card, decoder)
        decoded = tuple(
            replace(
                tasks.to_task(one, lambda write: rows.decode_value(write.type, write.value, decoder)),
                given=_given(one, content),
            )
            for one in ran
        )
        return Checkpoint(self._header(key, card, ran), content.state, decoded, content.internals, content.rebuilt)

    def owners(self, key: Key) -> dict[str, str]:
        """Namespace → checkpoint of the steps around a checkpoint of a subgraph, as its metadata says."""
        found = rows.mapping(self.steps.card(key).metadata.get("parents"))
        return {ns: id for ns, id in found.items() if isinstance(id, str)}

    def version(self, key: Key) -> int:
        """The format of a checkpoint, 4 since langgraph 0.6."""
        return self.steps.card(key).outline.v

    def has_deltas(self, key: Key) -> bool:
        """Whether values of this checkpoint are rebuilt from what its ancestors wrote, or were just snapshot."""
        from stores.langgraph import delta  # with its reducers 1 ms, and a header has none

        card = self.steps.card(key)
        return bool(delta.delta_channels(card.metadata)) or card.outline.snapshot

    def needed(self, key: Key) -> tuple[Key, ...]:
        """As `stores.keeping.TellsNeeds.needed`."""
        from stores.langgraph import delta

        card = self.steps.card(key)
        missing = delta.delta_channels(card.metadata) & card.outline.channels - card.outline.available.keys()
        found = delta.needed(self.steps, missing, key)
        # Before format 4 the Sends that run next are what the parent's tasks wrote.
        if card.outline.v < 4 and not card.outline.has_sends and card.parent and Key(card.parent, key.ns) not in found:
            found.insert(0, Key(card.parent, key.ns))
        return tuple(found)

    # --- the parts of a header

    def _header(self, key: Key, card: Card, ran: tuple[Ran, ...]) -> Header:
        steps, outline = self.steps, card.outline
        has_child = steps.skeleton is not None and steps.skeleton.has_child(key)
        status, odd = tasks.checkpoint_status(ran, has_child)
        if outline.problem and not has_child and not ran:
            status = Status.UNFINISHED
        parent = Key(card.parent, key.ns) if card.parent else None
        above = steps.card(parent) if parent is not None else None
        return Header(
            ref=Ref(steps.thread, key.ns, key.id),
            parent=Ref(steps.thread, key.ns, parent.id) if parent is not None else None,
            step=card.step,
            source=card.source,
            created=outline.created or ids.time_of(key.id),
            nodes=self._nodes(card, parent, above),
            next=tuple([task.node for task in ran if task.due]) if ran else (),
            status=status,
            size=card.size,
            meta={name: value for name, value in card.metadata.items() if name not in FIELDS},
            problem=outline.problem
            or card.problem
            or (self._suspect(key) if outline.is_js else None)
            or outline.odd
            or odd
            or self._misplaced(key, above, has_child),
            owner=self._owner(key, card) if key.ns else None,
        )

    def _owner(self, key: Key, card: Card) -> Ref | None:
        # Of the graphs around it the innermost: a persistent subgraph's own name leaves out the tasks on the way.
        around = max(self.owners(key).items(), key=lambda one: (one[0].count("|"), one[0]), default=None)
        if around is None and card.parent is None and (outside := enclosing(key.ns)) is not None:
            ns, task = outside
            id = self.steps.tables.task_owner(self.thread, ns, task)
            around = (ns, id) if id is not None else None
        return None if around is None else Ref(self.thread, *around)

    def _suspect(self, key: Key) -> str | None:
        channels = self.steps.suspect(key)
        if not channels:
            return None
        return (
            f"its {', '.join(channels)} may be another branch's: LangGraph JS gave both the same version, and the "
            "database keeps the first"
        )

    def _misplaced(self, key: Key, above: Card | None, has_child: bool) -> str | None:
        """What is wrong with where a checkpoint hangs."""
        skeleton = self.steps.skeleton
        if skeleton is None:
            return None
        if key in skeleton.circling:
            return "its parents go round in a circle"
        if above is not None and above.is_missing:
            return "its parent is not in the store"
        if has_child and key == skeleton.heads.get(key.ns):
            return "LangGraph goes on from here, as no id is greater, although the thread went on from it before"
        return None

    def _nodes(self, card: Card, parent: Key | None, above: Card | None) -> tuple[str, ...]:
        """Who wrote a checkpoint: the tasks of its parent's superstep, or what its versions tell."""
        source = card.source
        if source == "input":
            return ("__input__",)
        if source == "fork":
            return ()
        # Releases before 0.6 told it themselves.
        if written := rows.mapping(card.metadata.get("writes")):
            return tuple(written)
        if parent is None or above is None:
            return ()
        by_writes = tasks.writers(self.steps.ran(parent)) if source == "loop" else ()
        if by_writes and tasks.UNKNOWN not in by_writes:
            return by_writes
        before = above.outline.seen
        by_versions = tuple([node for node, channels in card.outline.seen.items() if before.get(node) != channels])
        return by_versions or by_writes

    # --- the parts of a checkpoint

    def _content(self, row: CheckpointRow, card: Card, decoder: Decoder) -> Content:
        from stores.langgraph import delta

        content = rows.content_of(row, decoder)
        if isinstance(content, Opaque) and content.kind != "undecodable":
            return Content({_UNREAD: content}, {}, {})
        if card.outline.problem:
            raise Corrupt(
                f"checkpoint {row.id} of thread {self.thread!r}{_in(row.ns)}: {card.outline.problem}",
                hint="Only this checkpoint is concerned; its neighbours can be read.",
            )
        values = rows.mapping(content.get("channel_values"))
        state, own = rows.split_channels(
            {name: delta.whole(value) for name, value in values.items()}, card.outline.seen
        )
        missing = delta.delta_channels(card.metadata) & card.outline.channels - values.keys()
        found = delta.Deltas(self.steps, decoder).rebuild(sorted(missing), Key(row.id, row.ns))
        state |= {name: one.value for name, one in found.items()}
        rest = {name: value for name, value in content.items() if name not in ("channel_values", "id", "ts")}
        return Content(state, own | rest, {name: one.how for name, one in found.items() if one.how})


def _given(ran: Ran, content: Content) -> Value:
    """What a Send hands a task; MISSING where formats before 4 keep the Sends elsewhere."""
    kind, _, rest = ran.path.removeprefix("~").partition(", ")
    sends = content.internals.get(rows.TASKS) or content.internals.get("pending_sends")
    number = rest.partition(",")[0]
    if kind != PUSH or not number.isdigit() or not isinstance(sends, list) or int(number) >= len(sends):
        return MISSING
    return send_given(sends[int(number)])


def _in(ns: str) -> str:
    return f", namespace {ns!r}" if ns else ""
