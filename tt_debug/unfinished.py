"""What can be said of a step that has not gone on, and stored nothing. Pure."""

from __future__ import annotations

from typing import Final

from stores.model import Checkpoint, Status

UNTOUCHED: Final = "no task of its step has stored anything: a breakpoint, a stop, or a run that is under way"


DIED: Final = "the run that was here has died: resume goes on, and what is stored stays, of parallel tasks too"


def untouched(checkpoint: Checkpoint) -> str:
    """A sentence where it stands still, empty elsewhere: of what kept it LangGraph stores nothing."""
    if checkpoint.header.status == Status.CRASHED:
        return DIED
    waits = checkpoint.header.status == Status.UNFINISHED and bool(checkpoint.tasks)
    silent = all(task.status == Status.PENDING and not task.writes for task in checkpoint.tasks)
    return UNTOUCHED if waits and silent else ""
