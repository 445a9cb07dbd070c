"""A run in the Thread screen: steps as they come, its prints as text, the clock, following, its end and its failure."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from stores.model import Status
from tests.tui.conftest import RESTING, screen_lines, wait_for
from tests.tui.thread_app import Opened, thread_screen
from tests.tui.thread_fakes import START, TripSession
from tt_debug.engine.events import Event
from tt_debug.errors import ChildFailed
from tt_debug.session.plans import RunResult
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.quit import QuitDialog
from tt_debug.tui.rows.live import event_line
from tt_debug.tui.rows.pieces import text_of
from tt_debug.tui.screens import thread_running, thread_watching
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.screens.thread_running import RunEvent
from tt_debug.tui.under_way import UnderWay
from tt_debug.tui.widgets.live_view import LiveView


async def start(it: Opened, key: str = "c") -> None:
    """Ask for a run and say yes."""
    await it.press(key)
    await wait_for(it.pilot, lambda: isinstance(it.app.screen, ConfirmDialog) and it.app.screen.is_mounted)
    await it.pilot.press("ctrl+r")
    await wait_for(it.pilot, lambda: it.session.runs_made)


def event(kind: str, **fields: Any) -> Event:
    """An event of a run."""
    return Event(kind, "run-1", "cheap", START.isoformat(), fields)


@pytest.mark.parametrize(
    ("happened", "words"),
    [
        (event("step_started", node="plan", attempt=2), "◐ plan  started  attempt 2"),
        (event("step_finished", node="plan", step=7, duration_ms=2100), "✓ plan  2.1s  step 7"),
        (event("substep_finished", node="plan", substep="pages", step=7), "✓ plan  part pages"),
        (event("step_failed", node="plan", error="HTTP 502", retry_in=2), "× plan  HTTP 502  again in 2.0s"),
        (event("output", stream="stdout", text="a\tb\x1b[31m\n"), "│ a    b␛[31m"),
        (event("waiting", node="ask", prompt="Book it?"), '‖ ask  waits  "Book it?"'),
        (event("run_ended", status="failed", error="boom"), "run ended: failed  boom"),
        (event("log", node="plan", text="[/red]"), "plan  [/red]"),
    ],
)
def test_each_event_is_one_line_in_words(happened: Event, words: str) -> None:
    assert words in text_of(event_line(happened))


async def test_a_run_appends_its_steps_follows_them_and_shows_its_prints() -> None:
    async with thread_screen("cheap", size=(120, 40)) as it:
        await start(it)
        await it.rest()
        assert it.screen.selected == it.session.heads["cheap"]
        assert "14 book_hotel ‹head" in it.text
        assert "book_hotel says [bold]hello[/bold]" in it.text
        assert "run ended: done" in it.text
        assert it.screen.tab == "live"
        await wait_for(it.pilot, lambda: "cheap: the run is done" in it.told)


async def test_a_replay_runs_on_a_new_thread_and_leaves_the_old_one() -> None:
    async with thread_screen(size=(120, 40)) as it:
        before = it.session.heads["trip-planner"]
        await it.press("comma", "comma")
        await start(it, "R")
        await it.rest()
        assert it.session.heads["trip-planner"] == before
        assert it.screen.selected == it.session.heads["trip-planner-fork-1"]
        assert "trip-planner › trip-planner-fork-1" in it.text


async def test_while_it_runs_the_title_the_graph_and_the_keys_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_running, "time", SimpleNamespace(monotonic=lambda: 100.0))
    session = TripSession()
    async with thread_screen("cheap", size=(120, 40), session=session) as it:
        await it.press("c")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, ConfirmDialog) and it.app.screen.is_mounted)
        session.gate = threading.Event()
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: session.runs_made)
        await wait_for(it.pilot, lambda: "◐ running 00:00" in screen_lines(it.app)[0])
        assert any("◐" in line and "…" in line for line in screen_lines(it.app)[1:]), "no node is known yet"
        assert "p pause  K cancel  F follow" in screen_lines(it.app)[-1]
        assert "c run" in screen_lines(it.app)[-1], "it stays in its place, dimmed"
        await it.pilot.press("c")
        await wait_for(it.pilot, lambda: "a run is active here" in it.told)
        await it.pilot.press("p")
        await wait_for(it.pilot, lambda: session.stops == [("cheap", "pause")])
        await it.pilot.press("ctrl+q")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, QuitDialog) and it.app.screen.is_mounted)
        await it.pilot.press("escape")
        session.gate.set()
        session.gate = None
        await it.rest()
        assert "running" not in screen_lines(it.app)[0]
        await wait_for(it.pilot, lambda: "p pause" not in screen_lines(it.app)[-1])


def test_each_node_under_way_has_its_own_time() -> None:
    now = [100.0]
    under_way = UnderWay(lambda: now[0])
    assert under_way.text() == ""
    under_way.take(event("step_started", node="plan"))
    now[0] = 161.0
    under_way.take(event("step_finished", node="plan"))
    under_way.take(event("step_started", node="invoice"))
    now[0] = 164.0
    assert under_way.text() == "invoice  00:03", "not the run's 01:04"
    under_way.take(event("step_started", node="mail"))
    assert under_way.text() == "invoice  00:03, mail  00:00"
    under_way.take(event("step_failed", node="mail"))
    assert under_way.text() == "invoice  00:03"
    for node in "abcd":
        under_way.take(event("step_started", node=node))
    assert under_way.text().endswith("a  00:00, b  00:00, 2 more")
    under_way.take(event("run_ended", status="done"))
    assert under_way.text() == ""


async def test_the_row_of_a_node_under_way_shows_that_nodes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(thread_running, "time", SimpleNamespace(monotonic=lambda: now[0]))
    session = TripSession()
    async with thread_screen("cheap", size=(120, 40), session=session) as it:
        await it.press("c")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, ConfirmDialog) and it.app.screen.is_mounted)
        session.gate = threading.Event()
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: it.screen.running)
        now[0] += 60
        it.screen.post_message(RunEvent(event("step_started", node="book_hotel")))
        await wait_for(it.pilot, lambda: "book_hotel  00:00" in it.text)
        now[0] += 3
        await wait_for(it.pilot, lambda: "running 01:03" in screen_lines(it.app)[0])
        assert "book_hotel  00:03" in it.text
        session.gate.set()
        session.gate = None
        await it.rest()


async def test_a_cursor_that_is_told_to_stay_stays() -> None:
    session = TripSession()
    async with thread_screen("cheap", size=(120, 40), session=session) as it:
        await it.press("c")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, ConfirmDialog) and it.app.screen.is_mounted)
        session.gate = threading.Event()
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: it.screen.running)
        await it.pilot.press("F")
        session.gate.set()
        session.gate = None
        await it.rest()
        assert it.step == 13
        assert it.session.checkpoints[it.session.heads["cheap"]].header.step == 14


async def test_a_run_that_is_left_goes_on_without_its_screen() -> None:
    session = TripSession()
    async with thread_screen("cheap", size=(120, 40), session=session) as it:
        await it.press("c")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, ConfirmDialog) and it.app.screen.is_mounted)
        gate = session.gate = threading.Event()
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: it.screen.running)
        await it.pilot.press("q")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, QuitDialog) and it.app.screen.is_mounted)
        await it.pilot.press("l")
        await wait_for(it.pilot, lambda: not it.screen.is_attached)
        session.gate = None
        gate.set()
        await wait_for(it.pilot, lambda: not it.app.loader.busy)
        assert isinstance(it.app.screen, HomeScreen)
        assert session.stops == []


async def test_a_run_that_is_driven_elsewhere_is_followed_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    # Longer than the rest after which the panels follow.
    monkeypatch.setattr(thread_watching, "LOOK", 2 * RESTING)
    session = TripSession()
    session.add("cheap", {"n": 1}, node="agent", next=("tools",), status=Status.RUNNING)
    async with thread_screen("cheap", session=session) as it:
        assert (it.step, it.screen.running) == (14, False)
        assert "tools  running" in it.text
        assert "p pause  K cancel  F follow" in screen_lines(it.app)[-1]
        session.add("cheap", {"n": 2}, node="tools", next=("end",), status=Status.RUNNING)
        await wait_for(it.pilot, lambda: it.step == 15)
        await it.pilot.press("comma", "comma")
        await wait_for(it.pilot, lambda: it.step == 13)
        session.add("cheap", {"n": 3}, node="end")
        await wait_for(it.pilot, lambda: "cheap: done" in it.told)
        assert it.step == 13, "who looks elsewhere is left there"
        await wait_for(it.pilot, lambda: "p pause" not in screen_lines(it.app)[-1])


async def test_who_looks_elsewhere_during_a_run_is_left_there() -> None:
    session = TripSession()
    async with thread_screen("cheap", size=(120, 40), session=session) as it:
        await it.press("c")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, ConfirmDialog) and it.app.screen.is_mounted)
        gate = session.gate = threading.Event()
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: it.screen.running)
        await it.pilot.press("comma")
        await wait_for(it.pilot, lambda: it.step == 12)
        gate.set()
        session.gate = None
        await it.rest()
        assert it.step == 12
        assert "book_hotel" in it.text, "the new step is there"


async def test_the_head_is_followed_again_by_going_there() -> None:
    session = TripSession()
    async with thread_screen("cheap", size=(120, 40), session=session) as it:
        await it.press("c")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, ConfirmDialog) and it.app.screen.is_mounted)
        gate = session.gate = threading.Event()
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: it.screen.running)
        await it.pilot.press("comma")
        await wait_for(it.pilot, lambda: not it.screen.following)
        await it.pilot.press("0")
        await wait_for(it.pilot, lambda: it.screen.following)
        gate.set()
        session.gate = None
        await it.rest()
        assert it.step == 14


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (Status.FAILED, "Traceback …\nHTTPError: 502", "cheap: failed: HTTPError: 502"),
        (Status.WAITING, None, "cheap waits for an answer: a opens the approvals"),
        (Status.PAUSED, None, "cheap is paused: c goes on"),
    ],
)
async def test_how_it_ended_is_said(
    monkeypatch: pytest.MonkeyPatch, status: str, error: str | None, words: str
) -> None:
    async with thread_screen("cheap", size=(120, 40)) as it:

        def execute(plan: Any, on_event: Any) -> RunResult:
            it.session.runs_made.append(plan)
            return RunResult("run-1", "cheap", status, it.session.heads["cheap"], error)

        monkeypatch.setattr(it.session, "execute", execute)
        await start(it)
        await wait_for(it.pilot, lambda: words in it.told)
        assert not it.screen.running


async def test_a_child_that_breaks_off_shows_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    async with thread_screen("cheap", size=(120, 40)) as it:

        def execute(plan: Any, on_event: Any) -> RunResult:
            it.session.runs_made.append(plan)
            raise ChildFailed("ModuleNotFoundError: No module named 'nodes'", hint="run it beside the workflow file")

        monkeypatch.setattr(it.session, "execute", execute)
        await start(it)
        await wait_for(it.pilot, lambda: "No module named 'nodes'" in it.text)
        assert "run it beside the workflow file" in it.text
        assert not it.screen.running


async def test_the_log_keeps_ten_thousand_lines_and_counts_the_rest() -> None:
    async with thread_screen("cheap") as it:
        live = it.screen.query_one(LiveView)
        live.add(event("output", stream="stdout", text=f"line {n}") for n in range(10_050))
        assert (live.row_count, live.dropped) == (10_000, 50)
        assert live.cursor == 9_999
