"""Watched expressions, a row each."""

from __future__ import annotations

from collections.abc import Sequence

from tt_debug.tui.rows.pieces import Line
from tt_debug.tui.rows.watches import WatchRow, searched, watch_line
from tt_debug.tui.widgets.piece_view import PieceView


class WatchesView(PieceView):
    """Shows given rows; the cursor stays on its row."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: Sequence[WatchRow] = ()

    def empty_text(self) -> str:
        """What belongs here."""
        return "nothing is watched"

    def show(self, rows: Sequence[WatchRow]) -> None:
        """Show these."""
        self.rows = rows
        self.set_rows(len(rows), cursor=min(self.cursor, max(len(rows) - 1, 0)))

    def current(self) -> str | None:
        """The expression under the cursor."""
        return self.rows[self.cursor].expression if 0 <= self.cursor < len(self.rows) else None

    def search(self, text: str) -> list[int]:
        """Rows whose expression or value here contains ``text``, whatever the case."""
        wanted = text.casefold()
        return [at for at, row in enumerate(self.rows) if wanted in searched(row).casefold()]

    def piece_line(self, row: int, width: int) -> Line:
        """The row in ``width`` cells."""
        return watch_line(self.rows[row], width, self.glyphs)
