"""A terminal without Unicode: nothing of ours is left that it has no sign for, on any screen, and nothing moves."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from tests.tui.conftest import app_over, screen_lines, screen_text, settled, wait_for
from tests.tui.fakes import demo_session
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.tui.glyphs import ASCII, UNICODE
from tt_debug.tui.plain_signs import TABLE, PlainSigns

THEIRS = set("京都写作计划天在地图上¥🙂é")
"""Letters of the stores' own texts."""


def strange(text: str) -> set[str]:
    """What is no ASCII and not a store's own letter."""
    return {char for char in text if not char.isascii()} - THEIRS


def keys(text: str) -> Iterable[str]:
    return text.split()


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.soak)])
async def test_home_the_inbox_the_keys_the_log_and_the_palette(size: tuple[int, int]) -> None:
    app = app_over(demo_session(), ascii_only=True, tour=True)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        for key in keys("j o z z question_mark q at q y escape colon escape a A escape X escape i escape q"):
            await pilot.press(key)
            await settled(pilot, app)
            assert strange(screen_text(app)) == set(), key
            assert all(cell_len(line) == size[0] for line in screen_lines(app)), key


@pytest.mark.parametrize("thread", ["trip-planner", pytest.param("broken", marks=pytest.mark.soak)])
async def test_a_thread_its_panels_and_its_dialogs(thread: str) -> None:
    async with thread_screen(thread, (120, 40), TripSession(), ascii_only=True) as it:
        for key in keys("1 g enter 2 enter 3 enter 4 5 6 o space e escape f escape R escape K escape y escape z"):
            await it.pilot.press(key)
            await wait_for(it.pilot, lambda: not it.app.loader.busy)
            await it.pilot.pause()
            assert strange(it.text) == set(), key


async def test_what_asks_ends_in_three_dots() -> None:
    async with thread_screen("trip-planner", (120, 80), ascii_only=True) as it:
        await it.pilot.press("question_mark")
        await wait_for(it.pilot, lambda: "Edit and fork..." in it.text)
        assert "…" not in it.text


def test_each_sign_is_one_that_takes_as_many_cells() -> None:
    for code, plain in TABLE.items():
        assert str(plain).isascii()
        assert cell_len(chr(code)) == cell_len(str(plain)), chr(code)


def test_letters_are_left_as_they_are() -> None:
    line = [Segment("京都 → ●"), Segment("plain")]
    assert [segment.text for segment in PlainSigns().apply(line, Color(0, 0, 0))] == ["京都 > *", "plain"]
    same = [Segment("plain")]
    assert PlainSigns().apply(same, Color(0, 0, 0)) is same


def test_words_of_ours_change_only_where_they_have_to() -> None:
    assert UNICODE.words("Edit…") == "Edit…"
    assert ASCII.words("Edit…") == "Edit..."
