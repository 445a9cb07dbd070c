"""Binary values of a state: a reference stands in it, the bytes lie in the store under their SHA-256.

Owns the notation, ``{"$blob": sha256, "size": bytes}``, and the way from values to it and back; refuses to know where
bytes lie. Only a mapping of exactly these two keys is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from stores.codec.json import MAX_DEPTH, quick
from stores.model import Opaque, Path, Value

KEY: Final = "$blob"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_WRITTEN: Final = re.compile(rb'\{"\$blob":"([0-9a-f]{64})","size":[0-9]+\}')
_SIGN: Final = b'{"$blob":"'


class Blob(Opaque):
    """Bytes that are read when they are asked for. Two are equal by their SHA-256."""

    __slots__ = ("_digest", "_read", "_size")

    _digest: str
    _size: int
    _read: Callable[[str], bytes]

    def __init__(self, digest: str, size: int, read: Callable[[str], bytes]) -> None:
        """``read`` gives the bytes of a digest. Raises StoreError where they are gone."""
        for name, value in {"kind": "bytes", "tag": (), "_digest": digest, "_size": size, "_read": read}.items():
            object.__setattr__(self, name, value)

    @property
    def data(self) -> bytes:
        """The bytes, read anew each time."""
        return self._read(self._digest)

    @property
    def size(self) -> int:
        """Bytes, as the reference says."""
        return self._size

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hex, as the reference says."""
        return self._digest

    def same_bytes(self, other: Opaque) -> bool:
        """By their SHA-256: nothing is read."""
        return self._digest == other.digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blob) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)


def taken_out(value: Value) -> tuple[Value, dict[str, Opaque]]:
    """The value with references for its binary values, and those by their SHA-256. What holds none is shared."""
    found: dict[str, Opaque] = {}
    return _taken_out(value, found, 0), found


def referred(value: Value) -> Value:
    """The value as JSON has it: with references for its binary values; itself where it holds none."""
    try:
        quick(value)
    except TypeError:
        return taken_out(value)[0]
    return value


def form_of(blob: Opaque) -> dict[str, Value]:
    """The reference that stands for a binary value."""
    return {KEY: blob.digest, "size": blob.size}


def _taken_out(value: Value, found: dict[str, Opaque], depth: int) -> Value:
    if depth > MAX_DEPTH:
        return value  # deeper than anything that can be stored
    if isinstance(value, bytes | bytearray | memoryview):
        value = Opaque("bytes", bytes(value))
    if isinstance(value, Opaque) and value.kind == "bytes":
        form = form_of(value)
        found[form[KEY]] = value
        return form
    if type(value) is dict:
        items = {key: _taken_out(item, found, depth + 1) for key, item in value.items()}
        return value if all(items[key] is item for key, item in value.items()) else items
    if type(value) is list:
        elements = [_taken_out(item, found, depth + 1) for item in value]
        return value if all(new is item for new, item in zip(elements, value, strict=True)) else elements
    return value


def put_back(value: Value, made: Callable[[str, int], Value]) -> Value:
    """A value read from JSON, which is changed in place, with what ``made`` makes of each reference."""
    if (known := _reference(value)) is not None:
        return made(*known)
    todo = [value]
    while todo:
        holder = todo.pop()
        for key, item in holder.items() if type(holder) is dict else enumerate(holder) if type(holder) is list else ():
            if (known := _reference(item)) is not None:
                holder[key] = made(*known)
            else:
                todo.append(item)
    return value


def references(value: Value) -> Iterator[tuple[Path, str]]:
    """Where in a value as JSON has it references stand, and their SHA-256."""
    todo: list[tuple[Path, Value]] = [((), value)]
    while todo:
        path, item = todo.pop()
        if (known := _reference(item)) is not None:
            yield path, known[0]
        elif type(item) is dict:
            todo.extend(((*path, key), inside) for key, inside in item.items())
        elif type(item) is list:
            todo.extend(((*path, at), inside) for at, inside in enumerate(item))


def may_refer(text: bytes) -> bool:
    """Whether there may be a reference in a value of this JSON text: cheap, and hardly ever wrong."""
    return b"$" in text and _SIGN in text  # a single byte is looked for thirty times as fast


def written(text: bytes) -> set[str]:
    """The SHA-256 of every reference in a JSON text of ours."""
    return {found.decode() for found in _WRITTEN.findall(text)} if _SIGN in text else set()


def _reference(value: Value) -> tuple[str, int] | None:
    if type(value) is not dict or len(value) != 2 or KEY not in value:
        return None
    digest, size = value[KEY], value.get("size")
    if type(digest) is not str or type(size) is not int or not _DIGEST.fullmatch(digest):
        return None
    return digest, size
