"""The fence of a run's owner: what every write of it passes first, and what that tells.

Owns who may write, by the token; what is written is `runs`, `effects` and `supervision`. Where the owner's name is
known it counts too: a server that lost its last claims, as a standby that was promoted has, gives a token once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from stores.errors import Conflict, LeaseLost, NotFound
from stores.model import NewCheckpoint
from stores.native.base import Fence
from stores.native.checkpoint_rows import MadeBy
from stores.native.database import Database
from stores.native.lease_clock import micros_now
from stores.native.run_rows import run_at
from stores.runs import Run, RunStatus, StepCommit


class Owned(NamedTuple):
    """A running run as its owner finds it in a transaction; ``head`` is its thread's.

    ``may_stop`` says that there are breakpoints, of whichever threads.
    """

    thread: str
    workflow_hash: str
    requested: str | None
    head: str
    may_stop: bool


@contextmanager
def fenced(db: Database, fence: Fence) -> Iterator[str]:
    """The run's thread, for a writer whose token is the newest of a running run. Raises LeaseLost."""
    yield owned(db, fence).thread


def owned(db: Database, fence: Fence, head: str | None = None) -> Owned:
    """The same, with what its owner goes by; ``head`` is the run's from now on. Raises LeaseLost."""
    row = db.execute(
        "UPDATE runs SET beat_at = ?1, head = coalesce(?2, head)"
        " WHERE run_id = ?3 AND token = ?4 AND status = 'running' AND (?5 IS NULL OR owner = ?5)"
        " RETURNING thread_id, workflow_hash, requested,"
        " (SELECT t.head FROM threads t WHERE t.thread_id = runs.thread_id), EXISTS (SELECT 1 FROM breakpoints)",
        (micros_now(db), head, *fence),
    ).fetchone()
    if row is None:
        raise _why_lost(db, fence)
    return Owned(*row)


def is_owned(run: Run, fence: Fence) -> bool:
    """Whether the run, as it was read, may be written by that owner."""
    return (run.status, run.token) == (RunStatus.RUNNING, fence.token) and fence.owner in (None, run.owner)


def lost(run: Run, fence: Fence) -> LeaseLost:
    """Why the owner may not write any more."""
    now = "another owner's" if run.status == RunStatus.RUNNING else run.status
    return LeaseLost(
        f"run {run.run_id} is {now} under token {run.token}; token {fence.token} may not write any more",
        hint="Stop: another process owns the run.",
    )


def _why_lost(db: Database, fence: Fence) -> LeaseLost:
    try:
        return lost(run_at(db, fence.run_id), fence)
    except NotFound as error:
        return LeaseLost(str(error), hint="Stop: the store does not know the run.")


def check_head(db: Database, mine: Owned, new: NewCheckpoint) -> None:
    """Raises Conflict for a checkpoint whose parent is not the thread's head any more, LeaseLost where it is gone."""
    parent = None if new.parent is None else new.parent.id
    if mine.head in (parent, new.ref.id):
        return
    if parent is not None and not _is_there(db, mine.thread, parent):
        raise LeaseLost(
            f"the store has lost {parent} of thread {mine.thread!r}, whose head is {mine.head} now",
            hint="Recover the run: it goes on from there.",
        )
    raise Conflict(
        f"the head of thread {mine.thread!r} moved from {parent} to {mine.head} while the step ran",
        hint="Resume from the new head, or fork from the old one.",
    )


def _is_there(db: Database, thread: str, id: str) -> bool:
    found = db.execute("SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?", (thread, id))
    return found.fetchone() is not None


def made_by(mine: Owned, commit: StepCommit) -> MadeBy:
    """The run's columns of a checkpoint; a step that is asked, given up or a part was no visit of its node."""
    ended = commit.step.status in ("completed", "skipped") and not commit.step.substep
    visit = commit.step.visit if ended else None
    return MadeBy(commit.run_id, mine.workflow_hash, visit, commit.token, commit.commit_id or None)
