"""Lines of what happened, oldest first, on one of two tabs: the log, or the effects alone."""

from __future__ import annotations

from collections.abc import Sequence

from tt_debug.tui.rows.pieces import Line, cut, text_of
from tt_debug.tui.rows.story import StoryRow
from tt_debug.tui.widgets.piece_view import PieceView


class StoryView(PieceView):
    """Shows given lines; the cursor starts at the last, which is the nearest to what is looked at."""

    def __init__(self, empty: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._empty = empty
        self._rows: Sequence[StoryRow] | None = None

    def empty_text(self) -> str:
        """Before anything was read, or where nothing is."""
        return "reading…" if self._rows is None else self._empty

    def show(self, rows: Sequence[StoryRow]) -> None:
        """Show these."""
        self._rows = rows
        self.set_rows(len(rows), cursor=len(rows) - 1)

    def current(self) -> StoryRow | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self._rows and self.cursor < len(self._rows) else None

    def search(self, text: str) -> list[int]:
        """Lines that show ``text``, whatever the case."""
        wanted = text.casefold()
        return [at for at, row in enumerate(self._rows or ()) if wanted in text_of(row.line).casefold()]

    def piece_line(self, row: int, width: int) -> Line:
        """The line in ``width`` cells."""
        return cut((self._rows or ())[row].line, width, self.glyphs.ellipsis)
