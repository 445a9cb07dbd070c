"""Threads of a LangGraph server, gone on with by the server itself: plan, run, answer, replay, and what it tells."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stores.errors import Conflict, NotFound, ReadOnly
from stores.model import Change, Header, Status
from tests.langgraph_server import Server
from tt_debug.engine.events import Event
from tt_debug.errors import NotAHead, UsageError, WaitingForAnswer
from tt_debug.session.plans import GraphTarget, RunRequest, RunResult
from tt_debug.session.session import Session

LODZ = {"city": "Łódź", "notes": []}


@pytest.fixture
def server(langgraph_server: Server) -> Server:
    return langgraph_server


@pytest.fixture
def session(server: Server) -> Iterator[Session]:
    opened = Session.open(server.url)
    yield opened
    opened.close()


def _at(session: Session, thread: str, step: int) -> Header:
    return next(one for ref, one in session.open_thread(thread).headers.items() if (one.step, ref.ns) == (step, ""))


def _run(session: Session, request: RunRequest) -> tuple[RunResult, list[Event]]:
    events: list[Event] = []
    return session.execute(session.plan(request), events.append), events


def _story(events: list[Event]) -> list[tuple[str, object]]:
    return [(event.kind, event.fields.get("node") or event.fields.get("status")) for event in events]


def test_the_plan_says_that_it_runs_on_the_server(server: Server, session: Session) -> None:
    thread = server.thread("trip", LODZ)
    head = session.resolve(thread)
    with pytest.raises(WaitingForAnswer):
        session.plan(RunRequest("resume", ref=head))
    plan = session.plan(RunRequest("resume", ref=head, answer=True, has_answer=True, graph=GraphTarget("mine:graph")))
    assert (plan.runner, plan.nodes, plan.thread, plan.step) == ("server", ("approve",), thread, 2)
    text = "\n".join(plan.lines())
    assert f"Resume {thread} on its server" in text
    assert f"assistant trip on the server {server.url}, not here" in text
    assert "the one given here is not used" in text
    with pytest.raises(NotAHead):
        session.plan(RunRequest("resume", ref=_at(session, thread, 1).ref))
    for request in (RunRequest("run"), RunRequest("update", ref=head, answer=True, has_answer=True)):
        with pytest.raises(UsageError):
            session.plan(request)


def test_a_recorded_answer_is_handed_on_and_the_run_is_told(server: Server, session: Session) -> None:
    thread = server.thread("trip", LODZ)
    (question,) = session.approvals(thread)
    assert (question.node, question.prompt["question"]) == ("approve", "book it?")
    session.answer(question.id, "yes", "lead")
    assert session.approvals(thread) == ()
    result, events = _run(session, RunRequest("resume", ref=session.resolve(thread)))
    assert (result.status, result.error) == (Status.DONE, None)
    assert _story(events) == [
        ("run_started", None),
        ("step_started", "approve"),
        ("step_finished", "approve"),
        ("step_started", "book"),
        ("step_finished", "book"),
        ("run_ended", Status.DONE),
    ]
    assert [event.fields.get("step") for event in events[1:5]] == [3, 3, 4, 4]
    assert events[2].fields["next"] == ["book"]
    assert result.head is not None
    assert session.load(result.head).state["notes"][-2:] == ["answer yes", "booked"]
    with pytest.raises(NotAHead, match="run to its end"):
        session.plan(RunRequest("resume", ref=session.resolve(thread)))


def test_of_two_questions_each_is_answered_by_itself(server: Server, session: Session) -> None:
    thread = server.thread("two", {"n": 1, "seen": []})
    left, right = sorted(session.approvals(thread), key=lambda one: one.node)
    with pytest.raises(UsageError, match="asks 2 questions"):
        session.plan(RunRequest("resume", ref=session.resolve(thread), answer="x", has_answer=True))
    session.answer(left.id, "L", "ann", thread=thread)
    result, events = _run(session, RunRequest("resume", ref=session.resolve(thread)))
    assert result.status == Status.WAITING
    assert [one.id for one in session.approvals(thread)] == [right.id]
    plan = session.plan(RunRequest("resume", ref=session.resolve(thread), answer="R", has_answer=True))
    assert plan.nodes == ("right",)
    events = []
    result = session.execute(plan, events.append)
    assert result.status == Status.DONE
    assert [event.fields["node"] for event in events if event.kind == "step_started"] == ["right"]
    assert result.head is not None
    assert session.load(result.head).state["seen"] == ["L", "R"]


def test_one_step_and_a_stop_before_a_node(server: Server, session: Session) -> None:
    thread = server.thread("trip", LODZ)
    fork = session.fork(_at(session, thread, 0).ref)
    result, events = _run(session, RunRequest("resume", ref=fork.ref, single_step=True))
    assert result.status == Status.PAUSED
    assert [event.fields["node"] for event in events if event.kind == "step_started"] == ["plan"]
    assert result.head is not None
    result, events = _run(session, RunRequest("resume", ref=result.head, until="approve"))
    assert result.status == Status.PAUSED
    assert [event.fields["node"] for event in events if event.kind == "step_finished"] == ["look", "judge", "research"]
    result, events = _run(session, RunRequest("resume", ref=session.resolve(fork.ref.thread)))
    assert (result.status, _story(events)[-2:]) == (
        Status.WAITING,
        [("waiting", "approve"), ("run_ended", Status.WAITING)],
    )


def test_a_failure_is_told_where_it_happened(server: Server, session: Session) -> None:
    thread = server.thread("trip", LODZ)
    session.edit(session.resolve(thread), [Change("add", ("fail",), new=True)])
    head = session.resolve(thread)
    result, _ = _run(session, RunRequest("resume", ref=head))
    (question,) = session.approvals(thread)
    result, events = _run(session, RunRequest("resume", ref=head, answer=1, has_answer=True))
    assert question.node == "approve"
    assert (result.status, result.error) == (Status.FAILED, "ValueError: no rooms left")
    assert ("step_failed", "book") in _story(events)
    assert session.resolve(f"{thread}@failed") == result.head


def test_a_replay_is_a_fork_that_the_server_runs(server: Server, session: Session) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    before = session.open_thread(thread).line()
    plan = session.plan(RunRequest("replay", ref=_at(session, thread, 1).ref))
    assert plan.nodes == ("a", "b")
    result, events = _run(session, plan.request)
    assert result.status == Status.DONE
    assert result.thread != thread
    assert {event.thread for event in events} == {result.thread}
    assert [event.fields["node"] for event in events if event.kind == "step_finished"] == ["a", "b", "c"]
    view = session.open_thread(thread)
    assert view.line() == before
    assert any(ref.thread == result.thread for ref in view.headers)
    with pytest.raises(UsageError, match="names threads itself"):
        session.plan(RunRequest("replay", ref=_at(session, thread, 1).ref, thread="mine"))


def test_a_fork_has_the_name_that_the_server_gives(server: Server, session: Session) -> None:
    thread = server.thread("trip", LODZ)
    assert session.free_name(thread) == ""
    with pytest.raises(UsageError, match="names threads itself"):
        session.fork(session.resolve(thread), "mine")
    fork = session.fork(_at(session, thread, 1).ref, None, [Change("change", ("city",), "Łódź", "Kraków")])
    (told,) = [info for info in session.threads() if info.thread == fork.ref.thread]
    assert told.forked_from == _at(session, thread, 1).ref
    assert session.open_thread(fork.ref.thread).line()[-2:] == (_at(session, thread, 1).ref, fork.ref)
    with pytest.raises(Conflict, match="not the head"):
        session.edit(_at(session, thread, 1).ref, [Change("change", ("city",), "Łódź", "Kraków")])


def test_nothing_is_run_or_stopped_for_who_only_looks(server: Server) -> None:
    thread = server.thread("fan", {"n": 0, "seen": []})
    looking = Session.open(server.url, read_only=True)
    head = looking.resolve(thread)
    for attempt in (lambda: looking.plan(RunRequest("resume", ref=head)), lambda: looking.stop(thread, "pause")):
        with pytest.raises(ReadOnly):
            attempt()
    looking.close()


def test_a_thread_that_nobody_runs_cannot_be_stopped(server: Server, session: Session) -> None:
    thread = server.thread("fan", {"n": 1, "seen": []})
    with pytest.raises(NotFound, match="no run is under way"):
        session.stop(thread, "pause")


def test_an_export_holds_every_checkpoint(server: Server, session: Session) -> None:
    thread = server.thread("trip", LODZ)
    lines = list(session.export(thread))
    assert len(lines) == 8
    assert lines[-1]["head"] is True
    assert lines[-1]["state"]["city"] == "Łódź"
