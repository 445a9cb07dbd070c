"""Apps over fake sessions, and waiting for conditions instead of sleeping."""

from __future__ import annotations

import asyncio
import inspect
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
    for _ in range(2000):
        if condition():
            return
        await pilot.pause()
        # Yields to the loader's threads; nothing is measured by it.
        await asyncio.sleep(0.005)
    raise AssertionError(f"never happened: {what or condition}")


def screen_lines(app: TtDebugApp) -> list[str]:
    """The text of the screen, line by line."""
    from textual.widget import Widget

    width, height = app.size
    rows = [[" "] * width for _ in range(height)]
    compositor = app.screen._compositor
    strips = compositor.render_strips()
    assert isinstance(app.screen, Widget)
    return [strip.text for strip in strips] or ["".join(row) for row in rows]
