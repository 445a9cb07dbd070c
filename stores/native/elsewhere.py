"""Runs on threads whose history is in somebody else's store: their leases, steps, effects and questions.

Owns a native file in which such a thread has marks for checkpoints: the same ids, where each stands, and no state.
Refuses to be that history: what a checkpoint holds, and whether it is there, only the other store knows.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from stores.errors import Conflict, Unreachable
from stores.model import Header, NewCheckpoint, Ref
from stores.native import effect_rows
from stores.native import steps as step_rows
from stores.native.database import Database
from stores.native.fencing import fenced, owned
from stores.native.inbox import COLUMNS, approval_of, not_open
from stores.native.lease_clock import micros_now
from stores.native.rows import ASKED, header_at, insert_checkpoint, to_micros, to_text
from stores.native.run_rows import run_at
from stores.native.runs import refused
from stores.native.sqlite import NativeStore, create_native
from stores.points import point
from stores.runs import Run, StepRecord


class RunsElsewhere(NativeStore):
    """The records of runs on the threads of another store."""

    def stand(self, at: NewCheckpoint) -> None:
        """The thread and its run, if one is at work, stand at that checkpoint now, whoever wrote it; its parent is
        where the thread stood before."""
        with self._writing() as db:
            _mark(db, at)
            which = "UPDATE runs SET head = ? WHERE thread_id = ? AND status = 'running'"
            db.execute(which, (at.ref.id, at.ref.thread))

    def wake(self, run_id: str) -> Run:
        """waiting → pending: its question is answered elsewhere. Raises Conflict from any other status."""
        with self._writing() as db:
            done = db.execute(
                "UPDATE runs SET status = 'pending' WHERE run_id = ? AND status = 'waiting_human'", (run_id,)
            )
            if done.rowcount != 1:
                raise refused(db, run_id, "go on")
            return run_at(db, run_id)

    def start_task(self, run_id: str, token: int, step: StepRecord) -> None:
        """Log a task as running; others of its superstep run beside it."""
        with self._writing() as db:
            mine = owned(db, self._fence(run_id, token))
            step_rows.start(db, step, mine.thread, mine.head, token)
            point("elsewhere.task-started")

    def end_task(self, run_id: str, token: int, step: StepRecord, at: NewCheckpoint | None = None) -> None:
        """How a task ended; ``at`` is the checkpoint that holds its results, and the thread's head from now on."""
        with self._writing() as db, fenced(db, self._fence(run_id, token)):
            if at is not None:
                _mark(db, at)
                db.execute("UPDATE runs SET head = ? WHERE run_id = ?", (at.ref.id, run_id))
            db.execute(
                "UPDATE steps SET status = ?, checkpoint_id = ?, ended_at = ?, error = ?, error_class = ?"
                " WHERE run_id = ? AND ordinal = ? AND attempt = ? AND substep = ''",
                (
                    step.status, at and at.ref.id, to_micros(step.ended) or micros_now(db), step.error,
                    step.error_class, run_id, step.ordinal, step.attempt,
                ),
            )  # fmt: skip
            point("elsewhere.task-ended")

    def abandon(self, run_id: str, token: int) -> None:
        """Whoever ran what is still logged as running has gone."""
        with self._writing() as db, fenced(db, self._fence(run_id, token)):
            step_rows.abandon(db, run_id)

    def answer(self, approval_id: str, answer: object, by: str, *, reject: bool = False) -> Header:
        """Decide about an effect that holds its run, once; no checkpoint tells of it, as the history is not here."""
        with self._writing() as db:
            row = db.execute(
                "UPDATE inbox SET status = 'answered', answer = ?, answered_by = ?, answered_at = ?"
                f" WHERE id = ? AND status = 'open' AND {ASKED} RETURNING {COLUMNS}",
                (to_text(answer, "answer"), by, micros_now(db), approval_id),
            ).fetchone()
            if row is None:
                raise not_open(db, approval_id)
            asked = approval_of(row)
            effect_rows.resolve(db, asked.id, answer)
            done = db.execute(
                "UPDATE runs SET status = 'pending', hold_reason = NULL, error = NULL WHERE run_id = ?"
                " AND status = 'crashed' AND hold_reason IS NOT NULL",
                (asked.run_id,),
            )
            if done.rowcount != 1:
                raise Conflict(f"run {asked.run_id} no longer waits for {asked.id}", hint="Look at the thread again.")
            (head,) = db.execute("SELECT head FROM threads WHERE thread_id = ?", (asked.thread,)).fetchone()
            return header_at(db, asked.thread, head)


def _mark(db: Database, at: NewCheckpoint) -> None:
    """The mark of a checkpoint, made where there is none, as its thread's head."""
    row = db.execute("SELECT head FROM threads WHERE thread_id = ?", (at.ref.thread,)).fetchone()
    there = "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?"
    if db.execute(there, (at.ref.thread, at.ref.id)).fetchone() is None:
        parent = None if row is None or row[0] is None else Ref(at.ref.thread, "", row[0])
        insert_checkpoint(db, replace(at, parent=parent))
    else:
        db.execute("UPDATE threads SET head = ? WHERE thread_id = ?", (at.ref.id, at.ref.thread))


def open_for_looking(path: Path) -> RunsElsewhere | None:
    """The records at ``path``, for reading only; None where no thread was ever run."""
    return RunsElsewhere(path, read_only=True) if path.exists() else None


def open_for_runs(path: Path) -> RunsElsewhere:
    """The records at ``path``, made where there are none. Raises StoreError."""
    if not path.exists():
        _create(path)
    return RunsElsewhere(path, read_only=False)


def _create(path: Path) -> None:
    """All of the file at once: whoever looks finds none or a whole one, also of two that make it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / path.name
            create_native(made)
            with suppress(FileExistsError):
                os.link(made, path)
    except OSError as error:
        raise Unreachable(
            f"cannot make {path}: {error.strerror}", hint="set TT_DEBUG_HOME to another folder"
        ) from error
