"""Delta channels: values that are stored as writes since a snapshot (langgraph 1.2 channels/delta.py).

Owns finding the snapshot, the writes in the order the runtime applies them, and what proves their reducer; refuses
to apply one that nothing proves, as it lives in the user's code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from stores.codec.msgpack import DELTA_SNAPSHOT, Decoder
from stores.langgraph import rows
from stores.langgraph.reducers import JOINED, MERGED, Unfit, agreeing, reduce, since_overwrite
from stores.langgraph.skeleton import Key, Skeleton, level_of
from stores.langgraph.steps import Steps
from stores.model import MISSING, Partial, Tagged, Value

COUNTERS: Final = "counters_since_delta_snapshot"
_COUNTERS: Final = COUNTERS.encode()
_ENOUGH: Final = 3  # snapshots that are compared
_FAR: Final = 300  # rows that are looked at for them, per thread
_KIN: Final = 8  # other threads of the graph that are asked


def delta_channels(metadata: Mapping[str, Value]) -> frozenset[str]:
    """The delta channels that a checkpoint does not hold in full: the runtime counts what came since their snapshot."""
    counters = metadata.get(COUNTERS)
    return frozenset(counters) if isinstance(counters, dict) else frozenset()


def needs_others(metadata: bytes) -> bool:
    """Whether a checkpoint with this metadata may have delta channels that it does not hold in full."""
    return _COUNTERS in metadata


def is_snapshot(value: Value) -> bool:
    """Whether a channel's stored value is the whole of a delta channel."""
    return isinstance(value, Tagged) and value.tag == (DELTA_SNAPSHOT,)


def whole(value: Value) -> Value:
    """A channel's value as the graph sees it."""
    return value.value if is_snapshot(value) else value


def needed(steps: Steps, names: Collection[str], key: Key) -> list[Key]:
    """The ancestors of a checkpoint that its delta channels ``names`` are rebuilt from, nearest first: back to each
    one's snapshot, whose own step's writes count too."""
    left, found = set(names), list[Key]()
    for one in steps.skeleton.lineage(key)[1:] if steps.skeleton is not None and left else ():
        found.append(one)
        left -= steps.card(one).outline.available.keys()
        if not left:
            break
    return found


class Rebuilt(NamedTuple):
    """A channel's value as far as it can be known. ``how`` it came about, in a few words; empty for a Partial."""

    value: Value
    how: str = ""


@dataclass(frozen=True, slots=True)
class Deltas:
    """The delta channels of one thread."""

    steps: Steps
    decoder: Decoder

    def rebuild(self, names: Collection[str], key: Key) -> dict[str, Rebuilt]:
        """The channels that the checkpoint ``key`` does not hold, by name."""
        if self.steps.skeleton is None or not names:
            return {}
        ancestors = self.steps.skeleton.lineage(key)[1:]
        return {name: self._value(name, key, *parts) for name, parts in self._parts(names, ancestors).items()}

    def _value(self, name: str, key: Key, seed: Value, writes: Sequence[Value]) -> Rebuilt:
        base, left = since_overwrite(seed, writes)
        if not left and base is not MISSING:
            return Rebuilt(base, "overwritten since" if writes else "unchanged since its snapshot")
        proven = self._proven(name, key)
        for how in (MERGED, JOINED):
            # That values are messages is proof enough, unless a snapshot says otherwise.
            if how in proven if proven is not None else how == MERGED:
                try:
                    value = reduce(how, base, left)
                except Unfit:
                    continue
                return Rebuilt(value, f"{how}, as snapshots prove" if proven is not None else how)
        return Rebuilt(Partial(seed, tuple(writes)))

    def _parts(self, names: Iterable[str], ancestors: Sequence[Key]) -> dict[str, tuple[Value, list[Value]]]:
        """Each channel as its seed, MISSING where there is none, and the writes since, oldest first.

        ``ancestors`` are nearest first. The writes of the checkpoint with the seed came after it, so they count; the
        target's own are still pending.
        """
        left = {name: list[list[Value]]() for name in names}
        found: dict[str, tuple[Value, list[Value]]] = {}
        for key in ancestors:
            if not left:
                break
            stored = self.steps.tables.writes(self.steps.thread, key, values=True)
            for name, batches in list(left.items()):
                batches.append(
                    [self._decode(row) for row in sorted(stored, key=rows.WRITE_ORDER) if row.channel == name]
                )
                seed = self._stored(key, name)
                if seed is not MISSING:
                    found[name] = whole(seed), _flat(left.pop(name))
        return found | {name: (MISSING, _flat(batches)) for name, batches in left.items()}

    def _decode(self, row: rows.WriteRow) -> Value:
        return rows.decode_value(row.type, row.value, self.decoder)

    def _stored(self, key: Key, name: str) -> Value:
        """The channel's stored value at a checkpoint, MISSING where it has none."""
        if name not in self.steps.card(key).outline.available:
            return MISSING
        row = self.steps.tables.checkpoint(self.steps.thread, key)
        content = rows.content_of(row, self.decoder) if row else None
        return rows.mapping(rows.mapping(content).get("channel_values")).get(name, MISSING)

    # --- what proves a reducer

    def _proven(self, name: str, key: Key) -> frozenset[str] | None:
        """The reducers that every snapshot compared bears out; None where there is none to compare."""
        assert self.steps.skeleton is not None
        level = level_of(key.ns)
        newest = self.steps.skeleton.newest.get(level, key)
        question = (self.steps.thread, level, name)
        stamp = (len(self.steps.skeleton), self.steps.tables.progress())
        known = self.steps.memory.proofs.get(question)
        # What the thread itself proves stands until it grows; what others may prove, until anything is written.
        if known is not None and (known[0] == stamp or (known[0][0] == stamp[0] and known[1] is not None)):
            return known[1]
        found = self._agreeing(name, (key, newest))
        if found is None:
            found = next((proof for proof in self._of_kin(name, newest) if proof is not None), None)
        self.steps.memory.proofs[question] = stamp, found
        return found

    def _of_kin(self, name: str, newest: Key) -> Iterator[frozenset[str] | None]:
        steps = self.steps
        histories = steps.memory.lore.histories(steps.tables)
        at = steps.card(newest).outline
        kin = [one for one in histories if one.thread != steps.thread and one.is_same_graph(level_of(newest.ns), at)]
        for other in kin[:_KIN]:
            there = Steps(steps.tables, other.thread, steps.memory, steps.tables.skeleton(other.thread))
            yield Deltas(there, self.decoder)._agreeing(name, (other.key,))

    def _agreeing(self, name: str, tips: Iterable[Key]) -> frozenset[str] | None:
        assert self.steps.skeleton is not None
        found: frozenset[str] | None = None
        compared = 0
        for key in dict.fromkeys(one for tip in tips for one in self._snapshots(name, tip, self.steps.skeleton)):
            seed, writes = self._parts([name], self.steps.skeleton.lineage(key)[1:])[name]
            base, left = since_overwrite(seed, writes)
            if left:
                made = agreeing(base, left, whole(self._stored(key, name)))
                found = made if found is None else found & made
                compared += 1
            if compared == _ENOUGH:
                break
        return found

    def _snapshots(self, name: str, tip: Key, known: Skeleton) -> Iterator[Key]:
        """The snapshots on the line to ``tip`` that are what its steps made, nearest first."""
        for key in known.lineage(tip)[:_FAR]:
            card = self.steps.card(key)
            if card.outline.snapshot and card.source == "loop" and name in card.outline.available:
                # Where a line was left twice, its writes are those of both ways.
                back = self._back_to_seed(name, key, known)
                if all(len(known.children[one]) == 1 for one in back):
                    yield key

    def _back_to_seed(self, name: str, key: Key, known: Skeleton) -> list[Key]:
        line = known.lineage(key)[1:]
        for index, one in enumerate(line):
            if name in self.steps.card(one).outline.available:
                return line[: index + 1]
        return line


def _flat(batches: Sequence[Sequence[Value]]) -> list[Value]:
    return [value for batch in reversed(batches) for value in batch]
