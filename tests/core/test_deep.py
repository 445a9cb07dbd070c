"""What deepdiff is asked for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from stores.model import Opaque, Tagged, Value
from tests.core.strategies import values
from tt_debug.deep import distance, to_deepdiff, untold
from tt_debug.diff import diff
from tt_debug.errors import UsageError

STEP: dict[str, Value] = {"name": "look up trains", "args": {"from": "Osaka", "to": "Kyoto"}, "done": False}


def test_what_was_edited_is_nearer_than_what_is_new() -> None:
    edited, other = {**STEP, "done": True}, {"name": "book", "hotel": "ryokan", "price": 96_000}
    assert distance(STEP, STEP) == 0
    assert 0 < distance(STEP, edited) < distance(STEP, other) <= 1
    assert distance(Tagged("m.A", STEP), Tagged("m.B", STEP)) == 1


@given(values(), values())
def test_a_distance_lies_between_nothing_and_one(old: Value, new: Value) -> None:
    assert 0 <= distance(old, new) <= 1


def test_the_result_is_json_in_deepdiffs_own_words() -> None:
    old = {"n": 1, "l": [1, 2], "blob": Opaque("pickle", b"1"), "nan": float("nan")}
    new = {"n": 2, "l": [1, 2, 3], "blob": Opaque("pickle", b"2"), "nan": float("nan")}
    found = to_deepdiff(old, new)
    assert json.loads(json.dumps(found)) == found
    assert found["values_changed"]["root['n']"] == {"new_value": 2, "old_value": 1}
    assert found["iterable_item_added"] == {"root['l'][2]": 3}
    assert set(found["values_changed"]) == {"root['n']", "root['blob']['sha256']"}
    assert to_deepdiff(old, old) == {}


def test_what_deepdiff_passes_over_is_counted() -> None:
    old, new = {"l": [2, 1, 0.0], "z": 0.0, "n": 1, "x": 1}, {"l": [2.0, True, -0.0], "z": -0.0, "n": 1.0, "x": 2}
    told = to_deepdiff(old, new)
    assert list(told["type_changes"]) == ["root['n']"]
    assert untold(diff(old, new), told) == 4
    assert untold(diff(old, old), to_deepdiff(old, old)) == 0
    assert untold(diff({"l": [2, 5]}, {"l": [2.0, 7, 8]}), to_deepdiff({"l": [2, 5]}, {"l": [2.0, 7, 8]})) == 0


def test_what_deepdiff_cannot_hold_does_not_break_it() -> None:
    assert to_deepdiff({"a": "\ud83d"}, {"a": "x"})["values_changed"]["root['a']"]["old_value"] == "?"
    deep: Value = 1
    for _ in range(150):
        deep = [deep]
    with pytest.raises(UsageError, match="nested") as caught:
        to_deepdiff({"a": deep}, {"a": 1})
    assert "json-patch" in caught.value.hint
