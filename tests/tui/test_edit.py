"""Editing and forking: text to changes and back, the form's live verdict, what is written and where the cursor goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widgets import Checkbox, Input, Static, TextArea

from stores.errors import Conflict
from stores.model import Change, Opaque, Tagged
from tests.tui.conftest import unsafe_characters, wait_for
from tests.tui.sample_threads import message
from tests.tui.thread_app import Opened, thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.errors import UsageError
from tt_debug.session.executor import PlacedUse
from tt_debug.tui.dialogs.edit import EditDialog
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.draft import as_text, read_text
from tt_debug.tui.widgets.changes_view import ChangesView
from tt_debug.tui.widgets.state_view import StateView

# --- the text


def test_an_untouched_text_is_no_change_whatever_the_value() -> None:
    value = {
        "m": [message("ai", "hi", "1")],
        "n": 1.0,
        "blob": Opaque("bytes", b"\x00\x01"),
        "odd": {1: "a"},
        "nan": float("nan"),
        "esc": "\x1b[31m \u202e \ud800 京都",
    }
    assert read_text(as_text(value), value, ()) == ()


def test_the_text_escapes_what_acts_on_a_terminal_and_keeps_what_people_read() -> None:
    text = as_text({"a": "\x1b]0;x\x07 \x9b1m \u202e京都 🙂"})
    assert unsafe_characters(text) == set()
    assert "京都 🙂" in text


def test_a_change_has_the_path_it_was_edited_at() -> None:
    assert read_text('{"a": 2, "c": 3}', {"a": 1, "b": 0}, ("p", 1)) == (
        Change("change", ("p", 1, "a"), 1, 2),
        Change("remove", ("p", 1, "b"), 0),
        Change("add", ("p", 1, "c"), new=3),
    )


def test_a_class_is_kept_when_its_payload_is_edited() -> None:
    old = message("ai", "hotels", "1")
    text = as_text(old).replace("hotels", "ryokan")
    assert read_text(text, old, ("messages", 0)) == (Change("change", ("messages", 0, "content"), "hotels", "ryokan"),)
    assert isinstance(old, Tagged)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "line 1, column 1: a value is missing here; text stands in double quotes"),
        ('{"a": 1,}', "line 1, column"),
        ('{\n"a": 1 "b": 2}', "line 2, column 8: a comma, or the closing bracket, is missing here"),
        ("NaN", 'NaN is not JSON: write {"$float": "nan"}'),
        ("", "a value is missing here"),
        ("1 2", "something follows after the end"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=r".") as caught:
        read_text(text, 1, ("a",))
    assert words in str(caught.value)


def test_a_whole_state_must_stay_an_object() -> None:
    with pytest.raises(UsageError, match="a state is an object"):
        read_text("[1]", {"a": 1}, ())


# --- the form


async def form(it: Opened) -> EditDialog:
    """The form on top, its first check done."""
    await wait_for(it.pilot, lambda: isinstance(it.app.screen, EditDialog))
    dialog = it.app.screen
    assert isinstance(dialog, EditDialog)
    await wait_for(it.pilot, lambda: dialog.query_one("#fork-name", Input).value != "" and not it.app.loader.busy)
    return dialog


async def edit_status(it: Opened) -> EditDialog:
    """Open the form on plan.status at step 15."""
    it.screen.go_to("15")
    await it.rest()
    await it.press("2")
    state = it.screen.query_one("#state", StateView)
    state.go_to(("plan", "status"))
    await it.press("e")
    return await form(it)


def verdict(dialog: EditDialog) -> str:
    """What the form says about the text."""
    return str(dialog.query_one("#verdict", Static).render())


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


async def test_a_value_too_large_for_the_form_is_left_to_the_editor() -> None:
    session = TripSession(sample=False)
    session.add("large", {"text": "x" * 1_200_000})
    async with thread_screen("large", session=session) as it:
        await it.press("e")
        assert it.app.screen is it.screen
        await wait_for(it.pilot, lambda: "too large for a form" in it.told)


async def test_the_users_editor_hands_its_text_to_the_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from contextlib import nullcontext

    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\nprintf \'"draft"\' > "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    async with thread_screen(size=(120, 40)) as it:
        monkeypatch.setattr(it.app, "suspend", nullcontext)
        it.screen.go_to("15")
        await it.rest()
        await it.press("2")
        it.screen.query_one("#state", StateView).go_to(("plan", "status"))
        await it.press("E")
        dialog = await form(it)
        assert dialog.query_one("#draft", TextArea).text == '"draft"'
        await wait_for(it.pilot, lambda: "valid · 1 change" in verdict(dialog))


async def test_an_editor_that_cannot_be_started_leaves_the_screen_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []

    @contextmanager
    def suspend() -> Iterator[None]:
        """As Textual's own: what comes out of it leaves the terminal to itself."""
        happened.append("left")
        yield
        happened.append("back")

    monkeypatch.setenv("VISUAL", "/nowhere/editor --wait")
    async with thread_screen() as it:
        monkeypatch.setattr(it.app, "suspend", suspend)
        await it.press("E")
        await wait_for(it.pilot, lambda: "/nowhere/editor --wait: " in it.told)
        assert happened == ["left", "back"]


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


async def test_without_an_editor_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with thread_screen() as it:
        await it.press("E")
        await wait_for(it.pilot, lambda: "neither $VISUAL nor $EDITOR is set" in it.told)


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
