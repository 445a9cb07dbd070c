"""A store that goes out of reach: what was read stays, is said to be old, and nothing is written until it is back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from stores.errors import Busy, Unreachable
from tests.tui.conftest import app_over, screen_lines, screen_text, settled, unsafe_characters, wait_for
from tests.tui.fakes import HOSTILE, FakeSession
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.demo import prepare
from tt_debug.session.session import Session
from tt_debug.tui import outages
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.outages import RETRIES, Outage
from tt_debug.tui.screens import everywhere
from tt_debug.tui.screens.thread import ThreadScreen
from tt_debug.tui.widgets.panel import Panel


@pytest.fixture
def never_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the user tries again; the clock stands."""
    monkeypatch.setattr(outages, "RETRIES", (3600,))
    for module in (outages, everywhere):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 1000.0))


@asynccontextmanager
async def opened(
    folder: Path, size: tuple[int, int]
) -> AsyncIterator[tuple[Pilot[Any], TtDebugApp, ThreadScreen, Path]]:
    """The long thread of the demo's native file, at its head."""
    path = prepare(folder).native
    session = Session.open(str(path))
    app = TtDebugApp([OpenStore(str(path), path.name, session)])
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        screen = app.show_thread(app.stores[0], "trip-planner")
        await wait_for(pilot, lambda: screen.details is not None and not app.loader.busy)
        yield pilot, app, screen, path
    session.close()


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
@pytest.mark.usefixtures("never_again")
async def test_a_file_that_is_moved_away_while_it_is_looked_at(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(tmp_path, size) as (pilot, app, screen, path):
        await pilot.press("comma")
        await wait_for(pilot, lambda: screen.details is not None and screen.details.ref == screen.selected)
        shown = screen.details
        path.rename(tmp_path / "away.db")
        await pilot.press("r")
        await wait_for(pilot, lambda: "OFFLINE 0s · retry 3600s" in screen_lines(app)[0])
        await settled(pilot, app)
        text = " ".join(screen_text(app).split())
        assert "does not exist" in text
        assert "may be out of date" in text
        assert screen.details is shown, "what was read stays"
        assert screen.views.diff.stale, "and is dimmed"
        assert screen.graph.row_count > 20
        await pilot.press("e")
        await pilot.pause()
        assert any(
            f"offline: {path.name} cannot be reached; r tries again" in note.message for note in app._notifications
        )
        assert app.screen is screen
        (tmp_path / "away.db").rename(path)
        await pilot.press("r")
        await wait_for(pilot, lambda: "OFFLINE" not in screen_text(app))
        await wait_for(pilot, lambda: not app.loader.busy and not screen.views.diff.stale)
        assert "out of date" not in screen_text(app)


@pytest.mark.usefixtures("never_again")
async def test_a_step_that_was_not_read_before_says_so_over_the_old_one() -> None:
    session = TripSession()
    async with thread_screen("trip-planner", (120, 40), session) as it:
        before = it.screen.details
        gone = Unreachable("demo.db does not exist")
        session.threads = failing(gone)  # type: ignore[method-assign]
        ref = it.ref("trip-planner", 23)
        session.failing[ref] = gone
        await it.pilot.press("comma")
        await it.until(lambda: "OFFLINE" in screen_lines(it.app)[0])
        await it.until(lambda: "step 23 could not be read" in it.text)
        assert it.screen.details is before
        assert it.screen.views.state.stale


def failing(error: Exception) -> Any:
    """A call that fails."""

    def call(*_: object, **__: object) -> object:
        raise error

    return call


async def test_it_is_tried_again_by_itself_and_everything_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "RETRIES", (0,))
    session = TripSession()
    real = session.threads
    async with thread_screen("trip-planner", (120, 40), session) as it:
        session.threads = failing(Unreachable("no route to db.example", hint="Check the network."))  # type: ignore[method-assign]
        it.app.read_listings()
        await it.until(lambda: "OFFLINE" in screen_lines(it.app)[0])
        assert "! no route to db.example. Check the network. What is shown was read before" in it.text
        session.loads.clear()
        session.threads = real  # type: ignore[method-assign]
        await it.until(lambda: "OFFLINE" not in it.text)
        await it.rest()
        assert session.loads, "the thread was read again"


@pytest.mark.usefixtures("never_again")
async def test_home_keeps_its_list_and_its_preview(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await wait_for(pilot, lambda: app.screen.query_one("#messages", Panel).row_count)
        before = len(app.listings[0].threads)
        session.threads = failing(Unreachable("demo.db does not exist"))  # type: ignore[method-assign]
        session.load = failing(Unreachable("demo.db does not exist"))  # type: ignore[method-assign]
        await pilot.press("r")
        await wait_for(pilot, lambda: "OFFLINE" in screen_lines(app)[0])
        await settled(pilot, app)
        assert len(app.listings[0].threads) == before
        assert "score says" in screen_text(app), "the preview that was read"


@pytest.mark.usefixtures("never_again")
async def test_open_questions_stay_and_cannot_be_answered(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("a")
        await settled(pilot, app)
        assert "book_hotel" in screen_text(app)
        gone = failing(Unreachable("demo.db does not exist"))
        session.threads = session.approvals = gone  # type: ignore[method-assign]
        await pilot.press("r")
        await wait_for(pilot, lambda: "OFFLINE" in screen_lines(app)[0])
        await pilot.press("A")
        await settled(pilot, app)
        assert any("offline: demo.db cannot be reached" in note.message for note in app._notifications)
        assert "1 Inbox  1" in screen_text(app)


@pytest.mark.usefixtures("never_again")
async def test_a_write_that_finds_no_room_does_not_make_a_store_offline() -> None:
    """What is asked then is whether the store answers, and it does."""
    async with thread_screen("trip-planner", (120, 40)) as it:
        it.session.failing[it.ref("trip-planner", 23)] = Unreachable("no space left on the disk")
        await it.pilot.press("comma")
        await it.until(lambda: "could not be read" in it.text)
        await it.until(lambda: not it.app.loader.busy)
        await it.pilot.pause()
        assert it.app.outages == {}


async def test_a_store_that_is_only_busy_answers() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        it.app._lost(0, "gone")
        it.session.threads = failing(Busy("locked"))  # type: ignore[method-assign]
        it.app.check(it.app.stores)
        await it.until(lambda: not it.app.outages)


def test_how_long_and_when_again_in_words() -> None:
    outage = Outage("gone", since=100.0, again=116.0)
    assert outage.words(112.0) == "OFFLINE 12s · retry 4s"
    assert outage.words(117.0) == "OFFLINE 17s · trying"
    assert outage.words(100.0 + 600).startswith("OFFLINE 10m")
    assert sorted(RETRIES) == list(RETRIES)


@pytest.mark.usefixtures("never_again")
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_hostile_reasons_are_text(size: tuple[int, int]) -> None:
    session = TripSession()
    async with thread_screen("trip-planner", size, session) as it:
        session.threads = failing(Unreachable(HOSTILE, hint=HOSTILE))  # type: ignore[method-assign]
        it.app.check(it.app.stores)
        await it.until(lambda: "OFFLINE" in screen_lines(it.app)[0])
        assert "[/red] [b]bold[/b]" in it.text
        assert unsafe_characters(it.text) == set()
