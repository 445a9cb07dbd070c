"""A file that is replaced while it is looked at: a state of the screen until it is read again, not only a toast."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from textual import events

from tests.tui.conftest import screen_lines, screen_text, settled, wait_for
from tt_debug.demo import prepare
from tt_debug.session.session import Session
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.glyphs import ASCII
from tt_debug.tui.opening import OpenStore


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_title_says_so_until_it_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    files = prepare(tmp_path / "demo")
    path = tmp_path / "one.db"
    shutil.copy(files.native, path)
    session = Session.open(str(path))
    app = TtDebugApp([OpenStore(str(path), path.name, session)], ascii_only=False)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        await settled(pilot, app)
        assert "FILE REPLACED" not in screen_text(app)
        shutil.copy(files.native, tmp_path / "other.db")
        os.replace(tmp_path / "other.db", path)
        app.post_message(events.AppFocus())
        await wait_for(pilot, lambda: "FILE REPLACED" in screen_lines(app)[0])
        screen = app.show_thread(app.stores[0], "trip-planner")
        await wait_for(pilot, lambda: screen.is_mounted and screen.details is not None)
        await settled(pilot, app)
        assert "FILE REPLACED" in screen_lines(app)[0]
        await wait_for(pilot, lambda: "Another file stands where one.db was" in " ".join(screen_text(app).split()))
        await pilot.press("r")
        await settled(pilot, app)
        await settled(pilot, app)
        assert "FILE REPLACED" not in screen_text(app)
        assert "Another file stands" not in screen_text(app)
        app.post_message(events.AppFocus())
        await settled(pilot, app)
        await settled(pilot, app)
        assert "FILE REPLACED" not in screen_text(app), "the new file is the one that is looked at now"
    session.close()


def test_what_can_stand_in_one_column_has_signs_of_its_own_in_ascii() -> None:
    marks = ["A", ASCII.bookmark, ASCII.problem, ASCII.breakpoint, ASCII.cursor]
    states = [ASCII.step, ASCII.edited, ASCII.end, ASCII.running, ASCII.waiting, ASCII.failed, ASCII.done]
    assert len(set(marks)) == len(marks)
    assert len(set(states)) == len(states)
    assert not set(marks) & set(states)
