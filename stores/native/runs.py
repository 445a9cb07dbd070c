"""The executor's records in the native tables: runs and their step log.

Owns what a run's owner does, each transition decided by a WHERE clause inside one transaction. How a run gets an
owner, and what is held, is `supervision`; approvals are in `inbox`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from stores.errors import Conflict, NotFound, StoreError
from stores.model import Header, NewCheckpoint, Ref, StoreInfo, Value
from stores.native import steps as step_rows
from stores.native.breakpoints import NativeBreakpoints, breakpoints_at, record_hit
from stores.native.business import execute_statements
from stores.native.database import Database
from stores.native.definitions import NativeDefinitions
from stores.native.fencing import Owned, check_head, fenced, made_by, owned
from stores.native.inbox import NativeInbox, insert_approval, withdraw
from stores.native.lease_clock import lease_clock, micros_now
from stores.native.place import keep_place
from stores.native.rows import (
    BUSINESS_ID,
    Standing,
    header_at,
    header_from,
    insert_checkpoint,
    put_checkpoint,
    to_micros,
)
from stores.native.run_rows import RUN, run_at, run_of
from stores.points import point
from stores.rereading import rereading
from stores.runs import Approval, Decision, Run, RunStatus, StepCommit, StepRecord
from stores.supervision import BreakpointHit

_ACTIVE: Final = "('pending', 'running', 'waiting_human', 'paused', 'crashed')"
_ENDED: Final = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)


class NativeRuns(NativeDefinitions, NativeInbox, NativeBreakpoints):
    """The `stores.protocol.RunStore` part of a native store; see there for what each method promises."""

    @property
    def info(self) -> StoreInfo:
        """Whose store it is says so."""
        raise NotImplementedError

    def create_run(self, run: Run, first: NewCheckpoint | None = None) -> Run:
        """Insert it as pending; raises Conflict for a thread that is busy, or exists where ``first`` would make it."""
        with self._writing() as db:
            if first is not None:
                _insert_first(db, run, first)
            head = db.execute("SELECT head FROM threads WHERE thread_id = ?", (run.thread,)).fetchone()
            if head is None:
                raise NotFound(f"no thread {run.thread!r} to run", hint="List the threads with `tt-debug threads`.")
            _insert_run(db, run, head[0])
            keep_place(db, self.info.path)
            point("native.run-created")
            return run_at(db, run.run_id)

    def start_step(self, run_id: str, token: int, step: StepRecord) -> None:
        """Log the attempt; an earlier one of the run that is still logged as running was abandoned."""
        with self._writing() as db:
            mine = owned(db, self._fence(run_id, token))
            step_rows.abandon(db, run_id)
            step_rows.start(db, step, mine.thread, mine.head, token)
            point("native.step-started")

    def commit_step(self, commit: StepCommit) -> Header:
        """One transaction, and one only: the same ``commit_id`` again gives the checkpoint that is there."""
        return self._once(commit, _commit_step)

    def _once(self, commit: StepCommit, make: Callable[[Database, Owned, StepCommit], Header]) -> Header:
        """What ``make`` makes for the run's owner; where the commit was made before, what it made then."""
        new = commit.checkpoint
        try:
            with self._writing() as db:
                mine = owned(db, self._fence(commit.run_id, commit.token), new.ref.id)
                check_head(db, mine, new)
                done = _committed(db, commit) if mine.head == new.ref.id else None
                return done or make(db, mine, commit)
        except Conflict:
            # Made, and its answer lost: the run may have ended since, or the thread have gone on.
            with self._reading() as db:
                done = _committed(db, commit)
            if done is None:
                raise
            return done

    def fail_step(
        self,
        run_id: str,
        token: int,
        step: StepRecord,
        *,
        run_status: str | None = None,
        case: Approval | None = None,
        hit: BreakpointHit | None = None,
    ) -> None:
        """Log the attempt as failed; with ``run_status`` the run ends or stops, with the step's error."""
        with self._writing() as db, fenced(db, self._fence(run_id, token)) as thread:
            (head,) = db.execute("SELECT head FROM threads WHERE thread_id = ?", (thread,)).fetchone()
            step_rows.end(db, step, Ref(thread, "", ""), head, token)
            db.execute("UPDATE runs SET available_at = ? WHERE run_id = ?", (to_micros(step.next_attempt_at), run_id))
            point("native.step-failed")
            if run_status is not None:
                move(db, run_id, run_status, step.error, case)
                record_hit(db, run_id, thread, hit)

    def finish(
        self,
        run_id: str,
        token: int,
        status: str,
        error: str | None = None,
        *,
        case: Approval | None = None,
        hit: BreakpointHit | None = None,
    ) -> Run:
        """Set the status and let go of the run."""
        with self._writing() as db:
            with fenced(db, self._fence(run_id, token)) as thread:
                move(db, run_id, status, error, case)
                record_hit(db, run_id, thread, hit)
            return run_at(db, run_id)

    def requeue(self, run_id: str, until: str | None) -> Run:
        """paused, crashed or failed → pending. Raises Conflict from any other status."""
        with self._writing() as db:
            thread = run_at(db, run_id).thread
            done = db.execute(
                "UPDATE runs SET status = 'pending', until = ?, requested = NULL, error = NULL, ended_at = NULL"
                " WHERE run_id = ? AND status IN ('paused', 'crashed', 'failed') AND hold_reason IS NULL"
                f" AND NOT EXISTS (SELECT 1 FROM runs WHERE thread_id = ? AND run_id <> ? AND status IN {_ACTIVE})",
                (until, run_id, thread, run_id),
            )
            if done.rowcount != 1:
                raise _busy(db, thread, run_id) or refused(db, run_id, "go on")
            withdraw(db, run_id)
            return run_at(db, run_id)

    def request(self, run_id: str, what: str) -> Run:
        """Ask a running owner to "pause" or "cancel"; done at once where nobody runs it."""
        if what not in ("pause", "cancel"):
            raise ValueError(f"a run can be asked to pause or cancel, not to {what}")
        with self._writing() as db:
            asked = db.execute(
                "UPDATE runs SET requested = CASE requested WHEN 'cancel' THEN requested ELSE ? END"
                " WHERE run_id = ? AND status = 'running'",
                (what, run_id),
            )
            if asked.rowcount != 1:
                self._stop_idle(db, run_id, what)
            return run_at(db, run_id)

    def _stop_idle(self, db: Database, run_id: str, what: str) -> None:
        if what == "cancel":
            moved = db.execute(
                "UPDATE runs SET status = 'cancelled', hold_reason = NULL, ended_at = ? WHERE run_id = ?"
                " AND status IN ('pending', 'waiting_human', 'paused', 'crashed')",
                (micros_now(db), run_id),
            )
            withdraw(db, run_id)
            step_rows.abandon(db, run_id)
        else:
            # What waits for an answer, or is paused or crashed, stands still already.
            moved = db.execute(
                "UPDATE runs SET status = CASE status WHEN 'pending' THEN 'paused' ELSE status END"
                " WHERE run_id = ? AND status IN ('pending', 'waiting_human', 'paused', 'crashed')",
                (run_id,),
            )
        if moved.rowcount != 1:
            raise refused(db, run_id, what)

    @rereading
    def run(self, run_id: str) -> Run:
        """Raises NotFound."""
        with self._reading() as db:
            return run_at(db, run_id)

    @rereading
    def runs(self, thread: str | None = None) -> tuple[Run, ...]:
        """Newest first."""
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {RUN} FROM runs WHERE ?1 IS NULL OR thread_id = ?1 ORDER BY created_at DESC, rowid DESC",
                (thread,),
            ).fetchall()
            clock = lease_clock(db)
        return tuple(run_of(row, clock) for row in rows)

    @rereading
    def substeps(self, ref: Ref) -> Mapping[str, Value]:
        """The outputs of what the unfinished node at ``ref`` completed of itself, from the state as it is there."""
        with self._reading() as db:
            return step_rows.substeps(db, ref)

    @rereading
    def steps(self, run_id: str | None = None, ref: Ref | None = None) -> tuple[StepRecord, ...]:
        """The log of a run, without inputs; or the attempts at ``ref`` with the state they started from."""
        with self._reading() as db:
            return step_rows.of_run(db, run_id) if ref is None else step_rows.at(db, ref, run_id)

    @rereading
    def visits(self, ref: Ref) -> Mapping[str, int]:
        """How often each node was completed on the line that ends at ``ref``, across forks."""
        with self._reading() as db:
            return step_rows.visits(db, ref)


def move(db: Database, run_id: str, status: str, error: str | None, case: Approval | None = None) -> str:
    """The run is let go of with that status. A request to cancel wins over a pause. Gives the status it has then."""
    if status in (RunStatus.PAUSED, RunStatus.WAITING):
        asked = db.execute("SELECT requested FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        status = RunStatus.CANCELLED if asked is not None and asked[0] == "cancel" else status
    held = case.kind if case is not None and status == RunStatus.CRASHED else None
    db.execute(
        "UPDATE runs SET status = ?, error = ?, ended_at = ?, hold_reason = ?, requested = NULL, owner = NULL,"
        " owner_pid = NULL, lease_until = NULL WHERE run_id = ?",
        (status, error, micros_now(db) if status in _ENDED else None, held, run_id),
    )
    if case is not None:
        insert_approval(db, case)
    if status == RunStatus.CANCELLED:
        withdraw(db, run_id)
        step_rows.abandon(db, run_id)
    return status


def let_go(db: Database, run_id: str, hold_reason: str, error: str | None) -> None:
    """Nobody runs it until its question, of the kind ``hold_reason``, is resolved."""
    db.execute(
        "UPDATE runs SET status = 'crashed', hold_reason = ?, error = ?, owner = NULL, owner_pid = NULL,"
        " lease_until = NULL, requested = NULL WHERE run_id = ?",
        (hold_reason, error, run_id),
    )


def _insert_first(db: Database, run: Run, first: NewCheckpoint) -> None:
    if db.execute("SELECT 1 FROM threads WHERE thread_id = ?", (first.ref.thread,)).fetchone() is not None:
        raise Conflict(f"thread {first.ref.thread!r} exists", hint="Choose another name, or resume that thread.")
    meta = {**first.meta, "run_id": run.run_id, "workflow_hash": run.workflow_hash}
    insert_checkpoint(db, replace(first, meta=meta))
    db.execute("UPDATE threads SET business_id = ? WHERE thread_id = ?", (run.business_id, run.thread))


def _insert_run(db: Database, run: Run, head: str) -> None:
    if db.execute("SELECT 1 FROM definitions WHERE hash = ?", (run.workflow_hash,)).fetchone() is None:
        raise NotFound(f"no workflow definition {run.workflow_hash}", hint="Register the definition first.")
    done = db.execute(
        "INSERT OR IGNORE INTO runs (run_id, thread_id, workflow_hash, status, mode, base, head, until, created_at,"
        f" business_id) SELECT ?1, ?2, ?3, 'pending', ?4, ?5, ?6, ?7, ?8, coalesce(?9, {BUSINESS_ID})"
        f" FROM threads t WHERE t.thread_id = ?2 AND NOT EXISTS"
        f" (SELECT 1 FROM runs WHERE thread_id = ?2 AND status IN {_ACTIVE})",
        (
            run.run_id, run.thread, run.workflow_hash, run.mode, run.base.id if run.base else head,
            run.head.id if run.head else head, run.until, to_micros(run.created) or micros_now(db), run.business_id,
        ),
    )  # fmt: skip
    if done.rowcount != 1:
        raise _busy(db, run.thread, run.run_id) or Conflict(f"run {run.run_id} exists", hint="Choose a new run id.")


def _busy(db: Database, thread: str, run_id: str) -> StoreError | None:
    row = db.execute(
        f"SELECT run_id, status FROM runs WHERE thread_id = ? AND run_id <> ? AND status IN {_ACTIVE}",
        (thread, run_id),
    ).fetchone()
    if row is None:
        return None
    return Conflict(f"run {row[0]} of thread {thread!r} is {row[1]}", hint="Resume that run, or cancel it first.")


def refused(db: Database, run_id: str, what: str) -> StoreError:
    """Why a run cannot do what was asked of it. Raises NotFound."""
    found = run_at(db, run_id)
    if found.hold_reason is not None:
        asked = db.execute("SELECT id FROM inbox WHERE run_id = ? AND status = 'open'", (run_id,)).fetchone()
        return Conflict(
            f"run {run_id} of thread {found.thread!r} is held ({found.hold_reason}) and cannot {what}",
            hint=f"Decide {asked[0]} first." if asked else "Look into the inbox.",
        )
    hint = "Answer its question first." if found.status == RunStatus.WAITING else "Fork the thread to go on from it."
    return Conflict(f"run {run_id} of thread {found.thread!r} is {found.status} and cannot {what}", hint=hint)


def _commit_step(db: Database, mine: Owned, commit: StepCommit) -> Header:
    then: Decision | StepCommit = commit
    if commit.decide is not None:
        then = commit.decide(mine.requested, breakpoints_at(db, mine.thread) if mine.may_stop else ())
    row = put_checkpoint(db, commit.checkpoint, made_by(mine, commit))
    point("native.checkpoint-inserted")
    step_rows.end(db, commit.step, commit.checkpoint.ref, row.parent_id, commit.token)
    point("native.step-completed")
    execute_statements(db, commit, mine.thread)
    if commit.approval is not None:
        insert_approval(db, commit.approval)
    if then.following is not None:
        step_rows.start(db, then.following, mine.thread, row.checkpoint_id, commit.token)
    status = then.run_status
    if status != RunStatus.RUNNING:  # it goes on as it stands: touching its status would write an index
        status = move(db, commit.run_id, status, then.error)
    record_hit(db, commit.run_id, mine.thread, then.hit)
    point("native.run-moved")
    return header_from(row, Standing(False, status, commit.approval is not None))


def _committed(db: Database, commit: StepCommit) -> Header | None:
    """What that commit has made, None when it has not been done. Another owner's of that attempt is another."""
    if not commit.commit_id:
        return None
    made = commit.checkpoint.ref
    row = db.execute(
        "SELECT 1 FROM checkpoints WHERE commit_id = ? AND thread_id = ? AND checkpoint_id = ?",
        (commit.commit_id, made.thread, made.id),
    ).fetchone()
    return None if row is None else header_at(db, made.thread, made.id)
