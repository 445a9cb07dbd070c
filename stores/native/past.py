"""History from elsewhere taken into the native tables, whole threads at a time.

Owns writing rows as they were, with their own times; what an export holds is read by its caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from stores.errors import Conflict, Invalid
from stores.native import effect_rows
from stores.native import steps as step_rows
from stores.native.database import Database
from stores.native.definitions import keep_definition
from stores.native.effects import NativeEffects
from stores.native.inbox import insert_approval
from stores.native.lease_clock import micros_now
from stores.native.rows import restore_checkpoint, to_micros, to_text
from stores.native.tasks import keep_past
from stores.past import PastCheckpoint, PastThread
from stores.points import point
from stores.runs import Approval, Run, RunStatus


class NativePast(NativeEffects):
    """The `stores.past.Restorer` part of a native store."""

    def restore(self, threads: Sequence[PastThread], checkpoints: Iterable[PastCheckpoint]) -> None:
        """One transaction for all of them; see `stores.past.Restorer`."""
        with self._writing() as db:
            # A thread names its head, and a step its run, before those are there.
            db.execute("PRAGMA defer_foreign_keys = ON")
            for past in threads:
                _insert_thread(db, past)
            ends = {past.thread: _End() for past in threads}
            for checkpoint in checkpoints:
                ends[checkpoint.new.ref.thread].pass_(checkpoint)
                restore_checkpoint(db, checkpoint.new, checkpoint.created)
                for step in checkpoint.steps:
                    step_rows.restore(db, step, checkpoint.new.ref.thread)
                if checkpoint.tasks:
                    keep_past(db, checkpoint.new.ref, checkpoint.tasks)
                point("native.past-inserted")
            for past in threads:
                _set_head(db, past.thread, ends[past.thread])
                for run in past.runs:
                    _insert_run(db, run)
                for asked in past.approvals:
                    _insert_approval(db, asked)
                for use in past.effects:
                    effect_rows.restore(db, use)


class _End:
    """Where a thread ends: at the checkpoint that was its head, else at the last one that was read."""

    def __init__(self) -> None:
        self.last: PastCheckpoint | None = None
        self._is_head = False

    def pass_(self, checkpoint: PastCheckpoint) -> None:
        if checkpoint.is_head or not self._is_head:
            self.last = checkpoint
            self._is_head = checkpoint.is_head


def _insert_thread(db: Database, past: PastThread) -> None:
    done = db.execute(
        "INSERT OR IGNORE INTO threads (thread_id, business_id, created_at) VALUES (?, ?, ?)",
        (past.thread, past.business_id, micros_now(db)),
    )
    if done.rowcount != 1:
        raise Conflict(
            f"thread {past.thread!r} exists", hint="History is never overwritten: import into another store."
        )
    for definition in past.definitions:
        keep_definition(db, definition)


def _set_head(db: Database, thread: str, end: _End) -> None:
    if end.last is None:
        raise Invalid(f"thread {thread!r} has no checkpoint", hint="Export it again.")
    db.execute("UPDATE threads SET head = ? WHERE thread_id = ?", (end.last.new.ref.id, thread))


_RUN: Final = (
    "run_id, thread_id, workflow_hash, status, mode, business_id, base, head, until, token, recoveries, error,"
    " created_at, started_at, ended_at"
)


def _insert_run(db: Database, run: Run) -> None:
    if db.execute("SELECT 1 FROM runs WHERE run_id = ?", (run.run_id,)).fetchone() is not None:
        raise Conflict(f"run {run.run_id} exists", hint="History is never overwritten: import into another store.")
    status = RunStatus.CRASHED if run.status == RunStatus.RUNNING else run.status
    db.execute(
        f"INSERT INTO runs ({_RUN}) VALUES ({', '.join('?' * len(_RUN.split()))})",
        (
            run.run_id, run.thread, run.workflow_hash, status, run.mode, run.business_id, run.base and run.base.id,
            run.head and run.head.id, run.until, run.token, run.recoveries, run.error,
            to_micros(run.created) or micros_now(db), to_micros(run.started), to_micros(run.ended),
        ),
    )  # fmt: skip


def _insert_approval(db: Database, asked: Approval) -> None:
    if db.execute("SELECT 1 FROM inbox WHERE id = ?", (asked.id,)).fetchone() is not None:
        raise Conflict(f"question {asked.id} exists", hint="History is never overwritten: import into another store.")
    insert_approval(db, asked)
    answer = None if asked.status != "answered" else to_text(asked.answer, "answer")
    db.execute(
        "UPDATE inbox SET status = ?, answer = ?, answered_by = ?, answered_at = ? WHERE id = ?",
        (asked.status, answer, asked.answered_by, to_micros(asked.answered), asked.id),
    )
