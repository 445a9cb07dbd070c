"""What follows the cursor of the Thread screen: title and timeline with it, the panels where it stands still."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from tests.tui.thread_app import Opened, thread_screen
from tt_debug.tui.screens import thread_following
from tt_debug.tui.screens.thread_details import RowFacts
from tt_debug.tui.screens.thread_parts import FactsRead
from tt_debug.tui.widgets.graph_view import GraphView
from tt_debug.tui.widgets.title_bar import TitleBar

NEVER = 3600.0


def is_shown(it: Opened) -> bool:
    return it.screen.details is not None and it.screen.details.ref == it.screen.selected


async def test_title_and_timeline_are_drawn_in_one_frame_with_the_cursor() -> None:
    async with thread_screen() as it:
        it.screen.act_nav_back()
        assert it.screen.query_one(TitleBar).title.step == "step 23/24"
        assert it.screen.timeline._position == it.screen.places[it.ref("trip-planner", 23)]


async def test_the_panels_follow_at_once_where_the_cursor_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    async with thread_screen(size=(120, 40)) as it:
        monkeypatch.setattr(thread_following, "REST", NEVER)
        await it.pilot.press("comma")
        await it.until(lambda: is_shown(it))
        assert it.step == 23
        assert not it.screen.views.state.stale


async def test_of_a_cursor_that_goes_on_the_panels_are_dim_and_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async with thread_screen(size=(120, 40)) as it:
        monkeypatch.setattr(thread_following, "REST", NEVER)
        await it.pilot.press("comma")
        await it.until(lambda: is_shown(it))
        asked = len(it.session.loads)
        await it.pilot.press("comma", "comma")
        await it.until(lambda: it.screen.views.state.stale and not it.app.loader.busy)
        assert len(it.session.loads) == asked
        assert it.screen.views.diff.stale
        monkeypatch.undo()
        await it.press("comma")
        assert it.step == 20
        assert is_shown(it)
        assert not it.screen.views.diff.stale


async def test_what_is_learned_of_a_row_draws_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[Region, ...]] = []

    def refresh(view: GraphView, *regions: Region, **_: bool) -> GraphView:
        drawn.append(regions)
        return view

    async with thread_screen(size=(120, 40)) as it:
        graph, ref = it.screen.graph, it.ref("trip-planner", 20)
        monkeypatch.setattr(GraphView, "refresh", refresh)
        for _ in range(2):
            it.screen.post_message(FactsRead(RowFacts({ref: "budget"}, {})))
            await it.pilot.pause()
        row = graph.row_of(ref)
        assert row is not None
        assert drawn == [(Region(0, row - graph.scroll_offset.y, graph.size.width, 1),)]
        assert "budget" in graph.render_line(row - graph.scroll_offset.y).text


async def test_a_reading_that_puts_the_cursor_elsewhere_does_not_end_the_following_of_a_run() -> None:
    async with thread_screen() as it:
        there = it.ref("trip-planner", 10)
        it.screen.running = it.screen.following = True
        it.screen.read(select=there)
        await it.until(lambda: it.screen.selected == there)
        assert it.screen.following
        await it.pilot.press("comma")
        assert not it.screen.following
        it.screen.running = False
