"""msgpack whose texts are not all UTF-8, as some writers make it: half a surrogate pair, or any bytes.

Owns decoding what the strict decoder refuses for its texts alone; refuses to encode: such bytes are only ever copied.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from stores.model import Value

Hook = Callable[[int, bytes], Value]

_DEEPEST: Final = 200
_CONSTANTS: Final = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS: Final = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
# Marker → what it starts, and the bytes of its length.
_SIZED: Final = {
    0xC4: ("bin", 1),
    0xC5: ("bin", 2),
    0xC6: ("bin", 4),
    0xC7: ("ext", 1),
    0xC8: ("ext", 2),
    0xC9: ("ext", 4),
    0xD9: ("text", 1),
    0xDA: ("text", 2),
    0xDB: ("text", 4),
    0xDC: ("list", 2),
    0xDD: ("list", 4),
    0xDE: ("map", 2),
    0xDF: ("map", 4),
}


def unpack(raw: bytes, hook: Hook) -> Value:
    """The value, with bytes that are no UTF-8 as lone surrogates. Raises ValueError for what is not msgpack."""
    try:
        return _Reading(raw, hook).value(0)
    except (IndexError, struct.error, TypeError) as error:
        raise ValueError(str(error)) from error


class _Reading:
    """One pass over the bytes."""

    def __init__(self, raw: bytes, hook: Hook) -> None:
        self._raw, self._hook, self._at = raw, hook, 0

    def value(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise ValueError(f"nested deeper than {_DEEPEST} levels")
        marker = self._take(1)[0]
        if marker < 0x80:
            return marker
        if marker >= 0xE0:
            return marker - 256
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker in _NUMBERS:
            form = _NUMBERS[marker]
            return struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return self._sized(*self._head(marker), depth + 1)

    def _head(self, marker: int) -> tuple[str, int]:
        """What the marker starts, and its length."""
        if marker < 0xA0:
            return "map" if marker < 0x90 else "list", marker & 15
        if marker < 0xC0:
            return "text", marker & 31
        if 0xD4 <= marker <= 0xD8:
            return "ext", 2 ** (marker - 0xD4)
        if marker not in _SIZED:
            raise ValueError(f"the byte {marker:#x}")
        kind, width = _SIZED[marker]
        return kind, int.from_bytes(self._take(width), "big")

    def _sized(self, kind: str, length: int, depth: int) -> Value:
        if kind == "text":
            return _text(self._take(length))
        if kind == "bin":
            return self._take(length)
        if kind == "ext":
            code = struct.unpack(">b", self._take(1))[0]
            return self._hook(code, self._take(length))
        if kind == "list":
            return [self.value(depth) for _ in range(length)]
        return {_key(self.value(depth)): self.value(depth) for _ in range(length)}

    def _take(self, length: int) -> bytes:
        found = self._raw[self._at : self._at + length]
        if len(found) < length:
            raise ValueError("cut short")
        self._at += length
        return found


def _key(value: Value) -> Any:
    return tuple(map(_key, value)) if isinstance(value, list) else value


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape")
