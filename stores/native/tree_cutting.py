"""A state cut into the chunks of a tree; what is as it was is taken over from the tree before it.

Owns where runs end, which only their own items decide: the same state is the same tree, however it came about.
Refuses to know where chunks lie. Raises Invalid for what JSON would change.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import attrgetter
from typing import Any, Final, NamedTuple
from zlib import crc32

from stores.codec import json
from stores.model import Value
from stores.native.trees import (
    CONTAINER,
    DEEPEST,
    LEAF,
    LONGEST,
    MARK,
    NAME,
    PAIR,
    RUN,
    Held,
    Run,
    hash_in,
    name_of,
    same,
)

_ITEMS: Final = attrgetter("items")
_ENTRIES: Final = attrgetter("entries")
_LEAST: Final = RUN // 2
_ROOT: Final = 1024
"""Bytes up to which the state's own node stands in its row."""


class _Entry(NamedTuple):
    """One entry of a run. ``weight`` and ``fingerprint`` decide whether it ends the run; ``plain`` is its text in a
    leaf, None where it names a chunk."""

    text: bytes
    weight: int
    fingerprint: int
    plain: bytes | None = None
    name: str | None = None
    items: int = 1


class _Back(NamedTuple):
    """The old entries from ``start`` on are there again, ``shift`` places before where they were."""

    start: int
    shift: int


@dataclass(slots=True)
class _Level:
    """What became of a level's entries: closed runs, how many of them at the front and where at the back are old ones,
    and the entries that are left over. ``spans`` are the old runs taken over: where they begin now, began, and end."""

    runs: list[Run]
    front: int
    back: _Back | None
    rest: list[_Entry]
    spans: list[tuple[int, int, int]]


class Cutting:
    """One state being cut. ``held`` tells what is in memory under a name; ``shown`` makes of a value as JSON has it,
    whose text it is told, the value that is held."""

    def __init__(self, held: Callable[[str], Held | None], shown: Callable[[bytes, Value], Value]) -> None:
        self._held = held
        self._shown = shown
        self._known: set[str] = set()
        self._sizes: Mapping[str, int] = {}
        self.chunks: dict[bytes, bytes] = {}
        """Texts by their hash, of the chunks that the tree before may not have."""
        self.made: dict[str, Held] = {}
        """What of the new tree is to be held in memory."""

    def root(self, state: dict[str, Value], sizes: Mapping[str, int], before: str | None) -> str:
        """What stands in a state's row, where its parent's holds ``before``; ``sizes`` are those of its values."""
        self._sizes = sizes
        text, held = self._container(state, None if before is None else self._held(before), 0, json.size_with(sizes))
        if len(text) > _ROOT:
            name = self._put("n", text)
            self.made[name] = held
            text = b'"' + name.encode() + b'"'
        row = f'["{MARK}",{text.decode()}]'
        self.made[row] = held
        return row

    def item(
        self, value: Value, before: str | None, depth: int, key: str | None = None
    ) -> tuple[bytes, str | None, Value]:
        """Its text, the name of its chunk if it is one, and the value as it is held; ``before`` is its old name."""
        old = None if before is None else self._held(before)
        if old is not None and same(value, old.value):
            return b"", before, old.value
        kind = type(value)
        known = self._sizes.get(key) if depth == 0 and key is not None else None
        size = json.size(value) if known is None else known
        if (kind is list or kind is dict) and depth < DEEPEST and size > LEAF:
            node, held = self._container(value, old, depth + 1, size)
            name = self._put("n", node)
            self.made[name] = held
            return b"", name, held.value
        text = json.quick(value)
        own = self._shown(text, json.checked(text, value))
        if len(text) <= (LEAF if kind is str else CONTAINER) or kind not in (str, list, dict):
            return text, None, own
        name = self._put("j", text)
        if len(text) > LEAF:
            self.made[name] = Held(own, len(text))
        return text, name, own

    def close(self, entries: list[_Entry], brackets: bytes) -> Run:
        """A run as a chunk: a leaf where nothing in it names another."""
        plain = [entry.plain for entry in entries if entry.plain is not None]
        if len(plain) == len(entries):
            name = self._put("j", brackets[:1] + b",".join(plain) + brackets[1:])
        else:
            name = self._put("n", b"[" + b",".join(entry.text for entry in entries) + b"]")
        return Run(name, sum(entry.items for entry in entries), len(entries))

    def _container(self, value: Value, old: Held | None, depth: int, size: int) -> tuple[bytes, Held]:
        if old is not None and type(old.value) is not type(value):
            old = None
        if old is not None:
            self._known |= old.names
        return _Container(self, value, old, depth).cut(size)

    def _put(self, kind: str, text: bytes) -> str:
        name = name_of(kind, text)
        if name not in self._known:
            self.chunks[hash_in(name)] = text
        return name


class _Container:
    """One list or dict being cut into levels of runs, beside what it was before."""

    def __init__(self, cutting: Cutting, value: Value, old: Held | None, depth: int) -> None:
        self._cutting = cutting
        self._is_dict = type(value) is dict
        self._depth = depth
        self._old_runs = () if old is None else old.runs
        self._items = _items(value)
        self._before = () if old is None else _items(old.value)
        self._inner = {} if old is None else {key: name for key, name in old.inner.items() if key in value}
        self._own: list[Any] = []

    def cut(self, size: int) -> tuple[bytes, Held]:
        """The container's node, and what is held of it."""
        levels = [self._lowest()]
        while levels[-1].runs:
            levels.append(self._above(levels[-1], len(levels)))
        held = Held(
            dict(self._own) if self._is_dict else self._own,
            size,
            runs=tuple(tuple(level.runs) for level in levels[:-1]),
            inner=self._inner,
            names=frozenset(entry.name for level in levels for entry in level.rest if entry.name),
        )
        told = levels if len(levels) == 1 or levels[-1].rest else levels[:-1]
        text = b",".join(b"[" + b",".join(entry.text for entry in level.rest) + b"]" for level in reversed(told))
        return (b'{"dict":[' if self._is_dict else b'{"list":[') + text + b"]}", held

    def _lowest(self) -> _Level:
        old = self._old_runs[0] if self._old_runs else ()
        front, back = _alike(self._items, self._before, old)
        made: list[Any] = []
        make = self._pair if self._is_dict else self._element
        level = self._level(len(self._items), old, front, back, lambda at: make(at, made))
        for now, then, end in level.spans:
            taken = now - len(self._own)
            self._own += made[:taken]
            del made[:taken]
            self._own += self._before[then:end]
        self._own += made
        return level

    def _above(self, below: _Level, height: int) -> _Level:
        old = self._old_runs[height] if height < len(self._old_runs) else ()
        return self._level(len(below.runs), old, below.front, below.back, lambda at: _entry_of(below.runs[at]))

    def _level(
        self, count: int, old: Sequence[Run], front: int, back: _Back | None, entry: Callable[[int], _Entry]
    ) -> _Level:
        """Cut ``count`` entries, of which the ``front`` first and those at the back are old ones."""
        ends = list(accumulate(map(_ENTRIES, old)))
        kept = bisect_right(ends, front)
        runs, at = list(old[:kept]), ends[kept - 1] if kept else 0
        rest: list[_Entry] = []
        spans, again, weight = [(0, 0, at)] if at else [], None, 0
        while at < count:
            if back is not None and again is None and not rest and at + back.shift >= back.start:
                number = bisect_left(ends, at + back.shift + 1)
                if number < len(old) and ends[number] - old[number].entries == at + back.shift:
                    spans.append((at, at + back.shift, ends[-1]))
                    again = _Back(number, number - len(runs))
                    runs += old[number:]
                    at = ends[-1] - back.shift
                    continue
            found = entry(at)
            at += 1
            rest.append(found)
            weight += found.weight
            if weight >= LONGEST or (weight >= _LEAST and found.fingerprint * _LEAST < found.weight << 32):
                runs.append(self._cutting.close(rest, b"{}" if self._is_dict else b"[]"))
                rest, weight = [], 0
        return _Level(runs, kept, again, rest, spans)

    def _element(self, at: int, made: list[Any]) -> _Entry:
        text, name, own = self._cutting.item(self._items[at], None, self._depth)
        # What stood here before is mostly the same, and is then to stay the same object.
        made.append(self._before[at] if at < len(self._before) and same(self._before[at], own) else own)
        if name is not None:
            return _Entry(b'"' + name.encode() + b'"', NAME, int(name[1:9], 16), name=name)
        return _Entry(b"[" + text + b"]", len(text), crc32(text), text)

    def _pair(self, at: int, made: list[Any]) -> _Entry:
        key, value = self._items[at]
        text, name, own = self._cutting.item(value, self._inner.pop(key, None), self._depth, key)
        made.append((key, own))
        word = json.quick(key)
        if name is not None:
            self._inner[key] = name
            return _Entry(b"[" + word + b',"' + name.encode() + b'"]', PAIR, crc32(word), name=name)
        return _Entry(b"[" + word + b",[" + text + b"]]", PAIR, crc32(word), word + b":" + text)


def _items(value: Value) -> Sequence[Any]:
    return list(value.items()) if type(value) is dict else value


def _entry_of(run: Run) -> _Entry:
    text = f'"{run.name}/{run.items}"'.encode()
    return _Entry(text, NAME, int(run.name[1:9], 16), name=run.name, items=run.items)


def _alike(items: Sequence[Any], before: Sequence[Any], runs: Sequence[Run]) -> tuple[int, _Back | None]:
    """How many items at the front are those of old runs, and from where on the back is: where it stands, or moved by
    what has been put in before it or taken out."""
    if not runs:
        return 0, None
    ends = [0, *accumulate(map(_ITEMS, runs))]
    front = ends[_most(bisect_right(ends, len(items)) - 1, lambda n: same(items[: ends[n]], before[: ends[n]]))]
    best: _Back | None = None
    for shift in {0, len(before) - len(items)}:
        room = [start for start in ends[:-1] if start >= front and start - shift >= front]
        if not room or not 0 <= ends[-1] - shift <= len(items):
            continue
        found = _most(len(room), partial(_ends_alike, items, before, [*room, ends[-1]], shift))
        if found and (best is None or room[-found] < best.start):
            best = _Back(room[-found], shift)
    return front, best


def _ends_alike(items: Sequence[Any], before: Sequence[Any], bounds: Sequence[int], shift: int, runs: int) -> bool:
    start, end = bounds[-1 - runs], bounds[-1]
    return same(items[start - shift : end - shift], before[start:end])


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """The most, up to ``limit``, for which it holds: it holds for 0, and for fewer wherever it holds for more."""
    if limit <= 0 or holds(limit):
        return max(limit, 0)
    least = 0
    while limit - least > 1:
        middle = (least + limit) // 2
        least, limit = (middle, limit) if holds(middle) else (least, middle)
    return least
