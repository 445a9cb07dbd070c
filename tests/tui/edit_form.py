"""The form of an edit as a test opens it and reads it."""

from __future__ import annotations

from textual.widgets import Input, Static

from tests.tui.conftest import wait_for
from tests.tui.thread_app import Opened
from tt_debug.tui.dialogs.edit import EditDialog
from tt_debug.tui.widgets.state_view import StateView


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
