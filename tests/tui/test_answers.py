"""Questions of the whole history on screen: who wrote a value, when a condition held, where a text stands."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from stores.errors import Corrupt
from stores.model import Checkpoint, NewCheckpoint, Ref, Value
from tests.builders import native_file
from tests.tui.conftest import screen_lines, screen_text, settled, wait_for
from tests.tui.thread_app import thread_screen
from tt_debug.blame import Stop
from tt_debug.redaction import Redaction
from tt_debug.searching import Search, within
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.asking import Question
from tt_debug.tui.glyphs import UNICODE
from tt_debug.tui.rows.answers import answer_line
from tt_debug.tui.rows.pieces import text_of
from tt_debug.tui.screens import answers
from tt_debug.tui.screens.answers import AnswersScreen
from tt_debug.tui.screens.thread import ThreadScreen


async def test_who_wrote_the_value_under_the_cursor_and_back_to_where_it_was() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("2")
        view = it.screen.views.state
        view.go_to(("plan",))
        await it.press("W")
        assert isinstance(it.app.screen, AnswersScreen)
        await it.until(lambda: "checkpoints asked" in it.text)
        assert "who wrote plan" in it.text
        rows = it.app.screen.query_one("#answers").row_count  # type: ignore[attr-defined]
        assert rows >= 1
        await it.pilot.press("G", "enter")
        await it.until(lambda: it.app.screen is it.screen)
        await it.rest()
        assert it.screen.selected is not None


def told(old: Value, new: Value) -> str:
    """What is said of a write."""
    stop = Stop(Ref("t", "", "3"), 3, "loop", "change", ("plan",), old, new, ("book",))
    return text_of(answer_line(stop, Redaction(), UNICODE, named=False))


def test_of_an_object_what_changed_within_is_told() -> None:
    old: dict[str, Value] = {"title": "x", "days": {"first": 1, "last": 4}, "key": "sk-1"}
    assert told(old, {**old, "days": {"first": 1, "last": 5}}).endswith("~ days.last  4 → 5")
    assert told(old, {**old, "days": {"first": 2, "last": 5}}).endswith("~ days.first  1 → 2  and 1 more")
    assert told(old, {**old, "hotel": None}).endswith("+ hotel  null")
    assert told({**old, "api_key": "sk-1"}, {**old, "api_key": "sk-2", "days": 4}).endswith("→ 4  object → int")
    assert "sk-2" not in told({**old, "api_key": "sk-1"}, {**old, "api_key": "sk-2"})
    assert told([1], [1, 2]).endswith("[1] → [1, 2]")


async def test_a_question_that_waits_for_the_store_says_that_it_stops_and_can_be_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate, asked = threading.Event(), answers.ask

    def slow(*given: Any) -> Any:
        gate.wait(60)
        return asked(*given)

    monkeypatch.setattr(answers, "ask", slow)
    async with thread_screen("trip-planner", (120, 40)) as it:
        it.app.push_screen(AnswersScreen(it.app.stores[0], Question("who", it.screen.line[-1], ("plan",))))
        await it.until(lambda: "Esc stops" in it.text)
        await it.pilot.press("escape")
        await it.until(lambda: "stopping once" in it.text)
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen)
        gate.set()


def test_a_secret_inside_json_that_is_a_text_is_hidden_where_it_is_found() -> None:
    held: dict[str, Value] = {"args": '{"api_key": "sk-live-1"}'}
    (hit,) = Search("sk-live").within(Ref("s", "", "1"), None, within("state", held))
    assert "sk-live" not in text_of(answer_line(hit, Redaction(), UNICODE, named=False))


async def test_below_the_answers_stands_what_the_step_of_the_one_under_the_cursor_changed() -> None:
    async with thread_screen("trip-planner", (80, 24)) as it:
        failing = it.app.stores[0].session.resolve("trip-planner@18")
        it.app.stores[0].session.failing[failing] = Corrupt("page 7 cannot be read")  # type: ignore[attr-defined]
        it.app.push_screen(AnswersScreen(it.app.stores[0], Question("who", it.screen.line[-1], ("plan",))))
        await it.until(lambda: "What changed at step 22 plan" in it.text)
        assert "~ usage.input_tokens  777 → 814" in it.text
        await it.pilot.press("j")
        await it.until(lambda: "page 7 cannot be read" in it.text)
        await it.pilot.press("G")
        await it.until(lambda: "What changed at step -1 input" in it.text)
        await it.pilot.press("2", "enter")
        await it.until(lambda: it.app.screen is it.screen)
        await it.rest()
        assert it.screen.selected == it.screen.line[0]


async def test_to_the_change_before_and_after_of_a_value() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("2")
        it.screen.views.state.go_to(("plan",))
        await it.press("left_curly_bracket")
        before = it.step
        await it.press("left_curly_bracket")
        await it.press("right_curly_bracket")
        assert it.step == before or "does not change" in it.told
        await it.press("1", "W")
        assert "put the cursor on a value" in it.told


async def test_the_answers_are_marked_on_the_line_until_they_are_forgotten(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        screen = app.show_thread(app.stores[0], "t")
        await wait_for(pilot, lambda: screen.view is not None)
        await pilot.press("x", *"n == `1` || n == `3` || n == `4`", "enter")
        await wait_for(pilot, lambda: "Answers  3" in screen_text(app))
        await pilot.press("enter")
        await wait_for(pilot, lambda: app.screen is screen and screen.selected == Ref("t", "", "01"))
        marks = screen_lines(app)[-2]
        assert marks.count("●") == 3
        for key, id in (("greater_than_sign", "03"), ("n", "04"), ("N", "03"), ("less_than_sign", "01")):
            await pilot.press(key)
            await wait_for(pilot, lambda id=id: screen.selected == Ref("t", "", id))
        await pilot.press("N")
        await wait_for(pilot, lambda: any("no answer before" in each.message for each in app._notifications))
        await pilot.press("escape")
        await wait_for(pilot, lambda: "●" not in screen_lines(app)[-2])
        await pilot.press("greater_than_sign")
        await wait_for(pilot, lambda: any("no error" in each.message for each in app._notifications))
        assert app.screen is screen


async def test_the_answers_of_a_question_over_all_threads_are_marked_on_the_one_that_opens(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("x", *"n > `2`", "enter")
        await wait_for(pilot, lambda: "Answers  3" in screen_text(app))
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.screen, ThreadScreen) and screen_lines(app)[-2].count("●") == 3)


def states(count: int) -> list[NewCheckpoint]:
    made: list[NewCheckpoint] = []
    for number in range(count):
        state: dict[str, Value] = {"n": number, "note": "needle" if number == 3 else "hay", "api_key": f"sk-{number}"}
        parent = Ref("t", "", f"{number - 1:02}") if number else None
        made.append(NewCheckpoint(Ref("t", "", f"{number:02}"), parent, state, "step", nodes=(f"node{number}",)))
    return [*made, NewCheckpoint(Ref("other", "", "x"), None, {"note": "needle too"}, "input")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_file(tmp_path / "n.db", states(6))


def app_on(path: Path) -> TtDebugApp:
    return TtDebugApp([OpenStore(str(path), path.name, Session.open(str(path)))])


async def test_a_condition_and_a_text_from_the_list_of_threads(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("x", *"contains(note, 'needle')", "enter")
        await wait_for(pilot, lambda: "Answers  2" in screen_text(app))
        assert "checkpoints asked" in screen_text(app)
        await pilot.press("q", "ctrl+f", *"needle", "enter")
        await wait_for(pilot, lambda: "note  needle too" in screen_text(app) or "note  " in screen_text(app))
        await wait_for(pilot, lambda: "Answers  2" in screen_text(app))
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.screen, ThreadScreen))


async def test_a_line_only_from_a_thread_and_secrets_stay_hidden(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot, app)
        app.show_thread(app.stores[0], "t")
        await wait_for(pilot, lambda: isinstance(app.screen, ThreadScreen) and app.screen.view is not None)
        await pilot.press("x", *"n > `3`", "enter")
        await wait_for(pilot, lambda: "Answers  2" in screen_text(app))
        await pilot.press("q", "ctrl+f", *"sk-", "enter")
        await wait_for(pilot, lambda: "api_key  ●●●●" in screen_text(app))
        assert "sk-0" not in screen_text(app)
        await pilot.press("q", "x", *"api_key", "enter")
        await wait_for(pilot, lambda: "Answers  6" in screen_text(app))
        assert "sk-0" not in screen_text(app)


async def test_what_cannot_be_asked_and_what_holds_nowhere_say_so(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot, app)
        await pilot.press("x", *"a =", "enter")
        await wait_for(pilot, lambda: "is not a JMESPath expression" in screen_text(app))
        await pilot.press(*["backspace"] * 3, *"n > `99`", "enter")
        await wait_for(pilot, lambda: "It holds nowhere: 7 checkpoints asked." in screen_text(app))
        await pilot.press("slash", *["backspace"] * 8, *"length(n)", "enter")
        await wait_for(pilot, lambda: "gap" in screen_text(app))
        await pilot.press("escape")
        await wait_for(pilot, lambda: not isinstance(app.screen, AnswersScreen))


async def test_where_else_on_the_line_a_value_is_what_it_is_here() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("1", "asterisk")
        assert "put the cursor on a value" in it.told
        await it.press("2")
        it.screen.views.state.go_to(("api_key",))
        await it.press("asterisk")
        assert "a secret: S shows secrets" in it.told
        it.screen.views.state.go_to(("plan", "status"))
        await it.pilot.press("l")
        it.screen.views.state.go_to(("plan", "status"))
        await it.pilot.press("asterisk")
        await it.until(lambda: isinstance(it.app.screen, AnswersScreen))
        assert isinstance(it.app.screen, AnswersScreen)
        assert "find /tmp/demo.db" in it.app.screen.command_line()
        assert "plan.status == '" in it.app.screen.command_line().replace("'\"'\"'", "'")
        await it.until(lambda: "checkpoints asked" in it.text)
        await it.pilot.press("q")
        # They are marked, though none was opened.
        await it.until(lambda: it.app.screen is it.screen and screen_lines(it.app)[-2].count("●") > 1)


async def test_a_long_way_to_a_change_is_told_of_and_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tt_debug.tui.watch.PATIENCE", 0.0)
    async with thread_screen("trip-planner", (120, 40)) as it:
        gate, entered = threading.Event(), threading.Event()
        load = it.session.load

        def slow(ref: Ref) -> Checkpoint:
            entered.set()
            gate.wait(60)
            return load(ref)

        await it.press("2")
        it.screen.views.state.go_to(("api_key",))
        monkeypatch.setattr(it.session, "load", slow)
        await it.pilot.press("left_curly_bracket")
        await it.until(entered.is_set)
        await it.pilot.press("escape")
        await it.until(lambda: "stopped: it may have changed further on" in it.told)
        gate.set()
        monkeypatch.setattr(it.session, "load", load)
        await it.rest()
        before = it.screen.selected
        await it.pilot.press("left_curly_bracket")
        await it.until(lambda: it.screen._walk is None)
        assert it.screen.selected != before or "does not change before" in it.told
        assert "looking: " in it.told
