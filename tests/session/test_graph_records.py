"""Runs of a user's graph in our own records: who looks sees them in the words of the embedded engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.errors import Conflict, Unsupported
from stores.supervision import Breakpoint
from tests.engine.graph_threads import AGENTS, started, stored_log
from tt_debug.errors import ChildFailed, WaitingForAnswer
from tt_debug.session.operating import needs_attention
from tt_debug.session.plans import GraphTarget, RunPlan, RunRequest, RunResult
from tt_debug.session.session import Session
from tt_debug.unfinished import DIED, untouched


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("begun") / "t.sqlite"
    return started(path, "acting:at_most_once", interrupt_before=["first"]).read_bytes()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WORLD", str(tmp_path / "world"))
    (tmp_path / "world").touch()
    return tmp_path / "world"


@pytest.fixture
def session(tmp_path: Path, world: Path, begun: bytes) -> Iterator[Session]:
    (tmp_path / "t.sqlite").write_bytes(begun)
    session = Session.open(str(tmp_path / "t.sqlite"), graph=GraphTarget("acting:at_most_once", folder=AGENTS))
    yield session
    session.close()


def planned(session: Session, thread: str = "t") -> RunPlan:
    return session.plan(RunRequest("resume", session.resolve(thread)))


def resumed(session: Session, thread: str = "t") -> RunResult:
    return session.execute(planned(session, thread), lambda event: None)


def killed(session: Session, at: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TT_DEBUG_KILL_AT", at)
        with pytest.raises(ChildFailed):
            resumed(session)


def status(session: Session, thread: str = "t") -> tuple[str, str, str]:
    """As a listing, a graph and one checkpoint tell it."""
    [info] = [info for info in session.threads() if info.thread == thread]
    view = session.open_thread(thread)
    return info.status, view.headers[view.head].status, session.load(view.head).header.status


def test_a_store_that_nothing_was_run_on_has_no_records_and_gets_none_by_looking(
    session: Session, tmp_path: Path
) -> None:
    operations = session.operations
    assert [*session.runs(), *session.executor.effects(), *operations.plans(), *operations.inbox()] == []
    assert needs_attention(session._store) == 0
    assert status(session) == ("unfinished",) * 3
    assert not (tmp_path / "home").exists()


def test_a_crash_is_told_planned_for_and_recovered_from_and_its_effect_decided(
    session: Session, tmp_path: Path, world: Path
) -> None:
    killed(session, "run.effect-called")
    assert status(session) == ("crashed",) * 3
    assert untouched(session.load(session.resolve("t"))) == DIED
    [run] = session.runs()
    assert (run.thread, run.shown) == ("t", "crashed")
    [plan] = session.operations.plans()
    assert plan.evidence == f"its process {run.owner_pid} is gone"
    assert (plan.action, plan.then, plan.calls) == ("run", "run pay again", ("pay: not called again: you are asked",))
    held = session.operations.act(plan, lambda event: None)
    assert held is not None
    assert (held.status, status(session)) == ("held", ("held",) * 3)
    assert needs_attention(session._store) == 1
    [asked] = session.approvals()
    assert [each.id for each in session.operations.inbox("t")] == [asked.id]
    [waits] = session.operations.plans()
    assert (waits.action, waits.case) == ("wait", asked.id)
    with pytest.raises(WaitingForAnswer, match="is held until somebody decides about pay in pay") as caught:
        planned(session)
    assert caught.value.hint == f"tt-debug resolve STORE {asked.id} --as done|retry|skip|new-key"
    made = session.answer(asked.id, {"as": "done", "result": {"done": "by hand"}}, "ada")
    assert made.ref == session.resolve("t")
    with pytest.raises(Conflict, match="already answered by ada"):
        session.answer(asked.id, {"as": "skip"}, "bob")
    assert resumed(session).status == "done"
    assert stored_log(tmp_path / "t.sqlite")[-2:] == ["by hand", "quiet"]
    assert session.operations.figures().recoveries == 1
    assert [run.shown for run in session.runs("t")] == ["done"]
    assert [(use.step, use.use.effect.slot.name, use.use.called) for use in session.executor.effects("t")] == [
        (2, "pay", True),
        (2, "pay", False),
    ]
    view = session.open_thread("t")
    story = session.executor.story([view.headers[ref] for ref in view.line(session.resolve("t@2"))])
    assert [one.record.status for one in story[-1].attempts] == ["abandoned", "abandoned", "completed"]


def test_a_fork_is_given_what_its_line_has_on_record_and_a_fresh_one_calls_anew(
    session: Session, tmp_path: Path, world: Path
) -> None:
    base = session.resolve("t")
    assert resumed(session).status == "done"
    session.fork(base, "shares")
    session.fork(base, "fresh", fresh_effects=True)
    assert planned(session, "shares").recorded == ("pay in pay (at_most_once)",)
    assert planned(session, "fresh").recorded == ()
    assert (resumed(session, "shares").status, resumed(session, "fresh").status) == ("done", "done")
    assert world.read_text().count("pay") == 2
    with pytest.raises(Unsupported, match="is not ours to mark"):
        session.operations.set_breakpoint(Breakpoint("", "before", node="pay"))
