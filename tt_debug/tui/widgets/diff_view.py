"""A diff as rows; Enter writes a change out in full.

Owns what is opened and wrapping to the width; where the diff comes from is the screen's affair.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual import events

from stores.model import Diff, Path, Value
from tt_debug.tui.rows.diff import DiffRow, diff_line, diff_rows, with_opened
from tt_debug.tui.rows.pieces import Line, text_of
from tt_debug.tui.widgets.piece_view import PieceView


class DiffView(PieceView):
    """One row for each change, more for one that is opened."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[DiffRow] = []
        self._plain: list[DiffRow] = []
        self._opened: set[Path] = set()
        self._empty = "reading…"

    def empty_text(self) -> str:
        """Why there is nothing."""
        return self._empty

    def show(
        self, diff: Diff, old: Mapping[str, Value], new: Mapping[str, Value], empty: str = "nothing changed"
    ) -> None:
        """Show a diff between two states."""
        self.show_rows(diff_rows(diff, old, new) if diff else [], empty)

    def show_rows(self, rows: list[DiffRow], empty: str = "nothing changed") -> None:
        """Show rows that were made elsewhere; ``empty`` is said when there are none."""
        here = self.current()
        self._plain, self._empty = rows, empty
        self._lay_out(here.path if here is not None else None)

    def show_problem(self, text: str) -> None:
        """There is no diff to show, and why."""
        self.show_rows([], text)

    def current(self) -> DiffRow | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None

    def toggle(self) -> bool:
        """Write the change under the cursor out, or fold it again; False where there is nothing to write out."""
        row = self.current()
        if row is None or row.change is None:
            return False
        self._opened ^= {row.path}
        before = len(self.rows)
        self._lay_out(row.path)
        return len(self.rows) != before

    def fold(self) -> None:
        """Fold the change under the cursor."""
        row = self.current()
        if row is not None and row.path in self._opened:
            self.toggle()

    def unfold(self) -> None:
        """Write out the change under the cursor."""
        row = self.current()
        if row is not None and row.path not in self._opened:
            self.toggle()

    def _lay_out(self, path: Path | None) -> None:
        self.rows = with_opened(self._plain, self._opened, max(20, self._width()), self.glyphs)
        at = next((number for number, row in enumerate(self.rows) if row.path == path and row.change), None)
        self.set_rows(len(self.rows), cursor=at if at is not None else 0)

    def _width(self) -> int:
        return self.scrollable_content_region.width - 2

    def on_resize(self, event: events.Resize) -> None:
        """What is written out is wrapped again."""
        if self._opened:
            here = self.current()
            self._lay_out(here.path if here is not None else None)

    def search(self, text: str) -> list[int]:
        """Rows that show ``text``, whatever the case."""
        wanted = text.casefold()
        return [number for number, row in enumerate(self.rows) if wanted in text_of(diff_line(row, 400)).casefold()]

    def piece_line(self, row: int, width: int) -> Line:
        """The row in ``width`` cells."""
        return diff_line(self.rows[row], width, self.glyphs)
