"""Apps over fake sessions, and waiting for conditions instead of sleeping."""

from __future__ import annotations

import asyncio
import inspect
import unicodedata
from collections.abc import Callable
from typing import Any, cast

import pytest
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


async def wait_for(pilot: Pilot[Any], condition: Callable[[], object], what: str = "") -> None:
    """Let the app go on until ``condition`` holds; the test's own timeout is the bound."""
    while not condition():
        await pilot.pause()
        # Lets the loader's threads run; what is waited for is the condition.
        await asyncio.sleep(0.001)


async def settled(pilot: Pilot[Any], app: TtDebugApp) -> None:
    """Until no call of the loader is waiting or running and its messages have been handled."""
    await wait_for(pilot, lambda: not app.loader.busy)
    await pilot.pause()
    await pilot.pause()


def screen_lines(app: TtDebugApp) -> list[str]:
    """The text of the screen on top, line by line."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def screen_text(app: TtDebugApp) -> str:
    """The text of the screen on top."""
    return "\n".join(screen_lines(app))


BIDI = frozenset(chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))


def unsafe_characters(text: str) -> set[str]:
    """What must never reach a terminal: controls (newline is the lines' own), bidi controls, surrogates."""
    return {char for char in text if (unicodedata.category(char) in ("Cc", "Cs") and char != "\n") or char in BIDI}
