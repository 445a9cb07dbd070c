"""History that was recorded elsewhere, as values: what an import hands to a store.

Owns the shapes; where they come from, and whether they can be believed, is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from stores.effects import EffectUse
from stores.model import NewCheckpoint, Task
from stores.runs import Approval, Definition, Run, StepRecord


@dataclass(frozen=True, slots=True)
class PastCheckpoint:
    """One checkpoint as it was, and the log of the steps that ended or failed at it.

    ``is_head``: a run would go on from here. ``tasks`` are what a runtime elsewhere told of the step that starts here.
    """

    new: NewCheckpoint
    created: datetime | None = None
    is_head: bool = False
    steps: tuple[StepRecord, ...] = ()
    tasks: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True)
class PastThread:
    """What the executor knew of one thread; a thread that it did not run has only its name."""

    thread: str
    business_id: str | None = None
    definitions: tuple[Definition, ...] = ()
    runs: tuple[Run, ...] = ()
    approvals: tuple[Approval, ...] = ()
    effects: tuple[EffectUse, ...] = ()


@runtime_checkable
class Restorer(Protocol):
    """A store that takes history in."""

    def restore(self, threads: Sequence[PastThread], checkpoints: Iterable[PastCheckpoint]) -> None:
        """Insert new threads whole, in one transaction: ids, times, steps, runs, questions and effects as they were.
        Of an effect that is on record here already, only its use is added.

        ``checkpoints`` come in the order in which they are listed later, each after its parent where that is among
        them; they are read inside the transaction, and an error of theirs leaves the store as it was. A parent that
        is nowhere stays named, as one that is missing. A run that was running is crashed: its owner is not here.
        Raises Conflict for a thread that exists, Invalid for a value that the store would change.
        """
        ...
