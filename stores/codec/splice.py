"""Where the parts of a msgpack map lie in its bytes, so that one value is replaced and its neighbours stay as they are.

Owns positions; refuses to decode: values are `stores.codec.msgpack`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import ormsgpack

from stores.errors import Corrupt

# Payload bytes after a marker of fixed size, and the width of the length field of the others.
_FIXED: Final = {
    **dict.fromkeys((0xC0, 0xC2, 0xC3), 0),
    **dict.fromkeys((0xCC, 0xD0), 1),
    **dict.fromkeys((0xCD, 0xD1), 2),
    **dict.fromkeys((0xCA, 0xCE, 0xD2), 4),
    **dict.fromkeys((0xCB, 0xCF, 0xD3), 8),
    **{0xD4 + power: 1 + 2**power for power in range(5)},
}
_SIZED: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSION: Final = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_ITEMS: Final = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}


class Entry(NamedTuple):
    """One pair of a map: the key, and its bytes and its value's bytes as they stand."""

    key: str
    key_raw: bytes
    raw: bytes


def split_map(raw: bytes) -> list[Entry]:
    """The pairs of a msgpack map, in order. Raises Corrupt when the bytes are no map with text keys."""
    try:
        count, at, width = _head(raw, 0)
        if width != 2:
            raise Corrupt("not a msgpack map")
        entries = []
        for _ in range(count // 2):
            middle = _end(raw, at)
            end = _end(raw, middle)
            key = ormsgpack.unpackb(raw[at:middle])
            if not isinstance(key, str):
                raise Corrupt("a msgpack map with a key that is no text")
            entries.append(Entry(key, raw[at:middle], raw[middle:end]))
            at = end
    except (IndexError, ValueError) as error:
        raise Corrupt(f"not a msgpack map: {error}") from error
    if at != len(raw):
        raise Corrupt("bytes after the end of a msgpack map")
    return entries


def join_map(entries: Sequence[Entry]) -> bytes:
    """The map of these pairs, their bytes untouched."""
    count = len(entries)
    if count < 16:
        head = bytes([0x80 | count])
    elif count < 1 << 16:
        head = b"\xde" + count.to_bytes(2, "big")
    else:
        head = b"\xdf" + count.to_bytes(4, "big")
    return head + b"".join(part for entry in entries for part in (entry.key_raw, entry.raw))


def entry(key: str, raw: bytes) -> Entry:
    """A new pair."""
    return Entry(key, ormsgpack.packb(key), raw)


def _head(raw: bytes, at: int) -> tuple[int, int, int]:
    """How many items follow the marker at ``at``, where they start, and 2 for a map, 1 for a list, 0 for neither."""
    marker = raw[at]
    if marker < 0x80 or marker >= 0xE0:
        return 0, at + 1, 0
    if marker < 0x90:
        return 2 * (marker & 0x0F), at + 1, 2
    if marker < 0xA0:
        return marker & 0x0F, at + 1, 1
    if marker < 0xC0:
        return 0, at + 1 + (marker & 0x1F), 0
    if marker in _FIXED:
        return 0, at + 1 + _FIXED[marker], 0
    if marker in _ITEMS:
        size, width = _ITEMS[marker]
        return width * int.from_bytes(raw[at + 1 : at + 1 + size], "big"), at + 1 + size, width
    size = _SIZED.get(marker) or _EXTENSION[marker] if marker != 0xC1 else 0
    if not size:
        raise ValueError("the byte 0xc1")
    length = int.from_bytes(raw[at + 1 : at + 1 + size], "big")
    return 0, at + 1 + size + length + (1 if marker in _EXTENSION else 0), 0


def _end(raw: bytes, at: int) -> int:
    """Where the value that starts at ``at`` ends; no recursion, so that nesting costs nothing."""
    left = 1
    while left:
        items, at, _ = _head(raw, at)
        left += items - 1
    if at > len(raw):
        raise ValueError("cut short")
    return at
