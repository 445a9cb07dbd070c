"""Many runs from a JSON Lines file: one thread a line, named by the value at a path in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from stores.codec import json as strict_json
from stores.errors import Invalid
from stores.model import Path as Place
from stores.model import Value
from stores.paths import get_path, parse_path, settle_path
from tt_debug.errors import UsageError
from tt_debug.patch import read_json


class BadLines(UsageError):
    """Lines that cannot be run; ``problems`` holds every one of them with its number."""

    def __init__(self, file: Path, problems: tuple[str, ...], *, hint: str) -> None:
        count = "a line that cannot be run" if len(problems) == 1 else f"{len(problems)} lines that cannot be run"
        super().__init__(f"{file} has {count}", hint=hint)
        self.problems = problems


def inputs(file: Path, id_path: str) -> dict[str, Mapping[str, Value]]:
    """Thread name → input, in the file's order. Every line is checked before anything runs. Raises UsageError."""
    try:
        place = parse_path(id_path)
    except ValueError as error:
        raise UsageError(f"--id-path: {error}") from error
    found: dict[str, Mapping[str, Value]] = {}
    lines: dict[str, int] = {}
    problems: list[str] = []
    for number, line in _lines(file):
        try:
            content = _object(line)
            thread = _name(content, place, id_path)
            if thread in found:
                raise ValueError(f"{thread!r} is the id of line {lines[thread]} too")
            found[thread], lines[thread] = content, number
        except (ValueError, Invalid) as error:
            problems.append(f"{file.name}:{number}: {error}")
    if problems:
        raise BadLines(file, tuple(problems), hint="each line is a JSON object with an id of its own; nothing has run")
    if not found:
        raise UsageError(f"{file} has no line to run")
    return found


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        text = file.read_text(encoding="utf-8-sig")  # Windows' editors begin a file with a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    # Not splitlines(): U+2028 may stand inside a JSON string.
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def _object(line: str) -> Mapping[str, Value]:
    """Raises ValueError, or Invalid for what is JSON and cannot be stored as it is."""
    try:
        content = read_json(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    strict_json.dumps(content)
    return content


def _name(content: Mapping[str, Value], place: Place, written: str) -> str:
    try:
        value = get_path(content, settle_path(content, place))
    except LookupError as error:
        raise ValueError(f"no id at {written}") from error
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"the id at {written} is {value!r}, which is neither a text nor a whole number")
    return str(value)
