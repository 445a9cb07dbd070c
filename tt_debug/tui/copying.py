"""What can be copied of a value, a checkpoint or a failure, each as text with a word for it; and where a text is put.

Owns the limits: terminals drop a long clipboard sequence without a word, so a longer text goes to a file.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from typing import Final, NamedTuple

from stores.blobs import Blob
from stores.model import Opaque, Path, Value
from stores.paths import format_path
from tt_debug import __version__
from tt_debug.errors import UsageError
from tt_debug.redaction import Hidden
from tt_debug.text import human_size, safe_text

CLIPBOARD: Final = 65_536
"""Bytes a terminal takes for its clipboard: of 1 MB tmux dropped all, and nothing told."""
_COLUMNS: Final = 16


class Copyable(NamedTuple):
    """One thing that can be copied. ``key`` picks it from the menu; ``text`` makes it, and may raise UsageError."""

    key: str
    name: str
    text: Callable[[], str]


def of_value(value: Value, path: Path) -> list[Copyable]:
    """What of the value at ``path`` can be copied, the likeliest first; nothing of a hidden one but its place."""
    from tt_debug.conversation import as_message

    found: list[Copyable] = []
    message = as_message(value)
    if message is not None and message.text:
        found.append(Copyable("m", "message text", lambda: message.text))
    if isinstance(value, str):
        found.append(Copyable("v", "text", lambda: value))
    elif value is None or isinstance(value, bool | int | float):
        found.append(Copyable("v", "value", lambda: _as_json(value)))
    if isinstance(value, Blob):
        found.append(Copyable("h", "SHA-256", lambda: value.digest))
    elif isinstance(value, Opaque):
        found.append(Copyable("h", "bytes in hex", lambda: hex_text(value.data)))
    if not isinstance(value, Hidden):
        found.append(Copyable("j", "JSON", lambda: _as_json(value)))
    if path:
        found.append(Copyable("p", "path", lambda: format_path(path)))
    return found


def _as_json(value: Value) -> str:
    from tt_debug.tui.draft import as_text  # with what compares, 4 ms

    return as_text(value)


def hex_text(data: bytes) -> str:
    """Bytes as lines of offset, hex and what is readable of them."""
    lines = []
    for start in range(0, len(data), _COLUMNS):
        part = data[start : start + _COLUMNS]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{start:08x}  {part.hex(' '):<{_COLUMNS * 3 - 1}}  {shown}")
    return "\n".join(lines)


def report(facts: dict[str, str], failure: str) -> str:
    """A failure as a text for somebody who was not there: what, where, and with which versions."""
    import textual

    versions = f"tt-debug {__version__}, Python {sys.version.split()[0]}, Textual {textual.__version__}, {sys.platform}"
    return "\n".join([failure, "", *(f"{name}: {value}" for name, value in facts.items()), versions])


def warning(text: str) -> str:
    """What a person should know who pastes this into a terminal; empty when there is nothing to know."""
    return "it holds characters that act on a terminal" if safe_text(text, newlines=True) != text else ""


def kept_in_file(text: str, suffix: str = ".json") -> str:
    """Write a text to a file of its own, readable by its owner only, and give its name."""
    number, name = tempfile.mkstemp(prefix="tt-debug-", suffix=suffix)
    with os.fdopen(number, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(text)
    return name


def fits(text: str) -> bool:
    """Whether a terminal would take it."""
    return len(text.encode("utf-8", "surrogatepass")) <= CLIPBOARD


def size_of(text: str) -> str:
    """How large it is, for people."""
    return human_size(len(text.encode("utf-8", "surrogatepass")))


def tried(item: Copyable) -> str:
    """The text, or why there is none; for the menu's preview."""
    try:
        return item.text()
    except UsageError as error:
        return str(error)
