"""A short list to choose from, by its keys or with the cursor. Ends with the key that was chosen."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult

from tt_debug.tui.dialogs.base import Dialog
from tt_debug.tui.rows.message import flat
from tt_debug.tui.rows.pieces import Line, Piece, cut
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView

MenuRow = tuple[str, str, str]
"""A key, a name, and a word about it."""


class MenuDialog(Dialog[str]):
    """One row an entry; the first one has the cursor."""

    def __init__(self, title: str, rows: Sequence[MenuRow]) -> None:
        super().__init__(title, ())
        self._rows = tuple(rows)

    def compose_body(self) -> ComposeResult:
        """The list."""
        yield Panel(id="menu")

    def first_focus(self) -> str:
        """The list."""
        return "#menu"

    def on_mount(self) -> None:
        """Fill it: no more rows than entries."""
        panel = self.query_one("#menu", Panel)
        panel.styles.height = min(len(self._rows), max(self.app.size.height - 8, 1))
        panel.show([self._line(row) for row in self._rows], [row[0] for row in self._rows])

    def _line(self, row: MenuRow) -> Line:
        glyphs = self.query_one("#menu", Panel).glyphs
        key, name, note = row
        shown = cut((Piece(flat(note[:200], glyphs), "muted"),), 44, glyphs.ellipsis)
        return (Piece(f"{key}  ", "accent"), Piece(f"{name:<14}  ", "strong"), *shown)

    def on_key(self, event: events.Key) -> None:
        """A letter of the list."""
        if event.character is not None and any(event.character == row[0] for row in self._rows):
            event.stop()
            self.dismiss(event.character)

    @on(RowView.Opened, "#menu")
    def _opened(self, event: RowView.Opened) -> None:
        event.stop()
        self.dismiss(self._rows[event.row][0])
