"""Values as JSON and back, and when two are the same."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.model import MISSING, Opaque, Partial, Tagged, Value
from tests.core.strategies import edited, values
from tt_debug.equality import common_prefix, common_suffix, surely_equal
from tt_debug.errors import UsageError
from tt_debug.values import from_json, plain, strict_equal, to_json, walk

NAN = float("nan")
SHA_123 = "a665a45920422f9d417e4867efdc4fb8a04a1f3fff1fa07e998e86f7f7a27ae3"
FORMS: list[tuple[Value, Value]] = [
    ({"a": [1, 1.5, True, None, "x"]}, {"a": [1, 1.5, True, None, "x"]}),
    (Tagged("ghostmod.Rec", {"value": 3}, b"raw"), {"$type": "ghostmod.Rec", "value": {"value": 3}}),
    (Opaque("pickle", b"123"), {"$opaque": "pickle", "size": 3, "sha256": SHA_123}),
    (b"123", {"$opaque": "bytes", "size": 3, "sha256": SHA_123}),
    (Partial([1], ("w",)), {"$partial": {"writes": ["w"], "seed": [1]}}),
    (Partial(MISSING, ()), {"$partial": {"writes": []}}),
    (NAN, {"$float": "nan"}),
    (float("-inf"), {"$float": "-inf"}),
    ({1: "a", "1": "b", (1, "x"): None}, {"$map": [[1, "a"], ["1", "b"], [[1, "x"], None]]}),
    ({"$type": "not ours"}, {"$map": [["$type", "not ours"]]}),
    ({"$other": 1}, {"$other": 1}),
    ((1, 2), [1, 2]),
]


@pytest.mark.parametrize(("value", "wanted"), FORMS)
def test_what_json_has_no_word_for(value: Value, wanted: Value) -> None:
    assert to_json(value) == wanted
    assert from_json(json.loads(json.dumps(to_json(value))), value) is value or isinstance(value, tuple)


@given(values())
def test_an_untouched_value_comes_back_as_the_very_object(value: Value) -> None:
    again = from_json(json.loads(json.dumps(to_json(value))), value)
    assert strict_equal(again, value)
    assert again is value or not isinstance(value, dict | list | Tagged | Opaque | Partial)


@given(edited())
def test_an_edited_value_comes_back_from_its_text(pair: tuple[Value, Value]) -> None:
    old, new = pair
    assert strict_equal(from_json(json.loads(json.dumps(to_json(new))), old, new), new)


def test_what_is_untouched_keeps_its_bytes_and_the_rest_its_class() -> None:
    first, second = Tagged("m.Msg", {"id": 1, "x": NAN}, b"first", (5,)), Tagged("m.Msg", {"id": 2}, b"second", (5,))
    old = {"messages": [first, second], "n": 1}
    obj = to_json(old)
    obj["messages"][1]["value"]["id"] = 3
    obj["messages"].append({"$type": "m.Msg", "value": {"id": 4}})
    new = from_json(obj, old)
    assert new["messages"][0] is first
    assert new["messages"][1] == Tagged("m.Msg", {"id": 3}, None, (5,))
    assert new["messages"][2] == Tagged("m.Msg", {"id": 4}, None, (5,))


def test_an_opaque_value_can_be_moved_but_not_made_up() -> None:
    blob = Opaque("pickle", b"123")
    assert from_json({"b": to_json(blob)}, {"a": blob})["b"] is blob
    assert from_json(to_json(blob), MISSING, {"somewhere": [blob]}) is blob
    with pytest.raises(UsageError, match="not here"):
        from_json({"b": to_json(blob)}, {"a": Opaque("pickle", b"other")})
    with pytest.raises(UsageError, match="not here"):
        from_json(to_json(blob), Opaque("bytes", b"123"))


@pytest.mark.parametrize(
    "obj",
    [
        {"$type": "x"},
        {"$type": 3, "value": 1},
        {"$type": "x", "value": 1, "more": 2},
        {"$opaque": "pickle"},
        {"$opaque": 3, "sha256": "x"},
        {"$partial": []},
        {"$partial": {"seed": 1}},
        {"$map": {}},
        {"$map": [[1]]},
        {"$map": [[{}, 1]]},
        {"$map": [[1, 1], [1, 2]]},
        {"$float": "big"},
        {"$float": "nan", "x": 1},
    ],
)
def test_a_malformed_form_is_refused_with_its_place(obj: Value) -> None:
    with pytest.raises(UsageError, match=r"at (the top|a\[0\])"):
        from_json({"a": [obj]})


def test_deep_values_are_written_without_recursion_and_refused_when_read() -> None:
    deep: Value = 1
    for _ in range(5000):
        deep = [{"k": deep}]
    obj = to_json(deep)
    assert isinstance(obj[0]["k"], list)
    assert sum(1 for _ in walk(deep)) == 10_001
    assert plain(deep) is deep
    with pytest.raises(UsageError, match="nested too deeply"):
        from_json(obj)


def test_plain_is_what_an_expression_sees() -> None:
    state = {
        "m": [Tagged("m.Msg", {"at": Tagged("datetime.datetime", "2026")})],
        "b": Opaque("pickle", b"123"),
        "n": (1,),
    }
    assert plain(state) == {
        "m": [{"at": "2026"}],
        "b": {"$opaque": "pickle", "size": 3, "sha256": SHA_123},
        "n": [1],
    }


def test_equality_does_not_care_about_bytes_that_say_the_same() -> None:
    assert strict_equal(Tagged("m.A", {"x": 1}, b"one"), Tagged("m.A", {"x": 1}, b"other"))
    assert strict_equal(Tagged("m.A", {"x": 1}, b"one"), Tagged("m.A", {"x": 1}))
    assert not strict_equal(Tagged("m.A", {"x": 1}), Tagged("m.A", {"x": 1.0}))
    assert strict_equal(MappingProxyType({"a": 1}), {"a": 1})
    assert not strict_equal(MappingProxyType({"a": 1}), {"a": True})


@given(edited())
def test_the_fast_comparison_never_says_yes_wrongly(pair: tuple[Value, Value]) -> None:
    old, new = pair
    if surely_equal(old, new):
        assert to_json(old) == to_json(new)
        assert strict_equal(old, new)


@given(st.lists(st.integers(0, 1), max_size=400), st.integers(0, 400), st.booleans())
def test_common_ends_are_found_exactly(items: list[int], at: int, as_float: bool) -> None:
    other = list(items)
    if items:
        at %= len(items)
        other[at] = float(items[at]) if as_float else items[at] + 5  # type: ignore[call-overload]
    wanted = at if items else 0
    assert common_prefix(items, other) == wanted
    assert common_suffix(items, other, wanted) == (len(items) - at - 1 if items else 0)
    assert common_prefix(items, items[:wanted]) == wanted
    assert common_suffix([9, *items], list(items), 0) == len(items)
