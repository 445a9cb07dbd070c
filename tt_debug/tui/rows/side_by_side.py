"""A diff with old values beside new ones; what was only added or removed has all the room. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import zip_longest
from typing import Final, NamedTuple

from stores.model import Change, Path
from stores.paths import format_path
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.diff import DiffRow, change_body, change_lead, opened_lines, sides_in_full, sides_of
from tt_debug.tui.rows.pieces import Line, Piece, cells, cut, pad, wrap

LEAST: Final = 60
"""Cells below which two columns would show less than one."""
_MEASURED: Final = 500
"""Rows whose paths decide the width of their column."""
_SIGN, _GAP, _RULE = 2, 2, 3


class Columns(NamedTuple):
    """Cells for the path, and for a value on either side."""

    path: int
    side: int


def columns_for(rows: Sequence[DiffRow], width: int) -> Columns:
    """What ``width`` cells are shared out to: the path has what the longest needs, at most a third."""
    paths = (cells((Piece(format_path(row.path)),)) for row in rows[:_MEASURED] if row.change is not None)
    path = min(max(paths, default=0), width // 3)
    return Columns(path, max(1, (width - _SIGN - path - _GAP - _RULE) // 2))


def side_line(change: Change, columns: Columns, glyphs: Glyphs = UNICODE) -> Line:
    """A change on one line."""
    sign, path = change_lead(change, glyphs)
    lead = (sign, *pad((path,), columns.path, glyphs.ellipsis), Piece(" " * _GAP))
    if change.op != "change":
        return (*lead, *cut(change_body(change, glyphs), 2 * columns.side + _RULE, glyphs.ellipsis))
    return (*lead, *_beside(*sides_of(change, glyphs, columns.side // 3), columns.side, glyphs))


def _beside(old: Line, new: Line, side: int, glyphs: Glyphs) -> Line:
    rule = Piece(f" {glyphs.line} ", "muted")
    return (*pad(old, side, glyphs.ellipsis), rule, *cut(new, side, glyphs.ellipsis))


def opened_sides(change: Change, columns: Columns, width: int, glyphs: Glyphs = UNICODE) -> list[Line]:
    """A change in full, each side wrapped in its half of ``width``."""
    if change.op != "change":
        return [side_line(change, columns, glyphs), *opened_lines(change, width, glyphs)[1:]]
    indent = Piece(" " * 4)
    side = max(1, (width - 4 - _RULE) // 2)
    old, new = (wrap(text, side) if text else [] for text in sides_in_full(change, glyphs))
    body = [(indent, *_beside(*both, side, glyphs)) for both in zip_longest(old, new, fillvalue=())]
    return [side_line(change, columns, glyphs), *body]


def with_opened_sides(
    rows: Iterable[DiffRow], opened: Set[Path], columns: Columns, width: int, glyphs: Glyphs = UNICODE
) -> list[DiffRow]:
    """The changes in columns, those of ``opened`` written out in full below themselves."""
    shown: list[DiffRow] = []
    for row in rows:
        if row.change is None or row.path not in opened:
            shown.append(row)
            continue
        lines = opened_sides(row.change, columns, width, glyphs)
        shown.extend(DiffRow("change", row.path, row.change, line=line) for line in lines)
    return shown
