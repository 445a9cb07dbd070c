"""A run in its own process: the whole way, its death, its interruption, its refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from stores.errors import Conflict, NotFound, Unsupported
from stores.runs import RunStatus
from tests.engine.flows import Bench, bench
from tt_debug.engine.events import Event
from tt_debug.engine.ownership import claimed, is_alive
from tt_debug.engine.worker import WorkflowJob, run_workflow
from tt_debug.errors import UsageError

NODES = """
import os, signal, time
from pathlib import Path

HERE = Path(__file__).parent

def mark(name):
    with open(HERE / "ran.txt", "a") as file:
        file.write(name)

def a(state): mark("A"); return {"a": 1}
def b(state): print("from b"); mark("B"); return {"b": state["a"] + 1}
def c(state):
    mark("C")
    if (HERE / "die").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return {"c": state["b"] + 1}
def d(state): mark("D"); return {"d": state["c"] + 1}
def interrupted(state):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)
    return {"finished": True}
def exits(state): os._exit(7)
"""


def node(id: str, run: str, next: str | None) -> dict[str, Any]:
    return {"id": id, "type": "python", "run": f"abcd_nodes:{run}", "next": next}


@pytest.fixture
def abcd(tmp_path: Path) -> Bench:
    (tmp_path / "abcd_nodes.py").write_text(NODES)
    return bench(tmp_path, [node("A", "a", "B"), node("B", "b", "C"), node("C", "c", "D"), node("D", "d", None)])


def run(on: Bench, run_id: str = "run-t", **fields: Any) -> Any:
    on.events.clear()
    return run_workflow(WorkflowJob(on.store.info.path or "", run_id, **fields), on.events.append)


def test_a_run_in_a_child_process(abcd: Bench) -> None:
    abcd.start({})
    ended = run(abcd)
    assert (ended.run, ended.thread, ended.status, ended.error) == ("run-t", "t", "done", None)
    assert ended.head == abcd.store.head("t")
    assert abcd.state() == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert abcd.kinds()[0] == "run_started"
    assert abcd.kinds()[-1] == "run_ended"
    (said,) = [event for event in abcd.events if event.kind == "output"]
    assert (said.run, said.thread, said.fields) == ("run-t", "t", {"stream": "stdout", "text": "from b"})
    assert "abcd_nodes" not in sys.modules
    assert not list(abcd.folder.glob("*.locks"))


def test_a_run_that_is_killed_is_resumed_at_once_by_another_process(abcd: Bench) -> None:
    (abcd.folder / "die").touch()
    abcd.start({})
    died = run(abcd)
    assert (died.status, died.head) == ("crashed", abcd.store.head("t"))
    assert "signal 9" in died.error
    assert abcd.events[-1].fields["status"] == "crashed"
    found = abcd.store.run("run-t")
    assert found.status == RunStatus.RUNNING
    assert not is_alive(abcd.store, found)
    (abcd.folder / "die").unlink()
    assert run(abcd).status == "done"
    assert (abcd.folder / "ran.txt").read_text() == "ABC" + "CD"
    assert abcd.state() == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert abcd.store.run("run-t").recoveries == 1


def test_until_and_single_step_reach_the_child(abcd: Bench) -> None:
    abcd.start({})
    assert run(abcd, until="C").status == "paused"
    assert run(abcd, single_step=True).status == "paused"
    assert (abcd.folder / "ran.txt").read_text() == "ABC"


def test_an_interrupt_lets_the_step_end(tmp_path: Path) -> None:
    (tmp_path / "abcd_nodes.py").write_text(NODES)
    on = bench(tmp_path, [node("A", "interrupted", "D"), node("D", "d", None)])
    on.start({"c": 1})
    assert run(on).status == "paused"
    assert on.state() == {"c": 1, "finished": True}
    assert run(on).status == "done"


def test_a_child_that_exits_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "abcd_nodes.py").write_text(NODES)
    on = bench(tmp_path, [node("A", "exits", None)])
    on.start({})
    ended = run(on)
    assert (ended.status, ended.error) == ("crashed", "the process of the run died (exit 7)")


def test_a_run_that_is_being_run_is_refused(abcd: Bench) -> None:
    abcd.start({})
    with claimed(abcd.store, abcd.store.run("run-t")):
        with pytest.raises(Conflict, match=f"is being run by process {os.getpid()}"):
            run(abcd)
        assert abcd.store.run("run-t").token == 1


def test_refusals_arrive_as_what_they_are(abcd: Bench, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no run"):
        run(abcd)
    abcd.start({})
    run(abcd)
    with pytest.raises(Conflict, match="completed") as caught:
        run(abcd)
    assert caught.value.hint
    assert not list(abcd.folder.glob("*.locks"))


def test_until_a_node_that_there_is_not_runs_nothing(abcd: Bench) -> None:
    abcd.start({})
    with pytest.raises(UsageError, match="flow 1 has no node 'E'") as caught:
        run(abcd, until="E")
    assert caught.value.hint == "its nodes are A, B, C, D; @N is a step, when:EXPR a condition"
    assert abcd.store.run("run-t").status == RunStatus.PENDING


def test_two_processes_want_the_same_run(abcd: Bench) -> None:
    abcd.start({})
    outcomes: list[str] = []

    def attempt() -> None:
        events: list[Event] = []
        try:
            outcomes.append(run_workflow(WorkflowJob(abcd.store.info.path or "", "run-t"), events.append).status)
        except Conflict:
            outcomes.append("refused")

    threads = [threading.Thread(target=attempt) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done", "refused", "refused", "refused"]
    assert (abcd.folder / "ran.txt").read_text() == "ABCD"


def test_the_workflows_folder_can_be_named(abcd: Bench, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    (abcd.folder / "abcd_nodes.py").rename(moved / "abcd_nodes.py")
    abcd.start({})
    ended = run(abcd, folder=str(moved))
    assert ended.status == "done"
    assert (moved / "ran.txt").read_text() == "ABCD"


def test_a_store_that_keeps_no_runs(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "t.db") as db:
        db.execute("CREATE TABLE history (thread TEXT, id TEXT, parent TEXT, state TEXT)")
    db.close()
    url = f"sqlite:///{tmp_path}/t.db?table=history&thread=thread&id=id&parent=parent&state=state"
    with pytest.raises(Unsupported):
        run_workflow(WorkflowJob(url, "r"), lambda _event: None)


def test_planning_loads_no_heavy_library() -> None:
    code = (
        "import sys, tt_debug.engine.worker, tt_debug.engine.plan, tt_debug.engine.recover, json;"
        "print(json.dumps(sorted({'pydantic', 'networkx', 'jsonschema', 'ruamel', 'tenacity'} & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_a_parent_that_dies_leaves_the_run_going(abcd: Bench) -> None:
    """The child is its own session: killing the front end does not take the run with it."""
    script = (
        "import os, sys, signal\n"
        "from tt_debug.engine.worker import WorkflowJob, run_workflow\n"
        "def first(event):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "run_workflow(WorkflowJob(sys.argv[1], 'run-t'), first)\n"
    )
    abcd.start({})
    parent = subprocess.run([sys.executable, "-c", script, abcd.store.info.path or ""], check=False)
    assert parent.returncode == -signal.SIGKILL
    waited = threading.Event()
    while abcd.store.run("run-t").status != RunStatus.COMPLETED:
        waited.wait(0.02)
    assert os.path.exists(abcd.folder / "ran.txt")
