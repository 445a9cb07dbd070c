"""Lines of what happened, oldest first, on one of two tabs: the log, or the effects alone."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from tt_debug.tui.rows.pieces import Line, cut, text_of
from tt_debug.tui.rows.story import StoryRow, laid_out
from tt_debug.tui.widgets.piece_view import PieceView


class StoryView(PieceView):
    """Shows given rows; the cursor starts at the last, which is the nearest to what is looked at."""

    def __init__(self, empty: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._empty = empty
        self._rows: Sequence[StoryRow] | None = None
        self._lines: list[tuple[int, Line]] = []

    def empty_text(self) -> str:
        """Before anything was read, or where nothing is."""
        return "reading…" if self._rows is None else self._empty

    def show(self, rows: Sequence[StoryRow]) -> None:
        """Show these, the cursor on the last; of those that are shown already it stays where it is."""
        if rows == self._rows:
            return
        self._rows = rows
        self._lay_out(len(rows) - 1)

    def _lay_out(self, row: int) -> None:
        """For the present size, the cursor on the first line of ``row``."""
        size = self.scrollable_content_region
        self._lines = laid_out(self._rows or (), max(20, size.width - 2), size.height)
        cursor = next((at for at, (number, _) in enumerate(self._lines) if number == row), None)
        self.set_rows(len(self._lines), cursor=cursor)

    def on_resize(self, event: events.Resize) -> None:
        """There is more room, or less."""
        self._lay_out(self._lines[self.cursor][0] if self.cursor < len(self._lines) else 0)

    def selectable(self, row: int) -> bool:
        """What a row goes on with is part of it."""
        return row == 0 or self._lines[row - 1][0] != self._lines[row][0]

    def current(self) -> StoryRow | None:
        """The row under the cursor."""
        return self._rows[self._lines[self.cursor][0]] if self._rows and self.cursor < len(self._lines) else None

    def search(self, text: str) -> list[int]:
        """Lines of the rows that show ``text``, whatever the case."""
        wanted, rows = text.casefold(), self._rows or ()
        found = {number for number, row in enumerate(rows) if wanted in text_of(row.line).casefold()}
        return [at for at, (number, _) in enumerate(self._lines) if number in found and self.selectable(at)]

    def piece_line(self, row: int, width: int) -> Line:
        """The line in ``width`` cells."""
        return cut(self._lines[row][1], width, self.glyphs.ellipsis)
