"""When two values are the same: strict about types, and fast where they mostly are.

``1``, ``1.0``, ``True`` and ``"1"`` differ, ``0.0`` and ``-0.0`` differ, NaN equals NaN, the order of a dict's keys
says nothing. `Opaque` values are compared by their bytes, `Tagged` ones by class and payload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import copysign
from operator import is_
from typing import Any

import orjson

from stores.model import Opaque, Partial, Tagged, Value

ATOMS = frozenset({str, int, bool, type(None), bytes})
"""Types whose ``==`` is strict once both sides have the same type."""

LONGEST_STRIDE = 128

_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATETIME


def strict_equal(a: Value, b: Value) -> bool:
    """Whether a change from ``a`` to ``b`` would be no change at all."""
    if a is b:
        return True
    if type(a) is not type(b):
        return isinstance(a, Mapping) and isinstance(b, Mapping) and _equal_inside(a, b)
    if type(a) in ATOMS:
        return bool(a == b)
    if type(a) is float:
        return same_float(a, b)
    return surely_equal(a, b) or _equal_inside(a, b)


def same_float(a: float, b: float) -> bool:
    """Equal and of the same sign, or both NaN."""
    if a == b:
        return a != 0 or copysign(1, a) == copysign(1, b)
    return a != a and b != b


def surely_equal(a: Value, b: Value) -> bool:
    """True only if the two are strictly equal; False says nothing.

    ``==`` and orjson both run in C, ten times as fast as a walk, and what one mixes up the other tells apart:
    ``==`` the numbers 1, 1.0 and True, orjson NaN and null, a time and its text.
    """
    try:
        return bool(a == b) and orjson.dumps(a, _stand_in, _OPTIONS) == orjson.dumps(b, _stand_in, _OPTIONS)
    except (TypeError, RecursionError):  # keys that are not text, ints past 64 bits, lone surrogates, deep nesting
        return False


def _stand_in(value: Any) -> Any:
    """What tells two values apart that ``==`` has called equal, for orjson."""
    if isinstance(value, Tagged):
        return None if value.raw is not None else value.value
    if isinstance(value, Opaque):
        return None
    if isinstance(value, Partial):
        return [value.seed, *value.writes]
    raise TypeError


def _equal_inside(a: Value, b: Value) -> bool:
    """The walk that decides where `surely_equal` cannot; never recursive."""
    todo: list[tuple[Value, Value]] = [(a, b)]
    while todo:
        a, b = todo.pop()
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            if not _pair_keys(a, b, todo):
                return False
        elif type(a) is not type(b):
            return False
        elif isinstance(a, list | tuple):
            if len(a) != len(b) or not _pair(a, b, todo):
                return False
        elif isinstance(a, Tagged):
            if a.type_name != b.type_name or (
                (a.raw is None or a.raw != b.raw) and not _pair([a.value], [b.value], todo)
            ):
                return False
        elif isinstance(a, Partial):
            if len(a.writes) != len(b.writes) or not _pair((a.seed, *a.writes), (b.seed, *b.writes), todo):
                return False
        elif isinstance(a, Opaque):
            if a.kind != b.kind or not a.same_bytes(b):
                return False
        elif not (same_float(a, b) if isinstance(a, float) else a == b):
            return False
    return True


def _pair_keys(a: Mapping[Any, Value], b: Mapping[Any, Value], todo: list[tuple[Value, Value]]) -> bool:
    if len(a) != len(b):
        return False
    try:
        others = [b[key] for key in a]
    except KeyError:
        return False
    if not all(type(key) is str for key in a) and not same_keys(a, b):
        return False
    return _pair(list(a.values()), others, todo)


def same_keys(a: Mapping[Any, Value], b: Mapping[Any, Value]) -> bool:
    """Whether the keys are the same with their types; a dict alone takes 1, 1.0 and True for one key."""
    return {(type(key), key) for key in a} == {(type(key), key) for key in b}


def _pair(a: Sequence[Value], b: Sequence[Value], todo: list[tuple[Value, Value]]) -> bool:
    """Compare the atoms at once and put the rest on ``todo``; False as soon as one differs."""
    for x, y in zip(a, b, strict=True):
        if x is y:
            continue
        kind = type(x)
        if kind is type(y) and kind in ATOMS:
            if x != y:
                return False
        elif kind is float and type(y) is float:
            if not same_float(x, y):
                return False
        else:
            todo.append((x, y))
    return True


def common_prefix(a: Sequence[Value], b: Sequence[Value]) -> int:
    """How many elements at the start are strictly equal.

    Goes in strides that double while all is equal, up to a bound that keeps the second look at the stride with
    the first difference in it cheap, and halve from there.
    """
    at, stride, growing = 0, 1, True
    end = min(len(a), len(b))
    while at < end:
        here = min(stride, end - at)
        if here == 1:
            equal = strict_equal(a[at], b[at])
        else:
            x, y = a[at : at + here], b[at : at + here]
            equal = all(map(is_, x, y)) or surely_equal(x, y)
        if equal:
            at += here
            stride = min(stride * 2, LONGEST_STRIDE) if growing else stride
        elif here == 1:
            break
        else:
            stride, growing = here // 2, False
    return at


def common_suffix(a: Sequence[Value], b: Sequence[Value], start: int) -> int:
    """How many elements at the end are strictly equal, none of them before position ``start``."""
    room = min(len(a), len(b)) - start
    return common_prefix(a[len(a) - room :][::-1], b[len(b) - room :][::-1])
