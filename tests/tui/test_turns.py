"""Going back to what a person said: from the message itself, and from the list of all turns."""

from __future__ import annotations

from textual.widgets import TextArea

from tests.tui.thread_app import thread_screen
from tt_debug.tui.dialogs.edit import EditDialog
from tt_debug.tui.screens.answers import AnswersScreen


async def test_a_message_said_otherwise_on_a_fork_from_where_it_came_in() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("4", "g", "T")
        await it.until(lambda: isinstance(it.app.screen, EditDialog))
        assert it.screen.selected == it.ref("trip-planner", -1)
        assert it.app.screen.query_one("#draft", TextArea).text == '"Plan a trip to 京都 for 5 people 🙂"'
        it.app.screen.query_one("#draft", TextArea).text = '"Plan a trip to 奈良"'
        await it.pilot.press("ctrl+s")
        await it.until(lambda: it.session.forks)
        ((base, _, changes),) = it.session.forks
        assert (base, changes[0].path) == (it.ref("trip-planner", -1), ("messages", 0, "content"))
        await it.rest()


async def test_the_list_of_turns_leads_to_the_message_and_edit_opens_it() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.pilot.press("T")
        await it.until(lambda: isinstance(it.app.screen, AnswersScreen))
        await it.until(lambda: "checkpoints asked" in it.text)
        assert "what was said to it" in it.text
        assert it.app.screen.query_one("#answers").row_count >= 1  # type: ignore[attr-defined]
        assert it.app.screen.command_line().startswith("tt-debug turns ")  # type: ignore[attr-defined]
        await it.pilot.press("G", "enter")
        await it.until(lambda: it.app.screen is it.screen)
        await it.rest()
        assert it.screen.selected == it.ref("trip-planner", -1)
        assert it.screen.focused is it.screen.views.messages
        assert "nothing has answered it" in it.told
        assert it.screen.views.messages.current() == ("messages", 0)


async def test_a_read_only_store_is_only_gone_back_in_and_what_no_person_said_is_no_turn() -> None:
    async with thread_screen("trip-planner", (120, 40), read_only=True) as it:
        await it.press("4", "G", "T")
        assert "begins with a human message" in it.told
        await it.press("g", "T")
        await it.until(lambda: "takes no fork" in it.told)
        assert it.app.screen is it.screen
