"""When a condition came true: an expression asked of state after state, or by halving.

Pure: states are given in order, checkpoints are the caller's to know. A state that cannot answer is counted, never
taken for a no.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from stores.errors import StoreError
from stores.model import Ref, Value
from tt_debug.equality import strict_equal
from tt_debug.query import Expression, Failed, evaluate, holds
from tt_debug.values import Payloads

State: TypeAlias = Mapping[str, Value] | StoreError
"""A state, or why it cannot be read."""

_SURE: Final = 2
"""Checkpoints on either side of a hit that halving asks too, to see whether the condition stays as it became."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A checkpoint that answered, and what, MISSING where nothing is there; ``nodes`` wrote it."""

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
    are the two places."""

    def __init__(self, early: int, late: int) -> None:
        super().__init__(early, late)
        self.early = early
        self.late = late


class Unsure(Exception):
    """Halving has to ask a place that cannot answer; ``reason`` says why."""

    def __init__(self, place: int, reason: str) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason


class Finder:
    """One expression, asked of states; ``tally`` grows as it goes. What it finds are places and values."""

    def __init__(self, expression: Expression) -> None:
        self._expression = expression
        self.reads = expression.reads
        """The keys of a state that are enough; None for all."""
        self.tally = Tally()
        self._known: Payloads = {}

    def every(self, states: Iterable[State]) -> Iterator[tuple[int, Value]]:
        """Each place where it holds."""
        for at, state in enumerate(states):
            value = self._ask(state)
            if holds(value):
                yield at, value

    def changes(self, states: Iterable[State]) -> Iterator[tuple[int, Value]]:
        """Each place of a line, oldest first, whose answer is another than that of the one before; the first too.

        One that cannot answer is passed over.
        """
        before: Value | Failed = Failed("nothing was asked yet")
        for at, state in enumerate(states):
            value = self._ask(state)
            if isinstance(value, Failed):
                continue
            if isinstance(before, Failed) or not strict_equal(before, value):
                yield at, value
            before = value

    def bisect(self, count: int, state: Callable[[int], State]) -> tuple[int, Value] | None:
        """The first place where it holds, of a line given oldest first on which it stays true once it is.

        Asks about log₂ n of them, and the neighbours of the hit. None when the newest says no. Raises NotMonotone where
        the answers contradict that, Unsure where one that has to be asked cannot answer.
        """

        def answer(at: int) -> Value:
            value = self._ask(state(at))
            if isinstance(value, Failed):
                raise Unsure(at, value.reason)
            return value

        if not count or not holds(answer(count - 1)):
            return None
        low, high = -1, count - 1  # no (or nothing) at low, yes at high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(answer(middle)) else (middle, high)
        for at in range(max(0, high - _SURE - 1), high):
            if holds(answer(at)):
                raise NotMonotone(at, high - 1)
        for at in range(high + 1, min(count, high + _SURE + 1)):
            if not holds(answer(at)):
                raise NotMonotone(high, at)
        return high, answer(high)

    def _ask(self, state: State) -> Value | Failed:
        """The answer of one state; one that cannot answer is counted."""
        self.tally.asked += 1
        if isinstance(state, StoreError):
            value: Value | Failed = Failed(str(state))
        else:
            value = evaluate(self._expression, state, self._known)
        if isinstance(value, Failed):
            self.tally.unanswered[value.reason] += 1
        return value
