"""How a driven graph stops, waits, fails and is refused."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from stores.errors import Conflict, NotFound
from tests.engine.graph_threads import AGENTS, KINDS, Outcome, listing, records, run, started, stock, stored_log, target
from tt_debug.engine.events import Event
from tt_debug.engine.graph import describe_graph
from tt_debug.engine.graph_run import stop_graph
from tt_debug.errors import ChildFailed, DefinitionChanged, UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)
    return tmp_path / "home"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return started(
        tmp_path_factory.mktemp("begun") / "t.sqlite", "letters:builder", interrupt_before=["b"]
    ).read_bytes()


@pytest.fixture
def store(tmp_path: Path, begun: bytes) -> Path:
    path = tmp_path / "store" / "t.sqlite"
    path.parent.mkdir()
    path.write_bytes(begun)
    return path


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Node b waits until this is called."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    monkeypatch.setenv("GATE", str(path))
    monkeypatch.setenv("GATE_AT", "b")

    def opened() -> None:
        path.write_bytes(b"")

    return opened


RELEASE = f"langgraph {version('langgraph')}"
BOTH = pytest.mark.parametrize("graph", KINDS)
EACH = pytest.mark.parametrize("graph", ["letters:graph", "awaited:graph"])


@EACH
def test_a_run_tells_each_step_with_its_checkpoint(store: Path, graph: str) -> None:
    outcome = run(store, target(graph))
    events = [event for event in outcome.events if event.kind != "output"]
    assert [event.kind for event in events] == ["run_started", *["step_started", "step_finished"] * 3, "run_ended"]
    assert {(event.run, event.thread) for event in outcome.events} == {(outcome.end.run, "t")}
    first, last = events[0].fields, events[-1].fields
    assert (first["workflow"], first["version"], first["next"]) == (graph, RELEASE, ["b"])
    finished = [event.fields for event in events if event.kind == "step_finished"]
    assert [(f["node"], f["step"], f["next"]) for f in finished] == [("b", 2, ["c"]), ("c", 3, ["d"]), ("d", 4, [])]
    assert all(f["duration_ms"] >= 0 for f in finished)
    assert outcome.end.head is not None
    assert last == {"status": "done", "head": outcome.end.head.id, "error": None}
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(str(store)) as saver:
        history = [found.checkpoint["id"] for found in saver.list({"configurable": {"thread_id": "t"}})]
    assert [f["checkpoint"] for f in finished] == history[2::-1]
    assert first["base"] == history[3]
    assert finished[-1]["checkpoint"] == outcome.end.head.id


def test_what_a_node_prints_stands_within_its_step(store: Path) -> None:
    outcome = run(store, target("letters:graph"))
    told = [event.fields.get("text") or f"{event.kind} {event.fields.get('node')}" for event in outcome.events[1:-1]]
    assert told == [line for x in "bcd" for line in (f"step_started {x}", f"node {x}", f"step_finished {x}")]


@BOTH
def test_stock_langgraph_reads_the_end_and_the_file_has_nothing_beside_it(store: Path, graph: str) -> None:
    import letters

    run(store, target(graph))
    assert listing(store.parent) == ["t.sqlite"]
    with stock(store, letters.builder) as app:
        state = app.get_state({"configurable": {"thread_id": "t"}})
        assert (state.next, state.values) == ((), {"log": ["in", "a", "b", "c", "d"]})
        assert app.invoke({"log": ["again"]}, state.config)["log"][4:] == ["d", "again", "a", "b", "c", "d"]


@BOTH
def test_until_stops_before_the_node_and_is_nothing_where_it_stands_there(store: Path, graph: str) -> None:
    outcome = run(store, target(graph), until="d")
    assert (outcome.end.status, outcome.nodes()) == ("paused", ["b", "c"])
    again = run(store, target(graph), until="d")
    assert (again.end.status, again.nodes(), again.end.head) == ("paused", [], outcome.end.head)
    assert run(store, target(graph)).nodes() == ["d"]


def test_until_a_node_that_is_not_there_is_refused(store: Path) -> None:
    with pytest.raises(UsageError, match="no node 'z'") as caught:
        run(store, target("letters:graph"), until="z")
    assert caught.value.hint == "it has: a, b, c, d"


@BOTH
def test_a_single_step(store: Path, graph: str) -> None:
    outcome = run(store, target(graph), single_step=True)
    assert (outcome.end.status, outcome.nodes()) == ("paused", ["b"])
    assert outcome.the("step_finished").fields["next"] == ["c"]
    run(store, target(graph), single_step=True)
    assert run(store, target(graph), single_step=True).end.status == "done"


def test_a_breakpoint_of_the_graph_itself_holds(store: Path) -> None:
    assert run(store, target("letters:stops_at_c")).end.status == "paused"
    assert stored_log(store) == ["in", "a", "b"]
    assert run(store, target("letters:stops_at_c"), until="d").nodes() == ["c"]


def test_a_finished_thread_stays_as_it_is(store: Path) -> None:
    end = run(store, target("letters:graph")).end
    again = run(store, target("letters:graph"))
    assert (again.end.status, again.end.head, again.nodes("step_started")) == ("done", end.head, [])


@EACH
def test_an_interrupt_stops_after_the_step_that_runs(
    store: Path, graph: str, gate: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATE_UNTIL_STOPPED", "1")

    def listen(event: Event) -> None:
        if event.kind == "step_started":
            signal.raise_signal(signal.SIGINT)
            gate()

    outcome = run(store, target(graph), listen)
    assert (outcome.end.status, outcome.nodes()) == ("paused", ["b"])
    monkeypatch.delenv("GATE_AT")
    assert run(store, target(graph)).nodes() == ["c", "d"]


def test_a_stop_asked_for_from_elsewhere(
    store: Path, gate: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the terminal interface does it, which listens on a thread that no signal reaches."""
    monkeypatch.setenv("GATE_UNTIL_STOPPED", "1")

    def listen(event: Event) -> None:
        if event.kind == "step_started":
            assert stop_graph(records(), "t", "pause").status == "running"
            gate()

    ended: list[Outcome] = []
    thread = threading.Thread(target=lambda: ended.append(run(store, target("letters:graph"), listen)))
    thread.start()
    thread.join()
    assert (ended[0].end.status, ended[0].nodes()) == ("paused", ["b"])
    assert stop_graph(records(), "t", "cancel").status == "cancelled"
    with pytest.raises(NotFound, match="no run of ours drives 't'"):
        stop_graph(records(), "t", "pause")


def test_a_node_that_fails(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL_AT", "c")
    outcome = run(store, target("letters:graph"))
    assert (outcome.end.status, outcome.end.error) == ("failed", "ValueError: c is out of ink")
    failed = outcome.the("step_failed").fields
    assert (failed["node"], failed["error"], failed["retry_in"]) == ("c", "ValueError: c is out of ink", None)
    assert any("letters.py" in line for line in outcome.printed)  # the traceback leads to the user's line
    monkeypatch.delenv("FAIL_AT")
    assert run(store, target("letters:graph")).nodes() == ["c", "d"]
    assert stored_log(store) == ["in", "a", "b", "c", "d"]


def test_a_node_that_exits_is_a_failure(store: Path, tmp_path: Path) -> None:
    assert run(store, target("endings:exits")).end.error == "SystemExit: 3"
    with pytest.raises(ChildFailed, match=r"SIGKILL before the run ended; its last words:\s+farewell"):
        run(store, target("endings:killed"))


def test_a_thread_left_behind_by_the_graph_does_not_hold_the_end(store: Path) -> None:
    assert run(store, target("endings:lingers")).end.status == "done"


def test_a_sibling_that_finished_is_told_and_does_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its result is stored beside the checkpoint it started from, while the other one fails or asks."""
    store = started(tmp_path / "t.sqlite", "partings:uneven", interrupt_before=["quick", "slow"])
    monkeypatch.setenv("FAIL_AT", "slow")
    failed = run(store, target("partings:uneven"))
    assert (failed.end.status, failed.nodes(), failed.nodes("step_failed")) == ("failed", ["quick"], ["slow"])
    assert failed.end.head is not None
    assert failed.the("step_finished").fields["checkpoint"] == failed.end.head.id
    monkeypatch.delenv("FAIL_AT")
    again = run(store, target("partings:uneven"))
    assert again.the("run_started").fields["next"] == ["slow"]
    assert (again.end.status, again.nodes("step_started")) == ("done", ["slow"])
    assert sorted(map(str, stored_log(store))) == ["in", "quick", "slow"]


@pytest.fixture
def at_c(store: Path) -> Path:
    run(store, target("letters:graph"), until="c")
    return store


def test_a_graph_without_the_next_node_is_refused(at_c: Path) -> None:
    """Stock LangGraph ends such a thread silently, with nothing run."""
    before = stored_log(at_c)
    with pytest.raises(DefinitionChanged, match="c would run next") as caught:
        run(at_c, target("letters:without_c"))
    assert caught.value.differences == ("c",)
    assert describe_graph(target("letters:without_c"), str(at_c), "t").problems[0].startswith("c would run next")
    assert stored_log(at_c) == before


LONG = [pytest.param(builder, marks=pytest.mark.soak) for builder in ("joined", "inside")]


@pytest.mark.parametrize("builder", ["sent", *LONG])
def test_a_lost_node_that_a_join_or_a_send_would_start_or_that_a_subgraph_had(tmp_path: Path, builder: str) -> None:
    how = {} if builder == "inside" else {"interrupt_before": ["target"]}
    store = started(tmp_path / "t.sqlite", f"partings:{builder}", **how)
    with pytest.raises(DefinitionChanged, match="target would run next"):
        run(store, target(f"partings:{builder}_lost"))
    assert run(store, target(f"partings:{builder}")).end.status == "done"


def test_a_thread_that_this_release_or_this_graph_cannot_read(at_c: Path) -> None:
    with pytest.raises(ChildFailed, match=r"reading thread 't' with this graph failed: RuntimeError: I sum up numbers"):
        run(at_c, target("endings:sums_numbers"))


def test_two_runs_of_one_thread(store: Path, gate: Callable[[], None]) -> None:
    seen: list[Exception] = []

    def second(event: Event) -> None:
        if event.kind == "step_started" and not seen:
            with pytest.raises(
                Conflict, match=r"thread 't' is owned by process \d+ on \S+ since [\d: -]+ UTC, which runs it"
            ) as caught:
                run(store, target("letters:graph"))
            seen.append(caught.value)
            gate()

    assert run(store, target("letters:graph"), second).end.status == "done"
    assert len(seen) == 1
    assert stored_log(store) == ["in", "a", "b", "c", "d"]


Interpreter = Callable[[str], str]
GARBAGE = f'exec {sys.executable} -c \'import os; os.write(int(os.environ["TT_DEBUG_EVENTS_FD"]), b"garbage\\n")\''


@pytest.fixture
def script(tmp_path: Path) -> Interpreter:
    def make(text: str) -> str:
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return make


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo no python here >&2; exit 9", r"exit code 9 before the run ended; its last words:\s+no python here"),
        ("echo hello", r"exit code 0 before the run ended; its last words:\s+hello"),
        (GARBAGE, "broke its protocol; it wrote 'garbage'"),
    ],
)
def test_an_interpreter_that_is_none(store: Path, script: Interpreter, text: str, message: str) -> None:
    with pytest.raises(ChildFailed, match=message):
        run(store, target("letters:graph", python=script(text)))


def test_an_interpreter_that_is_not_there(store: Path) -> None:
    with pytest.raises(ChildFailed, match="cannot start /no/such/python"):
        run(store, target("letters:graph", python="/no/such/python"))
    with pytest.raises(ChildFailed, match="cannot start nopython3: No such file"):
        run(store, target("letters:graph", python="nopython3"))
