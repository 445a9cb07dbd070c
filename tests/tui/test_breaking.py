"""Breakpoints on the Thread screen: set and taken away by the row, marked in the graph, listed."""

from __future__ import annotations

from stores.supervision import Breakpoint
from tests.tui.thread_app import thread_screen
from tt_debug.tui.dialogs.menu import MenuDialog


async def test_a_breakpoint_is_set_before_the_node_of_the_row_and_marked() -> None:
    async with thread_screen() as it:
        header = it.screen.header()
        assert header is not None
        node = header.nodes[0]
        await it.press("b")
        await it.until(lambda: it.session.breaks)
        assert [(each.place, each.node, each.thread) for each in it.session.breaks] == [("before", node, None)]
        await it.rest()
        assert f"■ {node}" in it.text
        assert f"breakpoint b1: before {node}" in it.told
        await it.press("b")
        await it.until(lambda: not it.session.breaks)
        await it.rest()
        assert "■" not in it.text


async def test_breakpoints_are_listed_and_the_chosen_one_is_taken_away() -> None:
    async with thread_screen() as it:
        await it.press("B")
        assert "no breakpoint here" in it.told
        it.session.breaks = [Breakpoint("b1", "error", condition="n > `2`", hits=3), Breakpoint("b2", "before", "plan")]
        it.screen.on_screen_resume()
        await it.rest()
        await it.pilot.press("B")
        await it.until(lambda: isinstance(it.app.screen, MenuDialog))
        await it.pilot.pause()
        assert "on an error of every node" in it.text
        assert "3 hits  when n > `2`" in it.text
        await it.pilot.press("1")
        await it.until(lambda: len(it.session.breaks) == 1)
        assert it.session.breaks[0].id == "b2"
