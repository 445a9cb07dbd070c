"""Edits as typed, and RFC 6902 in and out, with the jsonpatch library as the judge."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.changes import apply_changes
from stores.errors import Invalid
from stores.model import MISSING, Change, Opaque, Tagged, Value
from tests.core.strategies import edited, json_values, values
from tt_debug.diff import diff
from tt_debug.errors import UsageError
from tt_debug.patch import from_json_patch, parse_set, parse_unset, read_json, to_json_patch
from tt_debug.values import strict_equal

AI = "langchain_core.messages.ai.AIMessage"
STATE: dict[str, Value] = {
    "name": "Kyoto",
    "n": 1,
    "plan": {"steps": ["a", "b"], "odd.key": 1, "x [y]": {"a']['b": 2}},
    "messages": [Tagged(AI, {"id": "m1", "content": "hi"}, b"raw", (5,)), {"id": "m2"}],
    "m": {1: "a", 2: "b"},
    "blob": Opaque("pickle", b"123"),
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('name="Osaka"', Change("change", ("name",), "Kyoto", "Osaka")),
        ("n=1.0", Change("change", ("n",), 1, 1.0)),
        ("plan.steps[1]=null", Change("change", ("plan", "steps", 1), "b", None)),
        ('plan["odd.key"]={"a": [1]}', Change("change", ("plan", "odd.key"), 1, {"a": [1]})),
        ("""plan["x [y]"]["a']['b"]=3""", Change("change", ("plan", "x [y]", "a']['b"), 2, 3)),
        ('plan.title="a=b"', Change("add", ("plan", "title"), new="a=b")),
        ('["new key"]=[]', Change("add", ("new key",), new=[])),
        ("plan.steps[+]=3", Change("add", ("plan", "steps", 2), new=3)),
        ("plan.steps[2]=3", Change("add", ("plan", "steps", 2), new=3)),
        ("/plan/steps/-=3", Change("add", ("plan", "steps", 2), new=3)),
        ("/plan/steps/0=3", Change("change", ("plan", "steps", 0), "a", 3)),
        ("/plan/odd.key=3", Change("change", ("plan", "odd.key"), 1, 3)),
        ("m[1]=3", Change("change", ("m", 1), "a", 3)),
        ("m[3]=3", Change("add", ("m", 3), new=3)),
        ('messages[0].content="ho"', Change("change", ("messages", 0, "content"), "hi", "ho")),
        ("n=147573952589676412927", Change("change", ("n",), 1, 147573952589676412927)),
    ],
)
def test_set(text: str, wanted: Change) -> None:
    found = parse_set(text, STATE)
    assert found == wanted
    assert strict_equal(found.new, wanted.new)
    apply_changes(STATE, [found])


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("name=Kyoto", "'Kyoto', which is not JSON", """--set 'name="Kyoto"'"""),
        ("name=it's", "not JSON", "--set"),
        ("name=", "not JSON", """--set 'name=""'"""),
        ("n=NaN", '{"$float": "nan"}', "--set"),
        ("n=1e999", "1e999 is no JSON number", "--set"),
        ('n={"a":1,"a":2}', 'the key "a" is there twice', "--set"),
        ("name", "expected P=JSON", "--set"),
        ("odd key=1", "unexpected ' ' at position 4", """--set"""),
        ("a[x]=1", 'expected a number or a quoted key after "["', ""),
        ("nothing.there=1", "nothing at nothing", ""),
        ("plan.steps[9]=1", "nothing at plan.steps[9]: the list has 2 elements", ""),
        ("name.first=1", "nothing below name: it is text", ""),
        ("plan.steps.first=1", "nothing at plan.steps.first", ""),
        ("plan[+]=1", "cannot append to plan: it is an object, not a list", ""),
        ("todo[+]=1", "nothing at todo", "--set 'todo=[…]'"),
        ("=1", "the whole state", ""),
        ("blob.x=1", "nothing below blob: it is Opaque", ""),
    ],
)
def test_set_says_what_is_wrong(text: str, says: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_set(text, STATE)
    assert says in str(caught.value)
    if hint != "--set":
        assert hint in caught.value.hint


def test_set_keeps_the_class_and_the_bytes() -> None:
    edit = parse_set(f'messages[0]={{"$type": "{AI}", "value": {{"id": "m1", "content": "ho"}}}}', STATE)
    assert edit.new == Tagged(AI, {"id": "m1", "content": "ho"}, None, (5,))
    same = parse_set(f'messages[0]={{"$type": "{AI}", "value": {{"id": "m1", "content": "hi"}}}}', STATE)
    assert same.new is STATE["messages"][0]
    appended = parse_set(f'messages[+]={{"$type": "{AI}", "value": {{}}}}', STATE)
    assert appended.new == Tagged(AI, {}, None, (5,))


def test_unset() -> None:
    assert parse_unset("plan.steps[0]", STATE) == Change("remove", ("plan", "steps", 0), old="a")
    assert parse_unset("/m/1", STATE) == Change("remove", ("m", 1), old="a")
    for text, says in [
        ("gone", "nothing at gone"),
        ("", "whole state"),
        ("a b", "unexpected ' '"),
        ("n.x", "nothing at n.x"),
    ]:
        with pytest.raises(UsageError, match=says):
            parse_unset(text, STATE)


@given(json_values())
def test_json_text_is_read_as_it_stands(value: Value) -> None:
    assert strict_equal(read_json(json.dumps(value)), value)


@given(edited(json_values()))
def test_a_diff_as_a_patch_means_the_same_to_everyone(pair: tuple[Value, Value]) -> None:
    old, new = pair
    operations = to_json_patch(diff(old, new), old)
    theirs = jsonpatch.apply_patch(old, operations)
    assert strict_equal(theirs, new)
    assert strict_equal(apply_changes(old, from_json_patch(operations, old)), new)


@given(json_values(), json_values())
def test_their_patch_means_the_same_to_us(old: Value, new: Value) -> None:
    operations = json.loads(jsonpatch.make_patch(old, new).to_string())
    wanted = jsonpatch.apply_patch(old, operations)
    found = apply_changes(old, from_json_patch(operations, old))
    assert strict_equal(found, wanted)


@given(values(), values())
def test_a_patch_carries_every_value_there_and_back(old: Value, new: Value) -> None:
    state = {"x": old, "y": new}
    changes = diff(state, {"x": new, "y": new})
    try:
        operations = json.loads(json.dumps(to_json_patch(changes, state)))
    except Invalid:
        return  # a key that no pointer can name
    assert strict_equal(apply_changes(state, from_json_patch(operations, state)), {"x": new, "y": new})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({1: "a", "1": "b"}, {1: "a", "1": "B"}),
        ({"1": "x"}, {1: "x"}),
        ({"a": "x"}, {"a": "x", 2: "y"}),
        ({-1: "a"}, {-1: "b"}),
    ],
)
def test_a_key_that_a_pointer_would_confuse_with_another_is_refused(old: Value, new: Value) -> None:
    state = {"m": old}
    with pytest.raises(Invalid, match=r"cannot tell .* of m") as caught:
        to_json_patch(diff(state, {"m": new}), state)
    assert "--json" in caught.value.hint


def test_number_keys_that_nothing_is_confused_with_are_patched() -> None:
    old, new = {"m": {1: "a", 2: "b"}, "d": {1: "x"}}, {"m": {1: "A", 3: "c"}, "d": {"1": "x"}}
    operations = to_json_patch(diff(old, new), old)
    assert apply_changes(old, from_json_patch(operations, old)) == new


RFC_CASES: list[tuple[Value, list[dict[str, Any]], Value]] = [
    # The examples of RFC 6902, appendix A.
    ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}),
    ({"foo": ["a", "b"]}, [{"op": "add", "path": "/foo/1", "value": "q"}], {"foo": ["a", "q", "b"]}),
    ({"baz": 1, "foo": 2}, [{"op": "remove", "path": "/baz"}], {"foo": 2}),
    ({"foo": ["a", "q", "b"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["a", "b"]}),
    ({"baz": 1, "foo": 2}, [{"op": "replace", "path": "/baz", "value": 3}], {"baz": 3, "foo": 2}),
    (
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    (
        {"foo": ["all", "grass", "cows", "eat"]},
        [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    ({"foo": ["a", 2, "c"]}, [{"op": "test", "path": "/foo/1", "value": 2}], {"foo": ["a", 2, "c"]}),
    ({"foo": "bar"}, [{"op": "add", "path": "/child", "value": {"g": {}}}], {"foo": "bar", "child": {"g": {}}}),
    ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}], {"foo": "bar", "baz": "qux"}),
    ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
    ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc"]}], {"foo": ["bar", ["abc"]]}),
    ({"foo": None}, [{"op": "add", "path": "/foo", "value": 1}], {"foo": 1}),
    ({"a": 1, "b": 2}, [{"op": "move", "from": "/a", "path": "/b"}], {"b": 1}),
    ({"a": {"b": 1}}, [{"op": "move", "from": "/a/b", "path": "/a"}], {"a": 1}),
    ({"a": [1, 2]}, [{"op": "move", "from": "/a/0", "path": "/a/-"}], {"a": [2, 1]}),
    ({"a": 1}, [{"op": "move", "from": "/a", "path": "/a"}], {"a": 1}),
    ({"a": [1], "b": {}}, [{"op": "copy", "from": "/a", "path": "/b/c"}], {"a": [1], "b": {"c": [1]}}),
    ({"a": 1}, [{"op": "replace", "path": "", "value": []}], []),
    ({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}], {"a": 1}),
    ({"0": 1}, [{"op": "replace", "path": "/0", "value": 2}], {"0": 2}),
    ({}, [{"op": "add", "path": "/1", "value": 2}], {"1": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("state", "operations", "wanted"), RFC_CASES)
def test_operations_as_the_standard_has_them(state: Value, operations: list[dict[str, Any]], wanted: Value) -> None:
    before = json.dumps(state)
    assert strict_equal(apply_changes(state, from_json_patch(operations, state)), wanted)
    assert json.dumps(state) == before


@pytest.mark.parametrize(
    ("operation", "error", "says"),
    [
        ({"op": "test", "path": "/a", "value": 2}, Invalid, r"operation 1 \(test /a\) fails: there is 1, not 2"),
        ({"op": "test", "path": "/a", "value": True}, Invalid, "fails"),
        ({"op": "test", "path": "/a", "value": "1"}, Invalid, "fails"),
        ({"op": "test", "path": "/l", "value": {}}, Invalid, "fails"),
        ({"op": "test", "path": "/b", "value": None}, Invalid, "nothing at b"),
        ({"op": "remove", "path": "/b"}, Invalid, "nothing at b"),
        ({"op": "remove", "path": "/l/2"}, Invalid, r"nothing at l\[2\]"),
        ({"op": "replace", "path": "/b", "value": 1}, Invalid, "nothing at b"),
        ({"op": "add", "path": "/b/c", "value": 1}, Invalid, "nothing at b"),
        ({"op": "add", "path": "/l/3", "value": 1}, Invalid, r"cannot insert at l\[3\]"),
        ({"op": "add", "path": "/l/01", "value": 1}, Invalid, "l"),
        ({"op": "add", "path": "/b/-", "value": 1}, Invalid, "nothing at b"),
        ({"op": "move", "from": "/l", "path": "/l/0"}, Invalid, "l"),
        ({"op": "copy", "from": "/b", "path": "/c"}, Invalid, "nothing at b"),
        ({"op": "add", "path": "/b"}, UsageError, "has no 'value'"),
        ({"op": "move", "path": "/b"}, UsageError, "has no 'from'"),
        ({"path": "/b"}, UsageError, "op is one of add, replace"),
        ({"op": ["x"], "path": "/b"}, UsageError, "op is one of"),
        ({"op": "spam", "path": "/b"}, UsageError, "op is one of"),
        ({"op": "remove", "path": "b"}, UsageError, "starts with '/'"),
        ({"op": "remove", "path": "/~2"}, UsageError, "followed by 0 or 1"),
        ({"op": "remove", "path": 3}, UsageError, "is not text"),
        ([], UsageError, "operation 1 is not an object"),
    ],
)
def test_operations_that_do_not_fit(operation: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        from_json_patch([operation], {"a": 1, "l": [1, 2]})


def test_a_key_that_no_pointer_can_name_is_refused_with_its_path() -> None:
    with pytest.raises(Invalid, match=r"cannot name the key 1.5 of m\[1.5\]"):
        to_json_patch([Change("remove", ("m", 1.5), old=1)], {"m": {1.5: 1}})  # type: ignore[arg-type]


def test_never_more_bytes_than_jsonpatch() -> None:
    def chat(count: int) -> list[Value]:
        return [{"id": f"m{n}", "type": "ai", "content": f"text {n} " * 20} for n in range(count)]

    draw = random.Random(5)
    old, extra = chat(200), {"id": "new", "type": "human", "content": "hello"}
    edited_message = [*old[:100], {**old[100], "content": "edited"}, *old[101:]]
    shuffled = draw.sample(old, len(old))
    others = [{**message, "id": f"x{n}", "content": "other"} for n, message in enumerate(old)]
    for new in ([*old, extra], [extra, *old], edited_message, [*old[1:], old[0]], shuffled, others, []):
        ours = json.dumps(to_json_patch(diff({"messages": old}, {"messages": new}), {"messages": old}))
        theirs = jsonpatch.make_patch({"messages": old}, {"messages": new}).to_string()
        assert len(ours) <= len(theirs)


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=4))
def test_set_and_unset_undo_each_other(keys: list[str]) -> None:
    state: dict[str, Value] = {}
    done: list[Change] = []
    for key in dict.fromkeys(keys):
        done.append(parse_set(f"{key}=[]", state))
        state = apply_changes(state, done[-1:])
    for key in dict.fromkeys(keys):
        gone = parse_unset(key, state)
        assert gone.new is MISSING
        state = apply_changes(state, [gone])
    assert state == {}
