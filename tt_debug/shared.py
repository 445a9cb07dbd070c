"""What was made of values that checkpoints share, kept by identity: the next state of a thread has the very same ones.

Owns how much is kept; whoever asks many states in a row holds one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_MOST: Final = 50_000


class Shared(Generic[T]):
    """Thread-safe. Full, it forgets everything: what is shown is soon there again."""

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[object, T]] = {}

    def of(self, value: object, make: Callable[[], T], *how: Hashable) -> T:
        """What ``make`` makes of ``value``, or has made of it before, in this way."""
        key = (id(value), *how)
        found = self._made.get(key)
        if found is None:
            if len(self._made) >= _MOST:
                self._made.clear()
            found = self._made[key] = value, make()  # held, so that no other value gets its identity
        return found[1]
