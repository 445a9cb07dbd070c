"""The app: starting, leaving, sizes, themes, the loader, the tour, help and palette; and text that attacks."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.widgets import Input

from stores.errors import Corrupt
from tests.tui.conftest import app_over, screen_lines, screen_text, settled, unsafe_characters, wait_for
from tests.tui.fakes import HOSTILE, FakeSession, demo_session, hostile_session
from tt_debug.tui.actions import find, shown_key
from tt_debug.tui.advice import TIPS
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.dialogs.answer import AnswerDialog
from tt_debug.tui.dialogs.quit import QuitDialog
from tt_debug.tui.glyphs import ASCII, UNICODE, choose
from tt_debug.tui.loader import Loader
from tt_debug.tui.memory import Memory, Remembered
from tt_debug.tui.messages import Bug, Failed
from tt_debug.tui.screens.approvals import ApprovalsScreen
from tt_debug.tui.screens.help import HelpScreen
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.screens.log import LogScreen
from tt_debug.tui.theme import own_variables, wants_no_color
from tt_debug.tui.tour import STEPS, Tour
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.tip import Tip

SIZES = [(80, 24), (120, 40), (200, 60), (60, 12)]


# --- leaving


async def test_q_on_the_first_screen_leaves_with_0(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("q")
        await pilot.pause()
    assert app.return_value == 0


async def test_a_hanging_database_does_not_hold_up_leaving(session: FakeSession) -> None:
    hangs = threading.Event()
    session.threads = lambda **_: hangs.wait() and ()  # type: ignore[method-assign,assignment]
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "reading…" in screen_text(app)
        await pilot.press("q")
    assert app.return_value == 0
    hangs.set()


HANGS = """
import asyncio, threading
from tests.tui.conftest import app_over
from tests.tui.fakes import demo_session

session = demo_session()
asked = threading.Event()
session.threads = lambda **_: asked.set() or threading.Event().wait() and ()
app = app_over(session)

async def leave():
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert asked.wait(60)
        await pilot.press("q")

asyncio.run(leave())
print("left with", app.return_value)
"""


def test_the_process_ends_though_its_database_never_answers() -> None:
    # The timeout is for a process that would wait for ever.
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "left with 0\n"), done.stderr


async def test_an_active_run_is_asked_about(session: FakeSession) -> None:
    app = app_over(session)
    stopped: list[str] = []

    class Running(LogScreen):
        running = True

        def run_words(self) -> str:
            return "trip-planner is at step 3"

        def stop_run(self) -> None:
            stopped.append("stop")

    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await app.push_screen(Running())
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert "trip-planner is at step 3" in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, Running)
        await pilot.press("ctrl+q", "s")
        await pilot.pause()
    assert stopped == ["stop"]
    assert app.return_value == 0


async def test_going_back_from_an_active_run_asks_too(session: FakeSession) -> None:
    app = app_over(session)

    class Running(LogScreen):
        running = True

    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await app.push_screen(Running())
        await pilot.press("q")
        await pilot.pause()
        assert isinstance(app.screen, QuitDialog)
        await pilot.press("l")
        await settled(pilot, app)
        assert isinstance(app.screen, HomeScreen)


async def test_leaving_a_run_alone_does_not_stop_it(session: FakeSession) -> None:
    app = app_over(session)
    stopped: list[str] = []

    class Running(LogScreen):
        running = True

        def stop_run(self) -> None:
            stopped.append("stop")

    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await app.push_screen(Running())
        await pilot.press("ctrl+q", "l")
        await pilot.pause()
    assert (stopped, app.return_value) == ([], 0)


# --- the loader


class Got(Message):
    """An answer of a test's call."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class Desk(HomeScreen):
    """A screen that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[object] = []

    def on_got(self, event: Got) -> None:
        self.got.append(event.value)

    def on_failed(self, event: Failed) -> None:
        self.got.append((event.kind, event.text, event.hint))


async def desk(pilot: Any, app: TtDebugApp) -> Desk:
    """A desk on top."""
    screen = Desk()
    await settled(pilot, app)
    await app.push_screen(screen)
    await settled(pilot, app)
    screen.got.clear()
    return screen


async def test_a_newer_demand_replaces_an_older_one(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot, app)
        go = threading.Event()

        def slow() -> int:
            go.wait()
            return 1

        app.loader.call(screen, "state", slow, Got)
        app.loader.call(screen, "state", lambda: 2, Got)
        app.loader.call(screen, "other", lambda: 3, Got)
        await wait_for(pilot, lambda: set(screen.got) == {2, 3})
        go.set()
        await settled(pilot, app)
        assert sorted(map(str, screen.got)) == ["2", "3"]


async def test_demand_goes_before_prefetch(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot, app)
        go = threading.Event()
        held = threading.Semaphore(0)

        def hold() -> str:
            held.release()
            go.wait()
            return "held"

        for number in range(4):
            app.loader.call(screen, f"hold {number}", hold, Got)
        for _ in range(4):
            await wait_for(pilot, lambda: held.acquire(blocking=False))
        order: list[str] = []
        for number in range(3):
            app.loader.call(
                screen, f"ahead {number}", lambda number=number: order.append(f"ahead {number}"), Got, prefetch=True
            )
        app.loader.call(screen, "now", lambda: order.append("now"), Got)
        go.set()
        await settled(pilot, app)
        assert order[0] == "now"
        assert len(order) == 4


async def test_named_errors_become_failed_messages_for_whoever_asked(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot, app)

        def fails() -> None:
            raise Corrupt("row 7 is torn", hint="try doctor")

        app.loader.call(screen, "state", fails, Got)
        await wait_for(pilot, lambda: screen.got)
        assert screen.got == [("state", "row 7 is torn", "try doctor")]


async def test_an_answer_for_a_screen_that_is_gone_is_dropped(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot, app)
        go = threading.Event()
        app.loader.call(screen, "state", go.wait, Got)
        app.pop_screen()
        await pilot.pause()
        go.set()
        await settled(pilot, app)
        assert screen.got == []


def test_a_bug_goes_to_the_app_and_an_ended_app_is_no_error() -> None:
    told: list[object] = []
    done = threading.Event()

    class Pump:
        def post_message(self, message: object) -> bool:
            told.append(message)
            done.set()
            if len(told) > 1:
                raise RuntimeError("Event loop is closed")
            return True

    pump: Any = Pump()
    loader = Loader(pump)
    loader.call(pump, "state", lambda: 1 // 0, Got)
    done.wait()
    assert isinstance(told[0], Bug)
    assert isinstance(told[0].error, ZeroDivisionError)
    loader.post(pump, Got(1))
    loader.close()


def _buggy() -> float:
    url = "postgresql://me:s3cr3t".replace("r3t", "r3t-word@db")
    return len(url) / 0


async def _call_with_a_bug(app: TtDebugApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        app.loader.call(app.screen, "state", _buggy, Got)
        await settled(pilot, app)


async def test_a_bug_ends_the_app_and_is_raised(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        await _call_with_a_bug(app_over(session))
    told = "".join(capsys.readouterr())
    assert "ZeroDivisionError" in told
    assert "s3cr3t-word" not in told, "the values of variables are nobody else's business"


# --- sizes, themes, glyphs


@pytest.mark.parametrize("size", SIZES)
async def test_the_first_and_last_lines_are_whole_at_every_size(size: tuple[int, int], session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        for key in ("", "a", "question_mark"):
            if key:
                await pilot.press(key)
                await settled(pilot, app)
            lines = screen_lines(app)
            assert lines[0].startswith(" tt  ")
            assert lines[-1].endswith("? keys ")
            assert len(lines) == size[1]
            await pilot.press("q") if key == "question_mark" else None


async def test_below_60x12_one_sentence_says_so(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(50, 10)) as pilot:
        await settled(pilot, app)
        text = " ".join(screen_text(app).split())
        assert text.startswith("tt-debug needs 60×12, this is 50×10.")
        assert "Threads" not in text
        await pilot.resize_terminal(80, 24)
        await settled(pilot, app)
        assert "Threads" in screen_text(app)


async def test_narrow_has_no_side_borders_and_wide_has(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert "┃" not in screen_text(app)
        await pilot.resize_terminal(120, 40)
        await settled(pilot, app)
        assert "┃" in screen_text(app)
        assert "3 Forks" in screen_text(app)


async def test_ascii_draws_nothing_else_of_our_own(session: FakeSession) -> None:
    app = app_over(session, ascii_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("j")
        await settled(pilot, app)
        own = {char for char in screen_text(app) if ord(char) > 0x7F}
        assert own <= set("写作京都🙂·"), own


def test_the_table_of_signs_follows_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(True) is ASCII
    assert choose(False) is UNICODE
    monkeypatch.setattr("locale.getpreferredencoding", lambda *_: "ANSI_X3.4-1968")
    monkeypatch.delenv("PYTHONUTF8", raising=False)
    assert choose() is ASCII
    monkeypatch.setattr("locale.getpreferredencoding", lambda *_: "UTF-8")
    assert choose() is UNICODE
    monkeypatch.setenv("LANG", "C")
    assert choose() is ASCII
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert choose() is UNICODE


def test_no_color_counts_only_when_it_is_not_empty() -> None:
    assert wants_no_color({"NO_COLOR": "1"})
    assert not wants_no_color({"NO_COLOR": ""})
    assert not wants_no_color({})


async def test_no_color_chooses_an_ansi_theme(session: FakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert app.theme == "ansi-dark"
        styles = [part.style for strip in app.screen._compositor.render_strips() for part in strip if part.style]
        assert not [style for style in styles if style.color is not None and not style.color.is_default]
        assert not [style for style in styles if style.bgcolor is not None and not style.bgcolor.is_default]
        assert [style for style in styles if style.reverse], "the cursor is seen without colours"


async def test_an_empty_no_color_is_no_wish(session: FakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert not app.no_color
        assert app.theme == "textual-dark"


@pytest.mark.parametrize(
    "theme", ["textual-dark", "textual-light", "nord", "ansi-dark", "ansi-light", "solarized-light"]
)
async def test_each_theme_has_all_our_colours(theme: str, session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        await settled(pilot, app)
        variables = app.get_css_variables()
        assert set(own_variables(variables)) <= set(variables)
        view = app.screen.query_one(RowView)
        assert view.ink("error").color != view.ink("success").color


# --- help, palette, log


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


# --- the tour


def test_each_step_ends_when_done_and_nothing_else_ends_it() -> None:
    tour: Tour | None = Tour()
    assert tour is not None
    assert tour.after("nav.fwd") == tour, "before a thread is open nothing counts"
    for number, event in enumerate(["thread", "nav.fwd", "diff.open", "step 15", "forked", "ran"]):
        assert tour is not None
        assert tour.after("something else") == tour
        tour = tour.after(event)
        assert tour is not None
        assert tour.line(str).startswith(f"{number + 1}/{len(STEPS)}")
    assert tour is not None
    assert tour.after("diff.open") is None
    assert Tour(0).after("forked") == Tour(4), "who is ahead is not sent back"


def test_each_line_of_the_tour_is_whole_at_80_cells() -> None:
    for at in range(-1, len(STEPS)):
        assert cell_len(Tour(at).line(lambda name: shown_key(find(name).keys[0]))) <= 78


def test_going_to_a_step_by_its_number_is_stepping_too() -> None:
    assert Tour(0).after("place") == Tour(1)


async def test_the_tour_stands_above_the_keys_and_esc_ends_it(session: FakeSession) -> None:
    app = app_over(session, tour=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert screen_lines(app)[-2].startswith(" Tour: put the cursor on trip-planner and press Enter")
        await pilot.press("escape")
        await settled(pilot, app)
        assert app.tour is None
        assert not app.screen.query_one(Tip).display
        assert "Tour" not in screen_text(app)


async def test_who_ended_the_tour_is_not_given_it_again_unasked(session: FakeSession, tmp_path: Path) -> None:
    file = tmp_path / "interface.json"
    app = app_over(session, tour=True, memory=Memory(file))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert not file.exists(), "looking keeps nothing"
        await pilot.press("escape")
        assert json.loads(file.read_text())["toured"] is True
    again = app_over(demo_session(), tour=True, memory=Memory(file, Remembered(toured=True)))
    async with again.run_test(size=(80, 24)) as pilot:
        await settled(pilot, again)
        assert again.tour is None
        await pilot.press("colon", *"tour", "enter")
        await wait_for(pilot, lambda: again.tour is not None)
        await settled(pilot, again)
        assert screen_lines(again)[-2].startswith(" Tour: ")


async def test_a_theme_is_kept_and_one_that_is_no_more_is_not_missed(session: FakeSession, tmp_path: Path) -> None:
    file = tmp_path / "home" / "state" / "interface.json"
    app = app_over(session, memory=Memory(file))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert not file.exists()
        app.theme = "nord"
        await pilot.pause()
        assert json.loads(file.read_text())["theme"] == "nord"
    for kept, shown in (("nord", "nord"), ("gone", "textual-dark")):
        again = app_over(demo_session(), memory=Memory(now=Remembered(theme=kept)))
        async with again.run_test(size=(80, 24)) as pilot:
            await settled(pilot, again)
            assert again.theme == shown


async def test_without_colours_no_theme_is_taken_or_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = app_over(demo_session(), memory=Memory(tmp_path / "interface.json", Remembered(theme="nord")))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert app.theme == "ansi-dark"
        assert not (tmp_path / "interface.json").exists()


async def test_tips_change_and_can_be_turned_off_for_good(session: FakeSession, tmp_path: Path) -> None:
    file = tmp_path / "interface.json"
    app = app_over(session, memory=Memory(file))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        first = screen_lines(app)[-2]
        assert first.startswith(" Tip: ")
        await pilot.press("question_mark")
        await settled(pilot, app)
        assert "Tip: " not in screen_text(app)
        await pilot.press("q")
        await settled(pilot, app)
        assert screen_lines(app)[-2].startswith(" Tip: ")
        assert screen_lines(app)[-2] != first
        await pilot.resize_terminal(80, 24)
        await settled(pilot, app)
        assert "Tip: " not in screen_text(app), "no row to spare"
        await pilot.resize_terminal(120, 40)
        await settled(pilot, app)
        await pilot.press("colon", *"tips off", "enter")
        await wait_for(pilot, lambda: not app.memory.now.tips)
        await settled(pilot, app)
        assert "Tip: " not in screen_text(app)
    assert json.loads(file.read_text())["tips"] is False


def test_each_tip_is_whole_at_100_cells_and_names_actions_that_there_are() -> None:
    app = app_over(demo_session(), memory=Memory())
    for _ in TIPS:
        app._tip += 1
        assert cell_len(app.tip_for_home()) <= 98 + 22, "what hides it may be cut"
        assert "{nav" not in app.tip_for_home()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"theme": 3, "toured": "yes", "tips": 0}', "\x00"])
def test_what_was_remembered_and_is_damaged_counts_for_nothing(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path))
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "interface.json").write_text(text)
    assert Memory.kept().now == Remembered()


def test_where_nothing_can_be_kept_it_counts_for_this_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file" / "interface.json")
    memory.theme("nord")
    assert memory.now.theme == "nord"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


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
