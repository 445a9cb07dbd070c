"""The question before code is run: what will run, until where, with which code. Cancel has the focus."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from tt_debug.text import safe_text
from tt_debug.tui.dialogs.base import Choice, Dialog


class ConfirmDialog(Dialog[str]):
    """Lists a plan's lines; ends with "run". ``title`` is the plan's first line, ``verb`` the button's word.

    ``state`` says how things stand before that.
    """

    def __init__(self, title: str, lines: Sequence[str], verb: str, state: str = "Nothing has run yet.") -> None:
        super().__init__(title, (Choice(verb, "run", "ctrl+r", "warning"),))
        self._lines = lines
        self._state = state

    def compose_body(self) -> ComposeResult:
        """One fact a line: a word, where it is not the one above, then what it is."""
        with Vertical(id="plan"):
            above = ""
            for line in self._lines:
                word, _, rest = safe_text(line).partition("  ")
                with Horizontal(classes="plan-line"):
                    shown = word if rest and word != above else ""
                    yield Static(Content(shown), classes="plan-word", markup=False)
                    yield Static(Content(rest.strip() if rest else word), classes="plan-fact", markup=False)
                above = word if rest else ""
        yield Static(Content(self._state), classes="dialog-note", markup=False)
