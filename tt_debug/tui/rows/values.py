"""Any value on one line, with inks by type; containers by what they hold, hidden secrets by their sign.

Owns the summaries; refuses to look at more of a value than a line can show, and to decide what is secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from stores.blobs import Blob
from stores.model import MISSING, Opaque, Partial, Tagged, Value
from tt_debug.conversation import as_message, plain
from tt_debug.redaction import Hidden
from tt_debug.text import counted, human_size, is_bare_key, safe_text, shown_class, shown_key
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.message import flat, summary
from tt_debug.tui.rows.pieces import VALUE_CELLS, Line, Piece, cut, text_of

FLAT: Final = 3
"""A dict of at most so many scalars is shown with its values, each in at most"""
PART: Final = 32
"""cells."""
NUMBERS: Final = 8
"""A list of at least this many numbers is a vector: counted, not listed."""

_ASKS: Final = ("question", "prompt", "message", "title", "text", "action", "description")
"""Keys under which a request says in words what is asked."""


def is_container(value: Value) -> bool:
    """Whether a tree can open it: a dict, list or partly known value with something in it, in a class or not."""
    inner = plain(value)
    if isinstance(inner, Partial):
        return True
    return isinstance(inner, (Mapping, list, tuple)) and len(inner) > 0


def one_liner(text: str, glyphs: Glyphs = UNICODE, limit: int = VALUE_CELLS) -> str:
    """Text on one line, safe to show, in at most ``limit`` cells."""
    fitted = cut((Piece(flat(text[: limit * 2], glyphs)),), limit, glyphs.ellipsis)
    return fitted[0].text if fitted else ""


def string_line(text: str, glyphs: Glyphs = UNICODE, ink: str = "string", limit: int = VALUE_CELLS) -> Line:
    """A string in quotes; a long one with its size."""
    shown = one_liner(text, glyphs, limit)
    if len(text) <= limit and not shown.endswith(glyphs.ellipsis):
        return (Piece(f'"{shown}"', ink),)
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return (Piece(f'"{shown}"', ink), Piece(f" {human_size(size)}", "muted"))


def value_line(value: Value, glyphs: Glyphs = UNICODE) -> Line:
    """One line for any value."""
    if isinstance(value, Hidden):
        return (Piece(glyphs.secret, "muted"),)
    scalar = _scalar(value, glyphs)
    if scalar is not None:
        return scalar
    message = as_message(value)
    if message is not None:
        return summary(message, glyphs)
    if isinstance(value, Tagged):
        return (Piece(f"{class_name(value)} ", "secondary"), *value_line(value.value, glyphs))
    if isinstance(value, Blob):
        return (Piece(f"<bytes {human_size(value.size)} sha256 {value.digest[:8]}>", "secondary"),)
    if isinstance(value, Opaque):
        return (Piece(f"<{safe_text(value.kind)} {human_size(value.size)}>", "secondary"),)
    if isinstance(value, Partial):
        seed = "" if value.seed is MISSING else " on a start value"
        return (Piece(f"partly known: {counted(len(value.writes), 'write')}{seed}", "warning"),)
    if isinstance(value, Mapping):
        return (Piece(_keys(value, glyphs), "muted"),)
    if isinstance(value, (list, tuple)):
        return (Piece(_items(value), "muted"),)
    return (Piece(f"<{safe_text(type(value).__name__)}>", "secondary"),)


def said_in(prompt: Value) -> str:
    """The words of a request to a person, "" where it has none."""
    inner = plain(prompt)
    if isinstance(inner, Mapping):
        return next((inner[key] for key in _ASKS if isinstance(inner.get(key), str) and inner[key]), "")
    return inner if isinstance(inner, str) else ""


def question_line(prompt: Value, glyphs: Glyphs = UNICODE) -> Line:
    """What is asked on one line: of an object the words in it, where it has any."""
    return value_line(said_in(prompt) or plain(prompt), glyphs)


def class_name(value: Tagged) -> str:
    """The class's name, with its module where that is not one everybody knows; safe to show."""
    return shown_class(value.type_name)


def key_text(key: Value, glyphs: Glyphs = UNICODE, limit: int = 40) -> str:
    """A dict's key in at most ``limit`` cells: a text that reads like a number or a constant is in quotes."""
    return one_liner(key if is_bare_key(key) else shown_key(key), glyphs, limit)


def _scalar(value: Value, glyphs: Glyphs) -> Line | None:
    if value is MISSING:
        return (Piece("missing", "muted"),)
    if value is None:
        return (Piece("null", "constant"),)
    if isinstance(value, bool):
        return (Piece("true" if value else "false", "constant"),)
    if isinstance(value, (int, float)):
        return (Piece(number_text(value), "number"),)
    if isinstance(value, str):
        return string_line(value, glyphs)
    return None


def number_text(value: float) -> str:
    """A number as it is; an integer too long for a line by its digits' count."""
    if isinstance(value, int) and value.bit_length() > 600:
        return f"<integer of {value.bit_length()} bits>"
    return repr(value)


def _keys(value: Mapping[Value, Value], glyphs: Glyphs) -> str:
    """A small flat dict with its values, any other by its first keys."""
    if not value:
        return "{}"
    if len(value) <= FLAT and not any(is_container(item) for item in value.values()):
        pairs = ((key, cut(value_line(item, glyphs), PART, glyphs.ellipsis)) for key, item in value.items())
        return "{" + ", ".join(f"{key_text(key, glyphs)}: {text_of(line)}" for key, line in pairs) + "}"
    shown = [key_text(key, glyphs) for key in islice(value, 6)]
    return "{" + ", ".join(shown) + (f", {glyphs.ellipsis}}}" if len(value) > len(shown) else "}")


def _items(value: Sequence[Value]) -> str:
    if not value:
        return "[]"
    if len(value) >= NUMBERS and all(isinstance(item, float) for item in islice(value, 64)):
        return f"[{len(value)} floats]"
    if len(value) <= 4 and all(isinstance(item, (str, int, float)) or item is None for item in value):
        return "[" + ", ".join(text_of(cut(value_line(item), PART)) for item in value) + "]"
    return f"[{len(value)}]"


def count_text(value: Value) -> str:
    """What a container holds: "6 items", "3 keys"; empty for a scalar."""
    inner = plain(value)
    if isinstance(inner, Mapping):
        return counted(len(inner), "key")
    if isinstance(inner, (list, tuple)):
        return counted(len(inner), "item")
    if isinstance(inner, Partial):
        return counted(len(inner.writes), "write")
    return ""
