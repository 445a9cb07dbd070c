"""A diff as rows, old and new beside each other where there is room; Enter writes a change out in full.

Owns what is opened and wrapping to the width; where the diff comes from is the screen's affair.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual import events

from stores.model import Diff, Path, Value
from tt_debug.tui.rows.diff import DiffRow, diff_line, diff_rows, with_opened
from tt_debug.tui.rows.pieces import Line, text_of
from tt_debug.tui.rows.side_by_side import LEAST, Columns, columns_for, side_line, with_opened_sides
from tt_debug.tui.widgets.piece_view import PieceView


class DiffView(PieceView):
    """One row for each change, more for one that is opened."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[DiffRow] = []
        self._plain: list[DiffRow] = []
        self._opened: set[Path] = set()
        self._empty = "reading…"
        self._columns: Columns | None = None
        self._laid_out: tuple[int, bool] | None = None

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
        width, beside = self._laid_out = self._room()
        if beside:
            self._columns = columns_for(self._plain, width)
            self.rows = with_opened_sides(self._plain, self._opened, self._columns, width, self.glyphs)
        else:
            self._columns = None
            self.rows = with_opened(self._plain, self._opened, width, self.glyphs)
        at = next((number for number, row in enumerate(self.rows) if row.path == path and row.change), None)
        self.set_rows(len(self.rows), cursor=at if at is not None else 0)

    def _room(self) -> tuple[int, bool]:
        """Cells for a row, and whether they are enough for both sides beside each other."""
        width = max(20, self.scrollable_content_region.width - 2)
        return width, width >= LEAST and self.screen.has_class("-ultra")

    def on_resize(self, event: events.Resize) -> None:
        """What is written out is wrapped again, and sides may have room now."""
        before = self._laid_out
        if self._room() != before and (self._opened or before is None or before[1] or self._room()[1]):
            here = self.current()
            self._lay_out(here.path if here is not None else None)

    def search(self, text: str) -> list[int]:
        """Rows that show ``text``, whatever the case."""
        wanted = text.casefold()
        return [number for number, row in enumerate(self.rows) if wanted in text_of(diff_line(row, 400)).casefold()]

    def piece_line(self, row: int, width: int) -> Line:
        """The row in ``width`` cells."""
        shown = self.rows[row]
        if self._columns is not None and shown.change is not None and not shown.line:
            return side_line(shown.change, self._columns, self.glyphs)
        return diff_line(shown, width, self.glyphs)
