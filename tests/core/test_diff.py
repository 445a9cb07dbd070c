"""The laws of a diff, and the cases people report about diffs that break them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import permutations

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stores.changes import apply_changes
from stores.model import MISSING, Change, Opaque, Partial, Tagged, Value
from tests.core.strategies import edited, json_values, values
from tt_debug.alignment import longest_rise
from tt_debug.diff import diff, invert
from tt_debug.values import strict_equal

AI = "langchain_core.messages.ai.AIMessage"
HUMAN = "langchain_core.messages.human.HumanMessage"
NAN = float("nan")


def check_laws(old: Value, new: Value) -> None:
    changes = diff(old, new)
    assert (not changes) == strict_equal(old, new)
    assert strict_equal(apply_changes(old, changes), new)
    assert strict_equal(apply_changes(new, invert(changes)), old)


@given(edited())
@example(([[{"id": 0, "content": "\ud83d"}]], [{"id": 0, "content": None}, {"id": 0, "content": None}]))
def test_laws_for_what_a_step_does(pair: tuple[Value, Value]) -> None:
    check_laws(*pair)


@given(values(), values())
def test_laws_for_any_two_values(old: Value, new: Value) -> None:
    check_laws(old, new)


@given(st.lists(st.integers(0, 4), max_size=12), st.lists(st.integers(0, 4), max_size=12))
def test_laws_for_lists_of_repeated_elements(old: list[int], new: list[int]) -> None:
    check_laws(old, new)


@given(json_values())
def test_a_copy_is_no_change(value: Value) -> None:
    assert diff(value, orjson.loads(orjson.dumps(value))) == ()


DIFFERENT: list[tuple[Value, Value]] = [
    ([2], [2.0]),
    ([1], [True]),
    ([0], [False]),
    ([0.0], [-0.0]),
    ({"a": 0.0}, {"a": -0.0}),
    ({1: "x"}, {"1": "x"}),
    ({1: "x"}, {True: "x"}),
    ({1: "x"}, {1.0: "x"}),
    ({"a": "10"}, {"a": 10}),
    ({"a": None}, {}),
    ({"a": None}, {"a": NAN}),
    ({"a": [None]}, {"a": [NAN]}),
    ({"a": (1, 2)}, {"a": [1, 2]}),
    ({"a": Tagged("datetime.datetime", "2026-01-01")}, {"a": "2026-01-01"}),
    ({"a": [Opaque("pickle", b"1")]}, {"a": [Opaque("pickle", b"2")]}),
    ({"a": Opaque("pickle", b"1")}, {"a": Opaque("bytes", b"1")}),
    ({"a": Tagged(AI, {"x": 1})}, {"a": Tagged(HUMAN, {"x": 1})}),
    ({"a": Tagged(AI, {"x": 1})}, {"a": Tagged(AI, {"x": True})}),
    ({"a": Partial(MISSING, ())}, {"a": Partial(None, ())}),
    ({"a": Partial(MISSING, (1,))}, {"a": Partial(MISSING, (1.0,))}),
    ({"a": {}}, {"a": []}),
    ({"a": ""}, {"a": None}),
]


@pytest.mark.parametrize(("old", "new"), DIFFERENT)
def test_what_looks_alike_differs(old: Value, new: Value) -> None:
    assert diff(old, new)
    check_laws(old, new)
    check_laws([old] * 300 + [old], [old] * 300 + [new])  # long enough for the fast comparison


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": [NAN, NAN, 1]}, {"a": [float("nan"), float("nan"), 1]}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": Tagged(AI, {"x": NAN}, b"raw")}, {"a": Tagged(AI, {"x": NAN})}),
        ({"a": 2**70, "b": "\ud83d"}, {"a": 2**70, "b": "\ud83d"}),
    ],
)
def test_what_looks_different_is_the_same(old: Value, new: Value) -> None:
    assert diff(old, new) == ()
    assert diff([old] * 300, [new] * 300) == ()


def test_one_change_beside_nan_values() -> None:
    old = {f"n{i}": NAN for i in range(5)} | {"x": 1}
    assert diff(old, {f"n{i}": float("nan") for i in range(5)} | {"x": 2}) == (Change("change", ("x",), 1, 2),)


def message(number: int, content: str = "", **more: Value) -> dict[str, Value]:
    return {"id": f"m{number}", "type": "ai", "content": content or f"text {number}", **more}


def chat(count: int) -> list[Value]:
    return [message(number) for number in range(count)]


def ops(changes: Iterable[Change]) -> str:
    return " ".join(change.op for change in changes)


KINDS = {
    "dicts with ids": lambda numbers: [message(n) for n in numbers],
    "messages of a class": lambda numbers: [Tagged(AI, message(n)) for n in numbers],
    "dicts without ids": lambda numbers: [{"name": f"step {n}", "done": False} for n in numbers],
    "numbers": lambda numbers: [n * 7 for n in numbers],
    "texts": lambda numbers: [f"line {n}" for n in numbers],
    "repeated numbers": lambda numbers: [n % 5 for n in numbers],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [3, 40, 1000])
def test_one_operation_each(kind: str, count: int) -> None:
    make = KINDS[kind]
    numbers, middle = list(range(count)), count // 2
    old, extra = make(numbers), make([count + 1])[0]
    assert ops(diff(old, [*old, extra])) == "add"
    assert ops(diff(old, [extra, *old])) == "add"
    assert ops(diff(old, [*old[:middle], extra, *old[middle:]])) == "add"
    assert ops(diff(old, old[1:])) == "remove"
    assert ops(diff(old, [*old[:middle], *old[middle + 1 :]])) == "remove"
    assert ops(diff(old, [*old[1:], old[0]])) == "move"
    assert ops(diff(old, [old[-1], *old[:-1]])) == "move"
    for new in ([*old[1:], old[0]], [old[-1], *old[:-1]], [extra, *old], old[1:]):
        check_laws(old, new)


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_edited_message_is_one_change_inside_it(wrapped: bool) -> None:
    old = chat(1000)
    new = [*old[:500], message(500, "edited"), *old[501:]]
    if wrapped:
        old, new = [Tagged(AI, item) for item in old], [Tagged(AI, item) for item in new]
    changes = diff({"messages": old}, {"messages": new})
    assert changes == (Change("change", ("messages", 500, "content"), "text 500", "edited"),)


def test_messages_are_matched_by_id() -> None:
    old = chat(8)
    new = [message(100), old[0], old[5], old[1], *old[3:5], message(6, "edited"), old[7]]
    changes = diff(old, new)
    assert sorted(ops(changes).split()) == ["add", "change", "move", "remove"]
    assert Change("remove", (2,), old=old[2]) in changes
    assert Change("add", (0,), new=new[0]) in changes
    assert Change("change", (6, "content"), "text 6", "edited") in changes
    check_laws(old, new)


def test_an_id_that_changes_is_another_message() -> None:
    old = [message(1), message(2)]
    assert ops(diff(old, [message(1), {**message(2), "id": "m3"}])) == "remove add"


def test_a_message_that_gets_its_id_is_the_same_message() -> None:
    assert diff([{"id": None, "content": "hi"}], [{"id": "m1", "content": "hi"}]) == (
        Change("change", (0, "id"), None, "m1"),
    )


def test_a_message_of_another_class_is_one_change() -> None:
    old, new = Tagged(AI, message(1)), Tagged(HUMAN, message(1))
    assert diff([old], [new]) == (Change("change", (0,), old, new),)


def test_a_payload_that_is_no_container_changes_with_its_class() -> None:
    old, new = Tagged("decimal.Decimal", "1.0"), Tagged("decimal.Decimal", "2.0")
    assert diff({"a": old}, {"a": new}) == (Change("change", ("a",), old, new),)
    check_laws({"a": old}, {"a": new})


def test_a_block_inserted_into_many_numbers() -> None:
    old = list(range(60))
    assert ops(diff(old, [*old[:20], 100, 101, 102, *old[20:]])) == "add add add"


def test_edited_elements_without_ids_are_paired_by_likeness() -> None:
    steps: list[Value] = [{"name": f"step {n}", "tool": f"tool {n}", "args": {"n": n}} for n in range(4)]
    extra = {"name": "look again", "tool": "search", "args": {"q": "kyoto", "limit": 3}}
    later = {**steps[2], "args": {"n": 99}}
    changes = diff(steps, [*steps[:2], extra, later, steps[3]])
    assert changes == (Change("add", (2,), new=extra), Change("change", (3, "args", "n"), 2, 99))


def test_elements_that_share_nothing_are_replaced_whole() -> None:
    assert diff([{"a": 1, "b": 2}], [{"x": 1, "y": 2, "z": 3}]) == (
        Change("change", (0,), {"a": 1, "b": 2}, {"x": 1, "y": 2, "z": 3}),
    )


def test_a_long_list_that_shares_nothing_is_replaced_whole() -> None:
    draw = random.Random(3)
    old, new = [draw.random() for _ in range(1536)], [draw.random() for _ in range(1536)]
    assert diff({"embedding": old}, {"embedding": new}) == (Change("change", ("embedding",), old, new),)
    changes = diff({"messages": chat(100)}, {"messages": [message(n + 1000) for n in range(100)]})
    assert ops(changes) == "change"


def test_dict_keys_are_told_by_leaf_and_in_order() -> None:
    old = {"plan": {"title": "a", "status": "review"}, "usage": {"cost": 0.17}, "gone": 1}
    new = {"plan": {"title": "a", "status": "final"}, "usage": {"cost": 0.18}, "come": 2}
    assert diff(old, new) == (
        Change("change", ("plan", "status"), "review", "final"),
        Change("change", ("usage", "cost"), 0.17, 0.18),
        Change("remove", ("gone",), old=1),
        Change("add", ("come",), new=2),
    )


def test_an_inner_change_is_told_at_the_same_depth_whatever_stands_beside_it() -> None:
    deep_old, deep_new = {"a": {"b": {"c": [1, 2]}}}, {"a": {"b": {"c": [1, 3]}}}
    for beside in ({}, {"x": 1}, {"x": 1, "y": 2, "z": 3}):
        assert diff(deep_old | beside, deep_new | beside) == (Change("change", ("a", "b", "c", 1), 2, 3),)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_no_order_takes_more_moves_than_it_needs(count: int) -> None:
    old = chat(count)
    for order in permutations(range(count)):
        changes = diff(old, [old[at] for at in order])
        assert len(changes) == count - len(longest_rise(order))
        assert all(change.op == "move" for change in changes)


def test_a_shuffle_of_ten_thousand_takes_the_fewest_moves() -> None:
    order = random.Random(7).sample(range(10_000), 10_000)
    old = list(range(10_000))
    changes = diff(old, order)
    assert len(changes) == 10_000 - len(longest_rise(order))
    assert apply_changes(old, changes) == order


@given(st.permutations(range(7)))
def test_the_longest_rising_run_is_the_longest(order: list[int]) -> None:
    run = longest_rise(order)
    rising = [order[at] for at in run]
    assert rising == sorted(rising)
    best = 0
    for mask in range(1 << len(order)):
        picked = [n for bit, n in enumerate(order) if mask >> bit & 1]
        if picked == sorted(picked):
            best = max(best, len(picked))
    assert len(run) == best


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_repeated_elements_are_kept_as_often_as_possible(old: list[int], new: list[int]) -> None:
    """Removing, adding and moving come to no more than a common subsequence leaves over."""
    lengths = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for x in range(len(old)):
        for y in range(len(new)):
            longest = max(lengths[x][y + 1], lengths[x + 1][y])
            lengths[x + 1][y + 1] = lengths[x][y] + 1 if old[x] == new[y] else longest
    kept = lengths[-1][-1]
    assert len(diff(old, new)) <= max(len(old), len(new)) - kept + min(len(old), len(new)) - kept


def test_deep_nesting_does_not_recurse() -> None:
    def nest(leaf: Value) -> Value:
        value = leaf
        for level in range(5000):
            value = [value] if level % 2 else {"k": value}
        return value

    (change,) = diff(nest(1), nest(2))
    assert (change.op, len(change.path), change.old, change.new) == ("change", 5000, 1, 2)
    assert diff(nest(1), nest(1)) == ()


def test_lists_that_differ_everywhere_are_compared_in_linear_work() -> None:
    """Ten thousand elements, every one of them edited: as many changes, found without comparing all pairs."""
    old = [{"name": f"a{n}", "n": n} for n in range(10_000)]
    new = [{"name": f"b{n}", "n": n} for n in range(10_000)]
    changes = diff(old, new)
    assert len(changes) == 10_000
    assert changes[5000] == Change("change", (5000, "name"), "a5000", "b5000")


def test_the_same_object_is_not_looked_into() -> None:
    class Untouchable(dict[str, Value]):
        def items(self) -> None:  # type: ignore[override]
            raise AssertionError("looked into")

    shared = Untouchable(a=1)
    assert diff({"a": shared, "l": [shared], "x": 1}, {"a": shared, "l": [shared], "x": 2}) == (
        Change("change", ("x",), 1, 2),
    )
