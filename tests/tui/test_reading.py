"""Reading what is long: its first page at once, how far it has come, stopping it, and what is being read meanwhile."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import app_over, screen_lines, screen_text, settled, wait_for
from tests.tui.fakes import FakeSession
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.demo import prepare
from tt_debug.session import listing
from tt_debug.session.session import Session
from tt_debug.tui import listings, watch
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.loader import Loader
from tt_debug.tui.screens import thread_following, thread_reading
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.screens.thread import ThreadScreen
from tt_debug.tui.watch import Watch


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_short_reading_is_not_spoken_of() -> None:
    clock = Clock()
    reading, counted, shown = Watch(clock), [], []
    for read in range(1, 5):
        clock.now += 0.05
        assert reading.goes_on(read, lambda: shown.append(1), counted.append)
    assert counted == []
    assert not reading.spoken_of


def test_a_long_one_is_counted_from_time_to_time_and_shown_when_it_has_grown() -> None:
    clock = Clock()
    counted: list[int] = []
    shown: list[int] = []
    reading = Watch(clock)
    for read in range(500, 10_001, 500):
        clock.now += 0.2
        assert reading.goes_on(read, lambda read=read: shown.append(read), counted.append)
    assert counted == [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000]
    assert shown == [500, 2000, 8000]
    assert reading.spoken_of


def test_what_was_stopped_goes_no_further() -> None:
    reading = Watch()
    reading.stop()
    assert not reading.goes_on(1, lambda: None, lambda read: None)
    assert reading.stopped


class Held:
    """A real store whose headers come page by page, from the second page on only when they are let go."""

    def __init__(self, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate = threading.Event()
        self.pages = 0
        real = session._store.headers

        def headers(thread: str, after: str | None = None, limit: int = 1000) -> Any:
            # Only a whole thread is read in pages of five; one row is asked for to see whether a thread is there.
            if limit == 5:
                self.pages += 1
                if after is not None:
                    self.gate.wait(60)
            return real(thread, after=after, limit=limit)

        monkeypatch.setattr(session._store, "headers", headers)


@asynccontextmanager
async def slow_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> AsyncIterator[tuple[TtDebugApp, Pilot[Any], ThreadScreen, Held]]:
    """The demo's long thread in pages of five, of which only the first has come."""
    monkeypatch.setattr(listing, "PAGE", 5)
    monkeypatch.setattr(listing, "LARGEST_PAGE_OF_A_THREAD", 5)
    monkeypatch.setattr(watch, "PATIENCE", 0)
    files = prepare(tmp_path)
    session = Session.open(str(files.native), read_only=True)
    app = TtDebugApp([OpenStore(str(files.native), "demo.db", session)], read_only=True, ascii_only=False)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        held = Held(session, monkeypatch)
        screen = app.show_thread(app.stores[0], "trip-planner")
        await wait_for(pilot, lambda: held.pages == 2 and screen.read_so_far > 0)
        try:
            yield app, pilot, screen, held
        finally:
            held.gate.set()
            await wait_for(pilot, lambda: not app.loader.busy)
    session.close()


def told(app: TtDebugApp) -> list[str]:
    """Every toast so far."""
    return [notice.message for notice in app._notifications]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_newest_are_shown_while_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async with slow_thread(tmp_path, monkeypatch, size) as (app, pilot, screen, held):
        assert screen.view is not None
        assert len(screen.view.headers) == 5
        assert "‹head" in screen_text(app)
        listed = app.listed(screen.store, "trip-planner")
        assert listed is not None
        assert f"reading 5 of {listed.checkpoints} · Esc stops" in screen_text(app)
        await pilot.press("k")
        here = screen.selected
        held.gate.set()
        await wait_for(pilot, lambda: screen.reading is None)
        await settled(pilot, app)
        assert len(screen.view.headers) >= listed.checkpoints
        assert screen.selected == here
        assert "reading" not in screen_text(app)
        assert f"{len(screen.view.headers)} checkpoints" in screen_text(app)


async def test_escape_stops_it_and_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with slow_thread(tmp_path, monkeypatch, (120, 40)) as (app, pilot, screen, held):
        await pilot.press("escape")
        held.gate.set()
        await wait_for(pilot, lambda: screen.reading is None)
        await settled(pilot, app)
        assert screen.view is not None
        read = len(screen.view.headers)
        assert read < 20
        assert f"read {read} of " in screen_text(app)
        assert "r reads on" in screen_text(app)
        await pilot.press("r")
        await wait_for(pilot, lambda: screen.reading is None and screen.whole)
        assert len(screen.view.headers) > 20


async def test_what_has_not_been_read_is_not_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with slow_thread(tmp_path, monkeypatch, (120, 40)) as (app, pilot, screen, held):
        await pilot.press("g")
        await wait_for(pilot, lambda: screen.selected == screen.line[0])
        await pilot.press("comma", "less_than_sign")
        screen.go_to("50%")
        screen.go_to("3")
        said = [
            "this is the first checkpoint that has been read",
            "no error, wait, fork, edit or mark before this on the line, as far as it has been read",
            "going to 50% as soon as the line has been read",
            "going to 3 as soon as the line has been read",
        ]
        await wait_for(pilot, lambda: told(app) == said)
        held.gate.set()
        await wait_for(pilot, lambda: screen.reading is None)
        assert screen.view is not None
        assert screen.selected is not None
        assert screen.view.headers[screen.selected].step == 3
        screen.go_to("99")
        await wait_for(pilot, lambda: told(app) == [*said, "nothing called 99 on this line"])


async def test_a_place_is_not_waited_for_where_the_addresses_of_the_line_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread_reading, "FIRST", 5)
    gate = threading.Event()
    monkeypatch.setattr(Loader, "give_way", lambda _: gate.wait(60))
    files = prepare(tmp_path)
    session = Session.open(str(files.langgraph), read_only=True)
    app = TtDebugApp([OpenStore(str(files.langgraph), "demo.db", session)], read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = app.show_thread(app.stores[0], "trip-kyoto")
        await wait_for(pilot, lambda: screen.line != ())
        assert (screen.whole, screen.reading is None) == (False, False)
        screen.go_to("50%")
        await wait_for(pilot, lambda: screen.selected == screen.line[(len(screen.line) - 1) // 2])
        gate.set()
        await wait_for(pilot, lambda: screen.whole and not app.loader.busy)
        assert told(app) == []
    session.close()


async def test_leaving_meanwhile_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with slow_thread(tmp_path, monkeypatch, (80, 24)) as (app, pilot, screen, held):
        await pilot.press("q")
        await wait_for(pilot, lambda: not screen.is_attached)
        held.gate.set()
        await settled(pilot, app)
        assert held.pages <= 3
        assert isinstance(app.screen, HomeScreen)


async def test_folding_meanwhile_does_not_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with slow_thread(tmp_path, monkeypatch, (120, 40)) as (_app, pilot, screen, held):
        await pilot.press("o")
        await wait_for(pilot, lambda: screen.by_time and screen.graph.row_count == 5)
        held.gate.set()
        await wait_for(pilot, lambda: screen.reading is None)
        assert screen.view is not None
        assert screen.whole
        assert screen.graph.row_count == len(screen.view.headers)


def many(session: FakeSession, threads: int) -> None:
    """Short threads."""
    for number in range(threads):
        session.grow(f"t{number:04}", 1)


@pytest.mark.parametrize("stop", [False, True])
async def test_the_first_threads_are_shown_while_the_rest_is_read(monkeypatch: pytest.MonkeyPatch, stop: bool) -> None:
    monkeypatch.setattr(listings, "FIRST", 3)
    monkeypatch.setattr(watch, "PATIENCE", 0)
    gate = threading.Event()
    session = FakeSession()
    many(session, 12)
    every = session.threads()

    def threads(*, on_thread: Callable[[Any], bool] | None = None, **_: Any) -> tuple[Any, ...]:
        found = []
        for number, info in enumerate(every):
            if number == 4 and on_thread is not None:
                gate.wait(60)
            if on_thread is not None and not on_thread(info):
                break
            found.append(info)
        return tuple(found)

    session.threads = threads  # type: ignore[method-assign,assignment]
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: app.listings[0].reading == 4)
        await pilot.pause()
        assert "1 Threads  3" in screen_text(app)
        await pilot.press("j")
        if stop:
            await pilot.press("escape")
        gate.set()
        await settled(pilot, app)
        assert ("stopped · r reads all" in screen_text(app)) is stop
        assert len(app.listings[0].threads) == (4 if stop else 12)
        assert app.screen.query_one("#threads").cursor == 1  # type: ignore[attr-defined]
        if stop:
            await pilot.press("r")
            await wait_for(pilot, lambda: len(app.listings[0].threads) == 12)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_old_state_stays_dimmed_while_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(thread_following, "SLOW", 0.001)
    session = TripSession()
    async with thread_screen("trip-planner", size, session) as it:
        before = [line for line in screen_lines(it.app) if "cost_usd" in line or "messages" in line]
        session.gate = threading.Event()
        await it.pilot.press("comma")
        step = it.step
        await wait_for(it.pilot, lambda: f"◐ step {step}…" in it.text)
        assert it.screen.views.diff.stale
        assert [line for line in screen_lines(it.app) if "cost_usd" in line or "messages" in line]
        assert before
        session.gate.set()
        await it.rest()
        assert "…" not in it.screen.pending
        assert f"step {step}…" not in it.text
        assert not it.screen.views.diff.stale


async def test_a_checkpoint_that_cannot_be_read_leaves_the_rest_alive() -> None:
    session = TripSession()
    from stores.errors import Corrupt

    async with thread_screen("trip-planner", session=session) as it:
        session.failing[it.ref("trip-planner", 22)] = Corrupt("page 7 is damaged", hint="try: tt-debug doctor")
        await it.press("comma", "comma")
        assert "page 7 is damaged. try: tt-debug doctor" in " ".join(it.text.split())
        assert it.screen.pending == ""
        await it.press("comma")
        assert "page 7" not in it.text
