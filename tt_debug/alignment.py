"""Which element of one list became which of another.

Owns the matching: by id, by content, then edited elements by how alike they are; and the fewest moves that
bring matched elements into their new order. What is said about an element is `tt_debug.diff`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from stores.model import Opaque, Partial, Tagged, Value
from stores.paths import unwrap
from tt_debug.equality import ATOMS, strict_equal

MOST_EDITS = 256
"""How far apart two lists with repeated elements may be for an exact comparison; its cost is the square of this."""
MOST_PAIRS = 36
"""Pairs of edited elements compared by deep distance, at up to half a millisecond each."""
MOST_PARTS = 400
"""Values inside the elements compared so."""
DEEPEST = 20
"""Levels of nesting in them."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Pairs of positions (old, new), rising in the new one. ``kept`` are elements of the same id or content that
    keep their order, ``edited`` are taken for one by their place and likeness, ``moved`` have to move. What is in
    none of them was removed, or added."""

    kept: tuple[tuple[int, int], ...] = ()
    edited: tuple[tuple[int, int], ...] = ()
    moved: tuple[tuple[int, int], ...] = ()


def align(old: Sequence[Value], new: Sequence[Value]) -> Alignment:
    """Match the elements of two lists; as few as possible are removed, added or moved."""
    if len(old) == len(new) == 1:
        return Alignment(edited=((0, 0),) if _may_pair(old[0], new[0]) else ())
    ids = [id_of(item) for item in old]
    if len(old) == len(new) and None not in ids and ids == [id_of(item) for item in new] and len(set(ids)) == len(ids):
        return Alignment(kept=tuple((at, at) for at in range(len(old))))
    names = _Names()
    left, right = [names.of(item) for item in old], [names.of(item) for item in new]
    common = set(left).intersection(right)
    here = [at for at, name in enumerate(left) if name in common]
    there = [at for at, name in enumerate(right) if name in common]
    kept, moved = _order([left[at] for at in here], [right[at] for at in there])
    still = [(here[x], there[y]) for x, y in kept]
    shifted = [(here[x], there[y]) for x, y in moved]
    taken_old, taken_new = {x for x, _ in shifted}, {y for _, y in shifted}
    edited: list[tuple[int, int]] = []
    for gone, come in _gaps(still, taken_old, taken_new, len(old), len(new)):
        edited.extend(_pair_edited(old, new, gone, come))
    return Alignment(tuple(still), tuple(edited), tuple(shifted))


class _Names:
    """Numbers elements so that two get the same number when they have the same id, or no id and the same content."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._alike: dict[Hashable, list[tuple[Value, int]]] = {}
        self._next = 0

    def of(self, item: Value) -> int:
        name = id_of(item)
        if name is None and type(item) in ATOMS:
            name = (type(item), item)
        elif name is None and type(item) is float:
            name = (float, repr(item))
        if name is not None:
            if name not in self._numbers:
                self._numbers[name] = self._new()
            return self._numbers[name]
        same = self._alike.setdefault(_fingerprint(item), [])
        for other, number in same:
            if strict_equal(item, other):
                return number
        same.append((item, self._new()))
        return same[-1][1]

    def _new(self) -> int:
        self._next += 1
        return self._next


def id_of(item: Value) -> Hashable | None:
    """What names an element in its list: the ``id`` of a dict, or of a dict wrapped in a class; None without one."""
    inside = unwrap(item)
    found = inside.get("id") if isinstance(inside, dict) else None
    return (type(found), found) if type(found) in (str, int) and found != "" else None


_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def _fingerprint(item: Value) -> Hashable:
    """Equal for strictly equal elements where it can be; what it mixes up or cannot write is compared by itself."""
    try:
        return orjson.dumps(item, _stand_in, _OPTIONS)
    except (TypeError, RecursionError):  # ints past 64 bits, lone surrogates, deep nesting
        return (type(item), len(item) if isinstance(item, list | dict | tuple) else 0)


def _stand_in(value: Any) -> Any:
    if isinstance(value, Tagged):
        return [value.type_name, value.value]
    return [value.kind, value.digest] if isinstance(value, Opaque) else type(value).__name__


def _order(left: Sequence[int], right: Sequence[int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Pair equal names: those that keep their order, as many as possible, and those that have to move."""
    kept: list[tuple[int, int]] | None = None
    if len(set(left)) < len(left) or len(set(right)) < len(right):
        kept = common_run(left, right)
    done_left = {x for x, _ in kept or ()}
    done_right = {y for _, y in kept or ()}
    places: dict[int, list[int]] = {}
    for at in range(len(left) - 1, -1, -1):
        if at not in done_left:
            places.setdefault(left[at], []).append(at)
    rest = [(places[name].pop(), at) for at, name in enumerate(right) if at not in done_right and places.get(name)]
    if kept is not None:
        return kept, rest
    rising = set(longest_rise([x for x, _ in rest]))
    return [rest[at] for at in sorted(rising)], [pair for at, pair in enumerate(rest) if at not in rising]


def longest_rise(numbers: Sequence[int]) -> list[int]:
    """Positions of a longest rising run, in n log n."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, number in enumerate(numbers):
        length = bisect_left(tails, number)
        before.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(number)
            ends.append(at)
        else:
            tails[length], ends[length] = number, at
    run: list[int] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        run.append(at)
        at = before[at]
    return run[::-1]


def common_run(left: Sequence[int], right: Sequence[int]) -> list[tuple[int, int]] | None:
    """A longest common subsequence by Myers' greedy algorithm, or None when the two are too far apart for it."""
    reach = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(MOST_EDITS + 1):
        history.append(dict(reach))
        for diagonal in range(-edits, edits + 1, 2):
            came = _came_from(reach, edits, diagonal)
            x = reach[came] + (came < diagonal)
            y = x - diagonal
            while x < len(left) and y < len(right) and left[x] == right[y]:
                x, y = x + 1, y + 1
            reach[diagonal] = x
            if x >= len(left) and y >= len(right):
                return _trace(history, len(left), len(right))
    return None


def _came_from(reach: dict[int, int], edits: int, diagonal: int) -> int:
    """The neighbouring diagonal from which the farthest path reaches this one."""
    if diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]):
        return diagonal + 1
    return diagonal - 1


def _trace(history: Sequence[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """The pairs on the path that ended at (x, y), walked backwards."""
    run: list[tuple[int, int]] = []
    for edits in range(len(history) - 1, -1, -1):
        came = _came_from(history[edits], edits, x - y)
        before_x = history[edits][came]
        before_y = before_x - came
        while x > before_x and y > before_y:
            x, y = x - 1, y - 1
            run.append((x, y))
        x, y = before_x, before_y
    return run[::-1]


def _gaps(
    kept: Sequence[tuple[int, int]], old_taken: set[int], new_taken: set[int], old_end: int, new_end: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Between two neighbours of ``kept``: what is gone from the old list and what has come into the new one."""
    x = y = 0
    for next_x, next_y in [*kept, (old_end, new_end)]:
        gone = [at for at in range(x, next_x) if at not in old_taken]
        come = [at for at in range(y, next_y) if at not in new_taken]
        if gone and come:
            yield gone, come
        x, y = next_x + 1, next_y + 1


def _pair_edited(
    old: Sequence[Value], new: Sequence[Value], gone: Sequence[int], come: Sequence[int]
) -> list[tuple[int, int]]:
    """Take as many of the gone elements as possible for edited into those that came, order kept.

    Where there is a choice the pairs with the least deep distance are taken; in a large gap the first ones are.
    """
    if len(gone) == len(come) or len(gone) * len(come) > MOST_PAIRS:
        pairs = zip(gone, come, strict=False)
        return [(x, y) for x, y in pairs if _may_pair(old[x], new[y])]
    return _closest(old, new, gone, come)


def _may_pair(old: Value, new: Value) -> bool:
    """Two elements with different ids are never one that was edited."""
    one, other = id_of(old), id_of(new)
    return one is None or other is None or one == other


def _closest(
    old: Sequence[Value], new: Sequence[Value], gone: Sequence[int], come: Sequence[int]
) -> list[tuple[int, int]]:
    """The rising set of pairs that is largest, and among those of the least total distance."""
    distances = _distances([old[x] for x in gone], [new[y] for y in come])
    width = len(come)
    best: list[tuple[int, float]] = [(0, 0.0)] * ((len(gone) + 1) * (width + 1))
    for x in range(len(gone) - 1, -1, -1):
        for y in range(width - 1, -1, -1):
            here = x * (width + 1) + y
            options = [best[here + 1], best[here + width + 1]]
            if (apart := distances[x][y]) is not None:
                count, total = best[here + width + 2]
                options.append((count - 1, total + apart))
            best[here] = min(options)
    pairs: list[tuple[int, int]] = []
    x = y = 0
    while x < len(gone) and y < width:
        here = x * (width + 1) + y
        apart = distances[x][y]
        count, total = best[here + width + 2]
        if apart is not None and best[here] == (count - 1, total + apart):
            pairs.append((gone[x], come[y]))
            x, y = x + 1, y + 1
        elif best[here] == best[here + 1]:
            y += 1
        else:
            x += 1
    return pairs


def _distances(old: Sequence[Value], new: Sequence[Value]) -> list[list[float | None]]:
    """How far apart each two are, from 0 to 1; None where they cannot be the same element."""
    measured = all(isinstance(unwrap(item), dict | list) for item in (*old, *new)) and _small((*old, *new))
    if not measured:
        return [[(type(x) is not type(y)) * 1.0 if _may_pair(x, y) else None for y in new] for x in old]
    from tt_debug.deep import distance  # imports deepdiff: 235 ms

    return [[distance(x, y) if _may_pair(x, y) else None for y in new] for x in old]


def _small(items: Sequence[Value]) -> bool:
    """Whether deepdiff, which is recursive, may look at them."""
    todo = [(item, 0) for item in items]
    parts = 0
    while todo:
        item, depth = todo.pop()
        inside = unwrap(item)
        parts += 1
        if parts > MOST_PARTS or depth > DEEPEST or isinstance(inside, Partial):
            return False
        if isinstance(inside, dict | list):
            todo.extend((part, depth + 1) for part in (inside.values() if isinstance(inside, dict) else inside))
    return True
