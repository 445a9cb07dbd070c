"""The panels of the Thread screen: tabs, pinning, searching and folding in them, zooming."""

from __future__ import annotations

import pytest

from tests.tui.conftest import screen_lines
from tests.tui.thread_app import thread_screen
from tt_debug.tui.screens.thread_panels import TABS
from tt_debug.tui.widgets.diff_view import DiffView
from tt_debug.tui.widgets.messages_view import MessagesView
from tt_debug.tui.widgets.state_view import StateView


async def test_every_tab_shows_its_side_of_the_checkpoint_and_digits_brackets_and_clicks_reach_it() -> None:
    async with thread_screen() as it:
        for key, name in (("2", "state"), ("4", "messages"), ("5", "writes"), ("6", "meta"), ("3", "diff")):
            await it.press(key)
            assert it.screen.tab == name
            assert it.screen.query_one(f"#{name}").has_focus
            assert [each for each, _ in TABS if it.screen.query_one(f"#{each}").display] == [name]
        await it.press("right_square_bracket")
        assert it.screen.tab == "messages"
        await it.press("left_square_bracket", "left_square_bracket")
        assert it.screen.tab == "state"
        rule = next(y for y, line in enumerate(screen_lines(it.app)) if "2 State" in line)
        await it.pilot.click(offset=(screen_lines(it.app)[rule].index("5 Writes") + 2, rule))
        await it.rest()
        assert it.screen.tab == "writes"


@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
async def test_with_room_the_diff_stands_beside_the_tab(size: tuple[int, int]) -> None:
    async with thread_screen(size=size) as it:
        shown = [each for each, _ in TABS if it.screen.query_one(f"#{each}").display]
        assert shown == ["state", "diff"]
        await it.press("4")
        assert it.screen.query_one(DiffView).display
        assert it.screen.query_one(MessagesView).display
        await it.press("d")
        assert it.screen.query_one(DiffView).has_focus


async def test_a_pinned_checkpoint_is_what_state_and_diff_are_compared_with() -> None:
    async with thread_screen(size=(120, 40)) as it:
        pinned = it.screen.selected
        await it.press("space", "comma", "comma", "comma")
        assert it.screen.pin == pinned
        assert it.screen.details is not None
        assert it.screen.details.base == pinned
        assert "A 24 agent → 21 tools" in it.text
        before = it.screen.details.compared.diff
        await it.press("percent_sign")
        assert "A 21 tools → 24 agent" in it.text
        assert len(it.screen.details.compared.diff) == len(before)
        assert it.screen.details.compared.diff != before
        await it.press("0", "space")
        assert it.screen.pin is None


async def test_searching_in_the_state_stays_there() -> None:
    async with thread_screen() as it:
        await it.press("2")
        await it.pilot.press("slash", *"cost_usd", "enter")
        await it.rest()
        node = it.screen.query_one("#state", StateView).current()
        assert node is not None
        assert node.path == ("usage", "cost_usd")
        assert it.step == 24


async def test_folding_in_the_state_is_kept_from_step_to_step() -> None:
    async with thread_screen() as it:
        await it.press("2", "h")
        state = it.screen.query_one("#state", StateView)
        rows = state.row_count
        await it.press("comma")
        assert abs(state.row_count - rows) <= 1
        assert state.folds[(("messages",), -1)] is False
        await it.press("l")
        assert state.row_count > rows


async def test_enter_on_a_change_goes_to_its_place_in_the_state() -> None:
    async with thread_screen() as it:
        await it.press("d", "j", "j", "j", "enter")
        assert it.screen.tab == "state"
        node = it.screen.query_one("#state", StateView).current()
        assert node is not None
        assert node.path[0] == "usage"


async def test_enter_on_a_long_text_writes_it_out() -> None:
    async with thread_screen() as it:
        await it.press("d", "j")
        diff = it.screen.query_one(DiffView)
        before = diff.row_count
        await it.press("enter")
        assert diff.row_count > before
        await it.press("h")
        assert diff.row_count == before


async def test_zoom_gives_the_panel_the_screen_and_esc_takes_it_back() -> None:
    async with thread_screen() as it:
        await it.press("z")
        assert it.screen.graph.size.height >= 20
        await it.press("escape")
        assert it.screen.graph.size.height < 10


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_zoom_goes_with_the_focus(size: tuple[int, int]) -> None:
    async with thread_screen(size=size) as it:
        await it.press("3", "z")
        for key, name in (("4", "messages"), ("1", "graph"), ("2", "state"), ("3", "diff")):
            await it.press(key)
            assert it.screen.maximized is it.screen.focused
            assert it.screen.focused is it.screen.query_one(f"#{name}")
            assert it.screen.focused.size.height >= size[1] - 8
        await it.press("slash")
        assert it.screen.maximized is it.screen.query_one("#diff")
        await it.press("escape", "escape")
        assert it.screen.maximized is None
