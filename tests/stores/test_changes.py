"""Applying changes: what each means, what does not apply, and that nothing given is ever changed."""

from __future__ import annotations

import copy
from types import MappingProxyType

import pytest

from stores.changes import apply_changes
from stores.errors import Invalid
from stores.model import MISSING, Change, Opaque, Path, Tagged, Value

MESSAGE = Tagged("m.Msg", {"id": "m1", "parts": [1, 2]}, b"raw", (5, "tag"))
STATE: dict[str, Value] = {
    "plan": {"steps": ["a", "b", "c"], "other": {"deep": [1]}},
    "messages": [MESSAGE, MESSAGE],
    "m": {1: "int", "1": "text"},
    "blob": Opaque("pickle", b"123"),
    "pair": (1, 2),
    "n": 1,
}


def add(path: Path, new: Value) -> Change:
    return Change("add", path, new=new)


def move(source: Path, path: Path) -> Change:
    return Change("move", path, source=source)


STEPS = ("plan", "steps")


@pytest.mark.parametrize(
    ("changes", "path", "wanted"),
    [
        ([add((*STEPS, 0), "z")], STEPS, ["z", "a", "b", "c"]),
        ([add((*STEPS, 3), "z")], STEPS, ["a", "b", "c", "z"]),
        ([Change("remove", (*STEPS, 1))], STEPS, ["a", "c"]),
        ([Change("change", (*STEPS, 1), "b", "z")], STEPS, ["a", "z", "c"]),
        ([move((*STEPS, 0), (*STEPS, 2))], STEPS, ["b", "c", "a"]),
        ([move((*STEPS, 2), (*STEPS, 0))], STEPS, ["c", "a", "b"]),
        ([move((*STEPS, 0), (*STEPS, 0))], STEPS, ["a", "b", "c"]),
        ([move((*STEPS, 0), ("plan", "first"))], ("plan", "first"), "a"),
        ([add(("new",), {"x": 1}), add(("new", "y"), 2)], ("new",), {"x": 1, "y": 2}),
        ([Change("change", ("m", 1), "int", "z")], ("m",), {1: "z", "1": "text"}),
        ([Change("remove", ("m", "1"))], ("m",), {1: "int"}),
        ([Change("change", (), MISSING, [1]), add((0,), 0)], (), [0, 1]),
    ],
)
def test_what_each_change_means(changes: list[Change], path: Path, wanted: Value) -> None:
    before = copy.deepcopy(STATE)
    value = apply_changes(STATE, changes)
    for step in path:
        value = value[step]
    assert value == wanted
    assert before == STATE


def test_a_class_on_the_way_is_kept_around_its_new_payload() -> None:
    after = apply_changes(STATE, [Change("change", ("messages", 0, "parts", 1), 2, 3), add(("messages", 0, "x"), 1)])
    assert after["messages"][0] == Tagged("m.Msg", {"id": "m1", "parts": [1, 3], "x": 1}, None, (5, "tag"))
    assert after["messages"][1] is MESSAGE
    assert MESSAGE.value == {"id": "m1", "parts": [1, 2]}
    nested = {"a": Tagged("m.A", Tagged("m.B", [1], b"b"), b"a")}
    assert apply_changes(nested, [add(("a", 0), 0)]) == {"a": Tagged("m.A", Tagged("m.B", [0, 1]))}


def test_untouched_parts_are_shared() -> None:
    after = apply_changes(STATE, [Change("change", ("n",), 1, 2)])
    assert all(after[key] is STATE[key] for key in STATE if key != "n")
    assert apply_changes(STATE, []) is STATE


def test_what_is_put_in_is_not_changed_by_later_changes() -> None:
    new: dict[str, Value] = {"list": []}
    after = apply_changes({}, [add(("a",), new), add(("b",), new), add(("a", "list", 0), 1)])
    assert new == {"list": []}
    assert after == {"a": {"list": [1]}, "b": {"list": []}}


def test_a_state_that_is_no_dict_can_be_changed_too() -> None:
    assert apply_changes(MappingProxyType({"a": 1}), [add(("b",), 2)]) == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (add(("plan",), 1), "cannot add plan: it is already there"),
        (add((*STEPS, 4), 1), r"cannot insert at plan\.steps\[4\]: the list has 3 elements"),
        (add((*STEPS, -1), 1), r"cannot insert at plan\.steps\[-1\]"),
        (add((*STEPS, "x"), 1), r"cannot insert at plan\.steps\.x"),
        (add((*STEPS, True), 1), r"cannot insert at plan\.steps\[true\]"),
        (add(("gone", "x"), 1), "nothing at gone"),
        (Change("remove", ("gone",)), "nothing at gone"),
        (Change("remove", (*STEPS, 3)), r"nothing at plan\.steps\[3\]: the list has 3"),
        (Change("change", ("m", True), 1, 2), r"nothing at m\[true\]"),
        (Change("change", ("gone",), 1, 2), "nothing at gone"),
        (Change("change", ("n", "x"), 1, 2), r"cannot reach n\.x: n is int, which has no parts"),
        (Change("change", ("blob", "x"), 1, 2), r"cannot reach blob\.x: blob is Opaque"),
        (Change("change", ("pair", 0), 1, 2), r"cannot reach pair\[0\]: pair is tuple"),
        (move(("gone",), ("x",)), "nothing at gone"),
        (move(("plan",), ("plan", "x")), "cannot move plan into itself"),
        (Change("move", ("x",)), "does not say from where"),
    ],
)
def test_what_does_not_apply_is_refused_by_its_path(change: Change, says: str) -> None:
    before = copy.deepcopy(STATE)
    with pytest.raises(Invalid, match=says):
        apply_changes(STATE, [Change("change", ("n",), 1, 2), change])
    assert before == STATE


def test_many_changes_copy_a_list_once() -> None:
    old = list(range(5000))
    after = apply_changes({"l": old}, [Change("change", ("l", at), at, -at) for at in range(5000)])
    assert after["l"] == [-at for at in range(5000)]
    assert old == list(range(5000))
