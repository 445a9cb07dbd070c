"""What a command answers on stdout: text, one JSON document, or JSON lines.

The only writer to stdout. Every byte of a store passes here, so nothing that could steer a terminal gets out.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tt_debug.cells import safe_text
from tt_debug.errors import DebuggerError

if TYPE_CHECKING:
    from stores.model import Value

VERSION = 1
# Legal inside a JSON string, but a terminal obeys them (DEL, C1, bidi overrides) or a UTF-8 encoder refuses
# them (lone surrogates). As \uXXXX they are the same JSON.
UNSAFE = "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"


class ReaderGone(Exception):
    """Whoever read our stdout closed it; there is nobody left to tell."""


class CannotPrint(DebuggerError):
    """stdout takes no more: a full disk, a terminal that is gone."""


class TooDeep(DebuggerError):
    """A value that JSON could hold, but no JSON library of Python writes."""


class Output:
    """Where one command's answer goes. ``as_json`` chooses the form; a command then calls what fits."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def document(self, kind: str, content: Value) -> None:
        """The whole answer as ``{"v": 1, "kind": …, "data": …}``."""
        self.line({"v": VERSION, "kind": kind, "data": content})

    def line(self, content: Value) -> None:
        """One JSON value on a line of its own, out at once: a stream is read while it runs."""
        _write(json_text(content) + "\n")
        self.flush()

    def text(self, lines: Iterable[str]) -> None:
        """Lines of text. What a terminal would obey is made visible."""
        for line in lines:
            _write(safe_text(line) + "\n")

    def flush(self) -> None:
        """Push everything out. Raises ReaderGone, CannotPrint."""
        flush()


def json_text(content: Value, indent: int | None = None) -> str:
    """JSON that is safe to print: not one character that a terminal obeys. Raises ValueError for NaN, TooDeep."""
    import json

    separators = (",", ": ") if indent else (",", ":")
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    except RecursionError:
        raise TooDeep("the value is nested too deeply for JSON", hint="--path shows a part of it") from None
    return text if text.isprintable() else re.sub(UNSAFE, lambda found: f"\\u{ord(found.group()):04x}", text)


def line_width() -> int | None:
    """Columns of the terminal that shows stdout; None when no terminal does, so that nothing is cut."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def flush() -> None:
    """Push out what was printed, by whatever printed it. Raises ReaderGone, CannotPrint."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _named(error) from error


def prepare_streams() -> None:
    """Write UTF-8 whatever the locale says: JSON is UTF-8, and an odd name must not end a listing.

    A stream that the caller has closed is replaced by one to, or from, nowhere.
    """
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115  # lives as long as the interpreter
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A test's captured stream has no encoding of its own to change.
        change = getattr(stream, "reconfigure", None)
        if change is not None:
            change(encoding="utf-8", errors="backslashreplace")


def silence() -> None:
    """Send the rest to nowhere, so that the interpreter's own last flush does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
    except OSError as error:
        raise _named(error) from error


def _named(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return ReaderGone()
    return CannotPrint(f"the answer cannot be written to stdout: {error.strerror}")
