"""The line of history as cells: the height of a cell is its longest step, on a log scale; below it what happened.

Owns the arithmetic between steps and cells, both ways.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.pieces import Line, Piece

CROWDED: Final = 3
"""More than one cell in so many with a mark: only the ones that matter most are kept."""
ORDER: Final = ("A", "hit", "failed", "waiting", "edited", "fork", "breakpoint", "bookmark")
"""What wins a cell with several marks."""
STRETCH: Final = 4
"""The most cells one moment takes, so that a short line is easy to hit."""
KEPT: Final = frozenset({"A", "hit", "waiting", "bookmark"})


@dataclass(frozen=True, slots=True)
class Moment:
    """One checkpoint of the line. ``seconds`` is its step's duration, None when unknown; ``marks`` from `ORDER`."""

    seconds: float | None = None
    marks: frozenset[str] = frozenset()


def cells_used(count: int, width: int) -> int:
    """How many of ``width`` cells a line of ``count`` moments takes."""
    return max(0, min(width, count * STRETCH))


def cell_of(index: int, count: int, width: int) -> int:
    """The first cell that shows moment ``index``."""
    return index * cells_used(count, width) // count if count else 0


def moment_of(cell: int, count: int, width: int) -> int:
    """The moment that ``cell`` shows first; the last one for a cell past the end."""
    used = cells_used(count, width)
    if used <= 0:
        return 0
    first = ((cell + 1) * count - 1) // used if used >= count else -(-cell * count // used)
    return max(0, min(count - 1, first))


def heights(moments: Sequence[Moment], width: int) -> list[int]:
    """A height from 0 to 7 for each cell in use."""
    count = len(moments)
    used = cells_used(count, width)
    longest = [0.0] * used
    for index, moment in enumerate(moments):
        first = cell_of(index, count, width)
        for cell in range(first, max(first + 1, cell_of(index + 1, count, width))):
            longest[cell] = max(longest[cell], moment.seconds or 0.0)
    known = [value for value in longest if value > 0]
    if not known:
        return [0] * used
    low, high = math.log(max(min(known), 1e-3)), math.log(max(max(known), 1e-3))
    span = max(high - low, 1.0)
    return [0 if value <= 0 else round(7 * max(0.0, math.log(max(value, 1e-3)) - low) / span) for value in longest]


@dataclass(frozen=True, slots=True)
class Chart:
    """A line laid out in ``width`` cells: a height for each cell in use, the mark of each that has one."""

    count: int
    width: int
    heights: tuple[int, ...]
    marks: Mapping[int, str]


def chart(moments: Sequence[Moment], width: int) -> Chart:
    """Lay a line out. Of a crowd of marks only those that matter most are kept."""
    cells = _marked(moments, width, frozenset(ORDER))
    if len(cells) * CROWDED > max(1, min(width, len(moments))) and len(moments) > width:
        cells = _marked(moments, width, KEPT)
    return Chart(len(moments), width, tuple(heights(moments, width)), cells)


def bar_line(laid: Chart, position: int, glyphs: Glyphs = UNICODE) -> Line:
    """The bars: past, the position, future."""
    if not laid.heights:
        return ()
    bars = "".join(glyphs.bars[height] for height in laid.heights)
    here = cell_of(position, laid.count, laid.width)
    after = max(here + 1, cell_of(position + 1, laid.count, laid.width))
    block = "|" if glyphs.ascii else "█"
    return (Piece(bars[:here], "primary"), Piece(block * (after - here), "accent"), Piece(bars[after:], "muted"))


def mark_line(laid: Chart, position: int, glyphs: Glyphs = UNICODE) -> Line:
    """The marks below the bars, and the position's."""
    here = cell_of(position, laid.count, laid.width) if laid.count else -1
    pieces: list[Piece] = []
    at = 0
    for cell in sorted({*laid.marks, here} - {-1}):
        pieces.append(Piece(" " * (cell - at)))
        if cell not in laid.marks:
            pieces.append(Piece("^" if glyphs.ascii else "▲", "accent"))
        else:
            pieces.append(_mark(laid.marks[cell], glyphs))
        at = cell + 1
    return tuple(piece for piece in pieces if piece.text)


def _marked(moments: Sequence[Moment], width: int, among: Set[str]) -> dict[int, str]:
    """The mark of each cell that has one of ``among``."""
    cells: dict[int, str] = {}
    for index, moment in enumerate(moments):
        for mark in moment.marks & among:
            cell = cell_of(index, len(moments), width)
            if cell not in cells or ORDER.index(mark) < ORDER.index(cells[cell]):
                cells[cell] = mark
    return cells


def _mark(mark: str, glyphs: Glyphs) -> Piece:
    signs: Mapping[str, tuple[str, str]] = {
        "A": ("A", "removed"),
        "hit": (glyphs.step, "accent"),
        "failed": (glyphs.failed, "error"),
        "waiting": (glyphs.waiting, "warning"),
        "edited": (glyphs.edited, "secondary"),
        "fork": ("Y" if glyphs.ascii else "┬", "success"),
        "breakpoint": (glyphs.breakpoint, "warning"),
        "bookmark": (glyphs.bookmark, "accent"),
    }
    return Piece(*signs[mark])
