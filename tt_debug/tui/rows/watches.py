"""Watched expressions, a line each: the value here, what became of it here, and its values over the line.

Pure. Numbers are drawn as bars, anything else as the chain of its values; secrets come in hidden.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stores.model import MISSING, Ref, Value
from tt_debug.conversation import plain
from tt_debug.query import Failed
from tt_debug.redaction import Redaction
from tt_debug.text import safe_text
from tt_debug.tui.glyphs import Glyphs
from tt_debug.tui.rows.pieces import Line, Piece, cells, cut, pad, text_of
from tt_debug.tui.rows.values import value_line

EXPRESSION: Final = 24
"""Cells for the expression."""
HERE: Final = 24
"""The most cells of the value here."""
LINK: Final = 16
"""The most cells of one value of a chain."""
BARS: Final = 24
"""The most cells of the bars."""


@dataclass(frozen=True, slots=True)
class Point:
    """What one checkpoint answers: as it is shown, as a number where it is one, and told apart from other values.

    An answer that could not be had has no ``digest``; ``empty``: null, or nothing there."""

    line: Line
    number: float | None
    digest: bytes | None
    empty: bool = False


def point(answer: Value | Failed, expression: str, hiding: Redaction, glyphs: Glyphs) -> Point:
    """An answer, made small: a line may have thousands."""
    if isinstance(answer, Failed):
        return Point((Piece(safe_text(answer.reason), "warning"),), None, None)
    secret = hiding.asks(expression)
    line = cut(value_line(hiding.hide(answer, secret=secret), glyphs), HERE, glyphs.ellipsis)
    numeric = isinstance(answer, int | float) and not isinstance(answer, bool) and not secret
    digest = hashlib.blake2b(repr(plain(answer)).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return Point(
        line, float(answer) if numeric and abs(answer) < 1e300 else None, digest, answer is None or answer is MISSING
    )


@dataclass(frozen=True, slots=True)
class WatchRow:
    """One watch. ``here`` and ``before`` are the answers of the checkpoint under the cursor and of its parent, None
    while unknown; ``points`` are those of the line, as far as they are known, oldest first."""

    expression: str
    here: Point | None = None
    before: Point | None = None
    points: tuple[Point, ...] = ()


def watch_rows(
    expressions: Sequence[str],
    known: Mapping[tuple[str, Ref], Point],
    line: Sequence[Ref],
    here: Ref,
    parent: Ref | None,
) -> list[WatchRow]:
    """The rows, from what is known so far."""
    found = []
    for text in expressions:
        points = tuple(known[text, ref] for ref in line if (text, ref) in known)
        before = known.get((text, parent)) if parent is not None else None
        found.append(WatchRow(text, known.get((text, here)), before, points))
    return found


def watch_line(row: WatchRow, width: int, glyphs: Glyphs) -> Line:
    """One row in at most ``width`` cells."""
    room = min(EXPRESSION, max(width // 3, 8))
    lead = (*pad((Piece(safe_text(row.expression), "key"),), room, glyphs.ellipsis), Piece("  "))
    if row.here is None:
        return cut((*lead, Piece(glyphs.ellipsis, "muted")), width, glyphs.ellipsis)
    line: tuple[Piece, ...] = (*lead, *row.here.line)
    if _changed(row):
        assert row.before is not None
        was = (*row.before.line, Piece(f" {glyphs.arrow} ", "muted"), *row.here.line)
        line = (*lead, *was, Piece(" here", "accent"))
    left = width - cells(line) - 3
    over = _over_the_line(row.points, min(left, width), glyphs) if left > 4 else ()
    return cut((*line, Piece("   "), *over) if over else line, width, glyphs.ellipsis)


def _changed(row: WatchRow) -> bool:
    here, before = row.here, row.before
    return None not in (here, before) and here is not None and before is not None and here.digest != before.digest


def _over_the_line(points: Sequence[Point], width: int, glyphs: Glyphs) -> Line:
    if not points:
        return ()
    numbers = [each.number for each in points if each.number is not None]
    if numbers and len(numbers) == sum(each.digest is not None and not each.empty for each in points):
        return (Piece(bars(numbers, min(width, BARS), glyphs), "primary"),)
    return _chain(points, width, glyphs)


def bars(numbers: Sequence[float], width: int, glyphs: Glyphs) -> str:
    """Numbers as heights, the last of each cell."""
    count = min(width, len(numbers))
    shown = [numbers[(cell + 1) * len(numbers) // count - 1] for cell in range(count)]
    low, high = min(shown), max(shown)
    span = (high - low) or 1.0
    return "".join(glyphs.bars[round((each - low) / span * (len(glyphs.bars) - 1))] for each in shown)


def _chain(points: Sequence[Point], width: int, glyphs: Glyphs) -> Line:
    """The values one after the other, as many of the last ones as there is room for."""
    links: list[Line] = []
    before: bytes | None = None
    for each in points:
        if each.digest is not None and each.digest != before:
            links.append(cut(each.line, LINK, glyphs.ellipsis))
            before = each.digest
    if len(links) < 2:
        return (Piece("the same all along", "muted"),) if links else ()
    arrow = Piece(f" {glyphs.arrow} ", "muted")
    line: tuple[Piece, ...] = links.pop()
    while links and cells(links[-1]) + cells(line) + cells((arrow,)) <= width - cells((arrow, Piece(glyphs.ellipsis))):
        line = (*links.pop(), arrow, *line)
    return (Piece(glyphs.ellipsis, "muted"), arrow, *line) if links else line


def searched(row: WatchRow) -> str:
    """What a search looks at."""
    here = text_of(row.here.line) if row.here is not None else ""
    return f"{row.expression} {here}"
