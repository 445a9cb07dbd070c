"""What changed between two values: a walk of our own, typed, minimal, pure.

The laws: no change exactly for strictly equal values; applying ``diff(a, b)`` to a gives b; the inverse leads back.
Which list element became which is `tt_debug.alignment`; applying is `stores.changes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from stores.model import Change, Diff, Path, Tagged, Value
from stores.paths import has_key, unwrap
from tt_debug.alignment import Alignment, align
from tt_debug.equality import ATOMS, common_prefix, common_suffix, strict_equal, surely_equal

LONG_LIST = 64
"""Elements from which on a list may be said to be replaced as a whole,"""
STRANGERS_SHARE = 16
"""when not even one element in so many was kept."""

_Found: TypeAlias = "Change | tuple[Path, Value, Value]"
"""A change, or two values at a path that are still to be compared."""


def diff(old: Value, new: Value) -> Diff:
    """The changes that make ``new`` of ``old``, in order; none when they are strictly equal.

    In a list the removals come first, from the end, then moves, then insertions in rising order, then what changed
    within elements under their new positions. A key's changes come in the order of the keys.
    """
    found: list[Change] = []
    todo: list[_Found] = [((), old, new)]
    while todo:
        item = todo.pop()
        if isinstance(item, Change):
            found.append(item)
        else:
            todo.extend(reversed(_compare(*item)))
    return tuple(found)


def invert(changes: Iterable[Change]) -> Diff:
    """The changes that undo these."""
    return tuple(_inverse(change) for change in reversed(tuple(changes)))


def _inverse(change: Change) -> Change:
    if change.op == "add":
        return Change("remove", change.path, old=change.new)
    if change.op == "remove":
        return Change("add", change.path, new=change.old)
    if change.op == "move" and change.source is not None:
        return Change("move", change.source, change.new, change.old, change.path)
    return Change(change.op, change.path, change.new, change.old)


def _compare(path: Path, old: Value, new: Value) -> Sequence[_Found]:
    """What differs at a path itself, and the pairs below it that are still to be compared."""
    if old is new:
        return ()
    if type(old) is dict and type(new) is dict:
        return _compare_keys(path, old, new)
    inside_old, inside_new = _same_class(old, new)
    if isinstance(inside_old, Mapping) and isinstance(inside_new, Mapping):
        return _compare_keys(path, inside_old, inside_new)
    if isinstance(inside_old, list) and isinstance(inside_new, list):
        return _compare_elements(path, inside_old, inside_new)
    return () if strict_equal(old, new) else (Change("change", path, old, new),)


def _same_class(old: Value, new: Value) -> tuple[Value, Value]:
    """The payloads inside the same classes; a path goes through them, so only their parts can be told apart."""
    while isinstance(old, Tagged) and isinstance(new, Tagged) and old.type_name == new.type_name:
        if old.raw is not None and old.raw == new.raw:
            return None, None
        old, new = old.value, new.value
    return old, new


def _compare_keys(path: Path, old: Mapping[Any, Value], new: Mapping[Any, Value]) -> Sequence[_Found]:
    found: list[_Found] = []
    for key, before in old.items():
        if not (key in new if type(key) is str else has_key(new, key)):
            found.append(Change("remove", (*path, key), old=before))
            continue
        after = new[key]
        if before is after:
            continue
        kind = type(before)
        if kind is not type(after):
            found.append(((*path, key), before, after))
        elif kind in ATOMS:
            if before != after:
                found.append(Change("change", (*path, key), before, after))
        elif kind is not dict or not surely_equal(before, after):
            found.append(((*path, key), before, after))
    for key, after in new.items():
        if not (key in old if type(key) is str else has_key(old, key)):
            found.append(Change("add", (*path, key), new=after))
    return found


def _compare_elements(path: Path, old: list[Value], new: list[Value]) -> Sequence[_Found]:
    # A list of one is not compared before it is walked: nested in each other they would cost the square of the depth.
    start = common_prefix(old, new) if len(old) > 1 or len(new) > 1 else 0
    end = common_suffix(old, new, start) if len(old) > 1 or len(new) > 1 else 0
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    if not gone and not come:
        return ()
    alignment = align(gone, come) if gone and come else Alignment()
    if _strangers(old, new, start + end, gone, come, alignment):
        return [Change("change", path, old, new)]
    matched = sorted((*alignment.kept, *alignment.edited, *alignment.moved), key=lambda pair: pair[1])
    stays, stands = {x for x, _ in matched}, {y for _, y in matched}
    removed = [at for at in range(len(gone) - 1, -1, -1) if at not in stays]
    found: list[_Found] = [Change("remove", (*path, start + at), old=gone[at]) for at in removed]
    found.extend(_moves(path, start, gone, alignment, matched))
    found.extend(Change("add", (*path, start + at), new=item) for at, item in enumerate(come) if at not in stands)
    for x, y in matched:
        found.extend(_compare_pair((*path, start + y), gone[x], come[y]))
    return found


def _strangers(
    old: Sequence[Value],
    new: Sequence[Value],
    same: int,
    gone: Sequence[Value],
    come: Sequence[Value],
    found: Alignment,
) -> bool:
    """Whether of two lists, one of them long, one replaced the other: an embedding, another page of results."""
    if max(len(old), len(new)) < LONG_LIST:
        return False
    same += len(found.kept) + len(found.moved)
    same += sum(isinstance(unwrap(gone[x]), dict) and _related(gone[x], come[y]) for x, y in found.edited)
    return same * STRANGERS_SHARE < max(1, min(len(old), len(new)))


def _compare_pair(path: Path, old: Value, new: Value) -> Sequence[_Found]:
    """Two elements taken for one: what changed within it, or that it was replaced when they share too little."""
    if old is new or surely_equal(old, new):
        return ()
    return ((path, old, new),) if _related(old, new) else (Change("change", path, old, new),)


def _related(old: Value, new: Value) -> bool:
    """Whether two unequal values are told apart by their parts rather than as a whole."""
    old, new = unwrap(old), unwrap(new)
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() or 2 * len(old.keys() & new.keys()) >= max(len(old), len(new))
    return True


def _moves(
    path: Path, start: int, old: Sequence[Value], alignment: Alignment, matched: Sequence[tuple[int, int]]
) -> Iterable[Change]:
    """The moves in the order in which they apply, once everything that is gone has been removed.

    Each takes an element to right behind the one before it in the new order. Positions are counted in a Fenwick
    tree over the old places: slot 0 stands for the front, and a moved element counts at the place of the last
    unmoved one before it.
    """
    if not alignment.moved:
        return
    moving = set(alignment.moved)
    place = {x: at for at, (x, _) in enumerate(sorted(matched), start=1)}
    counts = _Fenwick(len(matched) + 1)
    anchor = 0
    for pair in matched:
        x = pair[0]
        if pair not in moving:
            anchor = place[x]
            continue
        source = counts.before(place[x])
        counts.add(place[x], -1)
        target = counts.before(anchor + 1)
        counts.add(anchor, 1)
        yield Change("move", (*path, start + target), old[x], old[x], (*path, start + source))


class _Fenwick:
    """Counts that start as 0 at slot 0 and 1 elsewhere, with their running sums in log n."""

    def __init__(self, slots: int) -> None:
        self._sums = [0] * (slots + 1)
        for slot in range(1, slots):
            self.add(slot, 1)

    def add(self, slot: int, amount: int) -> None:
        slot += 1
        while slot < len(self._sums):
            self._sums[slot] += amount
            slot += slot & -slot

    def before(self, slot: int) -> int:
        """The sum of the slots before this one."""
        total = 0
        while slot > 0:
            total += self._sums[slot]
            slot -= slot & -slot
        return total
