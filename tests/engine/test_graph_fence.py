"""One run at a time on a thread of a user's graph: what a process that lost its run can still do, which is nothing."""

from __future__ import annotations

import fcntl
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from stores.errors import Busy, Conflict
from stores.native.elsewhere import open_for_looking
from stores.runs import Run
from tests.engine.graph_threads import AGENTS, Outcome, records, run, started, stored_log, target
from tt_debug.engine.events import Event
from tt_debug.engine.graph import lock_of
from tt_debug.errors import ChildFailed


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WORLD", str(tmp_path / "world"))
    monkeypatch.syspath_prepend(AGENTS)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return started(
        tmp_path_factory.mktemp("begun") / "t.sqlite", "letters:builder", interrupt_before=["b"]
    ).read_bytes()


@pytest.fixture
def store(tmp_path: Path, begun: bytes) -> Path:
    path = tmp_path / "t.sqlite"
    path.write_bytes(begun)
    return path


def until(what: Callable[[], object]) -> None:
    while not what():
        time.sleep(0.02)


def newest() -> Run:
    found = open_for_looking(records())
    assert found is not None
    with closing(found):
        return found.runs("t")[0]


def children(process: int) -> list[int]:
    return [
        int(name)
        for task in Path(f"/proc/{process}/task").iterdir()
        for name in (task / "children").read_text().split()
    ]


def gone(process: int) -> bool:
    try:
        return (Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]) == "Z"
    except FileNotFoundError:
        return True


@contextmanager
def at_a_gate(
    store: Path, gate: Path, graph: str = "letters:graph", **how: float
) -> Iterator[list[Outcome | Exception]]:
    """A run on a thread of its own, in a node that waits until somebody writes to the gate."""
    os.mkfifo(gate)
    ended: list[Outcome | Exception] = []
    waits = threading.Event()

    def listen(event: Event) -> None:
        if event.kind == "step_started":
            waits.set()

    def drive() -> None:
        try:
            ended.append(run(store, target(graph), listen, **how))
        except ChildFailed as error:
            ended.append(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GATE", str(gate))
        patch.setenv("GATE_AT", "b")
        thread = threading.Thread(target=drive, daemon=True)
        thread.start()
        waits.wait()
    yield ended
    thread.join()


@pytest.mark.parametrize("which", ["both", pytest.param("driver", marks=pytest.mark.soak)])
def test_a_run_that_was_stopped_and_taken_over_writes_nothing(store: Path, tmp_path: Path, which: str) -> None:
    """Its owner's lease is over, or its driver is stopped, so that the owner gives no sign of life either."""
    with at_a_gate(store, tmp_path / "gate", lease=1.0) as ended:
        keeper = newest().owner_pid or 0
        stopped = [keeper, *children(keeper)] if which == "both" else children(keeper)
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        until(lambda: newest().lease_left == 0)
        assert run(store, target("letters:graph")).end.status == "done"
        before = rows(store)
        for process in stopped:
            os.kill(process, signal.SIGCONT)
        (tmp_path / "gate").write_bytes(b"")
    [zombie] = ended
    assert isinstance(zombie, Outcome)
    assert zombie.end.status == "lost"
    assert "another process took the run over" in (zombie.end.error or "")
    assert rows(store) == before
    assert stored_log(store) == ["in", "a", "b", "c", "d"]
    assert (newest().status, newest().recoveries, newest().token) == ("completed", 1, 2)


def test_a_run_whose_owner_was_killed_goes_on_at_once_and_finished_siblings_stay_finished(tmp_path: Path) -> None:
    """By the thread alone: with a checkpoint's id LangGraph would run them again."""
    store = started(tmp_path / "t.sqlite", "acting:pair", interrupt_before=["quick", "slow"])
    with at_a_gate(store, tmp_path / "gate", "acting:pair") as ended:
        [driver] = children(newest().owner_pid or 0)
        until(lambda: writes_of(store, "quick"))
        os.kill(newest().owner_pid or 0, signal.SIGKILL)
        until(lambda: gone(driver))
    assert isinstance(ended[0], ChildFailed)
    assert "what it has stored is kept, of parallel tasks too" in ended[0].hint
    again = run(store, target("acting:pair"))
    assert (again.end.status, again.nodes("step_started")) == ("done", ["slow"])
    assert sorted(stored_log(store), key=str) == ["in", "quick", "quiet", "slow"]
    assert Path(tmp_path / "world").read_text().count("quick") == 1


def rows(store: Path) -> list[object]:
    with closing(sqlite3.connect(store)) as connection:
        tables = ("SELECT * FROM checkpoints ORDER BY checkpoint_id", "SELECT * FROM writes ORDER BY rowid")
        return [connection.execute(table).fetchall() for table in tables]


def writes_of(store: Path, node: str) -> list[object]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute("SELECT 1 FROM writes WHERE task_path LIKE ?", (f"%{node}%",)).fetchall()


@pytest.mark.soak
def test_a_thread_in_the_middle_of_a_write_is_not_taken_over(store: Path) -> None:
    lock = lock_of(str(store), "t")
    lock.parent.mkdir(parents=True)
    with open(lock, "w") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        with pytest.raises(Busy, match="is in the middle of a write to thread 't'"):
            run(store, target("letters:graph"))
    assert run(store, target("letters:graph")).end.status == "done"


@pytest.mark.soak
def test_the_applications_own_writes_are_noticed_and_not_prevented(store: Path, tmp_path: Path) -> None:
    """Between the look at the thread and the run's beginning; later ones are told of at its end."""
    heads: list[str] = []

    def listen(event: Event) -> None:
        if event.kind == "run_started":
            heads.append(event.fields["base"])

    run(store, target("letters:graph"), listen, until="c")
    with pytest.raises(Conflict, match="has moved on since this was planned"):
        run(store, target("letters:graph"), head=heads[0])
