"""Everything can be done by keys: what the mouse can do is an action of the table, and none hangs on a key that a
multiplexer or a terminal keeps for itself."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tt_debug.tui
from tests.tui.thread_app import thread_screen
from tt_debug.tui.action import Action
from tt_debug.tui.actions import ACTIONS, find, for_screen
from tt_debug.tui.palette import actions as palette_actions

PACKAGE = Path(tt_debug.tui.__file__).parent
HELD_BACK = frozenset({"ctrl+a", "ctrl+b", "ctrl+q", "ctrl+s"})
"""Kept by screen, by tmux, and by terminals that stop and start their output with them."""

BY_KEYS = {
    "KeyBar": (),  # its entries are actions of the table, by its own type
    "RowView": ("row.up", "row.down", "row.page_up", "row.page_down", "row.open"),
    "Timeline": ("nav.back", "nav.fwd", "nav.head", "nav.event_back", "nav.event_fwd", "palette"),
}
"""Widgets that answer the mouse, and the actions that do the same."""
TABS = ("pane.focus", "pane.next_tab", "pane.prev_tab")


def mouse_handlers() -> dict[str, set[str]]:
    """Class → its methods that are told of the mouse."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                names = {part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}
                mouse = {name for name in names if name.lstrip("_").startswith(("on_click", "on_mouse"))}
                if mouse:
                    found[node.name] = mouse
    return found


def test_what_answers_the_mouse_has_an_action_for_it() -> None:
    assert set(mouse_handlers()) == set(BY_KEYS), "say in BY_KEYS which actions do the same"
    for ids in (*BY_KEYS.values(), TABS):
        for name in ids:
            assert find(name).keys, name


def test_links_in_a_text_are_the_tabs_and_nothing_else() -> None:
    linked = [path for path in PACKAGE.rglob("*.py") if "@click=" in path.read_text(encoding="utf-8")]
    assert [path.name for path in linked] == ["thread_panels.py"]
    assert (linked[0].read_text(encoding="utf-8")).count("@click=") == 1


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_every_action_has_a_key_that_is_sent_everywhere(action: Action) -> None:
    assert action.keys
    # Who cannot send ctrl+q leaves by q from the first screen, and by the palette.
    assert action.id == "quit" or set(action.keys) - HELD_BACK


async def test_the_palette_has_every_action_too() -> None:
    async with thread_screen("trip-planner", (80, 24)) as it:
        titles = {entry.title for entry in palette_actions(it.app, it.screen)}
        assert titles >= {it.app.glyphs.words(each.title) for each in for_screen("thread") if each.id != "palette"}
