"""What an edit would change, one line for each change."""

from __future__ import annotations

from typing import Final

from textual.strip import Strip

from stores.model import Diff
from tt_debug.tui.rows.diff import change_line
from tt_debug.tui.rows.pieces import Line, cut
from tt_debug.tui.widgets.piece_view import PieceView

IN_VIEW: Final = 3
"""Rows the form has room for."""


class ChangesView(PieceView):
    """A diff in its own order, without grouping."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._changes: Diff = ()
        self.can_focus = False

    def empty_text(self) -> str:
        """Before the first keystroke."""
        return "nothing is changed yet"

    def show(self, changes: Diff) -> None:
        """Show these."""
        self._changes = changes
        # Tab passes over a list that has nothing to scroll.
        self.can_focus = len(changes) > IN_VIEW
        self.set_rows(len(changes), cursor=0)

    def _cursor_strip(self, strip: Strip) -> Strip:
        return super()._cursor_strip(strip) if self.can_focus else strip

    def piece_line(self, row: int, width: int) -> Line:
        """One change in ``width`` cells."""
        return cut(change_line(self._changes[row], self.glyphs), width, self.glyphs.ellipsis)
