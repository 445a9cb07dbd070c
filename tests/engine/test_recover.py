"""The reading of a log that a dead process left, and stopping a run."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stores.errors import Conflict, LeaseLost
from stores.runs import RunStatus, StepRecord
from tests.engine.flows import bench, python
from tests.engine.holders import holder
from tt_debug.engine.ownership import lock_path
from tt_debug.engine.recover import Standing, standing, stop


def record(ordinal: int, attempt: int, status: str, retry: bool = False) -> StepRecord:
    at = datetime(2026, 1, 1, tzinfo=UTC) if retry else None
    return StepRecord("r", ordinal, "n", attempt, status=status, next_attempt_at=at)


def test_where_a_log_stands() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    done = record(0, 1, "completed")
    running = record(1, 1, "running")
    assert standing([]) == Standing(0, 1)
    assert standing([done]) == Standing(1, 1)
    assert standing([done, running]) == Standing(1, 2, interrupted=running)
    waits = [done, record(1, 1, "failed", retry=True)]
    assert standing(waits) == Standing(1, 2, failed=1, wait_until=at)
    died_again = record(1, 2, "running")
    assert standing([*waits, died_again]) == Standing(1, 3, failed=1, interrupted=died_again)
    assert standing([*waits, record(1, 2, "failed")]) == Standing(1, 3, failed=0)
    assert standing([*waits, record(1, 2, "abandoned"), record(1, 3, "failed", retry=True)]).failed == 2
    assert standing([record(0, 1, "abandoned"), record(0, 2, "skipped")]) == Standing(1, 1)


def test_stopping_what_nobody_runs_acts_at_once(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "count", None)])
    on.start({})
    assert stop(on.store, "run-t", "pause").status == RunStatus.PAUSED
    on.store.claim("run-t", "dead", 1)
    assert stop(on.store, "run-t", "pause").status == RunStatus.PAUSED
    on.store.claim("run-t", "dead", 1)
    assert stop(on.store, "run-t", "cancel").status == RunStatus.CANCELLED
    with pytest.raises(Conflict, match="is cancelled and cannot cancel"):
        stop(on.store, "run-t", "cancel")


def test_stopping_what_somebody_runs_only_asks(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "count", None)])
    on.start({})
    on.store.claim("run-t", "alive", os.getpid())
    with holder(lock_path(on.store, "run-t", "alive")):
        run = stop(on.store, "run-t", "pause")
        assert (run.status, run.requested) == (RunStatus.RUNNING, "pause")
        assert stop(on.store, "run-t", "cancel").requested == "cancel"
        assert stop(on.store, "run-t", "pause").requested == "cancel"


def test_a_cancel_by_force_takes_the_run_from_its_living_owner(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "count", None)])
    on.start({})
    owner = on.store.claim("run-t", "alive", os.getpid())
    with holder(lock_path(on.store, "run-t", "alive")):
        assert stop(on.store, "run-t", "cancel", force=True).status == RunStatus.CANCELLED
    with pytest.raises(LeaseLost):
        on.store.start_step("run-t", owner.token, StepRecord("run-t", 0, "a"))
    assert [event.data["evidence"] for event in on.store.events(["recovered"])] == ["cancel by force"]
