"""The demo's promise: the scene of the README, on the two files as they are shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.model import Change
from tt_debug.demo import DemoFiles, prepare
from tt_debug.session.plans import GraphTarget, RunRequest
from tt_debug.session.session import Session

FIX = (Change("change", ("budget", "per_night"), 96_000, 32_000),)


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DemoFiles:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TT_DEBUG_DEMO_PACE", "0")
    return prepare(tmp_path / "demo")


def _lines(session: Session, thread: str) -> list[tuple[int | None, str]]:
    view = session.open_thread(thread)
    return [(view.headers[ref].step, ref.id) for ref in view.line()]


def test_it_holds_every_kind_of_thread(demo: DemoFiles) -> None:
    session = Session.open(str(demo.native))
    status = {info.thread: info.status for info in session.threads()}
    assert status == {
        "trip-planner": "done",
        "offer-17": "waiting",
        "quote-8": "failed",
        "旅-奈良 🦌": "done",
        "旅-奈良 🦌-budget": "done",
        "旅-奈良 🦌-no-trains": "paused",
    }
    assert len(session.open_thread("trip-planner").line()) > 20
    assert session.load(session.resolve("trip-planner@17")).state["hotel"]["name"] == "Grand Imperial"
    assert session.load(session.resolve("trip-planner")).state["verdict"].startswith("OVER BUDGET")


def test_fork_at_15_fix_resume_ends_within_the_budget(demo: DemoFiles) -> None:
    session = Session.open(str(demo.native))
    before = _lines(session, "trip-planner")
    fork = session.fork(session.resolve("trip-planner@15"), None, FIX)
    ran: list[str] = []
    result = session.execute(
        session.plan(RunRequest("resume", fork.ref)),
        lambda event: ran.append(event.fields["node"]) if event.kind == "step_finished" else None,
    )
    assert result.status == "done"
    assert ran == ["rank_hotels", "choose_hotel", "reserve_hotel", "invoice", "check_total", "write_summary"]
    assert result.head is not None
    assert session.load(result.head).state["verdict"] == "within the budget"
    assert _lines(session, "trip-planner") == before


def test_the_same_with_langgraphs_file_and_graph(demo: DemoFiles) -> None:
    session = Session.open(str(demo.langgraph), graph=GraphTarget(demo.graph))
    before = _lines(session, "trip-kyoto")
    fork = session.fork(session.resolve("trip-kyoto@15"), "fixed", FIX)
    result = session.execute(session.plan(RunRequest("resume", fork.ref)), lambda event: None)
    assert result.head is not None
    assert session.load(result.head).state["verdict"] == "within the budget"
    assert _lines(session, "trip-kyoto") == before


def test_it_keeps_what_was_done_until_it_is_reset(demo: DemoFiles) -> None:
    session = Session.open(str(demo.native))
    session.fork(session.resolve("trip-planner@15"), "mine")
    session.close()
    folder = demo.native.parent
    assert any(info.thread == "mine" for info in Session.open(str(prepare(folder).native)).threads())
    assert not any(info.thread == "mine" for info in Session.open(str(prepare(folder, reset=True).native)).threads())
