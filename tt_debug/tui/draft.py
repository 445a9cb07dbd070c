"""An edit that is not stored yet: a value as JSON text, and the text read back as changes.

Owns the way there and back, with secrets that stay hidden on it; whether the store takes the changes is the
session's to say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path as PathLike
from typing import Any, Final, NoReturn

from stores.model import Change, Diff, Path, Ref, Value
from tt_debug.diff import diff
from tt_debug.errors import UsageError
from tt_debug.redaction import NOTHING, Redaction
from tt_debug.text import safe_text
from tt_debug.values import JSON, from_json, to_json

HIGHLIGHTED: Final = 262_144
"""Characters up to which the text is highlighted: beyond, Textual's highlighter costs more than it gives."""
EDITABLE: Final = 1_000_000
"""Characters up to which the form takes a text: at 1 MB a key takes 25 ms, at 5 MB 330."""

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")


@dataclass(frozen=True, slots=True)
class EditTarget:
    """What is edited. ``path`` is () for the whole state; ``step`` is how the checkpoint is called in words.

    ``next`` are the nodes that a fork keeps; ``text`` an edit already
    begun elsewhere. ``values`` False makes a form that only asks for a name. ``hiding`` hides the secrets of
    ``state``, in which the value lies. Only where ``is_head`` can the thread itself be edited. ``has_graph``: the
    thread's own graph can make the edit as one of its nodes.
    """

    ref: Ref
    step: str
    value: Value
    path: Path = ()
    next: tuple[str, ...] = ()
    text: str | None = None
    values: bool = True
    state: Value = None
    hiding: Redaction = NOTHING
    is_head: bool = True
    has_graph: bool = False

    def draft(self) -> Draft:
        """The value as text. Raises UsageError when it is nested too deeply."""
        return draft_of(self.value, self.hiding, secret=self.hiding.at(self.state, self.path))


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """What is to be written. ``action``: "fork", "run" (fork, then run it), "edit" (in the thread itself), "edit-run".

    An empty ``thread`` is a free name. ``adopt`` is the definition a fork is bound to instead of its base's.
    ``keep_results`` takes along what the step under way has done. With ``as_node`` the graph makes the edit, of values
    that are replaced or go ``by_reducer``. ``fresh_effects``: a fork is given no effect on record.
    """

    action: str
    thread: str = ""
    changes: Diff = ()
    adopt: PathLike | None = None
    keep_results: bool = False
    as_node: str = ""
    by_reducer: bool = False
    fresh_effects: bool = False

    @property
    def in_place(self) -> bool:
        """Whether the thread itself is edited."""
        return self.action.startswith("edit")

    @property
    def runs(self) -> bool:
        """Whether it is to be run afterwards."""
        return self.action in ("run", "edit-run")


@dataclass(frozen=True, slots=True)
class Draft:
    """A value as text. ``kept`` are the secrets it leaves out, as JSON: ``{"$redacted": "text", "keep": 1}`` stands for
    the first one."""

    text: str
    kept: tuple[JSON, ...] = ()


def draft_of(value: Value, hiding: Redaction = NOTHING, *, secret: bool = False) -> Draft:
    """The value as JSON to edit, its secrets by number; what would act on a terminal is escaped.

    ``secret``: it lies under a secret name itself. Raises UsageError when it is nested too deeply to be written.
    """
    hidden = hiding.hide(value, secret=secret)
    shown, kept = to_json(hidden), []
    if hidden is not value:
        box = [shown]
        kept = _numbered(box, [to_json(value)])
        shown = box[0]
    return Draft(_indented(shown), tuple(kept))


def as_text(value: Value) -> str:
    """A value as indented JSON; what would act on a terminal is escaped. Raises UsageError as `draft_of` does."""
    return _indented(to_json(value))


def _indented(value: JSON) -> str:
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)
    except RecursionError as error:
        raise UsageError("this value is nested too deeply for a form", hint="edit a value inside it") from error
    return escaped_json(text)


def escaped_json(text: str) -> str:
    """The same JSON with an escape for each character that would act on a terminal or deceive a reader."""
    return _NOT_ASCII.sub(_escaped, text)


def _numbered(shown: Any, stored: Any) -> list[JSON]:
    """Number the hidden places of ``shown``, in place, and give what ``stored`` has there."""
    kept: list[JSON] = []
    todo: list[tuple[Any, Any]] = [(shown, stored)]
    while todo:
        here, there = todo.pop()
        for place in range(len(here)) if isinstance(here, list) else list(here):
            item = here[place]
            if isinstance(item, dict) and item.keys() == {"$redacted"}:
                kept.append(there[place])
                item["keep"] = len(kept)
            elif isinstance(item, list | dict):
                todo.append((item, there[place]))
    return kept


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    return char if safe_text(char) == char else json.dumps(char)[1:-1]


def read_text(text: str, old: Value, path: Path, kept: tuple[JSON, ...] = ()) -> Diff:
    """The changes that make of ``old``, which lies at ``path``, what the text says; none when it says the same.

    ``kept`` are the draft's secrets. Raises UsageError, with line and column where the text is not JSON.
    """
    try:
        found = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise UsageError(f"line {error.lineno}, column {error.colno}: {_reason(error.msg)}") from error
    except RecursionError as error:
        raise UsageError("this is nested too deeply for a form") from error
    new = from_json(_filled(found, kept), like=old)
    if not path and not isinstance(new, dict):
        raise UsageError("a state is an object: { … }")
    return tuple(_at(change, path) for change in diff(old, new))


def _filled(found: JSON, kept: tuple[JSON, ...]) -> JSON:
    """What was typed, with the secrets that it keeps."""
    box = [found]
    todo: list[Any] = [box]
    while todo:
        holder = todo.pop()
        for place in range(len(holder)) if isinstance(holder, list) else list(holder):
            item = holder[place]
            if isinstance(item, dict) and "$redacted" in item:
                holder[place] = _secret(item, kept)
            elif isinstance(item, list | dict):
                todo.append(item)
    return box[0]


def _secret(item: Mapping[str, JSON], kept: tuple[JSON, ...]) -> JSON:
    number = item.get("keep")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= len(kept):
        raise UsageError(f"no secret {number} is kept here", hint="leave a hidden value as it was, or write a new one")
    return kept[number - 1]


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
