"""Questions that were answered once and are asked again on a replay; and the state of a copy of a waiting thread."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores.model import Value
from tests.engine.graph_threads import AGENTS, started, stock, stored_log
from tt_debug.session.plans import GraphTarget, RunRequest, RunResult
from tt_debug.session.session import Session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


def answered(session: Session, thread: str, *answers: Value) -> RunResult:
    """The thread resumed with one answer after another."""
    result = None
    for value in answers:
        request = RunRequest("resume", session.resolve(thread), answer=value, has_answer=True)
        result = session.execute(session.plan(request), lambda event: None)
    assert result is not None
    return result


def replayed(session: Session, ref: str, thread: str) -> RunResult:
    request = RunRequest("replay", session.resolve(ref), thread=thread)
    return session.execute(session.plan(request), lambda event: None)


def rows(path: Path, thread: str) -> list[tuple[Value, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return [
            row
            for table in ("checkpoints", "writes")
            for row in db.execute(f"SELECT * FROM {table} WHERE thread_id = ? ORDER BY 2, 3, 4, 5", (thread,))
        ]


def test_an_answer_to_a_replay_goes_to_the_replayed_branch(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "questions:chain")
    session = Session.open(str(path), graph=GraphTarget("questions:chain", folder=AGENTS))
    assert answered(session, "t", "A", "B").status == "done"
    before = rows(path, "t")
    assert replayed(session, "t@0", "again").status == "waiting"
    [asked] = session.approvals()
    assert (asked.thread, asked.node) == ("again", "first")  # what every list of questions names
    assert answered(session, "again", "NEW").status == "waiting"
    assert [(ask.thread, ask.node) for ask in session.approvals()] == [("again", "second")]
    assert answered(session, "again", "NEWER").status == "done"
    assert stored_log(path, "again") == ["in", ["first", "NEW"], "last", ["second", "NEWER"]]
    assert stored_log(path, "t") == ["in", ["first", "A"], "last", ["second", "B"]]
    assert rows(path, "t") == before
    view = session.open_thread("t")
    assert [ref.thread for ref in view.line(view.tip(session.resolve("again")))][:3] == ["t", "t", "again"]


def test_old_answers_are_not_taken_again(tmp_path: Path) -> None:
    """Two questions of one node: of the step that went on, neither results nor answers come along."""
    path = started(tmp_path / "t.sqlite", "questions:twice")
    session = Session.open(str(path), graph=GraphTarget("questions:twice", folder=AGENTS))
    assert answered(session, "t", "A", "B").status == "done"
    assert replayed(session, "t@0", "again").status == "waiting"
    assert not [row for row in rows(path, "again") if "__resume__" in row]
    assert answered(session, "again", "Z", "Y").status == "done"
    assert stored_log(path, "again") == ["in", ["Z", "Y"]]
    assert stored_log(path, "t") == ["in", ["A", "B"]]


def test_half_answered_nothing_that_finished_runs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = started(tmp_path / "t.sqlite", "crossing:builder", value={"topic": "rain", "log": ["in"]})
    session = Session.open(str(path), graph=GraphTarget("crossing:builder", folder=AGENTS))
    calls = tmp_path / "calls"
    monkeypatch.setenv("CALLS", str(calls))
    by_node = {ask.node: ask for ask in session.approvals()}
    assert {node: (ask.prompt, bool(ask.ns)) for node, ask in by_node.items()} == {
        "left": ({"ask": "left"}, False),
        "below": ({"ask": "below"}, True),
    }
    session.answer(by_node["below"].id, "yes", "ann")
    resume = RunRequest("resume", session.resolve("t"))
    assert session.execute(session.plan(resume), lambda event: None).status == "waiting"
    assert [ask.id for ask in session.approvals()] == [by_node["left"].id]
    session.answer(by_node["left"].id, "no", "ann")
    assert session.execute(session.plan(resume), lambda event: None).status == "done"
    assert sorted(set(calls.read_text().split())) == ["below", "last", "left"]


def test_a_copy_of_a_waiting_thread_stands_where_its_original_does(tmp_path: Path) -> None:
    """As stock LangGraph reads both: state, what is next, and the questions, those in the subgraph too."""
    import crossing

    path = started(tmp_path / "t.sqlite", "crossing:builder", value={"topic": "rain", "log": ["in"]})
    session = Session.open(str(path))
    before = rows(path, "t")
    session.fork(session.resolve("t"), "copy")
    assert rows(path, "t") == before
    with stock(path, crossing.builder) as app:
        one, other = (
            app.get_state({"configurable": {"thread_id": thread}}, subgraphs=True) for thread in ("t", "copy")
        )
        assert (one.values, one.next) == (other.values, other.next)
        assert [(ask.id, ask.value) for ask in one.interrupts] == [(ask.id, ask.value) for ask in other.interrupts]
        inner = [[task.state.values for task in each.tasks if task.state] for each in (one, other)]
        assert inner[0] == inner[1] != []
