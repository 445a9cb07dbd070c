"""What a resume notices: a graph that changed, a head that moved, others who write, nodes that were not announced."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from stores.errors import Conflict
from stores.model import Change
from tests.engine.graph_threads import AGENTS, started, stock
from tt_debug.engine.events import Event
from tt_debug.engine.graph_fingerprint import differences, fingerprint
from tt_debug.errors import GraphChanged
from tt_debug.session.graph_runs import FirstStep
from tt_debug.session.plans import GraphTarget, RunRequest, RunResult
from tt_debug.session.session import Session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


def opened(path: Path, graph: str) -> Session:
    return Session.open(str(path), graph=GraphTarget(graph, folder=AGENTS))


def resumed(session: Session, ref: str = "t", **how: object) -> RunResult:
    request = RunRequest("resume", session.resolve(ref), **how)  # type: ignore[arg-type]
    return session.execute(session.plan(request), lambda event: None)


def test_a_graph_that_changed_asks_before_it_runs(tmp_path: Path) -> None:
    """By nodes, edges, channels and reducers; a fork knows the graph of what it was forked from."""
    path = started(tmp_path / "t.sqlite", "steered:builder", value={"mood": "good"}, interrupt_before=["look"])
    assert resumed(opened(path, "steered:builder"), until="party").status == "paused"
    longer = opened(path, "steered:longer")
    with pytest.raises(GraphChanged, match="steered:longer has changed since it last ran thread 't'") as caught:
        resumed(longer)
    assert caught.value.differences == ("node sweep is new", "edge party → sweep is new")
    longer.fork(longer.resolve("t"), "copy")
    with pytest.raises(GraphChanged):
        resumed(longer, "copy")
    with pytest.raises(GraphChanged):
        longer.execute(longer.plan(RunRequest("replay", longer.resolve("t@0"), thread="again")), lambda event: None)
    assert "again" not in {info.thread for info in longer.threads()}
    with pytest.raises(GraphChanged) as caught:
        resumed(opened(path, "steered:reduced"))
    assert caught.value.differences == (
        "channel log: BinaryOperatorAggregate of list through _operator.add before, "
        "BinaryOperatorAggregate of list through steered.newer now",
    )
    assert resumed(longer, accept_graph=True).status == "done"
    assert resumed(opened(path, "steered:longer"), "copy", accept_graph=True).status == "done"
    assert longer.load(longer.resolve("t")).state["log"] == ["look", "party", "sweep"]


def test_breakpoints_and_subgraphs_count_too() -> None:
    plain = {"nodes": ["a"], "edges": ["a → b"], "channels": {"x": "LastValue of int"}, "breakpoints": {}}
    stops = {**plain, "breakpoints": {"before": ["a"]}, "subgraphs": {"a": plain}}
    assert differences(plain, stops) == ["breakpoints before is new: ['a']", "subgraph a is new"]
    inner = {**plain, "subgraphs": {"a": {**plain, "nodes": ["a", "c"]}}}
    assert differences({**plain, "subgraphs": {"a": plain}}, inner) == ["a: node c is new"]
    assert differences(stops, stops) == []


def test_channels_named_like_nodes_are_edges() -> None:
    """As releases before 0.4 make them: the same graph under a later release has not changed."""
    node, channel = SimpleNamespace(triggers=["a"]), SimpleNamespace()
    parts = {"nodes": {"a": node}, "interrupt_before_nodes": [], "interrupt_after_nodes": []}
    old, new = (
        SimpleNamespace(**parts, channels=channels, get_subgraphs=list)
        for channels in ({"x": channel, "a": channel}, {"x": channel, "branch:to:a": channel})
    )
    assert fingerprint(old)["channels"] == {"x": "SimpleNamespace of None"}
    assert differences(fingerprint(old), fingerprint(new)) == []


def test_a_thread_that_moved_on_after_the_plan_is_not_run(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "letters:builder", interrupt_before=["b"])
    session = opened(path, "letters:graph")
    plan = session.plan(RunRequest("resume", session.resolve("t")))
    session.edit(session.resolve("t"), (Change("add", ("log", 2), new="edited"),))
    with pytest.raises(Conflict, match="has moved on since this was planned"):
        session.execute(plan, lambda event: None)


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


def test_what_the_application_stored_meanwhile_is_told(tmp_path: Path, gate: Callable[[], None]) -> None:
    import letters

    path = started(tmp_path / "t.sqlite", "letters:builder", interrupt_before=["b"])
    session = opened(path, "letters:graph")

    def listen(event: Event) -> None:
        if event.kind == "step_started" and event.fields["node"] == "b":
            with stock(path, letters.builder) as app:
                app.update_state({"configurable": {"thread_id": "t"}}, {"log": ["theirs"]}, as_node="a")
            gate()

    result = session.execute(session.plan(RunRequest("resume", session.resolve("t"))), listen)
    assert result.notes == ("1 checkpoint came from somebody else while it ran, the last one at step 2",)


def test_a_run_alone_has_nothing_to_tell(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "questions:two")
    session = opened(path, "questions:two")
    for ask in session.approvals():
        session.answer(ask.id, 1, "ann")
    assert resumed(session).notes == ()


def test_what_ran_is_compared_with_what_was_announced() -> None:
    heard: list[Event] = []
    first = FirstStep(heard.append)
    for node, step in (("a", 1), ("x", 1), ("c", 2)):
        first.listen(Event("step_started", "r", "t", "", {"node": node, "step": step}))
    assert first.differs_from(("a", "b"), "done") == ("a, b was to run, and a, x ran",)
    assert first.differs_from(("x", "a"), "done") == ()
    assert FirstStep(heard.append).differs_from(("a",), "waiting") == ()
    assert len(heard) == 3
