"""Two lines side by side, a row for each step of both or of one, and what is told of a step. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stores.model import Diff, Header
from tt_debug.divergence import Cause, Row, sign, who
from tt_debug.text import counted, safe_text
from tt_debug.tui.glyphs import Glyphs
from tt_debug.tui.rows.diff import change_line
from tt_debug.tui.rows.pieces import Line, Piece, cut, pad, spread, wrap

MOST: Final = 200
"""Changes of a step that are shown."""
_INKS: Final = {"=": "muted", "~": "changed", "<": "removed", ">": "added", "?": "warning"}
_WIDEST: Final = 30
"""Cells for a step of either line."""


def row_line(row: Row, width: int, glyphs: Glyphs) -> Line:
    """One row in ``width`` cells: both steps, and the keys in which they differ."""
    column = min(_WIDEST, max(12, (width - 2) * 3 // 10))
    said = sign(row)
    ink = "plain" if row.mark in ("same", "ids") else "strong"
    steps = [
        piece
        for header in (row.a, row.b)
        for piece in (*pad((Piece(step_text(header), ink),), column, glyphs.ellipsis), Piece("  "))
    ]
    words = row.problem or ", ".join(row.keys) or ("but for ids" if row.mark == "ids" else "")
    tail = (Piece("they part here", "warning"),) if row.is_parting else ()
    line = (Piece(f"{said} ", _INKS[said]), *steps, Piece(safe_text(words), "muted"))
    return spread(line, tail, width, glyphs.ellipsis)


def step_text(header: Header | None) -> str:
    """The number of a step and who wrote it; empty where the line has none."""
    return "" if header is None else f"{'?' if header.step is None else header.step:>4} {safe_text(who(header))}"


def parting_lines(cause: Cause, width: int) -> list[Line]:
    """Why two lines part, and what else is known."""
    lines = wrap((Piece(safe_text(cause.words), "warning"),), width)
    for note in cause.notes:
        lines += wrap((Piece(safe_text(note), "muted"),), width)
    return [*lines, ()]


def step_lines(name: str, header: Header | None, changes: Diff, width: int, glyphs: Glyphs) -> Iterable[Line]:
    """What a step of line ``name`` changed."""
    if header is None:
        yield (Piece(f"{name} has no such step", "muted"),)
        return
    yield (Piece(f"{name} ", "accent"), Piece(step_text(header).strip(), "strong"))
    for line in changes_lines(changes, width - 2, glyphs):
        yield (Piece("  "), *line)


def changes_lines(changes: Diff, width: int, glyphs: Glyphs) -> Iterable[Line]:
    """What a step changed, at most `MOST` of it."""
    if not changes:
        yield (Piece("changed nothing", "muted"),)
    for change in changes[:MOST]:
        yield cut(change_line(change, glyphs), width, glyphs.ellipsis)
    if len(changes) > MOST:
        yield (Piece(f"{glyphs.ellipsis} {counted(len(changes) - MOST, 'more change')}", "muted"),)
