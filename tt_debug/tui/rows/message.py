"""A chat message as every list shows it: role, text, tool calls.

Owns summarising; what is a message says `tt_debug.conversation`.
"""

from __future__ import annotations

from typing import Final

from tt_debug.conversation import ROLES, Message
from tt_debug.text import safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.pieces import Line, Piece

ROLE_CELLS: Final = 6


def flat(text: str, glyphs: Glyphs = UNICODE) -> str:
    """Text on one line, safe to show: a newline as its sign, a tab as spaces."""
    return safe_text(text.replace("\r\n", "\n").replace("\n", glyphs.newline).replace("\t", "    "))


def call_text(call: tuple[str, str], limit: int = 200) -> str:
    """``search(q="ryokan")``, safe to show; at most ``limit`` characters of each part are looked at."""
    name, arguments = call
    return f"{flat(name[:limit])}({flat(arguments[:limit])})"


def summary(message: Message, glyphs: Glyphs = UNICODE, limit: int = 400) -> Line:
    """One line: the role's word, then the text, then what it calls."""
    pieces = [role_piece(message.role), Piece(" ")]
    if message.text:
        pieces.append(Piece(flat(message.text[:limit], glyphs), "error" if message.failed else "plain"))
    for call in message.calls[:4]:
        lead = "  " if len(pieces) > 2 else ""
        pieces.append(Piece(f"{lead}{glyphs.tool} {call_text(call, limit)}", "tool"))
    return tuple(pieces)


def role_piece(role: str) -> Piece:
    """The role's word in a fixed width, in the role's ink."""
    shown = safe_text(role[:12])
    return Piece(shown.ljust(ROLE_CELLS), role if role in ROLES.values() else "muted")
