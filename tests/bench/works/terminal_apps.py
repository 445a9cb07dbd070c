"""Lists of Textual's own, to be measured against: ``python -m tests.bench.works.terminal_apps WIDGET COUNT``."""

from __future__ import annotations

import sys

from textual.app import App, ComposeResult
from textual.widgets import DataTable, OptionList, Static


class Listing(App[None]):
    """One widget with so many rows."""

    def __init__(self, widget: str, count: int) -> None:
        super().__init__()
        self._widget, self._count = widget, count

    def compose(self) -> ComposeResult:
        """The widget that was asked for."""
        rows = [f"row {number}" for number in range(self._count)]
        if self._widget == "options":
            yield OptionList(*rows)
        elif self._widget == "table":
            table: DataTable[str] = DataTable(cursor_type="row")
            table.add_columns("name", "what")
            table.add_rows((row, "agent") for row in rows)
            yield table
        else:
            yield Static("row 0")


if __name__ == "__main__":
    Listing(sys.argv[1], int(sys.argv[2])).run()
