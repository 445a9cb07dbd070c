"""Edits at a checkpoint whose step is under way: what they would leave behind, and a fork that keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.model import Change, Ref
from tests.engine.graph_threads import AGENTS, started, stock
from tt_debug.session.losses import Losses, losses_at
from tt_debug.session.plans import GraphTarget, RunRequest
from tt_debug.session.session import Session

TOPIC = (Change("change", ("topic",), "rain", "snow"),)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Thread "t": left and below ask, quick is done."""
    return started(tmp_path / "t.sqlite", "crossing:builder", value={"topic": "rain", "log": ["in"]})


@pytest.fixture
def calls(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The nodes that were called since the thread began to wait."""
    found = tmp_path / "calls"
    found.touch()
    monkeypatch.setenv("CALLS", str(found))
    return found


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    with_graph = Session.open(str(path), graph=GraphTarget("crossing:builder", folder=AGENTS))
    yield with_graph
    with_graph.close()


def resumed(session: Session, thread: str) -> str:
    return session.execute(session.plan(RunRequest("resume", session.resolve(thread))), lambda event: None).status


def answered(session: Session, thread: str, node: str, value: str) -> None:
    [asked] = [ask for ask in session.approvals(thread) if ask.node == node]
    session.answer(asked.id, value, "ann", thread=thread)


def test_what_an_edit_would_leave_behind(session: Session) -> None:
    ref = session.resolve("t")
    assert losses_at(session, ref) == Losses(asking=("deep", "left"), finished=("quick",))
    assert [line.partition(":")[0] for line in losses_at(session, ref).lines()] == [
        "2 open questions (deep, left)",
        "1 finished result (quick)",
    ]
    answered(session, "t", "below", "yes")
    assert losses_at(session, ref) == Losses(asking=("left",), answered=("deep",), finished=("quick",))
    assert not losses_at(session, session.resolve("t@-1"))  # the thread went on from there


def test_an_edit_in_the_thread_leaves_it_with_the_original(session: Session) -> None:
    base = session.resolve("t")
    edited = session.edit(base, TOPIC)
    assert session.approvals() == ()
    assert [task.status for task in session.load(base).tasks] == ["waiting", "waiting", "done"]
    assert [task.status for task in session.load(edited.ref).tasks] == ["pending"] * 3


def test_a_fork_keeps_it_with_an_edit(session: Session, path: Path, calls: Path) -> None:
    base = session.resolve("t")
    before = session.load(base)
    made = session.fork(base, "kept", TOPIC, keep_results=True)
    assert (made.ref, made.source) == (Ref("kept", "", base.id), "fork")
    assert session.load(base) == before
    assert dict(session.load(made.ref).state) == {"topic": "snow", "log": ["in"]}
    assert {ask.node for ask in session.approvals("kept")} == {"left", "below"}
    answered(session, "kept", "below", "yes")
    assert resumed(session, "kept") == "waiting"
    assert [ask.node for ask in session.approvals("kept")] == ["left"]
    assert resumed_with(session, "kept", "no") == "done"
    assert "quick" not in calls.read_text().split()
    import crossing

    with stock(path, crossing.builder) as app:
        log = app.get_state({"configurable": {"thread_id": "kept"}}).values["log"]
        assert sorted(map(str, log)) == ["['below', 'yes']", "['left', 'no']", "in", "last on snow", "quick on rain"]
        assert len(app.get_state({"configurable": {"thread_id": "t"}}).interrupts) == 2


def resumed_with(session: Session, thread: str, value: str) -> str:
    request = RunRequest("resume", session.resolve(thread), answer=value, has_answer=True)
    return session.execute(session.plan(request), lambda event: None).status


def test_the_edited_copy_is_drawn_under_what_it_is_a_copy_of(session: Session) -> None:
    """Both have one id; the changes of the copy are against its original, before and after it has gone on."""
    base = session.resolve("t")
    made = session.fork(base, "kept", TOPIC, keep_results=True).ref
    for expected in ("waiting", "done"):
        view = session.open_thread("t")
        assert made in view.children(base)
        assert view.line(view.tip(made))[1:3] == (base, made)
        assert session.load(made).header.parent == base
        assert [(change.path, change.old, change.new) for change in session.diff(made)] == [
            (("topic",), "rain", "snow")
        ]
        if expected == "waiting":
            answered(session, "kept", "below", "yes")
            answered(session, "kept", "left", "yes")
            assert resumed(session, "kept") == "done"


def test_an_edit_where_the_thread_went_on_keeps_the_results_too(session: Session) -> None:
    """Of a step that others went on from, with its finished tasks: only what was left to run runs."""
    answered(session, "t", "below", "yes")
    answered(session, "t", "left", "yes")
    resumed(session, "t")
    base = session.resolve("t@0")
    made = session.fork(base, "kept", TOPIC, keep_results=True)
    assert {task.status for task in session.load(made.ref).tasks if task.node in made.next} == {"done"}
    assert resumed(session, "kept") == "done"
    head = session.load(session.resolve("kept"))
    assert "last on snow" in head.state["log"]
    assert "quick on rain" in head.state["log"]
