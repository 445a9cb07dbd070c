"""The line of history as cells: the height of a cell is its longest step, on a log scale; below it what happened.

Owns the arithmetic between steps and cells, both ways.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.pieces import Line, Piece

CROWDED: Final = 3
"""More than one cell in so many with a mark: only the ones that matter most are kept."""
ORDER: Final = ("A", "failed", "waiting", "edited", "fork", "breakpoint", "bookmark")
"""What wins a cell with several marks."""
KEPT: Final = frozenset({"A", "waiting", "bookmark"})


@dataclass(frozen=True, slots=True)
class Moment:
    """One checkpoint of the line. ``seconds`` is its step's duration, None when unknown; ``marks`` from `ORDER`."""

    seconds: float | None = None
    marks: frozenset[str] = frozenset()


def cell_of(index: int, count: int, width: int) -> int:
    """The cell that shows moment ``index``."""
    if count <= width or count == 0:
        return max(0, min(index, width - 1))
    return min(width - 1, index * width // count)


def moment_of(cell: int, count: int, width: int) -> int:
    """The first moment in ``cell``; the last one for a cell past the end."""
    if count <= width:
        return max(0, min(cell, count - 1))
    return max(0, min(count - 1, -(-cell * count // width)))


def heights(moments: Sequence[Moment], width: int) -> list[int]:
    """A height from 0 to 7 for each cell in use."""
    count = len(moments)
    longest = [0.0] * min(width, count)
    for index, moment in enumerate(moments):
        if moment.seconds is not None:
            cell = cell_of(index, count, width)
            longest[cell] = max(longest[cell], moment.seconds)
    known = [value for value in longest if value > 0]
    if not known:
        return [0] * len(longest)
    low, high = math.log(max(min(known), 1e-3)), math.log(max(max(known), 1e-3))
    span = max(high - low, 1.0)
    return [0 if value <= 0 else round(7 * max(0.0, math.log(max(value, 1e-3)) - low) / span) for value in longest]


def bar_line(moments: Sequence[Moment], position: int, width: int, glyphs: Glyphs = UNICODE) -> Line:
    """The bars in ``width`` cells: past, the position, future."""
    if not moments or width <= 0:
        return ()
    bars = "".join(glyphs.bars[height] for height in heights(moments, width))
    here = cell_of(position, len(moments), width)
    return (
        Piece(bars[:here], "primary"),
        Piece("┃" if not glyphs.ascii else "|", "accent"),
        Piece(bars[here + 1 :], "muted"),
    )


def mark_line(moments: Sequence[Moment], position: int, width: int, glyphs: Glyphs = UNICODE) -> Line:
    """The marks below the bars, and the position's."""
    cells: dict[int, str] = {}
    for index, moment in enumerate(moments):
        for mark in moment.marks:
            cell = cell_of(index, len(moments), width)
            if cell not in cells or ORDER.index(mark) < ORDER.index(cells[cell]):
                cells[cell] = mark
    if len(cells) * CROWDED > max(1, min(width, len(moments))) and len(moments) > width:
        cells = {cell: mark for cell, mark in cells.items() if mark in KEPT}
    here = cell_of(position, len(moments), width) if moments else -1
    pieces: list[Piece] = []
    at = 0
    for cell in sorted({*cells, here} - {-1}):
        pieces.append(Piece(" " * (cell - at)))
        if cell == here and cell not in cells:
            pieces.append(Piece("^" if glyphs.ascii else "▲", "accent"))
        else:
            pieces.append(_mark(cells[cell], glyphs))
        at = cell + 1
    return tuple(piece for piece in pieces if piece.text)


def _mark(mark: str, glyphs: Glyphs) -> Piece:
    signs: Mapping[str, tuple[str, str]] = {
        "A": ("A", "removed"),
        "failed": (glyphs.failed, "error"),
        "waiting": (glyphs.waiting, "warning"),
        "edited": (glyphs.edited, "secondary"),
        "fork": ("Y" if glyphs.ascii else "┬", "success"),
        "breakpoint": (glyphs.breakpoint, "warning"),
        "bookmark": (glyphs.bookmark, "accent"),
    }
    return Piece(*signs[mark])
