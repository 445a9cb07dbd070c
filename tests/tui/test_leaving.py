"""Leaving: at once where nothing runs, whatever a database does; a run that is active is asked about."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tests.tui.conftest import app_over, screen_text, settled, wait_for
from tests.tui.fakes import FakeSession
from tests.tui.thread_fakes import TripSession
from tt_debug.tui.dialogs.quit import QuitDialog
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.screens.log import LogScreen


async def test_q_on_the_first_screen_leaves_with_0(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("q")
        await pilot.pause()
    assert app.return_value == 0


async def test_a_hanging_database_does_not_hold_up_leaving(session: FakeSession) -> None:
    hangs = threading.Event()
    session.threads = lambda **_: hangs.wait() and ()  # type: ignore[method-assign,assignment]
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "reading…" in screen_text(app)
        await pilot.press("q")
    assert app.return_value == 0
    hangs.set()


@pytest.mark.parametrize("call", ["open_thread", "load"])
async def test_a_thread_that_is_never_read_does_not_hold_up_leaving(call: str) -> None:
    session, asked, hangs = TripSession(), threading.Event(), threading.Event()

    def never(*_: object) -> None:
        asked.set()
        hangs.wait()

    setattr(session, call, never)
    app = app_over(session)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            app.show_thread(app.stores[0], "trip-planner")
            await wait_for(pilot, asked.is_set)
            await pilot.press("ctrl+q")
        assert app.return_value == 0
    finally:
        hangs.set()


HANGS = """
import asyncio, threading
from tests.tui.conftest import app_over
from tests.tui.fakes import demo_session

session = demo_session()
asked = threading.Event()
session.threads = lambda **_: asked.set() or threading.Event().wait() and ()
app = app_over(session)

async def leave():
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert asked.wait(60)
        await pilot.press("q")

asyncio.run(leave())
print("left with", app.return_value)
"""


def test_the_process_ends_though_its_database_never_answers() -> None:
    # The timeout is for a process that would wait for ever.
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "left with 0\n"), done.stderr


WATCHES = """
import threading
from tests.tui.fakes import demo_session
from tt_debug.tui import app
from tt_debug.tui.opening import Opening, OpenStore

session = demo_session()
session.close = threading.Event().wait
Opening.open_all = lambda self, urls: (OpenStore("demo.db", "demo.db", session),)
app.TtDebugApp.run = lambda self: 0
print("left with", app.run_app("demo.db", read_only=True, graph=None, workflow=None))
"""


def test_the_process_ends_though_a_store_cannot_be_closed() -> None:
    """Something that is no call of a screen may hang in it: a thread is followed."""
    done = subprocess.run([sys.executable, "-c", WATCHES], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "left with 0\n"), done.stderr


async def test_an_active_run_is_asked_about(session: FakeSession) -> None:
    app = app_over(session)
    stopped: list[str] = []

    class Running(LogScreen):
        running = True

        def run_words(self) -> str:
            return "trip-planner is at step 3"

        def stop_run(self) -> None:
            stopped.append("stop")

    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await app.push_screen(Running())
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert "trip-planner is at step 3" in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, Running)
        await pilot.press("ctrl+q", "s")
        await pilot.pause()
    assert stopped == ["stop"]
    assert app.return_value == 0


async def test_going_back_from_an_active_run_asks_too(session: FakeSession) -> None:
    app = app_over(session)

    class Running(LogScreen):
        running = True

    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await app.push_screen(Running())
        await pilot.press("q")
        await pilot.pause()
        assert isinstance(app.screen, QuitDialog)
        await pilot.press("l")
        await settled(pilot, app)
        assert isinstance(app.screen, HomeScreen)


async def test_leaving_a_run_alone_does_not_stop_it(session: FakeSession) -> None:
    app = app_over(session)
    stopped: list[str] = []

    class Running(LogScreen):
        running = True

        def stop_run(self) -> None:
            stopped.append("stop")

    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await app.push_screen(Running())
        await pilot.press("ctrl+q", "l")
        await pilot.pause()
    assert (stopped, app.return_value) == ([], 0)
