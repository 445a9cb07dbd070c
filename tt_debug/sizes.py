"""How large a value is: about as many bytes as it takes as JSON, what is not decoded by its own bytes.

Owns the estimate and the fingerprint that goes with it; what a store really keeps on its disk is the store's to say.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

import orjson

from stores.blobs import Blob
from stores.model import Opaque, Partial, Tagged, Value

_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


class Weight(NamedTuple):
    """Bytes, and a number that is another one for another value (of 64 bits, and only within this process)."""

    size: int
    mark: int


def json_size(value: Value) -> int:
    """Bytes of a value."""
    if isinstance(value, Opaque):
        return value.size
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    return weigh(value).size


def weigh(value: Value) -> Weight:
    """Bytes and fingerprint of a value, in one pass."""
    if isinstance(value, str):
        return Weight(json_size(value), hash(value))
    apart: list[tuple[int, bytes | str]] = []

    def inner(value: Value) -> Value:
        if isinstance(value, Tagged):
            if value.raw is None:
                return value.value
            apart.append((len(value.raw), value.raw))
            return None
        if isinstance(value, Blob):
            apart.append((value.size, value.digest))  # its bytes are not read for this
            return None
        if isinstance(value, Opaque):
            apart.append((value.size, value.data))
            return None
        if isinstance(value, Partial):
            seed = value.seed if isinstance(value.seed, dict | list | str | int | float | Tagged) else None
            return [seed, *value.writes]
        return str(type(value))  # a key or a number that JSON has no word for: counted by its class

    try:
        text = orjson.dumps(value, default=inner, option=_OPTIONS)
    except (TypeError, RecursionError):
        # A lone surrogate, an integer past 64 bits, more levels than orjson takes.
        return _walked(value)
    return Weight(len(text) + sum(size for size, _ in apart), hash((text, *apart)))


def _walked(value: Value) -> Weight:
    """The same without orjson."""
    total, marks, todo = 0, [0], [value]
    while todo:
        value = todo.pop()
        if isinstance(value, Tagged):
            todo.append(value.value)
        elif isinstance(value, Mapping):
            todo.extend(value.values())
            total += sum(len(str(key)) + 4 for key in value)
            marks.append(hash(tuple(map(str, value))))
        elif isinstance(value, list | tuple):
            todo.extend(value)
            total += len(value)
            marks.append(len(value))
        elif isinstance(value, Partial):
            todo.extend(value.writes)
        else:
            sized = value.size if isinstance(value, Opaque) else sys.getsizeof(value) // 4
            total += len(value) + 2 if isinstance(value, str) else sized
            marks.append(
                hash(value if isinstance(value, Blob) else value.data if isinstance(value, Opaque) else repr(value))
            )
    return Weight(total, hash(tuple(marks)))
