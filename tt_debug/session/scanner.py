"""Reading many checkpoints for a question of the whole history: in parts, so that others are not kept waiting.

Owns how many are read at once; keeps none of them: memory stays flat however long a history is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from stores.errors import Corrupt, StoreError
from stores.model import Checkpoint, Ref, Task
from stores.protocol import Store
from stores.scanning import Answer, Holds, Scanned, Scans, TellsTasks, Unscanned
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

    def tasks(self, line: Sequence[Ref], load: Callable[[Ref], Checkpoint]) -> Callable[[Ref], Sequence[Task]]:
        """What tells the tasks of one, asked in the order of the line; by ``load`` where it has to be by itself."""
        if isinstance(self._store, TellsTasks):
            return _TasksAhead(self._store, line, load)
        return lambda ref: load(ref).tasks

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


class _TasksAhead:
    """The tasks of a line's checkpoints, asked for in its order. With one those behind it are read, more each time:
    where every step writes the value that is followed, all of them are wanted."""

    def __init__(self, store: TellsTasks, line: Sequence[Ref], load: Callable[[Ref], Checkpoint]) -> None:
        self._store = store
        self._line = line
        self._load = load
        self._at = 0
        self._size = 1
        self._read: Mapping[Ref, Sequence[Task]] = {}

    def __call__(self, ref: Ref) -> Sequence[Task]:
        if ref not in self._read:
            self._at = self._line.index(ref, self._at)
            try:
                self._read = self._store.tasks_of(self._line[self._at : self._at + self._size])
                self._size = min(2 * self._size, _MOST)
            except Corrupt:
                self._read, self._size = {}, 1
        found = self._read.get(ref)
        return self._load(ref).tasks if found is None else found
