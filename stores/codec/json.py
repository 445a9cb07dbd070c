"""JSON bytes, strictly: what orjson would change on the way (NaN, tuples, big integers) is refused with its path.

Owns exactness; refuses to know any class, and never repairs a value silently.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final

import orjson

from stores.errors import Corrupt, Invalid
from stores.model import Opaque, Partial, Path, Tagged, Value
from stores.paths import format_path

# Everything orjson would convert by itself is passed to `default`, which is absent: it raises.
_STRICT: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
# orjson reads an integer past 64 bits as a float; such a text goes to the slower reader that keeps it. It is looked for
# with every digit made a 0 and what can stand before a number a comma: twenty times as fast as a regular expression.
_LONG_NUMBER: Final = b"," + b"0" * 19
_SIGNS: Final = bytes(
    ord("0") if byte in b"0123456789" else ord(",") if byte in b",:[- \t\r\n" else ord("x") for byte in range(256)
)
PART: Final = 64
"""Elements of a long list that are written at once where its text is not needed as a whole."""
MAX_DEPTH: Final = 254
"""How deep a value may be nested: orjson's own limit when it writes."""


def dumps(value: Value, path: Path = ()) -> bytes:
    """The value as JSON that reads back equal. Raises Invalid, naming the place below ``path``, otherwise."""
    try:
        text = quick(value)
    except TypeError as error:
        raise _refusal(value, path, str(error)) from error
    checked(text, value, path)
    return text


def quick(value: Value) -> bytes:
    """The value as JSON, without a look at whether it reads back equal. Raises TypeError for what has no JSON."""
    return orjson.dumps(value, option=_STRICT)


def size(value: Value) -> int:
    """Bytes of the value as JSON. Raises TypeError for what has no JSON.

    Long lists are written in parts: one large text costs seven times as much, most of it for new pages of memory.
    """
    if type(value) is not list or len(value) <= PART:
        return len(quick(value))
    return 1 + sum(len(quick(value[at : at + PART])) - 1 for at in range(0, len(value), PART))


def size_with(sizes: Mapping[str, int]) -> int:
    """Bytes of an object as JSON, of whose values these are the sizes by key."""
    return 1 + sum(len(quick(key)) + size + 2 for key, size in sizes.items()) if sizes else 2


def checked(text: bytes, value: Value, path: Path = ()) -> Value:
    """What ``text``, which `quick` made of ``value``, reads back as. Raises Invalid when that is another value."""
    back = orjson.loads(text)
    # orjson writes NaN and infinities as null, tuples as lists and enums as their value without a word.
    if back != value:
        raise _refusal(value, path, "it would read back changed")
    return back


def loads(text: bytes | str) -> Value:
    """The value of a JSON text, integers exact. Raises Corrupt for a text that is not JSON."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        # From behind: the search goes by the first byte then, a comma, of which there are fewer than digits.
        if (b"," + raw.translate(_SIGNS)).rfind(_LONG_NUMBER) >= 0:
            return json.loads(raw, parse_constant=_no_constant)
        return orjson.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"not JSON: {error}") from error


def loads_own(text: bytes) -> Value:
    """The value of a text that `dumps` made: with no integer in it that the quick reader would change."""
    return orjson.loads(text)


def _no_constant(name: str) -> Value:
    raise ValueError(f"{name} is not JSON")


def _refusal(value: Value, path: Path, why: str) -> Invalid:
    """The error for the first value, in reading order, that JSON cannot hold as it is."""
    found = _first_fault(value, path, 0)
    where, reason = found if found is not None else (path, why)
    return Invalid(f"cannot store {format_path(where) or 'the value'} as JSON: {reason}")


def _first_fault(value: Value, path: Path, depth: int) -> tuple[Path, str] | None:
    if depth > MAX_DEPTH:
        return path, f"nested deeper than {MAX_DEPTH} levels"
    kind = type(value)
    if kind is dict:
        return _fault_in_dict(value, path, depth)
    if kind is list:
        inner = (_first_fault(item, (*path, index), depth + 1) for index, item in enumerate(value))
        return next((fault for fault in inner if fault is not None), None)
    reason = _fault_of_scalar(value)
    return None if reason is None else (path, reason)


def _fault_in_dict(value: dict[Value, Value], path: Path, depth: int) -> tuple[Path, str] | None:
    for key, item in value.items():
        if type(key) is not str:
            return path, f"the key {key!r} is not a string"
        if not _is_text(key):
            return path, f"the key {key!r} holds half a surrogate pair"
        fault = _first_fault(item, (*path, key), depth + 1)
        if fault is not None:
            return fault
    return None


def _fault_of_scalar(value: Value) -> str | None:
    kind = type(value)
    if value is None or kind is bool:
        return None
    if kind is float:
        return None if math.isfinite(value) else f"{value} is not a JSON number"
    if kind is int:
        return None if -(2**63) <= value < 2**64 else "the integer needs more than 64 bits"
    if kind is str:
        return None if _is_text(value) else "the text holds half a surrogate pair"
    if kind is tuple:
        return "a tuple would become a list"
    if isinstance(value, Tagged):
        return f"a value of class {value.type_name} has no JSON form"
    if isinstance(value, Opaque | Partial):
        return "the value was not read in full"
    return f"a value of type {kind.__module__}.{kind.__qualname__} has no JSON form"


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
