"""The tour, tips, and what the program remembers of both and of the theme."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.tui.conftest import app_over, screen_lines, screen_text, settled, wait_for
from tests.tui.fakes import FakeSession, demo_session
from tt_debug.tui.actions import find, shown_key
from tt_debug.tui.advice import TIPS
from tt_debug.tui.memory import Memory, Remembered
from tt_debug.tui.tour import STEPS, Tour
from tt_debug.tui.widgets.tip import Tip


def test_each_step_ends_when_done_and_nothing_else_ends_it() -> None:
    tour: Tour | None = Tour()
    assert tour is not None
    assert tour.after("nav.fwd") == tour, "before a thread is open nothing counts"
    for number, event in enumerate(["thread", "nav.fwd", "diff.open", "step 15", "forked", "ran"]):
        assert tour is not None
        assert tour.after("something else") == tour
        tour = tour.after(event)
        assert tour is not None
        assert tour.line(str).startswith(f"{number + 1}/{len(STEPS)}")
    assert tour is not None
    assert tour.after("diff.open") is None
    assert Tour(0).after("forked") == Tour(4), "who is ahead is not sent back"


def test_each_line_of_the_tour_is_whole_at_80_cells() -> None:
    for at in range(-1, len(STEPS)):
        assert cell_len(Tour(at).line(lambda name: shown_key(find(name).keys[0]))) <= 78


def test_going_to_a_step_by_its_number_is_stepping_too() -> None:
    assert Tour(0).after("place") == Tour(1)


async def test_the_tour_stands_above_the_keys_and_esc_ends_it(session: FakeSession) -> None:
    app = app_over(session, tour=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert screen_lines(app)[-2].startswith(" Tour: put the cursor on trip-planner and press Enter")
        await pilot.press("escape")
        await settled(pilot, app)
        assert app.tour is None
        assert not app.screen.query_one(Tip).display
        assert "Tour" not in screen_text(app)


async def test_who_ended_the_tour_is_not_given_it_again_unasked(session: FakeSession, tmp_path: Path) -> None:
    file = tmp_path / "interface.json"
    app = app_over(session, tour=True, memory=Memory(file))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert not file.exists(), "looking keeps nothing"
        await pilot.press("escape")
        assert json.loads(file.read_text())["toured"] is True
    again = app_over(demo_session(), tour=True, memory=Memory(file, Remembered(toured=True)))
    async with again.run_test(size=(80, 24)) as pilot:
        await settled(pilot, again)
        assert again.tour is None
        await pilot.press("colon", *"tour", "enter")
        await wait_for(pilot, lambda: again.tour is not None)
        await settled(pilot, again)
        assert screen_lines(again)[-2].startswith(" Tour: ")


async def test_a_theme_is_kept_and_one_that_is_no_more_is_not_missed(session: FakeSession, tmp_path: Path) -> None:
    file = tmp_path / "home" / "state" / "interface.json"
    app = app_over(session, memory=Memory(file))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert not file.exists()
        app.theme = "nord"
        await pilot.pause()
        assert json.loads(file.read_text())["theme"] == "nord"
    for kept, shown in (("nord", "nord"), ("gone", "textual-dark")):
        again = app_over(demo_session(), memory=Memory(now=Remembered(theme=kept)))
        async with again.run_test(size=(80, 24)) as pilot:
            await settled(pilot, again)
            assert again.theme == shown


async def test_without_colours_no_theme_is_taken_or_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_over(demo_session(), memory=Memory(tmp_path / "interface.json", Remembered(theme="nord")))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert app.theme == "ansi-dark"
        assert not (tmp_path / "interface.json").exists()


async def test_tips_change_and_can_be_turned_off_for_good(session: FakeSession, tmp_path: Path) -> None:
    file = tmp_path / "interface.json"
    app = app_over(session, memory=Memory(file))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        first = screen_lines(app)[-2]
        assert first.startswith(" Tip: ")
        await pilot.press("question_mark")
        await settled(pilot, app)
        assert "Tip: " not in screen_text(app)
        await pilot.press("q")
        await settled(pilot, app)
        assert screen_lines(app)[-2].startswith(" Tip: ")
        assert screen_lines(app)[-2] != first
        await pilot.resize_terminal(80, 24)
        await settled(pilot, app)
        assert "Tip: " not in screen_text(app), "no row to spare"
        await pilot.resize_terminal(120, 40)
        await settled(pilot, app)
        await pilot.press("colon", *"tips off", "enter")
        await wait_for(pilot, lambda: not app.memory.now.tips)
        await settled(pilot, app)
        assert "Tip: " not in screen_text(app)
    assert json.loads(file.read_text())["tips"] is False


def test_each_tip_is_whole_at_100_cells_and_names_actions_that_there_are() -> None:
    app = app_over(demo_session(), memory=Memory())
    for _ in TIPS:
        app._tip += 1
        assert cell_len(app.tip_for_home()) <= 98 + 22, "what hides it may be cut"
        assert "{nav" not in app.tip_for_home()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"theme": 3, "toured": "yes", "tips": 0}', "\x00"])
def test_what_was_remembered_and_is_damaged_counts_for_nothing(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path))
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "interface.json").write_text(text)
    assert Memory.kept().now == Remembered()


def test_where_nothing_can_be_kept_it_counts_for_this_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file" / "interface.json")
    memory.theme("nord")
    assert memory.now.theme == "nord"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
