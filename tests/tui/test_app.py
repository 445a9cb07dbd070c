"""The app: help, the palette, the list of what was done, keys that are typed fast; and text that attacks."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from stores.errors import Corrupt
from tests.tui.conftest import app_over, screen_text, settled, unsafe_characters, wait_for
from tests.tui.fakes import HOSTILE, FakeSession, hostile_session
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.dialogs.answer import AnswerDialog
from tt_debug.tui.listings import Listings
from tt_debug.tui.messages import Failed
from tt_debug.tui.screens.approvals import ApprovalsScreen
from tt_debug.tui.screens.help import HelpScreen
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.screens.log import LogScreen
from tt_debug.tui.widgets.threads_view import ThreadsView


async def test_help_opens_on_the_screen_and_the_same_key_closes_it(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 60)) as pilot:
        await settled(pilot, app)
        await pilot.press("question_mark")
        await settled(pilot, app)
        assert isinstance(app.screen, HelpScreen)
        assert "Change the order" in screen_text(app)
        assert "  1-9       Go to a panel" in screen_text(app)
        await pilot.press("slash", *"approv")
        await settled(pilot, app)
        assert "Change the order" not in screen_text(app)
        assert "Every question that waits for an answer." in screen_text(app)
        await pilot.press("enter", "question_mark")
        await settled(pilot, app)
        assert isinstance(app.screen, HomeScreen)


async def test_the_palette_finds_threads(session: FakeSession) -> None:
    app = app_over(session)
    opened: list[str] = []
    app.show_thread = lambda store, thread, ref=None, **_: opened.append(thread)  # type: ignore[assignment,method-assign,return-value]
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("colon", *"plan-42")
        await wait_for(pilot, lambda: "thread plan-42" in screen_text(app))
        await pilot.press("enter")
        await wait_for(pilot, lambda: opened)
        assert opened == ["plan-42"]
        await pilot.press("t", *"写作")
        await wait_for(pilot, lambda: "33 checkpoints" in screen_text(app))
        await pilot.press("enter")
        await wait_for(pilot, lambda: len(opened) == 2)
        assert opened[1] == "写作-plan"


async def test_threads_that_come_while_it_closes_are_shown_nowhere(
    session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_over(session)
    taken_away = ThreadsView._message_loop_exit
    come: list[str] = []

    async def late(self: ThreadsView) -> None:
        await taken_away(self)
        come.append("late")
        Listings.on_failed(app, Failed("threads of store 0", OSError("gone"), ""))

    async with app.run_test() as pilot:
        await settled(pilot, app)
        monkeypatch.setattr(ThreadsView, "_message_loop_exit", late)
    assert come == ["late"]


@pytest.mark.parametrize(
    ("typed", "place"), [("15", "15"), ("50%", "50%"), ("-1", "-1"), ("go to 7", "7"), ("1f0a-77", "1f0a-77")]
)
async def test_the_palette_goes_to_places(typed: str, place: str, session: FakeSession) -> None:
    app = app_over(session)
    gone: list[str] = []

    class Line(LogScreen):
        def go_to(self, text: str) -> None:
            gone.append(text)

    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await app.push_screen(Line())
        await pilot.press("colon")
        await pilot.pause()
        app.screen.query_one(Input).value = typed
        await wait_for(pilot, lambda: "on this line" in screen_text(app))
        await pilot.press("enter")
        await wait_for(pilot, lambda: gone)
    assert gone == [place]


async def test_a_palette_without_room_takes_every_key(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("colon")
        await settled(pilot, app)
        await pilot.resize_terminal(20, 1)
        await pilot.press("down", "pagedown", "pageup", "end", "home", "pagedown")
        await pilot.resize_terminal(80, 24)
        await pilot.press("escape")
        await settled(pilot, app)
        assert isinstance(app.screen, HomeScreen)


async def test_keys_typed_at_once_after_the_colon_are_not_lost(session: FakeSession) -> None:
    app = app_over(session)
    gone: list[str] = []

    class Line(LogScreen):
        def go_to(self, text: str) -> None:
            gone.append(text)

    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await app.push_screen(Line())
        await settled(pilot, app)
        # As a terminal sends them: in one go, before the palette has been drawn.
        for key, character in (("colon", ":"), ("1", "1"), ("5", "5"), ("enter", "\r")):
            app.post_message(events.Key(key, character))
        await wait_for(pilot, lambda: gone)
    assert gone == ["15"]


async def test_keys_typed_at_once_after_the_slash_are_not_commands(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        for key, character in (("slash", "/"), ("a", "a"), ("q", "q"), ("colon", ":")):
            app.post_message(events.Key(key, character))
        await wait_for(pilot, lambda: app.screen.query_one("#filter", Input).value == "aq:")
        assert isinstance(app.screen, HomeScreen)


async def test_what_was_done_can_be_looked_up(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        app.note_done("forked trip-planner at 12", "tt-debug fork app.db trip-planner@12")
        await pilot.press("at")
        await settled(pilot, app)
        assert isinstance(app.screen, LogScreen)
        assert "forked trip-planner at 12" in screen_text(app)
        await pilot.press("enter")
        assert app.clipboard == "tt-debug fork app.db trip-planner@12"


# --- text that attacks


async def _look(pilot: Any, app: TtDebugApp, seen: list[str]) -> None:
    await settled(pilot, app)
    text = screen_text(app)
    assert unsafe_characters(text) == set()
    assert "\x1b" not in text
    seen.append(text)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_hostile_text_neither_crashes_nor_reaches_the_terminal(size: tuple[int, int]) -> None:
    session = hostile_session()
    session.label = HOSTILE.replace("/", "_").replace("\x00", "")
    app = app_over(session, session)
    seen: list[str] = []
    async with app.run_test(size=size, notifications=True) as pilot:
        await _look(pilot, app, seen)
        for key in ("j", "k", "slash", "r", "escape", "o", "t", "escape", "colon"):
            await pilot.press(key)
            await _look(pilot, app, seen)
        await pilot.press(*"thread")
        await _look(pilot, app, seen)
        await pilot.press("escape", "a")
        await wait_for(pilot, lambda: isinstance(app.screen, ApprovalsScreen))
        await _look(pilot, app, seen)
        for key in ("A", "X", "i"):
            await pilot.press(key)
            await wait_for(pilot, lambda: isinstance(app.screen, AnswerDialog))
            await _look(pilot, app, seen)
            await pilot.press("escape")
            await _look(pilot, app, seen)
        app.note_done(HOSTILE, HOSTILE)
        await pilot.press("at", "Y", "enter")
        await _look(pilot, app, seen)
        app.screen.post_message(Failed(HOSTILE, Corrupt(HOSTILE), HOSTILE))
        await _look(pilot, app, seen)
    assert any("PWNED" in text for text in seen), "the text was shown, made harmless"


async def test_selecting_hostile_text_is_harmless() -> None:
    app = app_over(hostile_session())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        app.screen.text_select_all()
        await settled(pilot, app)
        chosen = app.screen.get_selected_text() or ""
        assert unsafe_characters(chosen.replace("\n", "")) == set()
