"""Breakpoints on the Thread screen: set and taken away by the row, marked in the graph, listed, changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from textual.widgets import Checkbox, Input, RadioButton, RadioSet

from stores.model import Capability
from stores.supervision import Breakpoint
from tests.builders import native_file
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.errors import UsageError
from tt_debug.session.session import Session
from tt_debug.tui.dialogs.breakpoint import BreakpointDialog
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
        await it.press("b", "b")
        assert "breakpoint b1 is gone" in it.told.splitlines()[-1], "it was not set twice"
        assert not it.session.breaks


async def test_a_new_one_with_a_condition_says_what_that_is_here_and_is_marked() -> None:
    async with thread_screen() as it:
        header = it.screen.header()
        assert header is not None
        node = header.nodes[0]
        await it.pilot.press("B")
        await it.until(lambda: isinstance(it.app.screen, BreakpointDialog))
        await it.pilot.press(*"length(messages) >", "ctrl+s")
        await it.until(lambda: "is not a JMESPath expression" in it.text)
        await it.pilot.press(*" `2`")
        await it.until(lambda: "it holds at this checkpoint" in it.text)
        it.app.screen.query_one("#break-thread", Checkbox).value = True
        await it.pilot.press("ctrl+s")
        await it.until(lambda: it.session.breaks)
        (made,) = it.session.breaks
        assert (made.place, made.node, made.condition) == ("before", node, "length(messages) > `2`")
        assert made.thread == "trip-planner"
        await it.rest()
        assert f"■ {node}" in it.text
        command = f"tt-debug break /tmp/demo.db --before {node} --when 'length(messages) > `2`' --thread trip-planner"
        assert it.app.done[-1].command == command


async def test_breakpoints_are_listed_and_the_chosen_one_is_changed_or_taken_away() -> None:
    async with thread_screen() as it:
        it.session.breaks = [Breakpoint("b1", "error", condition="n > `2`", hits=3), Breakpoint("b2", "before", "plan")]
        it.screen.on_screen_resume()
        await it.rest()
        await it.pilot.press("B")
        await it.until(lambda: isinstance(it.app.screen, MenuDialog))
        await it.pilot.pause()
        assert "on an error of every node" in it.text
        assert "3 hits  when n > `2`" in it.text
        await it.pilot.press("1")
        await it.until(lambda: isinstance(it.app.screen, BreakpointDialog))
        await it.pilot.pause()
        assert "It has stopped 3 runs; changed, it counts anew." in " ".join(it.text.split())
        await it.pilot.press("ctrl+d")
        await it.until(lambda: len(it.session.breaks) == 1)
        assert it.session.breaks[0].id == "b2"
        await it.rest()
        await it.pilot.press("B")
        await it.until(lambda: isinstance(it.app.screen, MenuDialog))
        await it.pilot.press("1")
        await it.until(lambda: isinstance(it.app.screen, BreakpointDialog))
        it.app.screen.query_one(RadioSet).query(RadioButton)[3].value = True
        await it.until(lambda: it.app.screen.query_one("#break-effect-line").display)
        it.app.screen.query_one("#break-effect", Input).value = "mail"
        await it.pilot.press("ctrl+s")
        await it.until(lambda: it.session.breaks[0].place == "effect")
        assert (it.session.breaks[0].node, it.session.breaks[0].name) == ("plan", "mail")
        await it.rest()
        assert it.app.done[-1].command == "tt-debug break /tmp/demo.db --before-effect mail --node plan"


async def test_a_store_that_keeps_none_says_what_stops_a_run_there() -> None:
    session = TripSession()
    foreign = replace(session.info, kind="langgraph", capabilities=frozenset({Capability.FORK}))
    with mock.patch.object(TripSession, "info", property(lambda _: foreign)):
        async with thread_screen(session=session) as it:
            await it.press("B")
            assert "resume --until NODE" in it.told


def test_a_changed_breakpoint_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    session = Session.open(str(native_file(tmp_path / "b.db")))
    operations = session.operations
    first = operations.set_breakpoint(Breakpoint("", "before", "plan"))
    changed = operations.replace_breakpoint(first.id, Breakpoint("", "before", "plan", condition="n > `2`"))
    assert [(each.id, each.condition) for each in operations.breakpoints()] == [(changed.id, "n > `2`")]
    assert operations.replace_breakpoint(changed.id, Breakpoint("", "before", "plan", condition="n > `2`")) == changed
    with pytest.raises(UsageError):
        operations.replace_breakpoint(changed.id, Breakpoint("", "before", "plan", condition="n >"))
    assert operations.breakpoints() == (changed,)
    session.close()
