"""A store that is busy, a disk that is full, a death between two attempts: nothing is lost, and the run goes on."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import stores.sqlite
from stores.native.sqlite import NativeStore
from stores.runs import Approval, RunStatus
from stores.supervision import Case
from tests.crash.forks import KILLED, forked
from tests.crash.scenes import Scene
from tests.engine.flows import Bench, FakeClock, bench, python
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.engine.patience import PATIENCE
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here, run_workflow

pytestmark = pytest.mark.crash


class Locker(FakeClock):
    """Keeps the file locked from elsewhere, and lets go after so many seconds of waiting."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__()
        self._db = sqlite3.connect(path, isolation_level=None)
        self._left = seconds

    def lock(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self._left -= seconds
        if self._left <= 0 and self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()


def locked(on: Bench, seconds: float) -> Locker:
    """A clock that locks the store while the first node runs."""
    locker = Locker(on.folder / "store.sqlite", seconds)

    class Hooked(list[Any]):
        def append(self, event: Any) -> None:
            super().append(event)
            if event.kind == "step_started" and len(self) < 4:
                locker.lock()

    on.clock, on.events = locker, Hooked()
    return locker


def test_a_store_that_is_busy_for_two_seconds_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores.sqlite, "BUSY_SECONDS", 0.0)
    on = bench(tmp_path, [python("a", "trail", "b"), python("b", "trail", None)])
    on.start({})
    with closing(locked(on, 2.0)) as locker:
        assert on.go().status == "done"
        assert 2 <= locker.slept < PATIENCE
    assert on.state()["trail"] == ["a1", "b1"]


@pytest.mark.parametrize(("seconds", "durable"), [(PATIENCE + 5, True), (10_000.0, False)])
def test_a_store_that_is_busy_for_a_minute_pauses_the_run_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, durable: bool
) -> None:
    monkeypatch.setattr(stores.sqlite, "BUSY_SECONDS", 0.0)
    on = bench(tmp_path, [python("a", "trail", "b"), python("b", "trail", None)])
    on.start({})
    with closing(locked(on, seconds)) as locker:
        ending = on.go()
        assert ending.status == "paused"
        assert "busy for 60 seconds" in (ending.error or "")
        assert locker.slept <= 2 * PATIENCE
    found = on.store.run("run-t")
    assert (found.status, on.state()) == (RunStatus.PAUSED if durable else RunStatus.RUNNING, {})
    assert (found.error or "").startswith("store busy: ") is durable
    assert [step.status for step in on.store.steps("run-t")] == ["running"]
    on.events = []
    assert on.go().status == "done"
    assert on.state()["trail"] == ["a1", "b1"]


NODES = """
import os, signal
from pathlib import Path
HERE = Path(__file__).parent

def flaky(state, ctx):
    with open(HERE / "ran.txt", "a") as file:
        file.write(f"{ctx.attempt} ")
    if ctx.attempt < 3:
        raise TimeoutError(f"attempt {ctx.attempt}")
    return {"attempt": ctx.attempt}

def large(state):
    return {"text": "x" * 3_000_000}

def order(state, ctx):
    ctx.tx("CREATE TABLE orders (text)")
    ctx.tx("INSERT INTO orders VALUES (zeroblob(4000000))")
    return {"text": "ordered"}

def small(state):
    return {"small": True}
"""


def child(scene: Path, **fields: Any) -> Any:
    return run_workflow(WorkflowJob(str(scene / "store.sqlite"), "run-t", **fields), lambda event: None)


def test_a_death_while_it_waits_for_the_next_attempt_keeps_the_count_and_the_rest_of_the_wait(tmp_path: Path) -> None:
    (tmp_path / "trouble_nodes.py").write_text(NODES)
    retry = {"max": 4, "backoff": "fixed", "first": 30, "cap": 30}
    on = bench(tmp_path, [{"id": "a", "type": "python", "run": "trouble_nodes:flaky", "next": None, "retry": retry}])
    on.start({})
    env = {**os.environ, "TT_DEBUG_POINTS": str(tmp_path / "points"), "TT_DEBUG_KILL_AT": "run.step-failed"}
    code = (
        "import sys; from tt_debug.engine.worker import WorkflowJob, run_workflow;"
        "run_workflow(WorkflowJob(sys.argv[1], 'run-t'), lambda event: None)"
    )
    argv = [sys.executable, "-c", code, str(tmp_path / "store.sqlite")]
    before = datetime.now(UTC)
    subprocess.run(argv, env=env, check=True)
    (failed,) = on.store.steps("run-t")
    assert (failed.attempt, failed.status) == (1, "failed")
    assert failed.next_attempt_at is not None
    assert failed.next_attempt_at >= before + timedelta(seconds=30)
    # Another process goes on after the rest of the wait: here by a clock that stands shortly before its end.
    on.clock.time = failed.next_attempt_at - timedelta(seconds=4)
    sys.path.insert(0, str(tmp_path))
    try:
        assert on.go().status == "done"
    finally:
        sys.path.remove(str(tmp_path))
    assert (tmp_path / "ran.txt").read_text() == "1 2 3 "
    assert on.clock.slept == pytest.approx(4 + 30)
    assert on.state() == {"attempt": 3}


def limited() -> None:
    """No file may grow beyond a megabyte; what is too large is an error, not a signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


@pytest.mark.parametrize("large", ["large", "order"])
def test_a_file_that_may_not_grow_loses_the_step_and_nothing_else(tmp_path: Path, large: str) -> None:
    (tmp_path / "trouble_nodes.py").write_text(NODES)
    nodes = [
        {"id": name, "type": "python", "run": f"trouble_nodes:{name}", "next": following}
        for name, following in (("small", large), (large, None))
    ]
    on = bench(tmp_path, nodes)
    on.start({})
    code = (
        "import sys; from tt_debug.engine.worker import WorkflowJob, run_workflow\n"
        "try: run_workflow(WorkflowJob(sys.argv[1], 'run-t'), lambda event: None)\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    argv = [sys.executable, "-c", code, str(tmp_path / "store.sqlite")]
    done = subprocess.run(argv, capture_output=True, text=True, preexec_fn=limited, check=True)
    assert "Unreachable" in done.stdout, done.stdout + done.stderr
    assert "cannot be read or written" in done.stdout or "no space left" in done.stdout
    scene = Scene(tmp_path)
    assert scene.rows("pragma_integrity_check") == [("ok",)]
    assert on.state() == {"small": True}
    with closing(NativeStore(tmp_path / "store.sqlite")) as store:
        assert [step.status for step in store.steps("run-t")] == ["completed", "running"]
    assert child(tmp_path).status == "done"
    assert on.state()["text"] in ("ordered", "x" * 3_000_000)


POISON = """
import os, signal

def poison(state):
    os.kill(os.getpid(), signal.SIGKILL)

def fine(state):
    return {"fine": True}
"""


def test_a_step_that_kills_its_process_each_time_is_held_and_others_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "poison_nodes.py").write_text(POISON)
    choose = [{"when": "good", "to": "fine"}, {"to": "poison"}]
    nodes = [
        {"id": "start", "type": "llm_call", "prompt": "go", "next": choose},
        {"id": "poison", "type": "python", "run": "poison_nodes:poison", "next": None},
        {"id": "fine", "type": "python", "run": "poison_nodes:fine", "next": None},
    ]
    on = bench(tmp_path, nodes)
    on.start({"good": False}, "bad")
    on.start({"good": True}, "good")
    words = ["worker", str(tmp_path / "store.sqlite"), "--once", "--yes", "--mode", "auto"]
    assert main(words, Front(lambda screen: 0)) == 0
    capsys.readouterr()
    assert on.store.run("run-good").status == RunStatus.COMPLETED
    held = on.store.run("run-bad")
    # Once begun, and five times taken up again without a new checkpoint.
    assert (held.hold_reason, held.shown) == (Case.RECOVERY_LIMIT, "held")
    assert [step.status for step in on.store.steps("run-bad")] == ["completed", *["abandoned"] * 5, "running"]
    prompts = sorted(str(case.prompt) for case in on.store.cases())
    assert prompts == ["recovered 4 times", "recovered 5 times at this checkpoint, and never got further"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE steps SET output = '{' WHERE run_id = 'run-bad' AND status = 'completed'",
        "UPDATE runs SET workflow_hash = 'nothing' WHERE run_id = 'run-bad'",
    ],
)
def test_a_run_whose_record_is_damaged_is_held_and_the_sweep_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    on = bench(tmp_path, [python("a", "trail", "b"), python("b", "trail", None)])
    for name in ("bad", "good"):
        on.start({}, name)
        job = WorkflowJob(str(tmp_path / "store.sqlite"), f"run-{name}")
        kill = {"TT_DEBUG_KILL_AT": "run.step-committed"}
        assert forked(lambda job=job: run_here(job, StopFlag(), lambda event: None), kill) == KILLED
    with closing(sqlite3.connect(on.folder / "store.sqlite")) as db, db:
        db.execute(damage)
    words = ["worker", str(tmp_path / "store.sqlite"), "--once", "--yes", "--mode", "auto"]
    assert main(words, Front(lambda screen: 0)) == 0
    capsys.readouterr()
    assert on.store.run("run-good").status == RunStatus.COMPLETED
    held = on.store.run("run-bad")
    assert held.hold_reason in (Case.CHECKSUM, Case.VERSION)
    assert [case.run_id for case in on.store.cases()] == ["run-bad"]


DECIDE = """
import sys
from stores.registry import open_store
store = open_store(sys.argv[1], read_only=False)
store.resolve("c1", "retry", "Ada")
"""
REBIND = """
import sys
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.registry import open_store
store = open_store(sys.argv[1], read_only=False)
head, other = store.head("t"), store.definitions_of("flow")[0]
moved = NewCheckpoint(Ref("t", "", new_id(-1, head.id)), head, {"moved": True}, "migrate", step=-1, next=("a",))
store.rebind("run-t", store.run("run-t").token, other, moved)
"""


@pytest.mark.parametrize(
    ("script", "at"), [(DECIDE, "native.case-decided"), (REBIND, "native.rebound"), (REBIND, "sqlite.written")]
)
def test_a_death_in_a_decision_or_a_migration_leaves_all_as_it_was(tmp_path: Path, script: str, at: str) -> None:
    on = bench(tmp_path, [python("a", "trail", None)])
    on.start({})
    run = on.store.claim("run-t", "me", 1)
    if script is DECIDE:
        case = Approval("c1", "t", "", on.store.head("t").id, "", "?", run_id="run-t", kind=Case.VERSION)
        on.store.finish("run-t", run.token, RunStatus.CRASHED, case=case)
    scene = Scene(tmp_path)
    before = [scene.rows(table) for table in ("runs", "inbox", "checkpoints", "threads", "events")]
    argv = [sys.executable, "-c", script, scene.path]
    assert subprocess.run(argv, env={**os.environ, "TT_DEBUG_KILL_AT": at}, check=False).returncode == -9
    assert [scene.rows(table) for table in ("runs", "inbox", "checkpoints", "threads", "events")] == before
    assert subprocess.run(argv, check=False).returncode == 0
    assert [scene.rows(table) for table in ("runs", "inbox", "checkpoints", "threads", "events")] != before
