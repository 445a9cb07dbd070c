"""A `RowView` whose rows are lines of pieces: the bridge from pure row builders to segments.

Owns drawing what is out of date dim.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style

from tt_debug.tui.rows.pieces import Line, Piece
from tt_debug.tui.widgets.row_view import RowView

DIM: Final = Style(dim=True)


class PieceView(RowView):
    """Subclasses implement `piece_line`."""

    stale = False
    """Whether it shows something older than what the cursor is on; drawn dim."""

    @property
    def marks_cursor(self) -> bool:
        """With the focus only: what stands here is read, nothing beside it follows the cursor."""
        return self.has_focus

    def set_stale(self, stale: bool) -> None:
        """Draw it dim, or no longer. Not a class: styling a panel anew costs more than drawing it."""
        if stale != self.stale:
            self.stale = stale
            self.refresh()

    def piece_line(self, row: int, width: int) -> Line:
        """The row in at most ``width`` cells, its text safe to show."""
        raise NotImplementedError

    def build(self, row: int, width: int) -> Sequence[Segment]:
        """The row's segments, one cell of air on the left."""
        return self.segments((Piece(" "), *self.piece_line(row, max(0, width - 2))))

    def segments(self, line: Iterable[Piece]) -> list[Segment]:
        """Pieces in the present theme. Neighbours of one ink are one segment: each costs as much again until it is on
        the terminal."""
        segments: list[Segment] = []
        last, text = None, ""
        for piece in line:
            if piece.ink == last:
                text += piece.text
                continue
            if last is not None:
                segments.append(Segment(text, self._style(last)))
            text, last = piece
        if last is not None:
            segments.append(Segment(text, self._style(last)))
        return segments

    def _style(self, ink: str) -> Style | None:
        style = None if ink == "plain" else self.ink(ink)
        return style if not self.stale else (style or Style()) + DIM
