"""Messages as a transcript: role at the left, wrapped text beside it, tool calls below.

Owns wrapping and which lists of a state are conversations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stores.model import Path, Value
from tt_debug.text import human_size, safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.message import ROLE_CELLS, Message, as_message, call_text, plain, role_piece
from tt_debug.tui.rows.pieces import Line, Piece, wrap

INDENT: Final = ROLE_CELLS + 2
LONG: Final = 4000
"""Characters of one message shown until it is opened."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the transcript and where it lies in the state."""

    path: Path
    message: Message

    @property
    def long(self) -> bool:
        """Whether it is cut until it is opened."""
        return len(self.message.text) > LONG


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """One line. ``first`` is true for a message's first line."""

    path: Path
    line: Line
    first: bool = False


def conversation(state: Mapping[str, Value]) -> tuple[Path, tuple[Turn, ...]]:
    """The state's list of messages and its path: "messages" if it is one, else the longest such list at the top."""
    best: tuple[Path, tuple[Turn, ...]] = ((), ())
    for key, value in state.items():
        turns = _turns((key,), plain(value))
        if turns and (key == "messages" or len(turns) > len(best[1])):
            best = ((key,), turns)
            if key == "messages":
                break
    return best


def _turns(path: Path, value: Value) -> tuple[Turn, ...]:
    if not isinstance(value, list) or not value or as_message(value[-1]) is None:
        return ()
    found = ((index, as_message(item)) for index, item in enumerate(value))
    return tuple(Turn((*path, index), message) for index, message in found if message is not None)


def transcript_rows(
    turns: Sequence[Turn], width: int, opened: frozenset[Path] = frozenset(), glyphs: Glyphs = UNICODE
) -> list[TranscriptRow]:
    """Every line of the transcript in ``width`` cells; messages in ``opened`` are not cut."""
    rows: list[TranscriptRow] = []
    for turn in turns:
        lines = _turn_lines(turn, width, turn.path in opened, glyphs)
        rows.extend(TranscriptRow(turn.path, line, number == 0) for number, line in enumerate(lines))
        rows.append(TranscriptRow(turn.path, ()))
    return rows[:-1]


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
