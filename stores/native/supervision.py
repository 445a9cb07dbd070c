"""Ownership, the inbox's cases and the event log in the native tables: the `stores.supervised.Supervised` part.

Owns how a run gets another owner, each step decided by a WHERE clause; what an owner writes is in `runs`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final

from stores.errors import Conflict, NotFound
from stores.leases import LEASE_SECONDS
from stores.model import Header, NewCheckpoint, Ref, Value
from stores.native.breakpoints import breakpoints_at
from stores.native.checksums import fault
from stores.native.database import Database
from stores.native.event_rows import event_of, log
from stores.native.fencing import check_head, is_owned, lost, owned
from stores.native.inbox import COLUMNS, approval_of, insert_approval, not_open, withdraw
from stores.native.lease_clock import lease_clock, micros_now
from stores.native.place import copied_from, keep_place
from stores.native.rows import ASKED, EPOCH, insert_checkpoint, to_text
from stores.native.run_rows import run_at
from stores.native.runs import NativeRuns, move, refused
from stores.points import point
from stores.rereading import rereading
from stores.runs import Approval, Run, RunStatus
from stores.supervision import CANCEL, DISMISS, Breakpoint, StoredEvent, Takeover

_CLAIM: Final = """
UPDATE runs SET token = token + 1, owner = ?, owner_pid = ?, boot_id = ?, lease_until = ?, beat_at = ?, error = NULL,
       recoveries = CASE WHEN status IN ('running', 'crashed') THEN recoveries + 1 ELSE recoveries END,
       on_conflict = coalesce(?, on_conflict), status = 'running',
       requested = nullif(requested, 'pause'), started_at = coalesce(started_at, ?)
WHERE run_id = ? AND hold_reason IS NULL
  AND (status IN ('pending', 'paused', 'crashed')
       OR (status = 'running' AND (boot_id IS NULL OR boot_id <> ? OR lease_until <= ? OR token = ?)))
  AND (? IS NULL OR status = ? AND token = ?)
"""
_EVENT: Final = "id, at, kind, run_id, thread_id, data"


class NativeSupervision(NativeRuns):
    """Watching over runs; see `stores.supervised.Supervised` for what each method promises."""

    def claim(
        self,
        run_id: str,
        owner: str,
        pid: int,
        on_conflict: str | None = None,
        *,
        lease: float = LEASE_SECONDS,
        takeover: Takeover | None = None,
        seen: Run | None = None,
    ) -> Run:
        """Take the run; the lease is measured by the machine's clock since boot."""
        with self._writing() as db:
            at, clock = micros_now(db), lease_clock(db)
            before = run_at(db, run_id)
            over = -1 if takeover is None else takeover.token
            status, token = (None, None) if seen is None else (seen.status, seen.token)
            done = db.execute(
                _CLAIM,
                (
                    owner, pid, clock.boot, clock.after(lease), at, on_conflict, at, run_id, clock.boot, clock.at, over,
                    status, status, token,
                ),
            )  # fmt: skip
            if done.rowcount != 1:
                raise _not_claimed(before, seen) or refused(db, run_id, "be run")
            run = run_at(db, run_id)
            if run.recoveries > before.recoveries:
                _keep_recovery(db, run, before, takeover)
            point("native.claimed")
        self._claims[run_id, run.token] = owner
        return run

    @rereading
    def time(self) -> datetime:
        """A server's own; a client's clock may say anything."""
        with self._reading() as db:
            return EPOCH + timedelta(microseconds=micros_now(db))

    def beat(self, run_id: str, token: int, lease: float = LEASE_SECONDS) -> None:
        """Prolong the lease."""
        with self._writing() as db:
            owned(db, self._fence(run_id, token))
            db.execute("UPDATE runs SET lease_until = ? WHERE run_id = ?", (lease_clock(db).after(lease), run_id))
            point("native.beat")

    def owned(self, run_id: str, token: int) -> Run:
        """Raises LeaseLost when somebody else owns it, or nobody."""
        return self.orders(run_id, token)[0]

    @rereading
    def orders(self, run_id: str, token: int) -> tuple[Run, tuple[Breakpoint, ...]]:
        """On one snapshot."""
        fence = self._fence(run_id, token)
        with self._reading() as db:
            run = run_at(db, run_id)
            if not is_owned(run, fence):
                raise lost(run, fence)
            return run, breakpoints_at(db, run.thread)

    def cases(self, thread: str | None = None, status: str | None = "open") -> tuple[Approval, ...]:
        """Oldest first."""
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM inbox WHERE (?1 IS NULL OR thread_id = ?1) AND (?2 IS NULL OR status = ?2)"
                f" AND NOT {ASKED} ORDER BY created_at, rowid",
                (thread, status),
            ).fetchall()
        return tuple(approval_of(row) for row in rows)

    def open_case(self, case: Approval) -> bool:
        """False when it was opened before."""
        with self._writing() as db:
            if db.execute("SELECT 1 FROM inbox WHERE id = ?", (case.id,)).fetchone() is not None:
                return False
            insert_approval(db, case)
            return True

    def resolve(self, case_id: str, decision: str, by: str) -> Run | None:
        """Decide once; what the decision does to the run is in the same transaction."""
        with self._writing() as db:
            row = db.execute(
                "UPDATE inbox SET status = 'answered', answer = ?, answered_by = ?, answered_at = ?"
                f" WHERE id = ? AND status = 'open' AND NOT {ASKED} RETURNING {COLUMNS}",
                (to_text(decision, "decision"), by, micros_now(db), case_id),
            ).fetchone()
            if row is None:
                raise not_open(db, case_id)
            point("native.case-decided")
            case = approval_of(row)
            if case.run_id is None:
                return None
            _follow(db, case.run_id, decision)
            log(db, "resolved", {"case": case_id, "decision": decision, "by": by}, case.run_id, case.thread)
            return run_at(db, case.run_id)

    def expire(self, approval_id: str, error: str) -> Run | None:
        """The question's run fails with ``error``."""
        with self._writing() as db:
            row = db.execute(
                f"UPDATE inbox SET status = 'expired', answered_at = ? WHERE id = ? AND status = 'open' AND {ASKED}"
                f" RETURNING {COLUMNS}",
                (micros_now(db), approval_id),
            ).fetchone()
            if row is None:
                raise not_open(db, approval_id)
            asked = approval_of(row)
            if asked.run_id is None:
                return None
            db.execute(
                "UPDATE steps SET status = 'failed', error = ?, error_class = 'Expired', ended_at = ?"
                " WHERE run_id = ? AND status = 'waiting'",
                (error, micros_now(db), asked.run_id),
            )
            move(db, asked.run_id, RunStatus.FAILED, error)
            return run_at(db, asked.run_id)

    def rebind(self, run_id: str, token: int, workflow_hash: str, moved: NewCheckpoint) -> Header:
        """The checkpoint's own metadata names the definition."""
        with self._writing() as db:
            check_head(db, owned(db, self._fence(run_id, token), moved.ref.id), moved)
            header = insert_checkpoint(db, moved, token=token)
            db.execute("UPDATE runs SET workflow_hash = ? WHERE run_id = ?", (workflow_hash, run_id))
            point("native.rebound")
            return header

    @rereading
    def copied_from(self) -> str | None:
        """Where the runs of the file were run before."""
        with self._reading() as db:
            return copied_from(db, self.info.path)

    def settle(self) -> None:
        """The file that this is now."""
        with self._writing() as db:
            keep_place(db, self.info.path, anew=True)
            point("native.settled")

    def definitions_of(self, workflow_id: str) -> tuple[str, ...]:
        """The newest first."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT hash FROM definitions WHERE workflow_id = ? ORDER BY created_at DESC, rowid DESC",
                (workflow_id,),
            ).fetchall()
        return tuple(row[0] for row in rows)

    def protect(self, thread: str, protected: bool) -> None:
        """Raises NotFound."""
        with self._writing() as db:
            done = db.execute("UPDATE threads SET protected = ? WHERE thread_id = ?", (int(protected), thread))
            if done.rowcount != 1:
                raise NotFound(f"no thread {thread!r}", hint="List the threads with `tt-debug threads`.")

    def protected(self) -> frozenset[str]:
        """As `stores.keeping.TellsProtected.protected`."""
        with self._reading() as db:
            rows = db.execute("SELECT thread_id FROM threads WHERE protected <> 0").fetchall()
        return frozenset(row[0] for row in rows)

    def log_event(
        self, kind: str, data: Mapping[str, Value], *, run_id: str | None = None, thread: str | None = None
    ) -> StoredEvent:
        """Remember it."""
        with self._writing() as db:
            return log(db, kind, data, run_id, thread)

    def events(
        self,
        kinds: Collection[str] = (),
        *,
        run_id: str | None = None,
        thread: str | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> tuple[StoredEvent, ...]:
        """The newest, oldest first."""
        wanted = sorted(kinds)
        among = f" AND kind IN ({', '.join('?' for _ in wanted)})" if wanted else ""
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {_EVENT} FROM events WHERE id > ? AND (run_id = ? OR ?) AND (thread_id = ? OR ?){among}"
                " ORDER BY id DESC LIMIT ?",
                (after, run_id, run_id is None, thread, thread is None, *wanted, limit),
            ).fetchall()
        return tuple(event_of(row) for row in reversed(rows))

    def fault(self, ref: Ref, known: Ref | None = None) -> tuple[Ref, str] | None:
        """Walk the line up from ``ref``."""
        with self._reading() as db:
            return fault(db, ref, known)


def _not_claimed(run: Run, seen: Run | None) -> Conflict | None:
    """None where it is the run's status alone that does not allow it."""
    if run.status == RunStatus.RUNNING:
        return _owned(run)
    if seen is None or (seen.status, seen.token) == (run.status, run.token):
        return None
    return Conflict(
        f"run {run.run_id} of {run.thread!r} was {seen.shown} and is {run.shown} by now", hint="Look at it again."
    )


def _owned(run: Run) -> Conflict:
    return Conflict(
        f"run {run.run_id} of {run.thread!r} is being run by process {run.owner_pid}",
        hint="Wait for it, pause or cancel it.",
    )


def _keep_recovery(db: Database, run: Run, before: Run, takeover: Takeover | None) -> None:
    evidence = "its lease is over" if before.status == RunStatus.RUNNING else "it was recorded as crashed"
    if takeover is not None and takeover.token == before.token:
        evidence = takeover.evidence
    head = db.execute("SELECT head FROM threads WHERE thread_id = ?", (run.thread,)).fetchone()[0]
    beat = None if before.beat is None else before.beat.isoformat()
    data = {"token": run.token, "head": head, "evidence": evidence, "last_beat": beat}
    log(db, "recovered", data, run.run_id, run.thread)


def _follow(db: Database, run_id: str, decision: str) -> None:
    """What a decision does to the run it is about."""
    if decision == DISMISS:
        return
    if decision == CANCEL:
        done = db.execute(
            "UPDATE runs SET status = 'cancelled', hold_reason = NULL, ended_at = ? WHERE run_id = ?"
            " AND status IN ('crashed', 'failed', 'paused', 'pending')",
            (micros_now(db), run_id),
        )
        withdraw(db, run_id)
    else:
        done = db.execute(
            "UPDATE runs SET status = 'pending', hold_reason = NULL, error = NULL, ended_at = NULL, requested = NULL"
            " WHERE run_id = ? AND status IN ('crashed', 'failed')",
            (run_id,),
        )
    if done.rowcount != 1:
        raise refused(db, run_id, decision)
