"""Many runs from a JSON Lines file: one thread a line, named by the value at a path in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from stores.model import Value
from stores.paths import get_path, parse_path, settle_path
from tt_debug.errors import UsageError


def inputs(file: Path, id_path: str) -> dict[str, Mapping[str, Value]]:
    """Thread name → input, in the file's order. Every line is checked before anything runs. Raises UsageError."""
    found: dict[str, Mapping[str, Value]] = {}
    lines: dict[str, int] = {}
    for number, content in _objects(file):
        thread = _name(content, id_path, f"{file}:{number}")
        if thread in found:
            raise UsageError(
                f"{file}:{number}: {thread!r} is the id of line {lines[thread]} too",
                hint="a thread is named by its id: each line needs another",
            )
        found[thread], lines[thread] = content, number
    if not found:
        raise UsageError(f"{file} has no line to run")
    return found


def _objects(file: Path) -> Iterator[tuple[int, Mapping[str, Value]]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    # Not splitlines(): U+2028 may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except ValueError as error:
            raise UsageError(f"{file}:{number} is not JSON: {error}", hint="one JSON object a line") from error
        if not isinstance(content, dict):
            raise UsageError(f"{file}:{number} is not a JSON object", hint="each line is one thread's input")
        yield number, content


def _name(content: Mapping[str, Value], id_path: str, place: str) -> str:
    try:
        value = get_path(content, settle_path(content, parse_path(id_path)))
    except ValueError as error:
        raise UsageError(f"--id-path: {error}") from error
    except LookupError as error:
        raise UsageError(
            f"{place} has no id at {id_path}", hint="--id-path names where each line's id stands"
        ) from error
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise UsageError(f"{place}: the id at {id_path} is {value!r}", hint="an id is a text or a whole number")
    return str(value)
