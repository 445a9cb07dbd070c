"""Paths into a state as text and as steps, and following them.

Owns the written form (``plan.steps[2]["odd.key"]``, or an RFC 6901 pointer when the text starts with ``/``)
and reading along a path; changing what lies there is `stores.changes`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from stores.model import Path, Tagged, Value

# Bare keys: letters of any script, digits after the first, "_" and "-". Everything else is quoted in brackets.
_BARE = re.compile(r"[^\W\d][\w-]*")
# Reading is more lenient than writing: whatever cannot be mistaken for the grammar's own signs.
_NAME = re.compile(r"""[^.\[\]"'\s=]+""")
_INDEX = re.compile(r"0|[1-9][0-9]*")
_DECODER = json.JSONDecoder()


def format_path(path: Path) -> str:
    """The path as a user would type it; ``""`` for the whole state. `parse_path` reads it back exactly."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, str) and _BARE.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{_format_key(step)}]")
    return "".join(parts)


def _format_key(key: Any) -> str:
    if isinstance(key, bytes):
        return "b" + json.dumps(key.decode("latin-1"))
    if isinstance(key, str):
        # Lone surrogates stay escaped: the text of a path is always valid UTF-8.
        return json.dumps(key, ensure_ascii=not _encodable(key))
    if isinstance(key, tuple):
        return json.dumps(list(key), ensure_ascii=False)
    return json.dumps(key)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_path(text: str) -> Path:
    """The steps of a written path.

    A pointer's digits become ints, as the text cannot tell a list position from a key: `settle_path` decides by
    the value. Raises ValueError with the position of what cannot be read.
    """
    if text.startswith("/"):
        return parse_pointer(text)
    path, end = scan_path(text)
    if end < len(text):
        raise ValueError(f"unexpected {text[end]!r} at position {end + 1} of the path {text!r}")
    return path


def scan_path(text: str) -> tuple[Path, int]:
    """The longest path ``text`` starts with, and where it ends. Raises ValueError for an unclosed bracket."""
    steps: list[Any] = []
    at = 0
    while at < len(text):
        if text[at] == "[":
            if text.startswith("[+]", at):
                break
            key, at = _scan_bracket(text, at)
            steps.append(key)
            continue
        start = at + 1 if text[at] == "." and steps else at
        name = _NAME.match(text, start)
        if name is None or (start == at and steps):
            break
        steps.append(name.group())
        at = name.end()
    return tuple(steps), at


def _scan_bracket(text: str, at: int) -> tuple[Any, int]:
    """The key between the brackets that open at ``at``: a JSON scalar, a JSON list (a tuple key) or ``b"…"``."""
    start, is_bytes = at + 1, text.startswith('b"', at + 1)
    try:
        key, end = _DECODER.raw_decode(text, start + is_bytes)
    except ValueError:
        inside = text[start:].split("]", 1)[0]
        raise ValueError(
            f'expected a number or a quoted key after "[" at position {start + 1} of {text!r}: '
            f"write [0] for a list position, [{json.dumps(inside, ensure_ascii=False)}] for a key"
        ) from None
    if text[end : end + 1] != "]":
        raise ValueError(f'expected "]" at position {end + 1} of the path {text!r}')
    if isinstance(key, dict):
        raise ValueError(f"an object cannot be a key, at position {start + 1} of the path {text!r}")
    if isinstance(key, list):
        key = tuple(key)
    return (key.encode("latin-1") if is_bytes else key), end + 1


def parse_pointer(text: str) -> Path:
    """The steps of an RFC 6901 pointer; tokens of digits become ints. Raises ValueError."""
    if not text:
        return ()
    if not text.startswith("/"):
        raise ValueError(f"a JSON pointer starts with '/': {text!r}")
    steps: list[Any] = []
    for token in text[1:].split("/"):
        if re.search(r"~(?![01])", token):
            raise ValueError(f"'~' in a JSON pointer is followed by 0 or 1: {text!r} at {token!r}")
        steps.append(int(token) if _INDEX.fullmatch(token) else token.replace("~1", "/").replace("~0", "~"))
    return tuple(steps)


def format_pointer(path: Path) -> str:
    """The path as an RFC 6901 pointer. Raises ValueError for a key it has no form for (a float, null, bytes)."""
    for step in path:
        if isinstance(step, bool) or not isinstance(step, str | int):
            raise ValueError(f"a JSON pointer cannot name the key {_format_key(step)} of {format_path(path)}")
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def settle_path(value: Value, path: Path) -> Path:
    """The path with each int or digit step made what the container at that place has: a position or a key.

    A number that is no key yet is one only among numbers; else it is text, as everywhere in JSON.
    """
    settled: list[Any] = []
    for step in path:
        value = unwrap(value)
        if isinstance(value, Mapping):
            if (
                type(step) is int
                and not has_key(value, step)
                and not (value and all(type(key) is int for key in value))
            ):
                step = str(step)
            value = value[step] if has_key(value, step) else None
        elif isinstance(value, list | tuple):
            if isinstance(step, str) and _INDEX.fullmatch(step):
                step = int(step)
            value = value[step] if type(step) is int and 0 <= step < len(value) else None
        else:
            value = None
        settled.append(step)
    return tuple(settled)


def unwrap(value: Value) -> Value:
    """The payload inside any `Tagged` wrappers."""
    while isinstance(value, Tagged):
        value = value.value
    return value


def has_key(mapping: Mapping[Any, Value], key: Any) -> bool:
    """Whether exactly this key is there: ``1``, ``1.0`` and ``True`` are three keys, though a dict mixes them up."""
    if key not in mapping:
        return False
    return isinstance(key, str) or any(key == other and type(key) is type(other) for other in mapping)


def get_path(value: Value, path: Path) -> Value:
    """What lies at the path. Raises KeyError, IndexError or LookupError whose text names the path up to there."""
    for depth, step in enumerate(path):
        value = unwrap(value)
        where = format_path(path[: depth + 1])
        if isinstance(value, Mapping):
            if not has_key(value, step):
                raise KeyError(f"nothing at {where}")
        elif isinstance(value, list | tuple):
            if type(step) is not int:
                raise LookupError(f"nothing at {where}: a list has positions, not keys")
            if not 0 <= step < len(value):
                raise IndexError(f"nothing at {where}: the list has {len(value)} elements")
        else:
            raise LookupError(f"nothing at {where}: {type(value).__name__} has no parts")
        value = value[step]
    return value
