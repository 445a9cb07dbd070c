"""The question before code is run: what will run, until where, with which code. Cancel has the focus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from tt_debug.text import safe_text
from tt_debug.tui.dialogs.base import Choice, Dialog

CONFLICT: Final[tuple[Choice[str], ...]] = (
    Choice("Run, call anew", "new", "ctrl+r", "warning"),
    Choice("Reuse", "reuse", "ctrl+u"),
    Choice("Skip", "skip", "ctrl+k"),
    Choice("Ask", "ask", "ctrl+a"),
)
CONFLICT_NOTE: Final = (
    "An effect that asks for something else by now: call it anew under a new key, reuse what is on record, skip it, or"
    " stop there and ask."
)


class ConfirmDialog(Dialog[str]):
    """Lists a plan's lines. ``title`` is the plan's first line, ``verb`` the button's word.

    ``state`` says how things stand before that. Ends with "run"; with ``asks_on_conflict`` with what is to be done
    about effects on record that are others by now: "new", "reuse", "skip", or "ask" when they come. ``others`` are
    what else can be done instead.
    """

    def __init__(
        self,
        title: str,
        lines: Sequence[str],
        verb: str,
        state: str = "Nothing has run yet.",
        *,
        asks_on_conflict: bool = False,
        others: tuple[Choice[str], ...] = (),
    ) -> None:
        run: Choice[str] = Choice(verb, "run", "ctrl+r", "warning")
        super().__init__(title, CONFLICT if asks_on_conflict else (run, *others))
        self._asks = asks_on_conflict
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
        if self._asks:
            yield Static(CONFLICT_NOTE, classes="dialog-note", markup=False)
        yield Static(Content(self._state), classes="dialog-note", markup=False)
