"""A long text by pages: where they begin, moving over their ends, searching, hostile texts, opened from a state."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from stores.model import Opaque
from tests.tui.conftest import app_over, screen_lines, screen_text, settled, unsafe_characters, wait_for
from tests.tui.fakes import HOSTILE, demo_session
from tests.tui.sample_threads import message
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.tui.screens.pager import PagerScreen
from tt_debug.tui.widgets.pages_view import PAGE, PagesView, page_starts


def test_a_page_ends_after_a_line_where_there_is_one_near_its_end() -> None:
    assert page_starts("") == [0]
    assert page_starts("x" * PAGE) == [0]
    assert page_starts("x" * (PAGE + 1)) == [0, PAGE]
    lines = "a line of text\n" * 5000
    starts = page_starts(lines)
    assert len(starts) == 4
    assert all(lines[start - 1] == "\n" for start in starts[1:])


async def opened(pilot: Pilot[Any], app: Any, text: str) -> PagesView:
    await settled(pilot, app)
    app.push_screen(PagerScreen(text, ("thread", "step 3", "text")))
    await wait_for(pilot, lambda: isinstance(app.screen, PagerScreen) and app.screen.is_mounted)
    await pilot.pause()
    view: PagesView = app.screen.query_one("#text")
    await wait_for(pilot, lambda: view.row_count > 0 or not text)
    return view


TEXT = "".join(f"line {number:05}\n" for number in range(6000))


async def test_moving_past_the_end_of_a_page_turns_it_both_ways() -> None:
    app = app_over(demo_session())
    async with app.run_test(size=(80, 24)) as pilot:
        view = await opened(pilot, app, TEXT)
        assert "page 1/4" in screen_lines(app)[0]
        assert "66k" in screen_lines(app)[0]
        await pilot.press("G", "j")
        await pilot.pause()
        assert view.page == 1
        assert "page 2/4" in screen_lines(app)[0]
        assert "line 01818" in screen_lines(app)[2]
        await pilot.press("k")
        await pilot.pause()
        assert (view.page, view.cursor) == (0, view.row_count - 1)
        await pilot.press("full_stop", "full_stop", "full_stop", "full_stop")
        await pilot.pause()
        assert view.page == 3
        assert "this is the last page" in "".join(notice.message for notice in app._notifications)
        await pilot.press("comma")
        assert view.page == 2


async def test_a_search_goes_on_over_pages_and_around() -> None:
    app = app_over(demo_session())
    async with app.run_test(size=(80, 24)) as pilot:
        view = await opened(pilot, app, TEXT.replace("line 04000", "LINE needle"))
        await pilot.press("slash", *"needle", "enter")
        await pilot.pause()
        assert view.page == 2
        assert "LINE needle" in screen_text(app)
        await pilot.press("slash", *"line 00010", "enter")
        await pilot.pause()
        assert (view.page, view.cursor) == (0, 10)
        await pilot.press("slash", *"nothing of it", "enter")
        await pilot.pause()
        assert "is not in this text" in "".join(notice.message for notice in app._notifications)
        await pilot.press("escape")
        await wait_for(pilot, lambda: not isinstance(app.screen, PagerScreen))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_hostile_text_of_ten_megabytes_is_text(size: tuple[int, int]) -> None:
    app = app_over(demo_session())
    async with app.run_test(size=size) as pilot:
        view = await opened(pilot, app, (HOSTILE + "\n") * 100 + "x" * 10_000_000)
        assert "[/red] [b]bold[/b]" in screen_text(app)
        assert unsafe_characters(screen_text(app)) == set()
        assert view.pages > 500
        await pilot.press("full_stop", "G")
        await pilot.pause()
        assert unsafe_characters(screen_text(app)) == set()


async def test_lines_are_wrapped_again_when_the_width_changes() -> None:
    app = app_over(demo_session())
    async with app.run_test(size=(120, 40)) as pilot:
        view = await opened(pilot, app, "word " * 3000)
        before = view.row_count
        await pilot.resize_terminal(80, 24)
        await wait_for(pilot, lambda: view.row_count > before)


async def test_enter_on_a_text_that_is_cut_opens_it_and_on_bytes_their_hex() -> None:
    session = TripSession(sample=False)
    session.add("t", {"text": "beginning " + "x" * 3000 + " the end", "raw": Opaque("pickle", b"\x80\x04ab"), "n": 1})
    async with thread_screen("t", (120, 40), session) as it:
        await it.press("2", "g")
        await it.pilot.press("enter")
        await it.until(lambda: isinstance(it.app.screen, PagerScreen))
        await it.until(lambda: "the end" in it.text)
        assert "t › input" in it.text.splitlines()[0] or "step -1" in it.text.splitlines()[0]
        await it.pilot.press("q")
        await it.until(lambda: it.app.screen is it.screen)
        await it.pilot.press("j", "enter")
        await it.until(lambda: isinstance(it.app.screen, PagerScreen))
        await it.until(lambda: "80 04 61 62" in it.text)
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen)
        await it.press("j", "enter")
        assert "nothing more to unfold" in it.told


async def test_a_message_too_long_for_the_conversation_is_paged() -> None:
    session = TripSession(sample=False)
    session.add("t", {"messages": [message("tool", "beginning " + "x" * 60_000, "m")]})
    async with thread_screen("t", (120, 40), session) as it:
        await it.press("4")
        await it.pilot.press("enter")
        await it.until(lambda: isinstance(it.app.screen, PagerScreen))
        await it.until(lambda: "page 1/4" in it.text)
