"""One row under construction: styled pieces measured in terminal cells, cut and padded, never by ``len``.

Owns the boundary where text from a store becomes cells: every piece goes through `safe_text` here.
"""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style

from tt_debug.text import safe_text


def cut(text: str, cells: int, ellipsis: str = "…") -> str:
    """``text`` in at most ``cells`` cells, the cut marked by ``ellipsis``; wide characters are never halved."""
    if cells <= 0:
        return ""
    # A cell holds at most a handful of code points; 10 MB strings are cut before anything measures them.
    if len(text) > cells * 8:
        text = text[: cells * 8]
    elif cell_len(text) <= cells:
        return text
    if cell_len(text) <= cells:
        return text
    room = cells - cell_len(ellipsis)
    if room <= 0:
        return set_cell_size(ellipsis, cells)
    return set_cell_size(text, room).rstrip(" ") + ellipsis


def wrap_text(text: str, cells: int) -> list[str]:
    """``text`` broken at blanks into lines of at most ``cells`` cells; a longer word is cut."""
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= cells:
            lines[-1] += f" {word}"
        else:
            lines.append(cut(word, cells))
    return lines


class Line:
    """A row of ``width`` cells. Pieces are added from the left; `right` fills from the right edge at the end."""

    __slots__ = ("_cells", "_ellipsis", "_left", "_right", "width")

    def __init__(self, width: int, *, ellipsis: str = "…") -> None:
        self.width = max(width, 0)
        self._ellipsis = ellipsis
        self._left: list[Segment] = []
        self._right: list[Segment] = []
        self._cells = 0

    @property
    def room(self) -> int:
        """Cells still free."""
        return max(self.width - self._cells, 0)

    def add(self, text: str, style: Style | None = None, *, at_most: int | None = None) -> Line:
        """Append ``text``, cut to ``at_most`` cells and to the room that is left."""
        limit = self.room if at_most is None else min(self.room, at_most)
        shown = cut(
            safe_text(text[: limit * 8 + 8]) if len(text) > limit * 8 + 8 else safe_text(text), limit, self._ellipsis
        )
        if shown:
            self._left.append(Segment(shown, style))
            self._cells += cell_len(shown)
        return self

    def field(self, text: str, cells: int, style: Style | None = None, *, right: bool = False) -> Line:
        """Append a column of exactly ``cells`` cells (fewer at the edge), aligned left or right."""
        cells = min(cells, self.room)
        shown = cut(safe_text(text[: cells * 8 + 8]), cells, self._ellipsis)
        blank = " " * (cells - cell_len(shown))
        self._left.append(Segment(blank + shown if right else shown + blank, style))
        self._cells += cells
        return self

    def right(self, text: str, style: Style | None = None) -> Line:
        """Keep room at the right edge for ``text``; pieces added later get what is left of it."""
        shown = cut(safe_text(text), self.room, self._ellipsis)
        if shown:
            self._right.insert(0, Segment(shown, style))
            self._cells += cell_len(shown)
        return self

    def segments(self) -> list[Segment]:
        """The row, exactly ``width`` cells."""
        return [*self._left, Segment(" " * self.room), *self._right]
