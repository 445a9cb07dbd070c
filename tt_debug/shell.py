"""Words of a command line as a POSIX shell reads them, for hints that a person pastes.

Owns quoting; refuses to know commands.
"""

from __future__ import annotations

import shlex
from typing import Final

_ESCAPES: Final = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\e"}


def word(text: str) -> str:
    """``text`` as one word. What would not survive a terminal's screen is escaped: ``$'two\\nlines'``."""
    if text.isprintable():
        return shlex.quote(text)
    return f"$'{''.join(_ESCAPES.get(char) or _escaped(char) for char in text)}'"


def argument(text: str) -> str:
    """The word as the last argument of a command: one that begins with a dash is not to be read as an option."""
    return f"-- {word(text)}" if text.startswith("-") else word(text)


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    if 0xD800 <= ord(char) <= 0xDFFF:  # an argument's byte that was no UTF-8
        return f"\\x{ord(char) & 0xFF:02x}"
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"
