"""Before code runs: the plan is listed, Cancel has the focus, and nothing has run; what cannot run says what can."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Button

from stores.model import Status
from tests.tui.conftest import wait_for
from tests.tui.thread_app import Opened, thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.errors import DefinitionChanged, NotAHead, UsageError
from tt_debug.session.plans import RunPlan, RunRequest
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.opening import Opening
from tt_debug.tui.screens.approvals import ApprovalsScreen


async def asked(it: Opened, kind: type[Any]) -> Any:
    """The dialog on top."""
    await wait_for(it.pilot, lambda: isinstance(it.app.screen, kind) and it.app.screen.is_mounted)
    await it.pilot.pause()
    return it.app.screen


async def test_the_plan_is_listed_and_cancel_has_the_focus() -> None:
    async with thread_screen("cheap") as it:
        await it.press("c")
        dialog = await asked(it, ConfirmDialog)
        for line in (
            "Resume cheap",
            "will execute  book_hotel  from step 13",
            "nodes.py beside trip.yaml",
            "llm_call agent",
        ):
            assert line in it.text
        assert dialog.query_one("#cancel").has_focus
        await it.press("enter")
        assert it.app.screen is it.screen
        assert it.session.runs_made == []


async def test_a_button_pressed_in_a_dialog_that_is_by_now_below_another_takes_neither_away() -> None:
    async with thread_screen() as it:
        below, above = NoticeDialog("below", ["first"]), NoticeDialog("above", ["second"])
        await it.app.push_screen(below)
        await it.app.push_screen(above)
        below.query_one("#cancel", Button).press()
        await it.rest()
        assert it.app.screen_stack[-2:] == [below, above]
        await it.press("escape", "escape")
        assert it.app.screen is it.screen


async def test_a_word_of_the_plan_stands_once_however_many_lines_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    async with thread_screen("cheap") as it:
        plan = it.session.plan
        calls = ("book_hotel: your function", "agent: model call", "ask: a person")
        monkeypatch.setattr(it.session, "plan", lambda request: replace(plan(request), calls=calls))
        await it.press("c")
        await asked(it, ConfirmDialog)
        assert it.text.count("calls") == 1
        for call in calls:
            assert call in it.text


@pytest.mark.parametrize("size", [(60, 12), (80, 24), (120, 40)])
async def test_however_long_a_plan_is_its_buttons_are_in_view(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async with thread_screen("cheap", size=size) as it:
        plan = it.session.plan
        calls = tuple(f"node_{number}: your function nodes:node_{number}" for number in range(40))
        monkeypatch.setattr(it.session, "plan", lambda request: replace(plan(request), calls=calls))
        await it.press("c")
        await asked(it, ConfirmDialog)
        await it.pilot.pause()
        for word in ("Resume cheap", "will execute", "Esc Cancel", "Run ^r"):
            assert word in it.text
        await it.pilot.press("shift+tab", "end")
        await wait_for(it.pilot, lambda: "Nothing has run yet." in it.text)
        assert "node_39" in it.text


async def test_nothing_said_before_covers_the_question() -> None:
    async with thread_screen("cheap") as it:
        it.screen.say("forked trip-planner as cheap")
        await it.press("c")
        await asked(it, ConfirmDialog)
        assert "Resume cheap" in it.text
        assert list(it.app._notifications) == []


async def test_one_step_and_a_replay_ask_for_themselves() -> None:
    async with thread_screen("cheap") as it:
        await it.press("s")
        await asked(it, ConfirmDialog)
        assert it.session.plans[-1].single_step
        assert "Run one step" in it.text
        await it.press("escape")
        await it.press("R")
        await asked(it, ConfirmDialog)
        assert it.session.plans[-1].action == "replay"
        await it.press("escape")
        assert it.session.runs_made == []


async def test_anywhere_but_at_a_head_a_fork_is_offered() -> None:
    async with thread_screen() as it:
        await it.press("comma", "c")
        await asked(it, NoticeDialog)
        assert "trip-planner does not end at step 23" in it.text
        await it.press("f")
        await wait_for(it.pilot, lambda: "Fork at step 23" in it.text)


async def test_at_the_end_of_a_line_an_earlier_step_is_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    session = TripSession(sample=False)
    session.add("ended", {"n": 1}, node="plan", next=("say",), status=Status.UNFINISHED)
    session.add("ended", {"n": 2}, node="say")

    def refuse(_: Any) -> None:
        raise NotAHead("'ended' has run to its end", hint="fork there and resume: tt-debug fork STORE ended@EARLIER")

    monkeypatch.setattr(session, "plan", refuse)
    async with thread_screen("ended", session=session) as it:
        await it.press("c")
        await asked(it, NoticeDialog)
        assert "'ended' has run to its end" in it.text
        assert "Go to an earlier step" in it.text
        assert "Fork here" not in it.text, "nothing would run from there either"


async def test_or_the_way_to_the_head() -> None:
    async with thread_screen() as it:
        await it.press("comma", "comma", "c")
        await asked(it, NoticeDialog)
        await it.pilot.press("0")
        await it.rest()
        assert it.step == 24


async def test_a_wait_leads_to_the_answer() -> None:
    async with thread_screen("review") as it:
        await it.press("c")
        await asked(it, NoticeDialog)
        assert "review waits for an answer" in it.text
        await it.pilot.press("a")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, ApprovalsScreen))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (UsageError("this store has no code of its own", hint="start with --graph module:attr"), "start with --graph"),
        (
            DefinitionChanged("trip.yaml differs", ("agent: retry 2 → 3",), hint="fork to adopt it"),
            "agent: retry 2 → 3",
        ),
    ],
)
async def test_what_cannot_run_says_why_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    async with thread_screen("cheap") as it:

        def refuse(_: Any) -> None:
            raise error

        monkeypatch.setattr(it.session, "plan", refuse)
        await it.press("c")
        await asked(it, NoticeDialog)
        assert words in it.text
        assert str(error) in it.text
        await it.press("escape")
        assert it.app.screen is it.screen


async def test_cancelling_a_run_is_asked_about() -> None:
    async with thread_screen("cheap") as it:
        await it.press("K")
        dialog = await asked(it, NoticeDialog)
        assert dialog.query_one("#cancel").has_focus
        await it.press("escape")
        assert it.session.stops == []
        await it.press("K")
        await asked(it, NoticeDialog)
        await it.pilot.press("k")
        await wait_for(it.pilot, lambda: it.session.stops == [("cheap", "cancel")])


async def test_a_changed_workflow_can_be_adopted_on_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    session = TripSession()
    plan = session.plan

    def changed(request: RunRequest) -> RunPlan:
        if request.ref is not None and request.ref.thread == "cheap":
            raise DefinitionChanged("trip.yaml differs", ("agent: retry 2 → 3",), hint="fork to adopt it")
        return plan(request)

    monkeypatch.setattr(session, "plan", changed)
    workflow = Path("trip.yaml")
    async with thread_screen("cheap", session=session, opening=Opening(False, None, workflow)) as it:
        await it.press("c")
        await asked(it, NoticeDialog)
        await it.pilot.press("f")
        await asked(it, ConfirmDialog)
        assert session.adopted == workflow
        assert session.forks[0][1] == "cheap-fork-1"
        assert it.session.runs_made == []
