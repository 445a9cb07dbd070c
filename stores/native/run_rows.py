"""Rows of runs, as values; inside a transaction of the caller."""

from __future__ import annotations

from typing import Final

from stores.errors import NotFound
from stores.model import Ref, Value
from stores.native.database import Database
from stores.native.lease_clock import LeaseClock, lease_clock
from stores.native.rows import from_micros
from stores.runs import Run, RunStatus

RUN: Final = (
    "run_id, thread_id, workflow_hash, status, mode, business_id, base, head, until, token, owner, owner_pid,"
    " requested, recoveries, hold_reason, error, created_at, started_at, ended_at, boot_id, lease_until, beat_at,"
    " available_at"
)


def run_at(db: Database, run_id: str) -> Run:
    """Raises NotFound."""
    row = db.execute(f"SELECT {RUN} FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise NotFound(f"no run {run_id}", hint="List the runs with `tt-debug runs`.")
    return run_of(row, lease_clock(db))


def run_of(row: tuple[Value, ...], clock: LeaseClock) -> Run:
    (
        run_id, thread, workflow_hash, status, mode, business_id, base, head, until, token, owner, pid, requested,
        recoveries, hold, error, created, started, ended, boot, lease, beat, available,
    ) = row  # fmt: skip
    left = clock.left(boot, lease) if status == RunStatus.RUNNING else None
    return Run(
        run_id, thread, workflow_hash, status, mode, business_id, _ref(thread, base), _ref(thread, head), until, token,
        owner, pid, requested, recoveries, hold, error, from_micros(created), from_micros(started), from_micros(ended),
        boot, left, from_micros(beat), from_micros(available),
    )  # fmt: skip


def _ref(thread: str, id: str | None) -> Ref | None:
    return None if id is None else Ref(thread, "", id)
