"""The action table: complete, without clashes, and everything made from it agrees with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tt_debug.cli import commands
from tt_debug.tui import actions
from tt_debug.tui.actions import ACTIONS, EVERYWHERE, ROWS, Safety, find, for_screen, shown_key
from tt_debug.tui.key_table import BEGIN, END, markdown_table, replaced
from tt_debug.tui.palette import actions as palette_actions
from tt_debug.tui.panel_help import PANELS
from tt_debug.tui.screens.answers import AnswersScreen
from tt_debug.tui.screens.approvals import ApprovalsScreen
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.screens.bookmarks import BookmarksScreen
from tt_debug.tui.screens.comparing import CompareScreen
from tt_debug.tui.screens.help import HelpScreen, sections
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.screens.log import LogScreen
from tt_debug.tui.screens.metrics import MetricsScreen
from tt_debug.tui.screens.pager import PagerScreen
from tt_debug.tui.screens.recovery import RecoveryScreen
from tt_debug.tui.screens.stores import StoresScreen
from tt_debug.tui.screens.thread import ThreadScreen
from tt_debug.tui.tour import with_keys

SCREENS: dict[str, type[BaseScreen]] = {
    "home": HomeScreen,
    "thread": ThreadScreen,
    "approvals": ApprovalsScreen,
    "stores": StoresScreen,
    "help": HelpScreen,
    "log": LogScreen,
    "pager": PagerScreen,
    "answers": AnswersScreen,
    "marks": BookmarksScreen,
    "compare": CompareScreen,
    "recovery": RecoveryScreen,
    "metrics": MetricsScreen,
}


def test_ids_are_unique() -> None:
    ids = [action.id for action in ACTIONS]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("where", SCREENS)
def test_no_key_means_two_things_on_a_screen(where: str) -> None:
    seen: dict[str, str] = {}
    # Thread fold keys go to the focused list first; the others may not clash with the lists' keys either.
    for action in (*for_screen(where), *for_screen(ROWS)):
        for key in action.keys:
            assert key not in seen, f"{key}: {action.id} and {seen[key]}"
            seen[key] = action.id


@pytest.mark.parametrize("where", SCREENS)
def test_every_action_is_done_by_its_screen(where: str) -> None:
    for action in for_screen(where):
        owner = getattr(SCREENS[where], action.method, None)
        assert callable(owner), f"{where}: {action.id} has no {action.method}"


@pytest.mark.parametrize("where", SCREENS)
def test_screens_name_themselves_and_bind_what_the_table_says(where: str) -> None:
    screen = SCREENS[where]
    assert where == screen.WHERE
    bound = {binding.id for binding in actions.bindings(where) if not isinstance(binding, tuple)}
    assert bound >= {action.id for action in for_screen(where) if action.id != "pane.focus"}


def test_every_place_in_the_table_is_a_screen() -> None:
    assert {place for action in ACTIONS for place in action.where} <= {*SCREENS, ROWS, EVERYWHERE}


def test_titles_that_end_in_dots_ask_and_writes_say_so() -> None:
    for action in ACTIONS:
        if action.safety in (Safety.WRITE, Safety.EXECUTE) and action.id not in ("run.pause", "break.toggle"):
            assert action.title.endswith("…"), action.id


def test_every_command_line_of_the_table_is_one() -> None:
    for action in ACTIONS:
        if not action.cli:
            continue
        program, name, *words = action.cli.split()
        command = commands.load(name)
        assert program == "tt-debug"
        assert command is not None, action.cli
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, action.cli


def test_no_chord_no_alt_no_key_that_is_another_one() -> None:
    same_as_another = {"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+left_square_bracket", "ctrl+z"}
    for action in ACTIONS:
        for key in action.keys:
            assert "alt+" not in key
            assert key not in same_as_another


def test_keys_are_shown_as_people_write_them() -> None:
    assert [shown_key(key) for key in ("comma", "ctrl+p", "slash", "G", "enter", "shift+left")] == [
        ",", "^p", "/", "G", "⏎", "shift+←",
    ]  # fmt: skip
    assert shown_key("enter", ascii_only=True) == "Enter"


def test_help_shows_every_action_of_a_screen() -> None:
    for where in SCREENS:
        shown = {action.id for _, part in sections(where) for action in part}
        assert shown == {action.id for action in (*for_screen(where), *for_screen(ROWS))}


def test_every_panel_that_can_have_the_focus_is_explained() -> None:
    places = {place for place, _ in PANELS}
    assert places <= set(SCREENS)
    for where, screen in SCREENS.items():
        for name in screen.PANES:
            panel = name.removeprefix("#")
            assert (where, panel) in PANELS or where in ("help", "pager"), f"{where}: {panel} has no help"
    for title, words in PANELS.values():
        assert title
        assert "{" not in with_keys(words, lambda name: find(name).title), "keys of actions that there are"


async def test_the_palette_lists_every_action_of_the_screen() -> None:
    from tests.tui.conftest import app_over
    from tests.tui.fakes import demo_session

    app = app_over(demo_session())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        titles = {entry.title for entry in palette_actions(app, app.screen)}
        assert titles >= {action.title for action in for_screen("home") if action.id != "palette"}


def test_the_key_table_has_a_row_for_every_action() -> None:
    table = markdown_table()
    for action in ACTIONS:
        assert f"| {action.title.rstrip('…')}" in table, action.id
    assert all(line.count("|") - line.count("\\|") == 6 for line in table.splitlines() if line.startswith("|"))


def test_the_readme_has_the_key_table_as_it_is() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    text = readme.read_text(encoding="utf-8")
    assert BEGIN in text
    assert END in text
    assert replaced(text) == text, "the README's key table is stale: run python -m tt_debug.tui.key_table README.md"
