"""How large the values of a state are: about as many bytes as they take as JSON.

Owns the estimate; it is fast, as it is only asked of large states, and near enough for choosing what to open.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

import orjson

from stores.model import Opaque, Partial, Tagged, Value

HUGE: Final = 5_000_000
"""Bytes of a state from which on only its keys and sizes are shown, until more is asked for."""

_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def sizes_of(state: Mapping[str, Value]) -> dict[str, int]:
    """Bytes of each value."""
    return {key: _size(value) for key, value in state.items()}


def _size(value: Value) -> int:
    if isinstance(value, Opaque):
        return value.size
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    try:
        return len(orjson.dumps(value, default=_inner, option=_OPTIONS))
    except (TypeError, RecursionError):
        # A lone surrogate, an integer past 64 bits, more levels than orjson takes.
        return _walked(value)


def _inner(value: Value) -> Value:
    if isinstance(value, Tagged):
        return value.value
    if isinstance(value, Partial):
        return [value.seed if isinstance(value.seed, dict | list | str | int | float) else None, *value.writes]
    return "x" * value.size if isinstance(value, Opaque) else None


def _walked(value: Value) -> int:
    """The same without orjson."""
    total, todo = 0, [value]
    while todo:
        value = todo.pop()
        if isinstance(value, Tagged):
            todo.append(value.value)
        elif isinstance(value, Mapping):
            todo.extend(value.values())
            total += sum(len(str(key)) + 4 for key in value)
        elif isinstance(value, list | tuple):
            todo.extend(value)
            total += len(value)
        elif isinstance(value, Partial):
            todo.extend(value.writes)
        elif isinstance(value, str):
            total += len(value) + 2
        else:
            total += value.size if isinstance(value, Opaque) else sys.getsizeof(value) // 4
    return total
