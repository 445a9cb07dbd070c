"""The fence of a run's owner: what every write of it passes first, and what that tells.

Owns who may write, by the token; what is written is `runs`, `effects` and `supervision`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from stores.errors import Conflict, LeaseLost
from stores.model import NewCheckpoint
from stores.native.database import Database
from stores.native.lease_clock import micros_now
from stores.native.run_rows import run_at
from stores.runs import StepCommit


class Owned(NamedTuple):
    """A running run as its owner finds it in a transaction; ``head`` is its thread's."""

    thread: str
    workflow_hash: str
    requested: str | None
    head: str


@contextmanager
def fenced(db: Database, run_id: str, token: int) -> Iterator[str]:
    """The run's thread, for a writer whose token is the newest of a running run. Raises LeaseLost."""
    yield owned(db, run_id, token).thread


def owned(db: Database, run_id: str, token: int, head: str | None = None) -> Owned:
    """The same, with what its owner goes by; ``head`` is the run's from now on. Raises LeaseLost."""
    row = db.execute(
        "UPDATE runs SET beat_at = ?, head = coalesce(?, head) WHERE run_id = ? AND token = ? AND status = 'running'"
        " RETURNING thread_id, workflow_hash, requested,"
        " (SELECT t.head FROM threads t WHERE t.thread_id = runs.thread_id)",
        (micros_now(db), head, run_id, token),
    ).fetchone()
    if row is None:
        found = run_at(db, run_id)
        raise LeaseLost(
            f"run {run_id} is {found.status} under token {found.token}; token {token} may not write any more",
            hint="Stop: another process owns the run.",
        )
    return Owned(*row)


def check_head(mine: Owned, new: NewCheckpoint) -> None:
    """Raises Conflict for a checkpoint whose parent is not the thread's head any more."""
    parent = None if new.parent is None else new.parent.id
    if mine.head not in (parent, new.ref.id):
        raise Conflict(
            f"the head of thread {mine.thread!r} moved from {parent} to {mine.head} while the step ran",
            hint="Resume from the new head, or fork from the old one.",
        )


def with_run(mine: Owned, commit: StepCommit) -> NewCheckpoint:
    """The checkpoint with the run's columns; a step that is asked, given up or a part was no visit of its node."""
    ended = commit.step.status in ("completed", "skipped") and not commit.step.substep
    visit = commit.step.visit if ended else None
    meta = {
        **commit.checkpoint.meta, "run_id": commit.run_id, "workflow_hash": mine.workflow_hash, "visit": visit
    }  # fmt: skip
    return replace(commit.checkpoint, meta=meta)
