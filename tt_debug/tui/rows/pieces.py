"""A row of text as pieces with inks, and the arithmetic of terminal cells on it.

Owns widths, cutting and wrapping. Colours belong to the widgets: an ink is only a name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from rich.cells import cell_len, chop_cells, set_cell_size, split_text

ELLIPSIS: Final = "…"
VALUE_CELLS: Final = 200
"""The most cells of a value's text that a one-line row looks at."""


class Piece(NamedTuple):
    """Text that is already safe to show, and the ink of `tt_debug.tui.theme` it is written in."""

    text: str
    ink: str = "plain"


Line: TypeAlias = tuple[Piece, ...]


def cells(line: Iterable[Piece]) -> int:
    """The width of a line in terminal cells."""
    return sum(cell_len(piece.text) for piece in line)


def cut(line: Iterable[Piece], width: int, ellipsis: str = ELLIPSIS) -> Line:
    """The line in at most ``width`` cells; what does not fit ends in an ellipsis."""
    kept: list[Piece] = []
    left = width
    pieces = [piece for piece in line if piece.text]
    for number, piece in enumerate(pieces):
        size = cell_len(piece.text)
        if size < left or (size == left and number == len(pieces) - 1):
            kept.append(piece)
            left -= size
            continue
        if left <= 0:
            return _with_ellipsis(kept, width, ellipsis)
        head, _ = split_text(piece.text, max(0, left - cell_len(ellipsis)))
        kept.append(Piece(head + set_cell_size(ellipsis, min(left, cell_len(ellipsis))), piece.ink))
        return tuple(kept)
    return tuple(kept)


def _with_ellipsis(kept: list[Piece], width: int, ellipsis: str) -> Line:
    if not kept or width <= 0:
        return ()
    last = kept.pop()
    room = cell_len(last.text) - cell_len(ellipsis)
    head, _ = split_text(last.text, max(0, room))
    return (*kept, Piece(head + set_cell_size(ellipsis, min(width, cell_len(ellipsis))), last.ink))


def pad(line: Iterable[Piece], width: int, ellipsis: str = ELLIPSIS) -> Line:
    """The line in exactly ``width`` cells: cut or filled with spaces."""
    fitted = cut(line, width, ellipsis)
    missing = width - cells(fitted)
    return (*fitted, Piece(" " * missing)) if missing > 0 else fitted


def spread(left: Iterable[Piece], right: Iterable[Piece], width: int, ellipsis: str = ELLIPSIS) -> Line:
    """``left`` at the left edge and ``right`` at the right one; ``right`` goes first when there is no room for both."""
    tail = tuple(right)
    size = cells(tail)
    if not tail or size + 8 > width:
        return cut(left, width, ellipsis)
    return (*pad(left, width - size - 1, ellipsis), Piece(" "), *tail)


def text_of(line: Iterable[Piece]) -> str:
    """The line without its inks."""
    return "".join(piece.text for piece in line)


def wrap(line: Iterable[Piece], width: int) -> list[Line]:
    """The line broken at spaces and newlines into lines of at most ``width`` cells; a longer word is broken hard."""
    width = max(1, width)
    lines: list[Line] = []
    current: list[Piece] = []
    used = 0

    def finish() -> None:
        nonlocal used
        lines.append(tuple(current))
        current.clear()
        used = 0

    for piece in line:
        for number, paragraph in enumerate(piece.text.split("\n")):
            if number:
                finish()
            for word in _words(paragraph):
                size = cell_len(word.rstrip(" "))
                if used and used + size > width:
                    finish()
                if size > width:
                    *full, word = chop_cells(word.rstrip(" "), width)
                    for chunk in full:
                        current.append(Piece(chunk, piece.ink))
                        finish()
                shown = word if used + cell_len(word) <= width else word.rstrip(" ")
                if shown:
                    current.append(Piece(shown, piece.ink))
                    used += cell_len(shown)
    finish()
    return [_joined(row) for row in lines]


def hanging(lead: Line, line: Iterable[Piece], width: int) -> list[Line]:
    """``lead`` once, the line wrapped beside it; where less than 16 cells are left beside it, below it too."""
    used = cells(lead)
    if width - used < 16:
        return wrap((*lead, *line), width)
    first, *rest = wrap(line, width - used)
    return [(*lead, *first), *((Piece(" " * used), *more) for more in rest)]


def _words(text: str) -> Iterable[str]:
    """The words of a text, each with the spaces that follow it."""
    start = 0
    length = len(text)
    while start < length:
        end = text.find(" ", start)
        if end < 0:
            yield text[start:]
            return
        while end < length and text[end] == " ":
            end += 1
        yield text[start:end]
        start = end


def _joined(row: Iterable[Piece]) -> Line:
    """Neighbouring pieces of one ink become one."""
    joined: list[Piece] = []
    for piece in row:
        if joined and joined[-1].ink == piece.ink:
            joined[-1] = Piece(joined[-1].text + piece.text, piece.ink)
        else:
            joined.append(piece)
    return tuple(joined)
