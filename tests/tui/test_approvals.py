"""The inbox: the request as a table, secrets hidden, yes, no with a reason, a typed answer checked by its schema."""

from __future__ import annotations

from typing import Any

import pytest
from textual.widgets import Input, TextArea

from stores.model import MISSING, Value
from stores.runs import Approval
from tests.tui.conftest import app_over, screen_text, settled, wait_for
from tests.tui.fakes import FakeSession
from tt_debug.session.answers import Answer, choices, no, parse, problem, skeleton, yes
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.dialogs.answer import AnswerDialog
from tt_debug.tui.rows.pieces import text_of
from tt_debug.tui.rows.values import question_line
from tt_debug.tui.screens.approvals import ApprovalsScreen, os_user
from tt_debug.tui.widgets.approvals_view import ApprovalsView

DECISION = {
    "type": "object",
    "properties": {"decision": {"enum": ["approve", "reject"]}, "reason": {"type": "string"}},
    "required": ["decision"],
}


def asked(schema: Any = None, prompt: Any = "Book it?") -> Approval:
    return Approval("q", "t", "", "c", "node", prompt, schema)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (None, True),
        ({"type": "boolean"}, True),
        ({"enum": ["yes", "no"]}, "yes"),
        (
            {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]},
            {"approved": True},
        ),
        (DECISION, {"decision": "approve"}),
        ({"type": "string"}, MISSING),
        ({"type": "object", "required": ["city", "approved"]}, MISSING),
    ],
)
def test_a_yes_is_said_in_the_askers_words(schema: Any, value: Any) -> None:
    assert yes(asked(schema)) == value


def test_a_no_carries_its_reason() -> None:
    assert no(asked(), "too dear") == Answer("too dear", reject=True)
    assert no(asked(), "") == Answer(False)
    assert no(asked({"type": "boolean"}), "too dear") == Answer(False)
    assert no(asked(DECISION), "too dear") == Answer({"decision": "reject", "reason": "too dear"})


def test_tool_calls_are_decided_one_by_one() -> None:
    question = asked(None, {"action_requests": [{"name": "a"}, {"name": "b"}]})
    assert yes(question) == {"decisions": [{"type": "approve"}, {"type": "approve"}]}
    assert no(question, "no").value == {"decisions": [{"type": "reject", "message": "no"}] * 2}


def test_a_broken_schema_refuses_nothing() -> None:
    assert problem(asked({"type": "no such type"}), 3) == ""
    assert problem(asked(DECISION), {"decision": "maybe"}).startswith("decision: ")


def test_typed_json_is_read_strictly() -> None:
    assert parse('{"a": [1, null]}') == {"a": [1, None]}
    with pytest.raises(ValueError, match="line 2, column 1"):
        parse("{\n")
    with pytest.raises(ValueError, match="NaN is not JSON"):
        parse("NaN")


def test_the_first_text_of_a_reply_has_what_the_schema_requires() -> None:
    assert parse(skeleton(asked(DECISION))) == {"decision": "approve"}
    assert skeleton(asked()) == "true"
    assert choices(DECISION) == [("decision", '"approve" | "reject"'), ("reason", "string")]


async def opened(pilot: Any, app: TtDebugApp) -> ApprovalsView:
    """The inbox, once it has been read."""
    await settled(pilot, app)
    await pilot.press("a")
    await wait_for(pilot, lambda: isinstance(app.screen, ApprovalsScreen))
    view = app.screen.query_one(ApprovalsView)
    await wait_for(pilot, lambda: view.row_count == 1)
    await settled(pilot, app)
    return view


async def test_the_request_is_a_table_and_its_secret_is_hidden(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 30)) as pilot:
        await opened(pilot, app)
        text = screen_text(app)
        assert 'city       "Kyoto"' in text
        assert "●●●● hidden" in text
        assert "sk-very-secret" not in text
        assert '  decision  "approve"' in text
        assert "  note      string" in text
        assert "Nothing runs until the thread is resumed." in " ".join(text.split())


async def test_names_take_what_they_need_and_the_question_has_the_rest(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(120, 40)) as pilot:
        view = await opened(pilot, app)
        row = "".join(segment.text for segment in view.build(0, 60))
        asked = app.screen.query_one(ApprovalsView).current
        assert asked is not None
        assert f"{asked.question.thread}  {asked.question.node}  " in row


async def test_approve_records_and_runs_nothing(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        view = await opened(pilot, app)
        await pilot.press("A")
        await pilot.pause()
        assert isinstance(app.screen, AnswerDialog)
        assert app.focused is not None
        assert app.focused.id == "cancel", "Enter must not answer by accident"
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: view.row_count == 0)
        assert ("answer", ("q-trip-planner", {"decision": "approve"}, os_user(), False)) in session.calls
        assert not [call for call in session.calls if call[0] in ("plan", "execute")]
        assert app.done[-1].command == ("""tt-debug answer /tmp/demo.db q-trip-planner '{"decision": "approve"}'""")


async def test_enter_and_esc_on_the_open_dialog_answer_nothing(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        view = await opened(pilot, app)
        for key in ("enter", "escape"):
            await pilot.press("A")
            await pilot.pause()
            await pilot.press(key)
            await settled(pilot, app)
            assert isinstance(app.screen, ApprovalsScreen)
        assert view.row_count == 1
        assert not [call for call in session.calls if call[0] == "answer"]


async def test_reject_takes_a_reason(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        view = await opened(pilot, app)
        await pilot.press("X")
        await pilot.pause()
        app.screen.query_one("#reason", Input).value = "too dear"
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: view.row_count == 0)
        recorded = next(what for call, what in session.calls if call == "answer")
        assert recorded[1] == {"decision": "reject", "note": "too dear"}


async def test_what_is_typed_after_the_key_is_the_answer(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot, app)
        await pilot.press("X", *"dear")
        await pilot.pause()
        assert app.screen.query_one("#reason", Input).value == "dear"
        await pilot.press("escape", "i", *"[1")
        await pilot.pause()
        assert "[1" in app.screen.query_one("#reply", TextArea).text


async def test_a_reply_that_breaks_the_schema_stays_open_and_says_where(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        view = await opened(pilot, app)
        await pilot.press("i")
        await pilot.pause()
        box = app.screen.query_one("#reply", TextArea)
        for text, said in (('{"decision": "maybe"}', "decision:"), ("{", "not JSON at line 1"), ("", "not JSON")):
            box.text = text
            await pilot.press("ctrl+s")
            await pilot.pause()
            assert isinstance(app.screen, AnswerDialog)
            assert said in screen_text(app)
        box.text = '{"decision": "approve", "note": "京都"}'
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: view.row_count == 0)
        recorded = next(what for call, what in session.calls if call == "answer")
        assert recorded[1] == {"decision": "approve", "note": "京都"}


async def test_approve_and_resume_opens_the_thread_to_ask(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot, app)
        asked_for: list[tuple[str, str]] = []
        app.show_thread = lambda store, thread, ref=None, *, then="": asked_for.append((thread, then))  # type: ignore[assignment,method-assign,return-value]
        await pilot.press("A")
        await pilot.pause()
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: asked_for)
        assert asked_for == [("trip-planner", "run.continue")]


async def test_read_only_refuses_with_the_reason(session: FakeSession) -> None:
    app = app_over(session, read_only=True)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot, app)
        for key in ("A", "X", "i"):
            await pilot.press(key)
            await pilot.pause()
            assert isinstance(app.screen, ApprovalsScreen)
        assert "read-only: started with --read-only" in screen_text(app)
        assert not [call for call in session.calls if call[0] == "answer"]


async def test_an_answer_that_was_given_elsewhere_is_told(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot, app)
        session.broken.add("answer")
        await pilot.press("A")
        await pilot.pause()
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "page 7" in screen_text(app))


async def test_an_empty_inbox_says_so() -> None:
    app = app_over(FakeSession())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot, app)
        await pilot.press("a")
        await wait_for(pilot, lambda: "Nobody waits for an answer." in screen_text(app))
        await pilot.press("A")
        await wait_for(pilot, lambda: "there is no question to answer" in screen_text(app))


async def test_a_question_about_an_interrupted_step_says_what_each_word_does(session: FakeSession) -> None:
    words = ["retry", "skip", "fail"]
    session.open_approvals = [
        Approval("q", "plan-42", "", "c", "deploy", "deploy died: retry it?", {"enum": words}, kind="question")
    ]
    app = app_over(session)
    async with app.run_test(size=(80, 30)) as pilot:
        view = await opened(pilot, app)
        assert "“skip” goes on behind it" in " ".join(screen_text(app).split())
        await pilot.press("A")
        await pilot.pause()
        assert "reply with i" in screen_text(app), "a bare yes is no answer to this"
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(app.screen, AnswerDialog)
        await pilot.press("escape", "i")
        await pilot.pause()
        app.screen.query_one("#reply", TextArea).text = '"skip"'
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: view.row_count == 0)
        assert ("answer", ("q", "skip", os_user(), False)) in session.calls


async def test_an_inbox_that_cannot_be_read_is_told_beside_the_others(session: FakeSession) -> None:
    torn = FakeSession("torn.db")
    torn.broken.add("approvals")
    app = app_over(session, torn)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot, app)
        await wait_for(pilot, lambda: "torn.db: approvals: page 7" in " ".join(screen_text(app).split()))


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ({"question": "Publish it?", "options": ["yes", "no"]}, '"Publish it?"'),
        ({"options": [1, 2], "message": "Which?"}, '"Which?"'),
        ({"confirm": 49}, "{confirm: 49}"),
        ({"question": {"deep": "no text"}, "options": []}, "{question, options}"),
        ("Your name?", '"Your name?"'),
    ],
)
def test_a_request_is_told_by_its_words_where_it_has_any(prompt: Value, shown: str) -> None:
    assert text_of(question_line(prompt)) == shown
