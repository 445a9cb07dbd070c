"""The pages of an SQLite file, read without SQLite (sqlite.org/fileformat2.html), as far as they are there.

Owns b-tree pages, cells, overflow chains, records and the frames of a log; refuses to write, and to trust any number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

HEADER: Final = 100
_TABLE_INSIDE: Final = 5
_TABLE_LEAF: Final = 13
_INDEX_INSIDE: Final = 2
_INDEX_LEAF: Final = 10
_INSIDE: Final = (_TABLE_INSIDE, _INDEX_INSIDE)
_INTEGERS: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_ENCODINGS: Final = {2: "utf-16-le", 3: "utf-16-be"}


class Broken(Exception):
    """What was read cannot be part of such a file."""


class Cell(NamedTuple):
    """One row of a table, or one entry of an index, where ``rowid`` is the last value; ``whole`` if nothing is lost."""

    rowid: int
    values: tuple[Any, ...]
    whole: bool


class Pages:
    """The pages of one file, with what its log holds on top."""

    def __init__(self, main: Any, log: Any = b"") -> None:
        """``main`` and ``log`` are bytes-like. Raises Broken when the header is none."""
        if len(main) < HEADER:
            raise Broken(f"it ends after {len(main)} of the {HEADER} bytes of its header")
        self._main, self._log = main, log
        stored = int.from_bytes(main[16:18], "big")
        self.size = 65536 if stored == 1 else stored
        if self.size < 512 or self.size & (self.size - 1):
            raise Broken("its header gives no page size")
        self._usable = self.size - main[20]
        self._encoding = _ENCODINGS.get(int.from_bytes(main[56:60], "big"), "utf-8")
        self._frames = dict(_committed(log, self.size))
        self.expected = max(int.from_bytes(main[28:32], "big"), *self._frames, 1)
        self._last = len(main) // self.size

    def page(self, number: int) -> bytes | None:
        """A page's bytes; None where it lies beyond the end."""
        if number in self._frames:
            at = self._frames[number]
            return bytes(self._log[at : at + self.size])
        start = (number - 1) * self.size
        if number < 1 or start + self.size > len(self._main):
            return None
        return bytes(self._main[start : start + self.size])

    def numbers(self) -> list[int]:
        """The pages that are there."""
        return sorted({*range(1, self._last + 1), *self._frames})

    def free(self) -> set[int]:
        """The pages that hold nothing any more, whatever still stands in them."""
        found: set[int] = set()
        trunk = int.from_bytes(self._main[32:36], "big")
        while trunk and trunk not in found and (page := self.page(trunk)) is not None:
            found.add(trunk)
            trunk, count = struct.unpack_from(">II", page)
            found.update(struct.unpack_from(f">{min(count, self.size // 4 - 2)}I", page, 8))
        return found

    def walk(self, root: int) -> Iterator[tuple[int, bool]]:
        """Every page of a tree in order, and whether it is there and part of one; no page twice."""
        left, seen = [root], {root}
        while left:
            number = left.pop()
            page = self.page(number)
            kind = _kind(page, number)
            yield number, kind is not None
            if page is not None and kind in _INSIDE:
                below = [child for child in self._children(page, number) if child not in seen]
                seen.update(below)
                left.extend(reversed(below))

    def is_table_leaf(self, number: int) -> bool:
        """Whether rows of a table stand on this page."""
        return _kind(self.page(number), number) == _TABLE_LEAF

    def cells(self, number: int) -> Iterator[Cell]:
        """What stands on a page, without what cannot be read of it."""
        page = self.page(number)
        kind = _kind(page, number)
        if page is None or kind is None or kind == _TABLE_INSIDE:
            return
        for at in _pointers(page, number):
            try:
                yield self._cell(page, at, kind)
            except (Broken, IndexError, struct.error):
                continue

    def _children(self, page: bytes, number: int) -> list[int]:
        found = [int.from_bytes(page[at : at + 4], "big") for at in _pointers(page, number)]
        start = HEADER if number == 1 else 0
        return [*found, int.from_bytes(page[start + 8 : start + 12], "big")]

    def _cell(self, page: bytes, at: int, kind: int) -> Cell:
        if kind == _INDEX_INSIDE:
            at += 4
        size, at = _varint(page, at)
        rowid = 0
        if kind == _TABLE_LEAF:
            rowid, at = _varint(page, at)
        values, whole = _record(self._payload(page, at, size, kind), size, self._encoding)
        if kind != _TABLE_LEAF and values and isinstance(values[-1], int):
            rowid = values[-1]
        return Cell(rowid, values, whole)

    def _payload(self, page: bytes, at: int, size: int, kind: int) -> bytes:
        """The cell's bytes, from the page and the chain of pages that it overflows into, as far as there are any."""
        usable = self._usable
        if size > self.size * max(self.expected, self._last):
            raise Broken("a row larger than the file")
        most = usable - 35 if kind == _TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return page[at : at + size]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
        parts = [page[at : at + local]]
        left = size - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        seen: set[int] = set()
        while left > 0 and following not in seen and (more := self.page(following)) is not None:
            seen.add(following)
            parts.append(more[4 : min(usable, 4 + left)])
            left -= usable - 4
            following = int.from_bytes(more[:4], "big")
        return b"".join(parts)


def _committed(log: Any, size: int) -> Iterator[tuple[int, int]]:
    """Page number → where its newest content stands in the log, for transactions that were committed."""
    if len(log) < 32 or log[:3] != b"\x37\x7f\x06":
        return
    salts = log[16:24]
    pending: list[tuple[int, int]] = []
    for at in range(32, len(log) - size - 23, size + 24):
        number, commits = struct.unpack_from(">II", log, at)
        if log[at + 8 : at + 16] != salts:
            return
        pending.append((number, at + 24))
        if commits:
            yield from pending
            pending.clear()


def _kind(page: bytes | None, number: int) -> int | None:
    """What sort of tree page it is; None for any other page."""
    if page is None:
        return None
    found = page[HEADER if number == 1 else 0]
    return found if found in (_TABLE_INSIDE, _TABLE_LEAF, _INDEX_INSIDE, _INDEX_LEAF) else None


def _pointers(page: bytes, number: int) -> Sequence[int]:
    """Where a page's cells start."""
    start = HEADER if number == 1 else 0
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    first = start + (12 if page[start] in _INSIDE else 8)
    if first + 2 * count > len(page):
        return ()
    return struct.unpack_from(f">{count}H", page, first)


def _varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(8):
        byte = page[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    value = value << 8 | page[at + 8]
    return value - (1 << 64) if value >= 1 << 63 else value, at + 9


def _record(payload: bytes, size: int, encoding: str) -> tuple[tuple[Any, ...], bool]:
    """The values of a row, and whether all of it was there; a value cut short is given as far as it goes."""
    end, at = _varint(payload, 0)
    if end > len(payload):
        raise Broken("a row without its head")
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values = []
    for kind in kinds:
        length = _length(kind)
        values.append(_value(kind, payload[at : at + length], length, encoding))
        at += length
    return tuple(values), at <= len(payload) and size == len(payload)


def _length(kind: int) -> int:
    if kind in (0, 8, 9):
        return 0
    if kind >= 12:
        return (kind - 12) // 2
    if kind == 7:
        return 8
    if kind in _INTEGERS:
        return _INTEGERS[kind]
    raise Broken(f"a value of kind {kind}")


def _value(kind: int, raw: bytes, length: int, encoding: str) -> Any:
    if kind >= 12:
        return raw.decode(encoding, "replace") if kind % 2 else (raw or (b"" if length == 0 else None))
    if kind in (8, 9):
        return kind - 8
    if kind == 0 or len(raw) < length:
        return None
    return struct.unpack(">d", raw)[0] if kind == 7 else int.from_bytes(raw, "big", signed=True)
