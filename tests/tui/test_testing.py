"""Writing a test of a step from the screen: asked first, into a new file, with the command that does the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import screen_text, settled, wait_for
from tt_debug.demo import prepare
from tt_debug.session.session import Session
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.opening import OpenStore
from tt_debug.tui.screens.thread import ThreadScreen


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TtDebugApp]:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    files = prepare(tmp_path / "demo")
    sessions = [Session.open(str(path), read_only=True) for path in (files.native, files.langgraph)]
    stores = [OpenStore(str(session.info.path), session.info.kind, session) for session in sessions]
    yield TtDebugApp(stores, ascii_only=False, read_only=True)
    for session in sessions:
        session.close()


async def at_step(pilot: Pilot[Any], app: TtDebugApp, store: int, thread: str, step: int) -> ThreadScreen:
    await settled(pilot, app)
    screen = app.show_thread(app.stores[store], thread)
    await wait_for(pilot, lambda: screen.is_mounted and screen.details is not None)
    await settled(pilot, app)
    screen.select_ref(screen.line[step + 1])
    await settled(pilot, app)
    return screen


async def test_it_is_asked_about_and_written_beside_nothing_that_is_there(app: TtDebugApp, tmp_path: Path) -> None:
    (tmp_path / "test_choose_hotel.py").write_text("mine")
    async with app.run_test(size=(100, 30)) as pilot:
        await at_step(pilot, app, 0, "trip-planner", 17)
        await pilot.press("P")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "test_choose_hotel_2.py" in screen_text(app)
        assert "trip_nodes:choose_hotel" in screen_text(app)
        await pilot.press("escape")
        await settled(pilot, app)
        assert not (tmp_path / "test_choose_hotel_2.py").exists()
        await pilot.press("P")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: app.done)
        assert "def test_choose_hotel():" in (tmp_path / "test_choose_hotel_2.py").read_text()
        assert (tmp_path / "test_choose_hotel.py").read_text() == "mine"
        assert app.done[-1].command.startswith("tt-debug export ")
        assert "--pytest test_choose_hotel_2.py" in app.done[-1].command


async def test_where_it_cannot_be_a_test_it_is_said_why(app: TtDebugApp, tmp_path: Path) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await at_step(pilot, app, 1, "trip-kyoto", 17)
        await pilot.press("P")
        await wait_for(pilot, lambda: any("--graph" in toast.message for toast in app._notifications))
        assert list(tmp_path.glob("test_*.py")) == []
