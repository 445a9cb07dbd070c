"""Messages as a transcript: role at the left, wrapped text beside it, tool calls below.

Owns wrapping.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from stores.model import Path
from tt_debug.conversation import Turn
from tt_debug.shared import Shared
from tt_debug.text import human_size, safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.message import ROLE_CELLS, call_text, role_piece
from tt_debug.tui.rows.pieces import Line, Piece, wrap

INDENT: Final = ROLE_CELLS + 2
LONG: Final = 4000
"""Characters of one message shown until it is opened."""


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """One line. ``first`` is true for a message's first line."""

    path: Path
    line: Line
    first: bool = False


Known: TypeAlias = Shared[list[TranscriptRow]]


def transcript_rows(
    turns: Sequence[Turn],
    width: int,
    opened: frozenset[Path] = frozenset(),
    glyphs: Glyphs = UNICODE,
    known: Known | None = None,
) -> list[TranscriptRow]:
    """Every line of the transcript in ``width`` cells; messages in ``opened`` are not cut. ``known`` is kept from one
    transcript to the next, for the messages that both have."""
    known = known or Shared()
    rows: list[TranscriptRow] = []
    for turn in turns:
        is_open = turn.path in opened
        make = partial(_turn_rows, turn, width, is_open, glyphs)
        rows.extend(known.of(turn.message, make, turn.path, width, is_open, glyphs.ascii))
    return rows[:-1]


def _turn_rows(turn: Turn, width: int, opened: bool, glyphs: Glyphs) -> list[TranscriptRow]:
    """The lines of one message, and the empty one behind it."""
    lines = _turn_lines(turn, width, opened, glyphs)
    rows = [TranscriptRow(turn.path, line, number == 0) for number, line in enumerate(lines)]
    return [*rows, TranscriptRow(turn.path, ())]


def _turn_lines(turn: Turn, width: int, opened: bool, glyphs: Glyphs) -> list[Line]:
    message = turn.message
    text = message.text if opened else message.text[:LONG]
    body = safe_text(text.expandtabs(4), newlines=True).strip("\n")
    name = f"{safe_text(message.name[:40])}: " if message.name else ""
    pieces = (Piece(name, "muted"), Piece(body, "error" if message.failed else "plain"))
    lines = wrap(pieces, width - INDENT) if name or body else []
    if len(text) < len(message.text):
        rest = human_size(len(message.text) - len(text))
        lines.append((Piece(f"{glyphs.ellipsis} {rest} more, {glyphs.enter} shows them", "muted"),))
    for call in message.calls:
        lines += wrap((Piece(f"{glyphs.tool} {call_text(call, LONG)}", "tool"),), width - INDENT)
    role = role_piece(message.role)
    indent = Piece(" " * INDENT)
    first = (role, Piece(" " * (INDENT - ROLE_CELLS)))
    return [(*first, *lines[0]), *((indent, *line) for line in lines[1:])] if lines else [(role,)]
