"""The strict JSON codec: equal after a round trip, or refused with the place."""

from __future__ import annotations

import enum
import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.codec import json
from stores.errors import Corrupt, Invalid
from stores.model import MISSING, Opaque, Partial, Tagged

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def same(left: object, right: object) -> bool:
    """Equal in type as well as in value, down to the sign of zero."""
    return repr(left) == repr(right)


@given(VALUES)
def test_a_json_value_survives_exactly(value: object) -> None:
    assert same(json.loads(json.dumps(value)), value)
    assert same(json.loads_own(json.dumps(value)), value)


@given(VALUES)
def test_its_size_is_told_without_its_text(value: object) -> None:
    assert json.size(value) == len(json.dumps(value))
    long = [value] * 150
    assert json.size(long) == len(json.dumps(long))
    for state in ({}, {"a": long, "b": {"c": long}, "ü": value}):
        assert json.size_with({key: json.size(item) for key, item in state.items()}) == len(json.dumps(state))


@pytest.mark.parametrize("value", [{1: 2}, [object()] * 100, {"a": {1}}, {1}])
def test_what_has_no_json_has_no_size(value: object) -> None:
    with pytest.raises(TypeError):
        json.size(value)


class Colour(enum.Enum):
    RED = "red"


class Name(str):
    __slots__ = ()


REFUSED = {
    "nan": (math.nan, "nan is not a JSON number"),
    "infinity": (-math.inf, "-inf is not a JSON number"),
    "big": (2**64, "64 bits"),
    "very negative": (-(2**63) - 1, "64 bits"),
    "surrogate": ("a\ud800", "surrogate"),
    "tuple": ((1, 2), "tuple"),
    "bytes": (b"x", "builtins.bytes"),
    "time": (datetime(2026, 1, 1, tzinfo=UTC), "datetime"),
    "enum": (Colour.RED, "Colour"),
    "subclass": (Name("x"), "Name"),
    "set": ({1}, "builtins.set"),
    "missing": (MISSING, "_Missing"),
    "tagged": (Tagged("m.C", {}), "m.C"),
    "opaque": (Opaque("bytes", b""), "not read in full"),
    "partial": (Partial(MISSING, ()), "not read in full"),
    "key": ({1: 2}, "key 1 is not a string"),
    "surrogate key": ({"\udc00": 2}, "half a surrogate"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_change_is_refused_with_its_path(name: str) -> None:
    value, reason = REFUSED[name]
    with pytest.raises(Invalid) as caught:
        json.dumps({"fine": [1, None], "plan": {"steps": [0, value]}}, ("outer",))
    assert "outer.plan.steps[1]" in str(caught.value)
    assert reason in str(caught.value)


def test_nesting_past_the_writers_limit_is_refused() -> None:
    value: list[object] = []
    for _ in range(300):
        value = [value]
    with pytest.raises(Invalid, match="nested deeper"):
        json.dumps(value)


def test_long_integers_are_read_exactly_and_not_written() -> None:
    value = json.loads(b'{"n": 123456789012345678901234567890}')
    assert value == {"n": 123456789012345678901234567890}
    with pytest.raises(Invalid, match="cannot store n "):
        json.dumps(value)


@pytest.mark.parametrize("before", ["", " ", "[", "[1,", '{"a":', '{"a":\n', "[\t", "[["])
@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "99999999999999999999999"])
def test_wherever_a_long_integer_stands_it_is_read_exactly(before: str, number: str) -> None:
    found = json.loads(before + number + {"[": "]", "{": "}"}.get(before.strip()[:1], "") + "]" * (before == "[["))
    while isinstance(found, list | dict):
        found = list(found.values() if isinstance(found, dict) else found)[-1]
    assert found == int(number)
    assert type(found) is int


@pytest.mark.parametrize("text", ["{", "NaN", '{"a": NaN, "n": 1234567890123456789}', "", '"\ud800"', b"\xff"])
def test_what_is_not_json_is_corrupt(text: str | bytes) -> None:
    with pytest.raises(Corrupt, match="not JSON"):
        json.loads(text)
