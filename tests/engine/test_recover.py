"""Who runs a run: the kernel's lock, and the reading of a log that a dead process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stores.errors import Conflict, Unreachable
from stores.runs import Run, RunStatus, StepRecord
from tests.engine.flows import bench, python
from tt_debug.engine.recover import RunLock, Standing, is_alive, lock_path, standing, stop

HOLDER = """
import sys, os, time
from tt_debug.engine.recover import RunLock
lock = RunLock(sys.argv[1], sys.argv[2])
acquired = lock.acquire()
if len(sys.argv) > 3:
    if os.fork() == 0:
        print(acquired, flush=True)
        sys.stdin.readline()  # a child of the user's code that outlives its parent
        os._exit(0)
else:
    print(acquired, flush=True)
sys.stdin.readline()
lock.release()
"""


@contextmanager
def holder(store: Path, run_id: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-c", HOLDER, str(store), run_id, *more]
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == "True\n"
    try:
        yield child
    finally:
        child.stdin.close()
        child.wait()
        child.stdout.close()


def test_one_living_process_holds_the_lock(tmp_path: Path) -> None:
    store, run = tmp_path / "s.db", Run("r 'x'\n", "t", "h")
    assert not is_alive(str(store), run)
    assert list(tmp_path.iterdir()) == []
    with holder(store, run.run_id):
        assert is_alive(str(store), run)
        assert not RunLock(str(store), run.run_id).acquire()
        other = RunLock(str(store), "other")
        assert other.acquire()
        other.release()
    assert not is_alive(str(store), run)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [(), ("fork",)])
def test_the_kernel_frees_the_lock_at_death(tmp_path: Path, more: tuple[str, ...]) -> None:
    store, run = tmp_path / "s.db", Run("r", "t", "h")
    with holder(store, "r", *more) as child:
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert not is_alive(str(store), run)
        with RunLock(str(store), "r") as lock:
            assert lock.acquire()
            assert is_alive(str(store), run)
    assert not lock_path(str(store), "r").exists()


def test_a_lock_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(Unreachable):
        RunLock(str(tmp_path / "gone" / "s.db"), "r").acquire()


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
    path = on.store.info.path or ""
    on.start({})
    assert stop(on.store, path, "run-t", "pause").status == RunStatus.PAUSED
    on.store.claim("run-t", "dead", 1)
    assert stop(on.store, path, "run-t", "pause").status == RunStatus.PAUSED
    on.store.claim("run-t", "dead", 1)
    assert stop(on.store, path, "run-t", "cancel").status == RunStatus.CANCELLED
    with pytest.raises(Conflict, match="is cancelled and cannot cancel"):
        stop(on.store, path, "run-t", "cancel")


def test_stopping_what_somebody_runs_only_asks(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "count", None)])
    path = on.store.info.path or ""
    on.start({})
    on.store.claim("run-t", "alive", os.getpid())
    with holder(Path(path), "run-t"):
        run = stop(on.store, path, "run-t", "pause")
        assert (run.status, run.requested) == (RunStatus.RUNNING, "pause")
        assert stop(on.store, path, "run-t", "cancel").requested == "cancel"
        assert stop(on.store, path, "run-t", "pause").requested == "cancel"
