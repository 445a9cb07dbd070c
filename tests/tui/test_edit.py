"""Editing and forking: the form's live verdict, what is written and where the cursor goes."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.widgets import Checkbox, Input, Static, TextArea

from stores.errors import Conflict
from stores.model import Change
from tests.tui.conftest import wait_for
from tests.tui.edit_form import edit_status, form, verdict
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.session.executor import PlacedUse
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.draft import as_text
from tt_debug.tui.widgets.changes_view import ChangesView
from tt_debug.tui.widgets.state_view import StateView


async def test_the_form_shows_the_value_what_runs_next_and_a_free_name() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        assert dialog.query_one("#draft", TextArea).text == '"final"'
        assert dialog.query_one("#draft").has_focus
        assert "Edit plan.status at step 15 · summarize" in it.text
        assert "Next, as before: agent" in it.text
        assert dialog.query_one("#fork-name", Input).value == "trip-planner-fork-1"
        assert "trip-planner stays as it is" in it.text


async def test_the_verdict_and_the_changes_follow_the_text() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        area = dialog.query_one("#draft", TextArea)
        area.text = '"draft'
        await wait_for(it.pilot, lambda: "line 1, column 1: this text has no closing quote" in verdict(dialog))
        area.text = '"draft"'
        await wait_for(it.pilot, lambda: "valid · 1 change" in verdict(dialog))
        assert dialog.query_one(ChangesView).row_count == 1
        await wait_for(it.pilot, lambda: '~ plan.status  "final" → "draft"' in it.text)


async def test_keys_sent_at_once_are_taken_in_their_order() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        area, name = dialog.query_one("#draft", TextArea), dialog.query_one("#fork-name", Input)
        keys = [("end", None), ("left", None), ("backspace", "\x7f"), ("backspace", "\x7f"), ("e", "e")]
        # As a terminal sends them: in one go.
        for key, character in keys:
            it.app.post_message(events.Key(key, character))
        await wait_for(it.pilot, lambda: area.text == '"fine"')
        name.focus()
        name.value = "final"
        await it.rest()
        for key, character in (*keys[:1], *keys[2:]):
            it.app.post_message(events.Key(key, character))
        await wait_for(it.pilot, lambda: name.value == "fine")


async def test_in_ascii_the_form_has_no_sign_beyond_ascii() -> None:
    async with thread_screen(size=(80, 24), ascii_only=True) as it:
        await edit_status(it)
        await it.pilot.pause()
        assert "Fork and run... ^r" in it.text


async def test_tab_goes_from_the_text_to_the_name() -> None:
    async with thread_screen(size=(80, 24)) as it:
        dialog = await edit_status(it)
        await it.pilot.press("tab")
        await it.pilot.pause()
        assert dialog.query_one("#fork-name").has_focus
        many = dialog.query_one(ChangesView)
        many.show(tuple(Change("add", ("plan", number), new=number) for number in range(5)))
        assert many.can_focus, "more than fits can be scrolled"


async def test_a_fork_may_have_effects_of_its_own_where_the_line_has_some_on_record() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        assert not dialog.query_one("#fresh").display
        await it.pilot.press("escape")
        it.session.uses = (PlacedUse("trip-planner", 1, None),)  # type: ignore[arg-type]
        dialog = await edit_status(it)
        await wait_for(it.pilot, lambda: dialog.query_one("#fresh").display)
        dialog.query_one("#fresh", Checkbox).value = True
        dialog.query_one("#draft", TextArea).text = '"draft"'
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: it.session.forks)
        assert it.session.fresh_forks == ["trip-planner-fork-1"]


async def test_a_fork_is_written_once_and_the_cursor_stands_on_it_with_the_old_line_in_view() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        base = it.ref("trip-planner", 15)
        dialog.query_one("#draft", TextArea).text = '"draft"'
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: it.session.forks)
        await it.rest()
        change = Change("change", ("plan", "status"), "final", "draft")
        assert it.session.forks == [(base, "trip-planner-fork-1", (change,))]
        assert it.screen.selected == it.session.heads["trip-planner-fork-1"]
        assert "trip-planner › trip-planner-fork-1" in it.text
        assert "├─╮ ▾ trip-planner" in it.text
        assert "24 agent" in it.text
        assert '~ plan.status  "final" → "draft"' in it.text
        assert it.app.done[-1].command.startswith("tt-debug fork /tmp/demo.db trip-planner@")


async def test_a_bad_text_keeps_the_form_open_and_writes_nothing() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        dialog.query_one("#draft", TextArea).text = "{"
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: "×" in verdict(dialog))
        assert it.app.screen is dialog
        assert it.session.forks == []


async def test_a_name_that_is_taken_or_empty_is_refused() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        name = dialog.query_one("#fork-name", Input)
        name.value = "ryokan"
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: "there is a thread called ryokan already" in verdict(dialog))
        name.value = ""
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: "the new thread needs a name" in verdict(dialog))
        assert it.session.forks == []
        name.value = "my fork 京都"
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: it.session.forks)
        assert it.session.forks[0][1] == "my fork 京都"


async def test_editing_in_the_thread_itself_says_that_it_becomes_the_head() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        dialog.query_one("#in-place", Checkbox).value = True
        await wait_for(
            it.pilot, lambda: "it becomes the head" in str(dialog.query_one("#in-place-note", Static).render())
        )
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: "nothing is changed yet" in it.text)
        dialog.query_one("#draft", TextArea).text = '"draft"'
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: it.session.edits)
        await it.rest()
        assert it.session.edits[0][0] == it.ref("trip-planner", 15)
        assert it.screen.selected == it.session.heads["trip-planner"]
        assert it.session.forks == []


async def test_escape_writes_nothing() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        dialog.query_one("#draft", TextArea).text = '"draft"'
        await it.press("escape")
        assert it.app.screen is it.screen
        assert (it.session.forks, it.session.edits) == ([], [])


async def test_a_fork_without_an_edit_asks_only_for_a_name() -> None:
    async with thread_screen() as it:
        await it.press("comma", "f")
        dialog = await form(it)
        assert not dialog.query("#draft")
        assert "Fork at step 23 · summarize" in it.text
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: it.session.forks)
        assert it.session.forks[0][2] == ()


async def test_fork_and_run_asks_what_will_run() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        dialog.query_one("#draft", TextArea).text = '"draft"'
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: "Nothing has run yet" in it.text)
        assert it.session.forks[0][1] == "trip-planner-fork-1"
        assert it.session.plans[0].ref == it.session.heads["trip-planner-fork-1"]
        assert it.session.runs_made == []


async def test_from_the_graph_the_whole_state_is_edited_and_from_the_diff_the_value_that_changed() -> None:
    async with thread_screen(size=(120, 40)) as it:
        await it.press("comma")
        await it.press("e")
        dialog = await form(it)
        assert "Edit the whole state at" in it.text
        assert '"messages": [' in dialog.query_one("#draft", TextArea).text
        await it.press("escape")
        await it.press("d", "j", "j", "e")
        dialog = await form(it)
        assert "Edit usage.input_tokens at" in it.text
        assert dialog.query_one("#draft", TextArea).text == "851"


async def test_a_read_only_store_answers_with_the_reason() -> None:
    async with thread_screen(read_only=True, session=TripSession(read_only=True)) as it:
        for key in ("e", "f", "c"):
            await it.press(key)
            assert it.app.screen is it.screen
        assert "read-only: started with --read-only" in it.told


async def test_the_thread_itself_is_offered_at_its_head_only() -> None:
    async with thread_screen(size=(120, 40)) as it:
        dialog = await edit_status(it)
        assert not dialog.query_one("#in-place").display
        await it.press("escape", "0")
        await it.press("e")
        dialog = await form(it)
        assert dialog.query_one("#in-place").display


async def test_an_edit_whose_head_has_moved_can_become_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise Conflict("step 24 is not the head of 'trip-planner' any more", hint="fork there instead")

    async with thread_screen(size=(120, 40)) as it:
        monkeypatch.setattr(it.session, "edit", refuse)
        base = it.screen.selected
        await it.press("2")
        it.screen.query_one("#state", StateView).go_to(("plan", "status"))
        await it.press("e")
        dialog = await form(it)
        dialog.query_one("#draft", TextArea).text = '"draft"'
        dialog.query_one("#in-place", Checkbox).value = True
        await wait_for(it.pilot, lambda: "1 change" in verdict(dialog))
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, NoticeDialog) and it.app.screen.is_mounted)
        await it.pilot.pause()
        assert "not the head of 'trip-planner' any more" in it.text
        await it.pilot.press("f")
        await wait_for(it.pilot, lambda: it.session.forks)
        change = Change("change", ("plan", "status"), "review", "draft")
        assert it.session.forks == [(base, "trip-planner-fork-1", (change,))]


async def test_a_name_that_is_taken_is_told_in_sentences() -> None:
    async with thread_screen(size=(120, 40)) as it:
        await it.press("f")
        dialog = await form(it)
        dialog.query_one("#fork-name", Input).value = "review"
        await wait_for(it.pilot, lambda: "there is a thread called review already. choose another name" in it.text)


async def test_a_refused_fork_is_told_and_nothing_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise Conflict("the head moved meanwhile", hint="read again")

    async with thread_screen(size=(120, 40)) as it:
        await it.press("f")
        await form(it)
        monkeypatch.setattr(it.session, "fork", refuse)
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: "the head moved meanwhile" in it.text)
        assert it.step == 24


@pytest.mark.parametrize("size", [(60, 12), (80, 24), (120, 40), (200, 60)])
async def test_the_buttons_are_in_view_whatever_is_edited(size: tuple[int, int]) -> None:
    async with thread_screen(size=size) as it:
        await it.press("e")
        dialog = await form(it)
        dialog.query_one("#draft", TextArea).text = as_text({str(number): number for number in range(200)})
        await wait_for(it.pilot, lambda: "changes" in verdict(dialog))
        await it.pilot.pause()
        for word in ("Esc Cancel", "Create fork ^s", "Fork and run… ^r"):
            assert word in it.text
        await it.pilot.press("tab", "tab")
        await wait_for(it.pilot, lambda: "New thread" in it.text)
