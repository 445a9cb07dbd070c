"""The superstep that starts at a checkpoint: what is remembered of its row, which tasks are due, who wrote.

Owns bringing rows, ids and names together; refuses SQL, states, and what a task's writes amount to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stores import ids
from stores.codec.msgpack import Decoder
from stores.langgraph import rows, tasks
from stores.langgraph.collisions import suspects
from stores.langgraph.identity import Standing, with_paths
from stores.langgraph.lore import Edges, Lore, untold
from stores.langgraph.next import Ids, Place, Triggers, due_tasks, is_anything_due, learn
from stores.langgraph.outline import Outline, outline_of, send_node
from stores.langgraph.rows import INTERRUPT, TASKS, WRITE_ORDER, CheckpointRow, WriteRow
from stores.langgraph.skeleton import Key, Skeleton, level_of
from stores.langgraph.tables import Tables
from stores.langgraph.tasks import Ran
from stores.model import Ref, Value

NOT_THERE: Final = "it is not in the store"


class Card(NamedTuple):
    """What is remembered of a row: all that a listing needs, nothing of its state.

    ``step`` is from its metadata, else from its id; ``source`` is input, loop, update, fork, or "unknown" where the
    metadata does not say.
    """

    outline: Outline
    parent: str | None
    metadata: Mapping[str, Value]
    size: int
    problem: str | None
    step: int | None
    source: str = "unknown"

    @property
    def is_missing(self) -> bool:
        """Whether the store has no such row."""
        return self.outline.problem == NOT_THERE


class Cards:
    """The cards read last, by address and the row's stamp: a card stays right as long as its row does.

    In two generations: when the younger one is full, the older one is let go.
    """

    def __init__(self, least: int = 2048) -> None:
        self._young: dict[Ref, tuple[int, Card]] = {}
        self._old: dict[Ref, tuple[int, Card]] = {}
        self._least = least

    def get(self, ref: Ref, stamp: int) -> Card | None:
        """The card, when the row has still this stamp."""
        known = self._known(ref)
        return known[1] if known is not None and known[0] == stamp else None

    def stamp(self, ref: Ref) -> int | None:
        """The stamp that the row had; None when there is no card of it."""
        known = self._known(ref)
        return None if known is None else known[0]

    def _known(self, ref: Ref) -> tuple[int, Card] | None:
        return self._young.get(ref) or self._old.get(ref)

    def put(self, ref: Ref, stamp: int, card: Card) -> None:
        """Remember it."""
        self._young[ref] = stamp, card
        if len(self._young) >= self._least:
            self._old, self._young = self._young, {}


@dataclass(frozen=True, slots=True)
class Memory:
    """What is kept of a store between questions."""

    cards: Cards = field(default_factory=Cards)
    lore: Lore = field(default_factory=Lore)
    edges: Edges = field(default_factory=Edges)
    proofs: dict[tuple[str, str, str], tuple[tuple[int, int], frozenset[str] | None]] = field(default_factory=dict)
    """Thread, level and delta channel → how far the thread and the store had come when asked, and what was proven."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The supersteps of one thread, on one snapshot of the store."""

    tables: Tables
    thread: str
    memory: Memory
    skeleton: Skeleton | None = None
    # Within a snapshot nothing changes: a page asks for most of these twice.
    _read: dict[Key, Card] = field(default_factory=dict, repr=False, compare=False)
    _told: dict[Key, tuple[Ran, ...]] = field(default_factory=dict, repr=False, compare=False)
    _learned: dict[Key, tuple[Outline, Triggers]] = field(default_factory=dict, repr=False, compare=False)
    _suspects: list[dict[Key, tuple[str, ...]]] = field(default_factory=list, repr=False, compare=False)

    def suspect(self, key: Key) -> tuple[str, ...]:
        """The channels of a checkpoint of LangGraph JS that may show another branch's value."""
        if self.skeleton is None:
            return ()
        if not self._suspects:
            self._suspects.append(suspects(self.skeleton, self.tables.counted_versions(self.thread)))
        return self._suspects[0].get(key, ())

    def prepare(self, keys: Iterable[Key]) -> None:
        """A page of headers will ask for these, and for the steps that led to them."""
        wanted = dict.fromkeys(keys)
        if self.skeleton is not None:
            parents = (self.skeleton.parent(key) for key in list(wanted))
            wanted |= dict.fromkeys(key for key in parents if key is not None)
            wanted |= dict.fromkeys(self.skeleton.newest.values())
        refs = [Ref(self.thread, key.ns, key.id) for key in wanted if key not in self._read]
        read_cards(self.tables, {self.thread: self}, refs)

    def card(self, key: Key) -> Card:
        """What there is to know of a checkpoint's row; one that is not there has only a problem."""
        found = self._read.get(key)
        if found is None:
            found = self._read[key] = self._card(key)
        return found

    def is_there(self, key: Key) -> bool:
        """Whether the store has a checkpoint."""
        return not self.card(key).is_missing

    def _card(self, key: Key) -> Card:
        ref = Ref(self.thread, key.ns, key.id)
        stamp = self.tables.stamp(self.thread, key)
        known = None if stamp is None else self.memory.cards.get(ref, stamp)
        if known is not None:
            return known
        row = self.tables.outlined(self.thread, key)
        if row is None or stamp is None:
            return Card(Outline(problem=NOT_THERE), None, {}, 0, None, ids.step_of(key.id))
        return self.keep(ref, stamp, row)

    def keep(self, ref: Ref, stamp: int, row: CheckpointRow) -> Card:
        """Remember a row's card."""
        metadata, problem = rows.read_metadata(row.metadata)
        step, source = metadata.get("step"), metadata.get("source")
        if not isinstance(step, int):
            step = ids.step_of(ref.id)
        source = str(source) if source else "unknown"
        card = Card(outline_of(row), row.parent or None, metadata, row.size, problem, step, source)
        self._read[Key(ref.id, ref.ns)] = card
        self.memory.cards.put(ref, stamp, card)
        return card

    def ran(self, key: Key, writes: Sequence[WriteRow] | None = None) -> tuple[Ran, ...]:
        """The tasks of a checkpoint's superstep. ``writes`` where they were read already, with their values."""
        found = self._told.get(key)
        if found is None:
            if writes is None:
                writes = self.tables.writes(self.thread, key)
            found = self._ran(key, writes)
            if not writes or writes[0].value is None:  # values are not kept
                self._told[key] = found
        return found

    def _ran(self, key: Key, writes: Sequence[WriteRow]) -> tuple[Ran, ...]:
        card = self.card(key)
        outline = self._with_sends(key, card)
        triggers = self._triggers(key, outline)
        if not writes and not is_anything_due(outline, triggers):
            return ()
        place = Place(key.ns, key.id, card.step or 0, self._ids(outline))
        if writes:
            found = self._matched(key, Standing(place, outline, triggers), writes)
        else:
            found = tasks.untouched(due_tasks(place, outline, triggers))
        return tuple(one._replace(stepped=True) for one in found) if self._was_stepped(key, outline) else found

    def _matched(self, key: Key, at: Standing, writes: Sequence[WriteRow]) -> tuple[Ran, ...]:
        """The tasks due and those that wrote."""
        names = {*at.triggers, *at.outline.seen, *rows.mapping(self.card(key).metadata.get("writes"))}
        known = writes
        if not all(row.path for row in writes):
            known = with_paths(at, writes, names)
            if any(row.channel == INTERRUPT and not row.path for row in known):
                names |= set(self._asked_in(key, writes))
                known = with_paths(at, writes, names)
        told = {row.path: row.task for row in known}
        return tasks.match(at.place, due_tasks(at.place, at.outline, at.triggers, told), known, names)

    def _ids(self, outline: Outline) -> Ids:
        if self.tables.is_first:
            return Ids.FIRST
        if outline.is_js:
            return Ids.JS
        return Ids.XXH3 if outline.v > 1 else Ids.SHA1

    def _was_stepped(self, key: Key, outline: Outline) -> bool:
        """Whether what came of a step proves it; the first releases did not store what every task wrote."""
        if outline.v > 1 or self.skeleton is None:
            return False
        return any(self.card(child).source == "loop" for child in self.skeleton.children.get(key, ()))

    def _with_sends(self, key: Key, card: Card) -> Outline:
        """The outline with the Sends that a row of format 3 or older may leave to what its parent's tasks wrote."""
        outline = card.outline
        if outline.v >= 4 or outline.has_sends or card.parent is None:
            return outline
        sends = sorted(self.tables.writes_to(self.thread, Key(card.parent, key.ns), TASKS), key=WRITE_ORDER)
        nodes = (send_node(rows.decode_value(row.type, row.value, Decoder())) for row in sends)
        return outline._replace(sends=tuple(nodes)) if sends else outline

    def _triggers(self, key: Key, outline: Outline) -> Triggers:
        level = level_of(key.ns)
        newest = self.skeleton.newest.get(level, key) if self.skeleton is not None else key
        # What a graph's newest checkpoint has seen, its older ones may still wait for; few have anything to add.
        learned = self._learned.get(newest)
        if learned is None:
            above = self.card(newest).outline
            learned = self._learned[newest] = above, self.memory.edges.of(above)
        above, found = learned
        if outline is not above and not above.knows(outline):
            found = learn((above, outline))
        if edges := self.memory.lore.edges(self.tables, level, outline, found):
            return {node: found.get(node, set()) | edges.get(node, set()) for node in {*found, *edges}}
        return found

    def untold(self, key: Key) -> tuple[str, ...]:
        """The nodes whose edges out lead nobody knows where, from all that is stored: to other nodes, or to the end."""
        outline = self.card(key).outline
        return tuple(sorted(untold(outline, self._triggers(key, outline))))

    def _asked_in(self, key: Key, writes: Sequence[WriteRow]) -> Iterator[str]:
        """The nodes whose questions name the task that asked, as langgraph 0.2.2x … 0.5 stored them."""
        if any(row.value is None for row in writes):
            writes = self.tables.writes(self.thread, key, values=True)
        for row in writes:
            if row.channel == INTERRUPT:
                stored = rows.decode_value(row.type, row.value, Decoder())
                for one in stored if isinstance(stored, list) else [stored]:
                    yield from tasks.asked_in(one)


def read_cards(tables: Tables, steps: Mapping[str, Steps], refs: Iterable[Ref]) -> None:
    """Have the cards of these checkpoints at hand, by the steps of their threads, and what their tasks wrote."""
    memory = next(iter(steps.values())).memory if steps else Memory()
    for ref, stamp, row in tables.read_many(refs, memory.cards.stamp):
        steps[ref.thread].keep(ref, stamp, row)
