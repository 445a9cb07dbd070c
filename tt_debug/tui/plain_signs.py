"""The last step before a terminal that has only ASCII: every sign of ours and of Textual's as one that it has.

Owns the table, cell for cell, so that nothing moves. Letters of a store's texts are left as they are.
"""

from __future__ import annotations

from typing import Final

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_SIGNS: Final = {
    "-": "─━═╌╍┄┅┈┉▔–—·",
    "|": "│┃║▏▎▍▌▋▊▉▐▕╎╏┆┇┊┋",
    "+": "┌┐└┘├┤┬┴┼╭╮╯╰┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬✓",
    "_": "▁",
    "#": "▂▃▄▅▆▇█▀░▒▓■",
    ">": "→›▸▶»",
    "<": "←‹«",
    "^": "↑▲",
    "v": "↓▾▼",
    "*": "●•★◆◇",
    "o": "○◌",
    "~": "◐↷",
    "=": "≡‖",
    "x": "×✗",
    ".": "…",
    "'": "‘’",
    '"': "“”",
    "@": "⌂",
    "&": "⚙",
}
_WIDE: Final = {"🔎": "> "}
TABLE: Final = str.maketrans({sign: plain for plain, signs in _SIGNS.items() for sign in signs} | _WIDE)
# What stands for a character that must not reach a terminal, in `tt_debug.text.safe_text`.
TABLE.update(dict.fromkeys((*range(9216, 9255), 65533), "?"))


class PlainSigns(LineFilter):
    """Writes a line in ASCII signs."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same line."""
        if all(segment.text.isascii() for segment in segments):
            return segments
        return [Segment(segment.text.translate(TABLE), segment.style, segment.control) for segment in segments]
