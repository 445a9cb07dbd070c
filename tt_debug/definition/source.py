"""A definition file as plain values, and the line each of them stands on.

Owns the two syntaxes; refuses to know what a definition is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from stores.model import Value
from tt_debug.errors import DefinitionError, UsageError

Place: TypeAlias = tuple[str | int, ...]

_MOST_VALUES = 100_000  # an alias bomb of a few hundred bytes expands to billions


@dataclass(frozen=True, slots=True)
class Source:
    """The values of a file, and the 1-based line of each place in it that is written down."""

    value: Value
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int | None:
        """The line of the place, or of the nearest thing around it that has one."""
        for end in range(len(place), -1, -1):
            if place[:end] in self.lines:
                return self.lines[place[:end]]
        return None

    def describe(self, name: str, place: Place, text: str) -> str:
        """``trip.yaml:12: nodes[1].retry: text``."""
        line = self.line(place)
        where = name if line is None else f"{name}:{line}"
        inside = _written(place[:-1] if place and text.startswith(f"{place[-1]} ") else place)
        return f"{where}: {inside}: {text}" if inside else f"{where}: {text}"


def read_source(file: Path) -> Source:
    """Read JSON (by its suffix) or YAML. Raises DefinitionError for broken syntax, UsageError when unreadable."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{file.name} is not UTF-8 text", (str(error),)) from error
    except OSError as error:
        raise UsageError(f"cannot read the workflow {file}: {error.strerror}") from error
    is_json = file.suffix.lower() == ".json"
    if is_json:
        value = _json(text, file.name)
        text = text.replace("\t", " ")  # legal between JSON's tokens, not in YAML, and never inside its strings
    marked = _yaml(text, file.name)
    lines: dict[Place, int] = {(): 1}
    plain = _plain(marked, (), lines, file.name, frozenset())
    # YAML reads an escaped surrogate pair of JSON as two broken characters: only its lines are used there.
    return Source(value if is_json else plain, lines)


def _broken(name: str, line: int | None, text: str) -> DefinitionError:
    where = name if line is None else f"{name}:{line}"
    return DefinitionError(f"{name} cannot be read", (f"{where}: {text}",))


def _json(text: str, name: str) -> Value:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _broken(name, error.lineno, f"{error.msg} (column {error.colno})") from error
    except RecursionError as error:
        raise _broken(name, None, "nested too deeply") from error
    except ValueError as error:
        raise _broken(name, None, str(error)) from error


def _yaml(text: str, name: str) -> Any:
    reader = YAML(typ="rt", pure=True)
    try:
        documents = list(reader.load_all(text))
    except DuplicateKeyError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise _broken(name, line, str(error.problem).split(" with value")[0]) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(str(part) for part in (error.context, error.problem) if part)
        raise _broken(name, None if mark is None else mark.line + 1, said) from error
    except RecursionError as error:
        raise _broken(name, None, "nested too deeply") from error
    except (YAMLError, ValueError) as error:
        raise _broken(name, None, str(error)) from error
    if not documents:
        raise _broken(name, None, "the file is empty")
    if len(documents) != 1:
        raise _broken(name, None, f"one definition a file, not {len(documents)}")
    return documents[0]


def _plain(node: Any, place: Place, lines: dict[Place, int], name: str, around: frozenset[int]) -> Value:
    """The value without ruamel's wrappers; fills ``lines``."""
    if len(lines) > _MOST_VALUES or id(node) in around:
        raise _broken(name, None, "its aliases expand without end")
    inside = around | {id(node)}
    if isinstance(node, CommentedMap):
        result: dict[str, Value] = {}
        for key, item in node.items():
            at = (*place, str(key))
            if not isinstance(key, str):
                raise _broken(name, lines.get(place), f"the key {key!r} is not text: quote it")
            lines[at] = _line(node, key, lines[place])
            result[str(key)] = _plain(item, at, lines, name, inside)
        return result
    if isinstance(node, CommentedSeq):
        items = []
        for index, item in enumerate(node):
            lines[(*place, index)] = _line(node, index, lines[place])
            items.append(_plain(item, (*place, index), lines, name, inside))
        return items
    return _scalar(node, place, lines, name)


def _scalar(node: Any, place: Place, lines: Mapping[Place, int], name: str) -> Value:
    for kind in (bool, int, float, str):
        if isinstance(node, kind):
            return kind(node)
    if node is None:
        return None
    raise _broken(name, lines.get(place), f"{_written(place)} is a {type(node).__name__}, not a JSON value: quote it")


def _line(node: CommentedMap | CommentedSeq, key: str | int, fallback: int) -> int:
    marks = node.lc.data or {}  # a key that came through a merge (<<) has no mark of its own
    return int(marks[key][0]) + 1 if key in marks else fallback


def _written(place: Place) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return text.removeprefix(".")
