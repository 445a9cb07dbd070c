"""Where the bytes of a store's states lie: by thread and by key, how they grow, and what is there again and again.

Pure but for the checkpoints it is given. Nothing of them is kept: tallies, and fingerprints of what was seen.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from stores.model import Checkpoint, Partial, Ref, Tagged, Value
from tt_debug.sizes import Weight, weigh
from tt_debug.usage import Prices, Usage, usages

_MOST_MARKS: Final = 500_000
"""Fingerprints that are kept of one family of threads: some 60 MB."""
_PARENTS: Final = 4096  # checkpoints whose weights are remembered; a line needs its newest only


@dataclass(slots=True)
class KeyTally:
    """One key of the states that were weighed. Sizes are in bytes, as `tt_debug.sizes` estimates them.

    ``total`` is over all ``checkpoints`` that have the key, ``newest`` in the one weighed last. ``repeated`` of it an
    older checkpoint of the same family of threads holds as well: whole values, or whole elements of lists. ``changes``
    counts the steps that made another value of it, of ``steps`` that could have; ``grown`` is by how much in sum.
    ``written`` are what tasks wrote to it and the store keeps beside the states.
    """

    checkpoints: int = 0
    total: int = 0
    newest: int = 0
    largest: int = 0
    repeated: int = 0
    changes: int = 0
    steps: int = 0
    grown: int = 0
    written: int = 0

    @property
    def growth(self) -> float | None:
        """Bytes a step; None where no step is known."""
        return self.grown / self.steps if self.steps else None

    @property
    def rewritten(self) -> bool:
        """Whether every step makes another value of it, with next to nothing of what was there."""
        return self.steps > 1 and self.changes == self.steps and 10 * self.repeated < self.total


@dataclass(slots=True)
class ThreadTally:
    """One thread: how many of its checkpoints were weighed, and the bytes of their states."""

    checkpoints: int = 0
    total: int = 0
    repeated: int = 0


@dataclass(slots=True)
class Spent:
    """What a node's, or a model's, calls used in tokens."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0

    def add(self, usage: Usage) -> None:
        """One more call."""
        self.calls += 1
        self.input += usage.input
        self.output += usage.output
        self.cached += usage.cached


@dataclass(slots=True)
class Scales:
    """Weighs checkpoints one after another: parents before children, and one family of forks before the next.

    ``spent`` is by node and model; a message counts once, where it came in. ``unread`` are checkpoints that could not
    be read; ``bounded``: a family had more distinct parts than are remembered, so that more may be repeated.
    ``moments`` is when checkpoints were made, in seconds since 1970; ``course`` when calls came in, and their tokens,
    one after the other.
    """

    keys: dict[str, KeyTally] = field(default_factory=dict)
    threads: dict[str, ThreadTally] = field(default_factory=dict)
    spent: dict[tuple[str, str | None], Spent] = field(default_factory=dict)
    checkpoints: int = 0
    unread: int = 0
    bounded: bool = False
    moments: array[float] = field(default_factory=lambda: array("d"))
    course: array[float] = field(default_factory=lambda: array("d"))
    _marks: set[int] = field(default_factory=set)
    _tokens: int = 0
    _messages: set[str | int] = field(default_factory=set)
    _weights: OrderedDict[Ref, Mapping[str, Weight]] = field(default_factory=OrderedDict)

    @property
    def total(self) -> int:
        """Bytes of all states."""
        return sum(tally.total for tally in self.keys.values())

    @property
    def repeated(self) -> int:
        """Of those, what older checkpoints hold as well."""
        return sum(tally.repeated for tally in self.keys.values())

    def by_size(self) -> list[tuple[str, KeyTally]]:
        """The keys, the largest first."""
        return sorted(self.keys.items(), key=lambda each: (-each[1].total, each[0]))

    def threads_by_size(self) -> list[tuple[str, ThreadTally]]:
        """The threads, the largest first."""
        return sorted(self.threads.items(), key=lambda each: (-each[1].total, each[0]))

    def by_cost(self, prices: Prices) -> list[tuple[str, str | None, Spent, float | None]]:
        """Node, model, tokens and cost, the most tokens first; a cost is None where no price is known."""
        rows = [
            (node, model, spent, prices.of(Usage(spent.input, spent.output, spent.cached, model)))
            for (node, model), spent in self.spent.items()
        ]
        return sorted(rows, key=lambda row: (-row[2].input - row[2].output, row[0]))

    def next_family(self) -> None:
        """What comes now has nothing in common with what came before."""
        self._marks.clear()
        self._messages.clear()
        self._weights.clear()

    def put(self, checkpoint: Checkpoint) -> None:
        """Weigh one more."""
        header = checkpoint.header
        before = self._weights.get(header.parent) if header.parent is not None else None
        thread = self.threads.setdefault(header.ref.thread, ThreadTally())
        tokens = self._tokens
        nodes = ", ".join(header.nodes) or header.source
        weights: dict[str, Weight] = {}
        for key, value in checkpoint.state.items():
            weight, repeated = self._weighed(key, value, nodes)
            weights[key] = weight
            self._tally(key, weight, repeated, before)
            thread.total += weight.size
            thread.repeated += repeated
        for task in checkpoint.tasks:
            for write in task.writes:
                self._key(write.channel).written += weigh(write.value).size
        if header.created is not None:
            self.moments.append(header.created.timestamp())
            if self._tokens > tokens:
                self.course.extend((self.moments[-1], self._tokens - tokens))
        thread.checkpoints += 1
        self.checkpoints += 1
        self._weights[header.ref] = weights
        if len(self._weights) > _PARENTS:
            self._weights.popitem(last=False)

    def _key(self, name: str) -> KeyTally:
        return self.keys.setdefault(name, KeyTally())

    def _tally(self, key: str, weight: Weight, repeated: int, before: Mapping[str, Weight] | None) -> None:
        tally = self._key(key)
        tally.checkpoints += 1
        tally.total += weight.size
        tally.newest = weight.size
        tally.largest = max(tally.largest, weight.size)
        tally.repeated += repeated
        if before is not None:
            old = before.get(key)
            tally.steps += 1
            tally.changes += old is None or old.mark != weight.mark
            tally.grown += weight.size - (old.size if old is not None else 0)

    def _weighed(self, key: str, value: Value, nodes: str) -> tuple[Weight, int]:
        """The value's weight, and how many bytes of it were there before."""
        parts = list(_parts(value))
        if not parts:
            weight = weigh(value)
            return weight, weight.size if self._seen(key, value, weight, nodes) else 0
        sizes, marks, repeated = 1, list[int](), 0
        for part in parts:
            weight = weigh(part)
            sizes += weight.size + 1
            marks.append(weight.mark)
            if self._seen(key, part, weight, nodes):
                repeated += weight.size + 1
        return Weight(sizes, hash(tuple(marks))), repeated

    def _seen(self, key: str, value: Value, weight: Weight, nodes: str) -> bool:
        mark = hash((key, weight))
        if mark in self._marks:
            return True
        if len(self._marks) < _MOST_MARKS:
            self._marks.add(mark)
        else:
            self.bounded = True
        for usage in usages(value):
            known = usage.id or weight.mark
            if known in self._messages:
                continue
            self._messages.add(known)
            self.spent.setdefault((nodes, usage.model), Spent()).add(usage)
            self._tokens += usage.input + usage.output
        return False


def _parts(value: Value) -> Iterator[Value]:
    """The elements of a list that has any of their own to hold; nothing of other values."""
    while isinstance(value, Tagged) and isinstance(value.value, list):
        value = value.value
    if isinstance(value, Partial):
        yield from (value.seed if isinstance(value.seed, list) else ())
        yield from value.writes
    elif isinstance(value, list) and any(isinstance(item, dict | list | Tagged) for item in value):
        yield from value
