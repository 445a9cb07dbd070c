"""Reading many checkpoints for a question of the whole history: in parts, so that others are not kept waiting.

Owns how many are read at once; keeps none of them: memory stays flat however long a history is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from stores.errors import Corrupt, StoreError
from stores.model import Checkpoint, Ref
from stores.protocol import Store
from stores.scanning import Answer, Holds, Scanned, Scans, Unscanned
from tt_debug.finding import State

_FIRST: Final = 16
_MOST: Final = 2_000
_SHORT: Final = 0.02  # seconds, below which the next part is twice as long
_LONG: Final = 0.06  # and above which it is half as long: the store's lock is held meanwhile


class Scanner:
    """One store, of which ``load`` reads a checkpoint where it cannot give many at once."""

    def __init__(self, store: Store | None, load: Callable[[Ref], Checkpoint]) -> None:
        self._store = store if isinstance(store, Scans) else None
        self._load = load

    def states(self, refs: Iterable[Ref], only: Collection[str] | None = None) -> Iterator[State]:
        """The state of each, in order, or why it cannot be read; of a state the keys ``only`` are enough."""
        for part, answers in self._parts(refs, None, only):
            for ref, answer in zip(part, answers, strict=True):
                yield answer.state if isinstance(answer, Scanned) else self.state(ref)

    def state(self, ref: Ref) -> State:
        """One state, or why it cannot be read."""
        try:
            return self._load(ref).state
        except StoreError as error:
            return error

    def holding(self, refs: Iterable[Ref], holds: Holds) -> Iterator[tuple[Ref, Answer]]:
        """What there is to tell of each, where its bytes may hold what is looked for."""
        for part, answers in self._parts(refs, holds, None):
            yield from zip(part, answers, strict=True)

    def _parts(
        self, refs: Iterable[Ref], holds: Holds | None, only: Collection[str] | None
    ) -> Iterator[tuple[Sequence[Ref], Sequence[Answer]]]:
        left, size = iter(refs), _FIRST
        while part := list(islice(left, size)):
            if self._store is None:
                yield part, [Unscanned.ALONE] * len(part)
                continue
            started = time.monotonic()
            try:
                answers = self._store.scan(part, holds, only)
            except Corrupt:
                answers = [Unscanned.ALONE] * len(part)  # each says by itself whether it is damaged
            took = time.monotonic() - started
            size = min(2 * size, _MOST) if took < _SHORT else max(1, size // 2) if took > _LONG else size
            yield part, answers
