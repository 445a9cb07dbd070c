"""Leaving while an own run is active: stop it after this step, leave it running, or stay."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from tt_debug.text import safe_text
from tt_debug.tui.dialogs.base import Choice, Dialog


class QuitDialog(Dialog[str]):
    """Ends with "stop" or "leave". ``runs`` says which runs it is about, a sentence each."""

    def __init__(self, runs: Sequence[str]) -> None:
        choices = (
            Choice("Stop after this step", "stop", "s", "primary"),
            Choice("Leave it running", "leave", "l", "warning"),
        )
        super().__init__("A run is active", choices, cancel="Stay")
        self._what = "\n".join(runs)

    def compose_body(self) -> ComposeResult:
        """What goes on."""
        yield Static(Content(safe_text(self._what, newlines=True)), markup=False)
        yield Static("What is finished is kept either way; “tt-debug resume” goes on where it stops.", markup=False)
