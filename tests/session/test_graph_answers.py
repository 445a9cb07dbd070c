"""Answers to questions of LangGraph threads: recorded for one thread and one question, handed over by a resume."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.errors import Conflict, NotFound
from stores.model import Value
from tests.engine.graph_threads import AGENTS, started, stored_log
from tests.stores.handmade import Row, Wrote, ext, handmade, uuid
from tests.stores.langgraph_files import CURRENT, unpack
from tt_debug.errors import UsageError, WaitingForAnswer
from tt_debug.session.plans import GraphTarget, RunRequest, RunResult
from tt_debug.session.session import Session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[tuple[Session, Path]]:
    """Thread "t" asks for a size and a color at once."""
    path = started(tmp_path / "q.sqlite", "questions:two")
    session = Session.open(str(path), graph=GraphTarget("questions:two", folder=AGENTS))
    yield session, path
    session.close()


def resumed(session: Session, thread: str) -> RunResult:
    return session.execute(session.plan(RunRequest("resume", session.resolve(thread))), lambda event: None)


def answered(session: Session, thread: str, node: str, value: Value) -> None:
    [asked] = [ask for ask in session.approvals(thread) if ask.node == node]
    session.answer(asked.id, value, "ann", thread=thread)


def test_a_copy_of_a_waiting_thread_is_answered_apart_from_it(waiting: tuple[Session, Path]) -> None:
    """A copied checkpoint keeps its id, and with it LangGraph gives the question the same id in both threads."""
    session, path = waiting
    session.fork(session.resolve("t"), "copy")
    assert len(session.approvals()) == 4
    size = next(ask for ask in session.approvals("t") if ask.node == "size")
    with pytest.raises(UsageError, match="copy, t") as caught:
        session.answer(size.id, 1, "ann")
    assert "--thread" in caught.value.hint
    answered(session, "t", "size", "large")
    assert [(ask.thread, ask.node) for ask in session.approvals() if ask.node == "size"] == [("copy", "size")]
    with pytest.raises(WaitingForAnswer):
        resumed(session, "copy")
    with pytest.raises(Conflict, match="answered by ann"):
        session.answer(size.id, "other", "bob", thread="t")
    with pytest.raises(NotFound):
        session.answer(size.id, "other", "bob", thread="nobody")
    session.answer(size.id, "small", "bob")  # only the copy's is left open
    for thread, color in (("copy", "red"), ("t", "blue")):
        answered(session, thread, "color", color)
    assert [resumed(session, thread).status for thread in ("t", "copy")] == ["done", "done"]
    assert sorted(map(str, stored_log(path, "t")))[:2] == ["['color', 'blue']", "['size', 'large']"]
    assert sorted(map(str, stored_log(path, "copy")))[:2] == ["['color', 'red']", "['size', 'small']"]


def test_the_answer_to_a_first_question_is_not_the_answer_to_a_second_of_the_same_id(tmp_path: Path) -> None:
    """Up to langgraph 1.0 all questions of one task have one id."""
    path = started(tmp_path / "q.sqlite", "questions:twice")
    session = Session.open(str(path), graph=GraphTarget("questions:twice", folder=AGENTS))
    [first] = session.approvals()
    session.answer(first.id, 1, "ann")
    assert session.approvals() == ()
    assert resumed(session, "t").status == "waiting"
    [second] = session.approvals()
    with closing(sqlite3.connect(path)) as db, db:
        for rowid, value in db.execute("SELECT rowid, value FROM writes WHERE channel = '__interrupt__'").fetchall():
            same = value.replace(second.id.encode(), first.id.encode())
            db.execute("UPDATE writes SET value = ? WHERE rowid = ?", (same, rowid))
    [again] = session.approvals()
    assert (again.id, again.prompt) == (first.id, {"ask": "again"})
    with pytest.raises(WaitingForAnswer):
        resumed(session, "t")
    session.answer(again.id, 2, "ann")
    assert session.approvals() == ()


def test_a_plan_names_what_runs_and_not_what_has_finished(tmp_path: Path) -> None:
    session = Session.open(str(unpack(CURRENT, tmp_path)), graph=GraphTarget("agent:graph"))
    ref = session.resolve("hitl-waiting")
    plan = session.plan(RunRequest("resume", ref, answer=True, has_answer=True))
    assert session.open_thread("hitl-waiting").headers[ref].next == ("approve", "audit")
    assert plan.nodes == ("approve",)
    assert "audit has finished and keeps its results" in plan.notes
    [node] = session.plan(RunRequest("resume", session.resolve("node-error"))).nodes
    assert node == "boom"
    replayed = session.plan(RunRequest("replay", session.resolve("hitl-resumed@1")))
    assert replayed.nodes == ("approve", "audit")


def test_a_plan_names_what_a_run_would_be_refused_for(tmp_path: Path) -> None:
    state = {"x": ext(0, "os", "mkdir", str(tmp_path / "no")), "when": ext(0, "decimal", "Decimal", "1"), "n": 1}
    rows = [
        Row(uuid(1), None, state, next=["a"]),
        Row(uuid(1), None, {"n": 1}, next=["a"], thread="plain"),
    ]
    path = handmade(tmp_path / "q.sqlite", rows, [Wrote(uuid(1), "task", "y", ext(2, "ghost", "Rec", {"v": 1}))])
    session = Session.open(str(path), graph=GraphTarget("agent:graph"))
    plan = session.plan(RunRequest("resume", session.resolve("t")))
    assert plan.notes == (
        "will be refused: the stored state names os.mkdir, no class of plain values",
        "refused unless the graph imports ghost.Rec, which the stored state names",
    )
    assert session.plan(RunRequest("resume", session.resolve("plain"))).notes == ()
    assert not (tmp_path / "no").exists()
