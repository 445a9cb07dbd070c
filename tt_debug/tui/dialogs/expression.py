"""Asking for an expression to watch."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from tt_debug.errors import UsageError
from tt_debug.query import compile_expr
from tt_debug.tui.dialogs.base import Choice, Dialog
from tt_debug.tui.widgets.field import Field


class ExpressionDialog(Dialog[str]):
    """Ends with an expression in JMESPath."""

    def __init__(self) -> None:
        super().__init__("Watch", (Choice("Watch", "?", "ctrl+s", "primary"),))

    def compose_body(self) -> ComposeResult:
        """The expression."""
        yield Field(id="expression", placeholder="length(messages)   plan.status")
        told = "JMESPath, asked of each checkpoint of the line. With the cursor on a value, the key watches that."
        yield Static(told, classes="dialog-note", markup=False)

    def first_focus(self) -> str:
        """The expression."""
        return "#expression"

    @on(Input.Changed)
    def _changed(self) -> None:
        self.complain("")

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_choose(0)

    def result(self, value: str) -> str | None:
        """What was typed; None, and why in the dialog, while it is none."""
        typed = self.query_one("#expression", Input).value.strip()
        try:
            return compile_expr(typed).text if typed else None
        except UsageError as error:
            self.complain(f"{error}; {error.hint}" if error.hint else str(error))
            return None
