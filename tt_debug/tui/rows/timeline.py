"""The line of history as cells: the height of a cell is its longest step, on a log scale; below it what happened.

Owns the arithmetic between steps and cells, both ways.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, overload

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


UNKNOWN: Final = -math.inf
"""The seconds of a moment of which they are not known, among others: no step is shorter."""


@dataclass(frozen=True, slots=True)
class Moments(Sequence[Moment]):
    """Those of a line, in columns, as there may be a million. ``marks`` are of those that have any, by their place."""

    seconds: array[float] = field(default_factory=lambda: array("d"))
    marks: Mapping[int, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, moments: Iterable[Moment]) -> Moments:
        """The same as these."""
        each = list(moments)
        seconds = array("d", (UNKNOWN if one.seconds is None else one.seconds for one in each))
        return cls(seconds, {at: one.marks for at, one in enumerate(each) if one.marks})

    def followed_by(self, others: Moments, at: int) -> Moments:
        """The first ``at`` of them, then the others."""
        marks = {place: names for place, names in self.marks.items() if place < at}
        marks.update((at + place, names) for place, names in others.marks.items())
        return Moments(self.seconds[:at] + others.seconds, marks)

    def __len__(self) -> int:
        return len(self.seconds)

    @overload
    def __getitem__(self, at: int) -> Moment: ...

    @overload
    def __getitem__(self, at: slice) -> list[Moment]: ...

    def __getitem__(self, at: int | slice) -> Moment | list[Moment]:
        if isinstance(at, slice):
            return [self[each] for each in range(len(self))[at]]
        seconds = self.seconds[at]
        place = range(len(self))[at]
        return Moment(None if seconds == UNKNOWN else seconds, self.marks.get(place, frozenset()))


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


def heights(moments: Moments, width: int) -> list[int]:
    """A height from 0 to 7 for each cell in use."""
    count = len(moments)
    used = cells_used(count, width)
    firsts = [*(moment_of(cell, count, width) for cell in range(used)), count]
    longest = [max(0.0, max(moments.seconds[first : max(first + 1, after)])) for first, after in pairwise(firsts)]
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


def chart(moments: Moments, width: int) -> Chart:
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


def _marked(moments: Moments, width: int, among: Set[str]) -> dict[int, str]:
    """The mark of each cell that has one of ``among``."""
    cells: dict[int, str] = {}
    for index, marks in moments.marks.items():
        for mark in marks & among:
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
