"""The tabs Log and Effects: how the checkpoint under the cursor came about, over the demo's own file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import screen_text, settled, unsafe_characters, wait_for
from tests.tui.thread_app import thread_screen
from tt_debug.demo import prepare
from tt_debug.session.executor import Duplicate
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.rows.pieces import Piece, cells, text_of
from tt_debug.tui.rows.story import BELOW, StoryRow, laid_out
from tt_debug.tui.screens.pager import PagerScreen
from tt_debug.tui.screens.thread import ThreadScreen


@asynccontextmanager
async def demo_thread(folder: Path, thread: str, size: tuple[int, int]) -> AsyncIterator[tuple[Pilot[Any], TtDebugApp]]:
    """The screen of one of the demo's threads."""
    path = prepare(folder).native
    app = TtDebugApp([OpenStore(str(path), path.name, Session.open(str(path)))])
    async with app.run_test(size=size) as pilot:
        screen = app.show_thread(app.stores[0], thread)
        await wait_for(pilot, lambda: screen.details is not None and not app.loader.busy)
        yield pilot, app


async def shown(pilot: Pilot[Any], app: TtDebugApp, key: str, text: str) -> list[str]:
    """The screen's lines, once ``key`` has brought ``text``."""
    await pilot.press(key)
    await wait_for(pilot, lambda: text in screen_text(app))
    lines = screen_text(app).splitlines()
    assert not unsafe_characters("\n".join(lines))
    return lines


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_effects_of_a_line_and_how_it_came_about(tmp_path: Path, size: tuple[int, int]) -> None:
    async with demo_thread(tmp_path, "旅-奈良 🦌-budget", size) as (pilot, app):
        lines = await shown(pilot, app, "8", "8 Effects")
        await wait_for(pilot, lambda: "timetable" in screen_text(app))
        lines = screen_text(app).splitlines()
        tax = next(line for line in lines if " tax " in line)
        assert "recorded" in tax
        assert next(line for line in reversed(lines) if " option " in line).split("option")[1].split()[0] == "called"
        await shown(pilot, app, "9", "9 Log")
        await wait_for(pilot, lambda: "check_total" in screen_text(app) and "llm" in screen_text(app))
        screen = app.screen
        assert isinstance(screen, ThreadScreen)
        told = [text_of(screen.views.log.piece_line(row, 200)) for row in range(screen.views.log.row_count)]
        named = [line.split()[2] for line in told if line[:4].strip()]
        assert named[:2] == ["the", "read_request"]
        assert named[-7:] == [
            "a",
            "rank_hotels",
            "choose_hotel",
            "reserve_hotel",
            "invoice",
            "check_total",
            "write_summary",
        ]
        effects = [line for line in told if line.startswith(BELOW.text) and line[len(BELOW.text)] != " "]
        assert effects[-1].split()[:2] == ["llm", "called"]


async def test_what_may_have_been_done_twice_stands_above_the_effects() -> None:
    async with thread_screen(size=(120, 40)) as it:
        twice = Duplicate(
            "trip-planner", "agent", 1, ("1 abandoned", "2 completed"), None, None, "run again without a key"
        )
        it.session.done_twice = (twice,)
        await it.press("8")
        await wait_for(it.pilot, lambda: "may have been done twice" in it.text)
        first = text_of(it.screen.views.effects.piece_line(0, 200))
        assert first == "! agent  may have been done twice: run again without a key  (1 abandoned, 2 completed)"


async def test_enter_opens_all_of_an_effect_and_goes_to_a_checkpoint_of_the_log(tmp_path: Path) -> None:
    async with demo_thread(tmp_path, "trip-planner", (80, 24)) as (pilot, app):
        screen = app.screen
        assert isinstance(screen, ThreadScreen)
        await shown(pilot, app, "8", "timetable")
        await pilot.press("home", "enter")
        await wait_for(pilot, lambda: isinstance(app.screen, PagerScreen))
        text = screen_text(app)
        assert "search of search, visit 1, call 1" in text
        assert "ik1:" in text
        assert '"q": "京都 sights"' in text
        await pilot.press("escape")
        await shown(pilot, app, "9", "write_summary  ")
        await wait_for(pilot, lambda: screen.tab == "log" and screen.panel() is screen.views.log)
        await settled(pilot, app)
        await pilot.press("home", "enter")
        await wait_for(pilot, lambda: screen.selected == screen.line[0])


async def test_reading_the_same_again_leaves_the_cursor_where_it_was_put(tmp_path: Path) -> None:
    async with demo_thread(tmp_path, "trip-planner", (80, 24)) as (pilot, app):
        screen = app.screen
        assert isinstance(screen, ThreadScreen)
        for key, text, view in (("9", "write_summary  ", screen.views.log), ("8", "timetable", screen.views.effects)):
            await shown(pilot, app, key, text)
            await settled(pilot, app)
            assert view.cursor > 0
            await pilot.press("home", "r")
            await settled(pilot, app)
            assert view.cursor == 0


async def test_a_failed_attempt_stands_in_the_log(tmp_path: Path) -> None:
    async with demo_thread(tmp_path, "quote-8", (120, 40)) as (pilot, app):
        await shown(pilot, app, "9", "attempt 1 failed")
        assert "HTTP 403" in screen_text(app)


async def test_the_cursor_takes_the_log_along(tmp_path: Path) -> None:
    async with demo_thread(tmp_path, "trip-planner", (120, 40)) as (pilot, app):
        await shown(pilot, app, "9", "write_summary  ")
        screen = app.screen
        assert isinstance(screen, ThreadScreen)
        rows = screen.views.log.row_count
        screen.go_to("3")
        await wait_for(pilot, lambda: screen.views.log.row_count < rows)


async def test_a_replay_offers_its_modes_and_says_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_DEBUG_DEMO_PACE", "0")
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    async with demo_thread(tmp_path / "demo", "trip-planner", (80, 24)) as (pilot, app):
        screen = app.screen
        assert isinstance(screen, ThreadScreen)
        before = len(screen.view.headers) if screen.view is not None else 0
        screen.go_to("19")
        await wait_for(pilot, lambda: screen.details is not None and screen.details.ref == screen.selected)
        await pilot.press("R")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await wait_for(pilot, lambda: "from the record" in screen_text(app))
        assert "Live, on a new thread" in screen_text(app)
        await pilot.press("ctrl+v")
        await wait_for(pilot, lambda: "Verify trip-planner from the record" in screen_text(app))
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: isinstance(app.screen, NoticeDialog))
        assert "every step went as recorded" in screen_text(app)
        await pilot.press("escape")
        await wait_for(pilot, lambda: app.screen is screen and not app.loader.busy)
        assert screen.view is not None
        assert len(screen.view.headers) == before


async def test_a_store_without_runs_has_a_log_and_no_effects() -> None:
    async with thread_screen(size=(120, 40)) as on:
        await on.press("9")
        assert "9 Log" in on.text
        await on.until(lambda: on.screen.views.log.row_count > 3)


async def test_what_came_of_an_effect_is_shown_whole_where_there_is_room(tmp_path: Path) -> None:
    async with demo_thread(tmp_path, "trip-planner", (200, 60)) as (pilot, app):
        await shown(pilot, app, "8", "timetable")
        screen = app.screen
        assert isinstance(screen, ThreadScreen)
        effects = screen.views.effects
        told = " ".join(text_of(effects.piece_line(row, 200)).strip() for row in range(effects.row_count))
        assert "Autumn suits 京都 best: red maples, and few people in the temples." in told
        assert "…" not in told
        last = effects.current()
        await pilot.press("k")
        assert effects.current() is not last
        await pilot.press("j")
        assert effects.current() is last


@pytest.mark.parametrize("width", [40, 66, 200])
def test_long_results_go_below_or_beside_or_are_cut(width: int) -> None:
    lead = (Piece("   2 "), Piece("search  "), Piece("called  "))
    rows = [StoryRow((*lead, Piece('"' + "word " * 30 + '"')), len(lead)), StoryRow((*lead, Piece('"ok"')), len(lead))]
    roomy = laid_out(rows, width, 50)
    assert max(cells(line) for _, line in roomy) <= width
    assert "".join(text_of(line) for number, line in roomy if number == 0).count("word") == 30
    assert laid_out(rows, width, 2) == [(0, rows[0].line), (1, rows[1].line)]
