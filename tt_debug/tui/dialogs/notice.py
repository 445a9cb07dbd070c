"""A sentence that needs an answer: what cannot be done, why, and what can be done instead."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from tt_debug.text import safe_text
from tt_debug.tui.dialogs.base import Choice, Dialog


class NoticeDialog(Dialog[str]):
    """Lines of text over a choice of words; ends with the word of the button."""

    def __init__(self, title: str, lines: Sequence[str], choices: tuple[Choice[str], ...] = ()) -> None:
        super().__init__(title, choices, cancel="Close" if not choices else "Cancel")
        self._lines = lines

    def compose_body(self) -> ComposeResult:
        """The lines, wrapped."""
        for line in self._lines:
            yield Static(Content(safe_text(line, newlines=True)), classes="dialog-line", markup=False)
