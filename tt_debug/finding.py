"""When a condition came true: an expression asked of checkpoint after checkpoint, or by halving.

Pure but for the states it asks for. A state that cannot answer is counted, never taken for a no.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from stores.errors import StoreError
from stores.model import MISSING, Header, Ref, Value
from tt_debug.blame import Load
from tt_debug.equality import strict_equal
from tt_debug.query import Expression, Failed, evaluate, holds

_SURE: Final = 2
"""Checkpoints on either side of a hit that halving asks too, to see whether the condition stays as it became."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A checkpoint that answered, and what; ``nodes`` wrote it."""

    ref: Ref
    step: int | None
    value: Value
    nodes: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """How a search stands: checkpoints asked, and those that could not answer, by reason."""

    asked: int = 0
    unanswered: Counter[str] = field(default_factory=Counter)


class NotMonotone(Exception):
    """Halving found the condition true before a place where it is false: it did not stay true. ``early`` and ``late``
    are the two checkpoints."""

    def __init__(self, early: Ref, late: Ref) -> None:
        super().__init__(early, late)
        self.early = early
        self.late = late


class Finder:
    """One expression, asked of states; ``tally`` grows as it goes."""

    def __init__(self, load: Load, expression: Expression) -> None:
        self._load = load
        self._expression = expression
        self.tally = Tally()

    def every(self, headers: Iterable[Header]) -> Iterator[Hit]:
        """Each checkpoint where it holds, in the order given."""
        for header in headers:
            value = self._ask(header)
            if value is not MISSING and holds(value):
                yield Hit(header.ref, header.step, value, header.nodes)

    def changes(self, line: Iterable[Header]) -> Iterator[Hit]:
        """Each checkpoint of a line, oldest first, whose answer is another than that of the one before; the first too.

        One that cannot answer is passed over.
        """
        before: Value = MISSING
        for header in line:
            value = self._ask(header)
            if value is MISSING:
                continue
            if before is MISSING or not strict_equal(before, value):
                yield Hit(header.ref, header.step, value, header.nodes)
            before = value

    def bisect(self, line: Sequence[Header]) -> Hit | None:
        """The first checkpoint where it holds, of a line given oldest first on which it stays true once it is.

        Asks about log₂ n of them, and the neighbours of the hit. None when the newest says no. Raises NotMonotone where
        the answers contradict that, Unsure where one that has to be asked cannot answer.
        """
        if not line or not self._holds(line[-1]):
            return None
        low, high = -1, len(line) - 1  # no (or nothing) at low, yes at high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._holds(line[middle]) else (middle, high)
        for at in range(max(0, high - _SURE - 1), high):
            if self._holds(line[at]):
                raise NotMonotone(line[at].ref, line[high - 1].ref)
        for at in range(high + 1, min(len(line), high + _SURE + 1)):
            if not self._holds(line[at]):
                raise NotMonotone(line[high].ref, line[at].ref)
        found = line[high]
        return Hit(found.ref, found.step, self._ask(found), found.nodes)

    def _holds(self, header: Header) -> bool:
        value = self._ask(header)
        if value is MISSING:
            raise Unsure(header.ref, next(reversed(self.tally.unanswered)))
        return holds(value)

    def _ask(self, header: Header) -> Value:
        """The answer of one checkpoint, MISSING when there is none."""
        self.tally.asked += 1
        try:
            value = evaluate(self._expression, self._load(header.ref).state)
        except StoreError as error:
            self.tally.unanswered[str(error)] += 1
            return MISSING
        if isinstance(value, Failed):
            self.tally.unanswered[value.reason] += 1
            return MISSING
        return value


class Unsure(Exception):
    """Halving has to ask a checkpoint that cannot answer; ``reason`` says why."""

    def __init__(self, ref: Ref, reason: str) -> None:
        super().__init__(ref, reason)
        self.ref = ref
        self.reason = reason
