"""Apps over fake sessions, and waiting for conditions instead of sleeping."""

from __future__ import annotations

import asyncio
import inspect
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from textual._context import active_app
from textual.app import App
from textual.message_pump import MessagePump
from textual.notifications import Notification
from textual.pilot import Pilot

from tests.tui.fakes import FakeSession, demo_session, hostile_session
from tt_debug.tui.app import OpenStore, TtDebugApp


def app_over(*sessions: FakeSession, **options: Any) -> TtDebugApp:
    """An app with these sessions open."""
    stores = [OpenStore(f"/tmp/{session.label}", session.label, cast(Any, session)) for session in sessions]
    return TtDebugApp(stores, **options)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(autouse=True)
def _terminal_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal that runs the tests has no say in the theme and the signs."""
    for name in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def session() -> FakeSession:
    """The demo's threads."""
    return demo_session()


@pytest.fixture
def hostile() -> FakeSession:
    """Threads whose every text attacks."""
    return hostile_session()


PATIENCE = 60.0
"""Seconds after which what is waited for never comes: nothing here takes long, and a test that hangs shall tell."""
TURNS = 5
"""So many turns of the event loop with nothing to do, and nothing is on its way: a message from a thread takes two."""
RESTING = 0.15
"""Seconds that what follows the cursor or the typing waits at most, until either rests."""


@asynccontextmanager
async def in_time(app: App[Any], wanted: str | Callable[[], object]) -> AsyncIterator[None]:
    """Fail with what was wanted (of a condition, its source) and what the screen shows, where that never comes."""
    try:
        async with asyncio.timeout(PATIENCE):
            yield
    except TimeoutError:
        what = wanted if isinstance(wanted, str) else inspect.getsource(wanted).strip()
        raise AssertionError(f"this did not come:\n{what}\nthe screen shows:\n{screen_text(app)}") from None


def pumps(app: App[Any]) -> Iterator[MessagePump]:
    """The app and everything in it that handles messages."""
    return (pump for pump in (app, *app._registry) if pump._task is not None and not pump._task.done())


def at_rest(app: App[Any]) -> bool:
    """Whether every message was handled and what that changed was drawn. The loader's threads may be at work."""
    queues = (pump._message_queue for pump in pumps(app))
    if any(queue.values or not queue.ready_event._waiters for queue in queues):
        return False
    if app._resize_event is not None:
        app._check_resize()
        return False
    for screen in (app.screen, *app._background_screens):
        if screen._callbacks or screen._update_timer._active.is_set():
            screen._on_timer_update()
            return False
    return True


def is_following(app: App[Any]) -> bool:
    """Whether something waits for the cursor or the typing to rest."""
    timers = (timer for pump in pumps(app) for timer in pump._timers)
    return any(
        timer._repeat == 0 and timer._interval <= RESTING and timer._task is not None and not timer._task.done()
        for timer in timers
    )


async def quiet(*_: float) -> None:
    """Until the app is at rest.

    Textual's own takes the time that the process computes for a sign of that: on a busy machine one that does not get
    its turn looks idle.
    """
    app, turns = active_app.get(), 0
    async with in_time(app, "an end of messages"):
        while turns < TURNS and app._exception is None and not app._exit:
            turns = turns + 1 if at_rest(app) else 0
            await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause is as long as there is something to do, and a toast stays."""
    monkeypatch.setattr("textual.pilot.wait_for_idle", quiet)
    monkeypatch.setattr("textual.app.wait_for_idle", quiet)
    monkeypatch.setattr(Notification, "time_left", 3600.0)


async def wait_for(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Let the app go on until it is at rest and ``condition`` holds."""
    app = pilot.app
    async with in_time(app, condition):
        await quiet()
        while not condition():
            await a_moment(app)
            await quiet()


async def settled(pilot: Pilot[Any], app: TtDebugApp) -> None:
    """Until nothing is being read, nothing waits for the cursor to rest, and all that came of it is on the screen."""
    turns = 0
    async with in_time(app, "an end of reading"):
        while turns < TURNS:
            if app.loader.busy or is_following(app):
                turns = 0
                await a_moment(app)
            else:
                turns = turns + 1 if at_rest(app) else 0
                await asyncio.sleep(0)


async def a_moment(app: App[Any]) -> None:
    """Lets the loader's threads run, and timers; what is waited for is always a condition."""
    if app._exception is not None:
        raise app._exception
    await asyncio.sleep(0.005)


def screen_lines(app: App[Any]) -> list[str]:
    """The text of the screen on top, line by line."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def screen_text(app: App[Any]) -> str:
    """The text of the screen on top."""
    return "\n".join(screen_lines(app))


BIDI = frozenset(chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))


def unsafe_characters(text: str) -> set[str]:
    """What must never reach a terminal: controls (newline is the lines' own), bidi controls, surrogates."""
    return {char for char in text if (unicodedata.category(char) in ("Cc", "Cs") and char != "\n") or char in BIDI}
