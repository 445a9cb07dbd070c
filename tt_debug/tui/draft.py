"""An edit that is not stored yet: a value as JSON text, and the text read back as changes.

Owns the way there and back; whether the store takes the changes is the session's to say.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path as PathLike
from typing import Final, NoReturn

from stores.model import Change, Diff, Path, Ref, Value
from tt_debug.diff import diff
from tt_debug.errors import UsageError
from tt_debug.text import safe_text
from tt_debug.values import from_json, to_json

HIGHLIGHTED: Final = 262_144
"""Characters up to which the text is highlighted: beyond, Textual's highlighter costs more than it gives."""
EDITABLE: Final = 1_000_000
"""Characters up to which the form takes a text: at 1 MB a key takes 25 ms, at 5 MB 330."""

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")


@dataclass(frozen=True, slots=True)
class EditTarget:
    """What is edited. ``path`` is () for the whole state; ``step`` is how the checkpoint is called in words.

    ``next`` are the nodes that a fork keeps; ``text`` an edit already
    begun elsewhere. ``values`` False makes a form that only asks for a name.
    """

    ref: Ref
    step: str
    value: Value
    path: Path = ()
    next: tuple[str, ...] = ()
    text: str | None = None
    values: bool = True


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """What is to be written. ``action``: "fork", "run" (fork, then run it), "edit" (in the thread itself), "edit-run".

    An empty ``thread`` is a free name. ``adopt`` is the definition a fork is bound to instead of its base's.
    """

    action: str
    thread: str = ""
    changes: Diff = ()
    adopt: PathLike | None = None


def as_text(value: Value) -> str:
    """The value as JSON to edit; what would act on a terminal is escaped.

    Raises UsageError when it is nested too deeply to be written.
    """
    try:
        text = json.dumps(to_json(value), indent=2, ensure_ascii=False)
    except RecursionError as error:
        raise UsageError("this value is nested too deeply for a form", hint="edit a value inside it") from error
    return _NOT_ASCII.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    return char if safe_text(char) == char else json.dumps(char)[1:-1]


def read_text(text: str, old: Value, path: Path) -> Diff:
    """The changes that make of ``old``, which lies at ``path``, what the text says; none when it says the same.

    Raises UsageError, with line and column where the text is not JSON.
    """
    try:
        found = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise UsageError(f"line {error.lineno}, column {error.colno}: {_reason(error.msg)}") from error
    except RecursionError as error:
        raise UsageError("this is nested too deeply for a form") from error
    new = from_json(found, like=old)
    if not path and not isinstance(new, dict):
        raise UsageError("a state is an object: { … }")
    return tuple(_at(change, path) for change in diff(old, new))


def _refuse(constant: str) -> NoReturn:
    raise UsageError(f'{constant} is not JSON: write {{"$float": "{constant.lower().replace("infinity", "inf")}"}}')


def _reason(message: str) -> str:
    hints = {
        "Expecting value": "a value is missing here; text stands in double quotes",
        "Extra data": "something follows after the end of the value; text stands in double quotes",
        "Expecting property name enclosed in double quotes": "a key in double quotes is missing here",
        "Expecting ',' delimiter": "a comma, or the closing bracket, is missing here",
        "Unterminated string starting at": "this text has no closing quote",
        "Invalid control character at": "a line break inside a text is written \\n",
    }
    return hints.get(message, message[:1].lower() + message[1:])


def _at(change: Change, path: Path) -> Change:
    source = None if change.source is None else (*path, *change.source)
    return replace(change, path=(*path, *change.path), source=source)
