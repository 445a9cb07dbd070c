"""What may be run from where, what a plan says, and what is refused with which next step."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stores import create_native
from stores.errors import Conflict, Invalid, NotFound, ReadOnly
from stores.model import Change
from tests.engine.flows import bench, python
from tt_debug.demo import DemoFiles
from tt_debug.engine.ownership import claimed
from tt_debug.errors import DefinitionChanged, NotAHead, UsageError, WaitingForAnswer
from tt_debug.session.answers import yes
from tt_debug.session.plans import RunRequest, RunResult
from tt_debug.session.session import Session

FIX = (Change("change", ("budget", "per_night"), 96_000, 32_000),)


def _run(session: Session, request: RunRequest) -> tuple[RunResult, list[str]]:
    ran: list[str] = []

    def note(event: object) -> None:
        if event.kind == "step_finished":  # type: ignore[attr-defined]
            ran.append(event.fields["node"])  # type: ignore[attr-defined]

    return session.execute(session.plan(request), note), ran


def test_a_plan_lists_what_will_run_and_runs_nothing(native: Session) -> None:
    fork = native.fork(native.resolve("trip-planner@15"), None, FIX)
    plan = native.plan(RunRequest("resume", fork.ref))
    assert plan.nodes[:2] == ("rank_hotels", "choose_hotel")
    assert any("rank_hotels → choose_hotel" in line for line in plan.lines())
    assert native.runs(fork.ref.thread) == ()


@pytest.mark.parametrize(("text", "says"), [("trip-planner@15", "not the head"), ("trip-planner", "to its end")])
def test_only_a_head_that_can_go_on_is_resumed(native: Session, text: str, says: str) -> None:
    with pytest.raises(NotAHead, match=says) as caught:
        native.plan(RunRequest("resume", native.resolve(text)))
    assert "tt-debug fork STORE" in caught.value.hint


def test_a_waiting_thread_wants_an_answer_and_goes_on_with_it(native: Session) -> None:
    ref = native.resolve("offer-17")
    with pytest.raises(WaitingForAnswer) as caught:
        native.plan(RunRequest("resume", ref))
    assert caught.value.approval == native.approvals()[0].id
    with pytest.raises(Invalid, match="approved"):
        native.plan(RunRequest("resume", ref, answer={"yes": 1}, has_answer=True))
    request = RunRequest("resume", ref, answer={"approved": True}, has_answer=True, answered_by="ann")
    assert native.plan(request).nodes == ("send_offer",)
    result, ran = _run(native, request)
    assert (result.status, ran) == ("done", ["send_offer"])
    assert native.approvals() == ()


def test_an_answer_is_recorded_once_and_used_by_a_later_resume(native: Session) -> None:
    question = native.approvals()[0]
    native.answer(question.id, "too dear", "ann", reject=True)
    with pytest.raises(Conflict, match="ann"):
        native.answer(question.id, {"approved": True}, "bob")
    result, _ = _run(native, RunRequest("resume", native.resolve("offer-17")))
    assert result.head is not None
    assert native.load(result.head).state["outcome"] == "not sent"


def test_until_step_and_the_rest(native: Session) -> None:
    fork = native.fork(native.resolve("trip-planner@15"), None, FIX)
    thread = fork.ref.thread
    result, ran = _run(native, RunRequest("resume", fork.ref, until="reserve_hotel"))
    assert (result.status, ran) == ("paused", ["rank_hotels", "choose_hotel"])
    result, ran = _run(native, RunRequest("resume", native.resolve(thread), single_step=True))
    assert (result.status, ran) == ("paused", ["reserve_hotel"])
    result, ran = _run(native, RunRequest("resume", native.resolve(thread)))
    assert (result.status, ran) == ("done", ["invoice", "check_total", "write_summary"])


def test_a_replay_runs_on_a_new_thread_and_leaves_the_old_one(native: Session) -> None:
    before = len(native.open_thread("trip-planner").line())
    result, ran = _run(native, RunRequest("replay", native.resolve("trip-planner@19"), mode="live"))
    assert (result.thread, ran) == ("trip-planner-fork-1", ["check_total", "write_summary"])
    assert len(native.open_thread("trip-planner").line()) == before


def test_a_failed_run_is_resumed_at_the_step_that_failed(native: Session, demo: DemoFiles) -> None:
    nodes = demo.native.parent / "trip_nodes.py"
    nodes.write_text(nodes.read_text().replace("raise PermissionError(", "return dict(quote=") + "\n")
    result, ran = _run(native, RunRequest("resume", native.resolve("quote-8")))
    assert (result.status, ran) == ("done", ["fetch_quote"])


def _changed(demo: DemoFiles, edit: Callable[[str], str]) -> Path:
    path = demo.native.parent / "changed.yaml"
    path.write_text(edit((demo.native.parent / "trip.yaml").read_text()))
    return path


def test_a_changed_definition_is_refused_and_a_fork_adopts_it(native: Session, demo: DemoFiles) -> None:
    changed = _changed(
        demo, lambda text: text.replace('"1.0.0"', '"1.1.0"').replace("{hotel.name} for", "{hotel.name}, ")
    )
    fork = native.fork(native.resolve("trip-planner@15"), "old", FIX)
    with pytest.raises(DefinitionChanged) as caught:
        native.plan(RunRequest("resume", fork.ref, workflow=changed))
    assert any("write_summary" in line for line in caught.value.differences)
    assert f"--adopt {changed} " in caught.value.hint
    adopted = native.fork(native.resolve("trip-planner@15"), "new", FIX, adopt=changed)
    result, _ = _run(native, RunRequest("resume", adopted.ref))
    assert result.head is not None
    assert native.load(result.head).state["summary"].startswith("Ryokan 銀閣, ")


def test_the_same_version_with_another_body_is_no_definition_to_adopt(native: Session, demo: DemoFiles) -> None:
    changed = _changed(demo, lambda text: text.replace("{hotel.name} for", "{hotel.name}, "))
    with pytest.raises(Conflict, match=r"1\.0\.0"):
        native.fork(native.resolve("trip-planner@15"), "new", FIX, adopt=changed)
    assert not any(info.thread == "new" for info in native.threads())


def test_an_edit_goes_on_in_the_thread_itself_at_its_head_only(native: Session) -> None:
    with pytest.raises(Conflict, match=r"step \d+ is not the head of .* \(that is step \d+\)"):
        native.edit(native.resolve("trip-planner@15"), FIX)
    with pytest.raises(UsageError, match="without a change"):
        native.edit(native.resolve("trip-planner"), ())
    fork = native.fork(native.resolve("trip-planner@15"), "mine")
    edited = native.edit(fork.ref, FIX)
    assert (edited.source, edited.ref.thread, edited.next) == ("edit", "mine", fork.next)
    result, _ = _run(native, RunRequest("resume", edited.ref))
    assert result.head is not None
    assert native.load(result.head).state["verdict"] == "within the budget"


def test_a_head_that_a_run_is_moving_is_told_as_that(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "trail", "b"), python("b", "trail", None)])
    on.start({})
    session = Session.open(str(tmp_path / "store.sqlite"))
    before = session.resolve("t")
    _run(session, RunRequest("resume", before, single_step=True))
    assert session.resolve("t") != before
    with (
        claimed(on.store, on.store.run("run-t")),
        pytest.raises(Conflict, match=f"'t' is being run by process {os.getpid()}"),
    ):
        session.plan(RunRequest("resume", before))
    session.close()


def test_an_edit_that_the_schema_forbids_stores_nothing(native: Session) -> None:
    wrong = (Change("change", ("budget", "per_night"), 96_000, "cheap"),)
    with pytest.raises(Invalid, match=r"budget\.per_night"):
        native.fork(native.resolve("trip-planner@15"), "wrong", wrong)
    assert not any(info.thread == "wrong" for info in native.threads())


def test_a_read_only_session_refuses_every_write(demo: DemoFiles) -> None:
    session = Session.open(str(demo.native), read_only=True)
    ref = session.resolve("trip-planner@15")
    for write in (
        lambda: session.fork(ref),
        lambda: session.edit(ref, FIX),
        lambda: session.plan(RunRequest("replay", ref, mode="live")),
        lambda: session.answer("x", True, "ann"),
        lambda: session.stop("trip-planner", "pause"),
    ):
        with pytest.raises(ReadOnly):
            write()


def test_a_langgraph_thread_needs_its_graph_and_says_how_to_name_it(demo: DemoFiles) -> None:
    session = Session.open(str(demo.langgraph))
    fork = session.fork(session.resolve("trip-kyoto@15"), None, FIX)
    with pytest.raises(UsageError) as caught:
        session.plan(RunRequest("resume", fork.ref))
    assert "--graph" in caught.value.hint


def test_nothing_to_stop_is_said(native: Session, langgraph: Session) -> None:
    for session, thread in ((native, "trip-planner"), (langgraph, "trip-kyoto")):
        with pytest.raises(NotFound):
            session.stop(thread, "pause")


FIVE = """
workflow_id: five
version: "1"
nodes:
  - {id: a, type: python, run: "five_nodes:a", next: b}
  - {id: b, type: python, run: "five_nodes:b", next: c}
  - {id: c, type: python, run: "five_nodes:c", next: d}
  - {id: d, type: python, run: "five_nodes:d", next: ask}
  - {id: ask, type: human_task, prompt: "Good?", next: null}
"""
NODES = """
import os, pathlib, signal
HERE = pathlib.Path(__file__).parent
def note(name):
    with open(HERE / "ran.txt", "a") as file:
        file.write(name)
    return {name: True}
def a(state): return note("a")
def b(state): return note("b")
def c(state):
    result = note("c")
    if not (HERE / "survive").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return result
def d(state): return note("d")
"""


@pytest.fixture
def five(tmp_path: Path) -> tuple[Session, Path]:
    (tmp_path / "five.yaml").write_text(FIVE)
    (tmp_path / "five_nodes.py").write_text(NODES)
    create_native(tmp_path / "five.db")
    return Session.open(str(tmp_path / "five.db")), tmp_path


def test_killed_inside_c_it_is_resumed_at_once_and_a_and_b_do_not_run_again(five: tuple[Session, Path]) -> None:
    session, folder = five
    result, _ = _run(session, RunRequest("run", thread="t", workflow=folder / "five.yaml"))
    assert result.status == "crashed"
    assert [run.status for run in session.runs("t")] == ["crashed"]
    (folder / "survive").touch()
    result, ran = _run(session, RunRequest("resume", session.resolve("t")))
    assert (result.status, ran) == ("waiting", ["c", "d"])
    assert (folder / "ran.txt").read_text() == "abccd"


def test_a_thread_whose_owner_died_is_crashed_wherever_it_is_shown(five: tuple[Session, Path]) -> None:
    session, folder = five
    _run(session, RunRequest("run", thread="t", workflow=folder / "five.yaml"))
    _run(session, RunRequest("run", thread="u", workflow=folder / "five.yaml"))
    head = session.resolve("t")
    assert [info.status for info in session.threads()] == ["crashed", "crashed"]
    assert [info.thread for info in session.threads(status="crashed", text="t")] == ["t"]
    assert session.threads(status="running") == ()
    view = session.open_thread("t")
    assert [view.headers[ref].status for ref in view.line()][-2:] == ["done", "crashed"]
    assert session.load(head).header.status == "crashed"
    assert list(session.export("t"))[-1]["status"] == "crashed"


def test_after_a_kill_the_thread_can_be_edited_and_goes_on_from_the_edit(five: tuple[Session, Path]) -> None:
    session, folder = five
    _run(session, RunRequest("run", thread="t", workflow=folder / "five.yaml"))
    (folder / "survive").touch()
    edited = session.edit(session.resolve("t"), (Change("add", ("extra",), new=1),))
    result, ran = _run(session, RunRequest("resume", edited.ref))
    assert (result.status, ran) == ("waiting", ["c", "d"])
    assert session.load(session.resolve("t")).state["extra"] == 1


def test_a_dead_owners_run_is_cancelled_at_once(five: tuple[Session, Path]) -> None:
    session, folder = five
    _run(session, RunRequest("run", thread="t", workflow=folder / "five.yaml"))
    session.stop("t", "cancel")
    assert [run.status for run in session.runs("t")] == ["cancelled"]
    with pytest.raises(NotAHead, match="cancelled"):
        session.plan(RunRequest("resume", session.resolve("t")))


def test_a_question_at_the_end_is_answered_and_the_run_then_ends(five: tuple[Session, Path]) -> None:
    session, folder = five
    (folder / "survive").touch()
    _run(session, RunRequest("run", thread="t", workflow=folder / "five.yaml"))
    question = session.approvals("t")[0]
    assert yes(question) == {"approved": True}
    session.answer(question.id, yes(question), "ann")
    result, ran = _run(session, RunRequest("resume", session.resolve("t")))
    assert (result.status, ran) == ("done", [])
    assert session.load(session.resolve("t")).state["ask"] == {"approved": True}
