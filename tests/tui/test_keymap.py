"""The user's keys: laid over the table, shown where the table's are, and every fault named in a sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from stores.places import config_folder
from tests.tui.conftest import app_over, screen_lines, screen_text, settled, wait_for
from tests.tui.fakes import FakeSession
from tt_debug.errors import UsageError
from tt_debug.tui.actions import ACTIONS, Action, find, shown_key
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.key_names import spelled, unreachable
from tt_debug.tui.keymap import PRESETS, bound, keys_file, read_actions, with_keys
from tt_debug.tui.preferences import Preferences, read_preferences
from tt_debug.tui.screens.approvals import ApprovalsScreen
from tt_debug.tui.screens.help import HelpScreen
from tt_debug.tui.screens.log import LogScreen
from tt_debug.tui.widgets.threads_view import ThreadsView


def read(tmp_path: Path, text: str) -> tuple[Action, ...]:
    """The table with the keys of a file that says ``text``."""
    file = tmp_path / "keys.toml"
    file.write_text(text)
    return read_actions(file)


def keys(actions: tuple[Action, ...], name: str) -> tuple[str, ...]:
    return find(name, actions).keys


def test_without_a_file_the_table_stands(tmp_path: Path) -> None:
    assert read_actions(tmp_path / "none.toml") is ACTIONS
    assert keys_file() == config_folder() / "keys.toml"


def test_keys_are_given_by_name_or_by_sign_several_at_once(tmp_path: Path) -> None:
    actions = read(
        tmp_path, '[keys]\nedit = "f2"\n"run.continue" = ["f8", ";"]\n"nav.back" = "PgUp"\n"row.page_up" = []\n'
    )
    assert keys(actions, "edit") == ("f2",)
    assert keys(actions, "run.continue") == ("f8", "semicolon")
    assert keys(actions, "nav.back") == ("pageup",)
    assert keys(actions, "row.page_up") == ()
    assert keys(actions, "fork") == ("f",)


def test_two_actions_may_change_places(tmp_path: Path) -> None:
    actions = read(tmp_path, '[keys]\nedit = "f"\nfork = "e"\n')
    assert (keys(actions, "edit"), keys(actions, "fork")) == (("f",), ("e",))


def test_the_preset_gives_way_to_what_is_said(tmp_path: Path) -> None:
    actions = read(tmp_path, 'preset = "fkeys"\n[keys]\n"run.step" = "f7"\n')
    assert keys(actions, "run.continue") == ("f8", "c")
    assert keys(actions, "run.step") == ("f7",)
    assert read(tmp_path, 'preset = "default"\n') == ACTIONS


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_sound(tmp_path: Path, preset: str) -> None:
    assert len(read(tmp_path, f'preset = "{preset}"\n')) == len(ACTIONS)


FAULTS = [
    ("preset = 1", "there is no preset 1"),
    ('preset = "vim"', "there is no preset 'vim', only default and fkeys"),
    ("keys = 1", "keys is a table"),
    ("[keys]\nrun.continue = 'f8'", 'stands in quotes: "run.continue"'),
    ("[keys]\nedit = 1", "the keys of edit are a text or a list of texts"),
    ("[other]\nedit = 'e'", "'other' is not known"),
    ("[keys]\nedti = 'f2'", "there is no action 'edti'; did you mean 'edit'?"),
    ("[keys]\nxyzzy = 'f2'", "there is no action 'xyzzy'"),
    ("[keys]\nfork = 'e'", "e would be both edit and fork"),
    ("[keys]\nedit = 'j'", "j would be both row.down and edit"),
    ("[keys]\nedit = 'S'", "S would be both edit and secrets"),
    ("[keys]\nedit = 'ctrl+i'", "edit cannot have the key 'ctrl+i': to a terminal it is the same as Tab"),
    ("[keys]\nedit = 'escape'", "Esc always closes what is on top"),
    ("[keys]\nedit = 'ctrl+q'", "it always means quit"),
    ("[keys]\nedit = 'alt+e'", "not every terminal sends alt"),
    ("[keys]\nedit = 'shift+e'", "write 'E' for the capital letter"),
    ("[keys]\nedit = 'ctrl+5'", "terminals send it as another key"),
    ("[keys]\nedit = 'ctrl+z'", "it belongs to the terminal"),
    ("[keys]\nedit = 'ctr+e'", "not every terminal sends ctr"),
    ("[keys]\nedit = 'hello'", "there is no key 'hello'"),
    ("[keys]\nedit = ''", "there is no key ''"),
    ("[keys]\npalette = []", "palette needs a key"),
    ("[keys]\n'pane.focus' = ['f1']", "pane.focus has 1 keys, and there are 9 panels"),
    ("[keys", "keys.toml"),
]


@pytest.mark.parametrize(("text", "sentence"), FAULTS, ids=[text for text, _ in FAULTS])
def test_a_fault_is_named_and_the_file_too(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, text)
    assert sentence in str(raised.value)
    assert "keys.toml" in str(raised.value)
    assert raised.value.hint == "mend it, or move it away"


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, "[keys]\nedti = 'f2'\nfork = 'ctrl+i'\ncopy = 'n'\n")
    assert str(raised.value).count(";") == 3


def test_every_key_of_the_table_can_be_sent_and_read_back() -> None:
    for action in ACTIONS:
        for key in action.keys:
            assert unreachable(key, action.id) == ""
            assert spelled(key) == key
    assert [spelled(key) for key in ",.<>/:?@%[]+-"] == [
        "comma", "full_stop", "less_than_sign", "greater_than_sign", "slash", "colon", "question_mark", "at",
        "percent_sign", "left_square_bracket", "right_square_bracket", "plus", "minus",
    ]  # fmt: skip
    assert [shown_key(spelled(key)) for key in (",", "+", "F8", "Ctrl+d", "§", "ö", "esc")] == [
        ",", "+", "F8", "^d", "§", "ö", "Esc",
    ]  # fmt: skip


def test_what_is_given_to_textual_names_every_binding() -> None:
    given = bound(with_keys({"edit": [], "fork": ["e", "f3"]}))
    assert given["edit"] == "<ignore>"
    assert given["fork"] == "e,f3"
    assert given["pane.3"] == "3"
    assert set(given) >= {action.id for action in ACTIONS} - {"pane.focus"}


def with_own_keys(session: FakeSession, text: str) -> TtDebugApp:
    wanted = {name: [key] if isinstance(key, str) else key for name, key in tomllib.loads(text).items()}
    return app_over(session, preferences=Preferences(actions=with_keys(wanted)))


async def test_the_new_key_works_and_the_old_one_no_longer(session: FakeSession) -> None:
    app = with_own_keys(session, 'inbox = "f4"\nlog = "a"\n"row.down" = ["f5", "down"]\n')
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        view = app.screen.query_one(ThreadsView)
        at = view.cursor
        await pilot.press("j")
        assert view.cursor == at
        await pilot.press("f5")
        assert view.cursor == at + 1
        await pilot.press("a")
        await wait_for(pilot, lambda: isinstance(app.screen, LogScreen))
        await pilot.press("q", "f4")
        await wait_for(pilot, lambda: isinstance(app.screen, ApprovalsScreen))


async def test_the_key_bar_and_the_help_show_the_users_keys(session: FakeSession) -> None:
    app = with_own_keys(session, 'inbox = "f4"\n"list.order" = []\nhelp = "f1"\n')
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        bar = screen_lines(app)[-1]
        assert "F4 approvals" in bar
        assert "sort" not in bar
        assert bar.rstrip().endswith("F1 keys")
        await pilot.press("f1")
        await wait_for(pilot, lambda: isinstance(app.screen, HelpScreen))
        await settled(pilot, app)
        text = screen_text(app)
        assert "F4" in next(line for line in text.splitlines() if "Approvals" in line)
        assert "(no key)" in next(line for line in text.splitlines() if "Change the order" in line)


async def test_without_a_key_for_the_help_the_bar_ends_in_the_commands(session: FakeSession) -> None:
    app = with_own_keys(session, "help = []\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert screen_lines(app)[-1].rstrip().endswith(": commands")
        await pilot.press("question_mark")
        await settled(pilot, app)
        assert not isinstance(app.screen, HelpScreen)


def test_the_files_of_the_user_are_read_before_anything_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path))
    keys_file().parent.mkdir()
    keys_file().write_text("[keys]\nedit = 'f2'\n")
    assert find("edit", read_preferences().actions).keys == ("f2",)
    keys_file().write_text("[keys]\nedit = 'ctrl+i'\n")
    with pytest.raises(UsageError, match="same as Tab"):
        read_preferences()
