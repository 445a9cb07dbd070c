"""The states of many checkpoints at once, and rows whose bytes cannot hold a text passed over: for questions that are
asked of a whole history.

Owns the contract; a store without it is asked checkpoint by checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from stores.model import Ref, Task, Value


class Scanned(NamedTuple):
    """What a row holds. ``meta``, and ``writers``, the names of all nodes that may have written the checkpoint, are
    there only where something is looked for."""

    state: Mapping[str, Value]
    meta: Mapping[str, Value]
    writers: Collection[str]


class Unscanned(Enum):
    """Why there is nothing to tell of a checkpoint here."""

    ALONE = auto()
    """It has to be asked for by itself, with `stores.protocol.Store.load`: it is put together from several rows, its
    tasks failed or asked something, or it cannot be read."""
    PASSED = auto()
    """What is looked for stands nowhere in its bytes."""


Answer: TypeAlias = Scanned | Unscanned

Holds: TypeAlias = Callable[[bytes], bool]
"""Whether bytes may hold what is looked for; texts stand in them in UTF-8, or escaped as JSON does."""


@runtime_checkable
class Scans(Protocol):
    """A store that reads the states of many checkpoints for little more than their rows cost."""

    def scan(
        self, refs: Sequence[Ref], holds: Holds | None = None, only: Collection[str] | None = None
    ) -> Sequence[Answer]:
        """An answer for each, in order, on one snapshot. With ``holds`` only of those whose bytes it says may hold it;
        with ``only`` of a state these keys are enough.

        What it gives is what `load` would, and as shared: nobody may change it.
        """
        ...


@runtime_checkable
class TellsTasks(Protocol):
    """A store that reads the tasks of many checkpoints without their states."""

    def tasks_of(self, refs: Sequence[Ref]) -> Mapping[Ref, Sequence[Task]]:
        """Of each that is there, as `load` tells them. Raises Corrupt where those of one cannot be read."""
        ...
