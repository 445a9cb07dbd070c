"""The two things deepdiff is asked for: how far apart two values are, and a diff in its own terms.

The walk that decides what changed is `tt_debug.diff`: deepdiff calls ``[2]`` and ``[2.0]`` equal, and takes a second
where that takes half a millisecond.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from stores.model import Diff, Tagged, Value
from tt_debug.errors import UsageError
from tt_debug.values import JSON, to_json

DEEPEST = 100  # levels; deepdiff takes several calls a level, and orjson stops at 254


def distance(old: Value, new: Value) -> float:
    """From 0, alike, to 1, nothing in common. Values of different classes have nothing in common."""
    from deepdiff import DeepDiff  # 235 ms

    if isinstance(old, Tagged) and isinstance(new, Tagged) and old.type_name != new.type_name:
        return 1.0
    found = DeepDiff(_hashable(old), _hashable(new), get_deep_distance=True).get("deep_distance", 0.0)
    return float(found)


def to_deepdiff(old: Value, new: Value) -> dict[str, JSON]:
    """deepdiff's own result as JSON, values written as `to_json` writes them.

    Raises UsageError for values nested deeper than it can follow.
    """
    from deepdiff import DeepDiff  # 235 ms

    if max(_depth(old), _depth(new)) > DEEPEST:
        raise UsageError("deepdiff cannot follow values nested this deeply", hint="use --format json-patch")
    found = DeepDiff(_hashable(old), _hashable(new), verbose_level=2, ignore_nan_inequality=True)
    result: dict[str, JSON] = json.loads(found.to_json())
    return result


def untold(changes: Diff, told: Mapping[str, JSON]) -> int:
    """How many of the changes ``told``, a result of `to_deepdiff`, does not have: it takes numbers in a list as equal
    when only their type differs, and 0.0 and -0.0 anywhere."""
    alike = sum(_same_number(change.old, change.new) for change in changes if change.op == "change")
    types = told.get("type_changes", {}).values()
    return alike - sum(_same_number(one["old_value"], one["new_value"]) for one in types)


def _same_number(old: Value, new: Value) -> bool:
    return isinstance(old, int | float) and isinstance(new, int | float) and old == new


def _depth(value: Value) -> int:
    """How deep containers and classes are nested, without recursion."""
    level, deepest = [value], 0
    while level:
        deepest += 1
        inside: list[Value] = []
        for item in level:
            if isinstance(item, Tagged):
                inside.append(item.value)
            elif isinstance(item, dict):
                inside.extend(item.values())
            elif isinstance(item, list | tuple):
                inside.extend(item)
        level = inside
    return deepest


def _hashable(value: Value) -> JSON:
    """JSON in which lone surrogates are question marks: deepdiff cannot hash them."""
    return json.loads(json.dumps(to_json(value), ensure_ascii=False).encode("utf-8", "replace"))
