"""Paths as people write them, as RFC 6901 has them, and what they lead to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.model import Opaque, Path, Tagged, Value
from stores.paths import format_path, format_pointer, get_path, parse_path, parse_pointer, scan_path, settle_path

STEPS = st.one_of(
    st.text(max_size=4),
    st.integers(0, 100),
    st.sampled_from(["a']['b", "it's", "x [y]", "a.b", "a/b~c", "", "\ud83d", "京都", "0", "-", "+", "\\", '"']),
)
ODD = st.one_of(STEPS, st.booleans(), st.none(), st.floats(allow_nan=False), st.binary(max_size=2))


@given(st.lists(ODD, max_size=5).map(tuple))
def test_a_path_is_read_back_as_it_was(path: Path) -> None:
    text = format_path(path)
    found = parse_path(text)
    assert found == path
    assert [type(step) for step in found] == [type(step) for step in path]
    assert text.encode().decode() == text
    assert scan_path(text + "[+]") == (path, len(text))
    assert scan_path(text + "=1") == (path, len(text))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ()),
        ("plan", ("plan",)),
        ('plan.steps[2]["odd.key"]', ("plan", "steps", 2, "odd.key")),
        ('["odd key"].x', ("odd key", "x")),
        ("a-b.c_d", ("a-b", "c_d")),
        ("messages[0].content", ("messages", 0, "content")),
        ("京都.価格", ("京都", "価格")),
        ("$ref.@id", ("$ref", "@id")),
        ("m.0", ("m", "0")),
        ("m[1.5][true][null]", ("m", 1.5, True, None)),
        ("/plan/steps/2", ("plan", "steps", 2)),
        ("/a~1b/m~0n//01", ("a/b", "m~n", "", "01")),
        ("/", ("",)),
    ],
)
def test_written_paths(text: str, path: Path) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a..b", r"unexpected '\.' at position 2"),
        ("a b", "unexpected ' ' at position 2"),
        ("a.", r"unexpected '\.' at position 2"),
        (".a", r"unexpected '\.' at position 1"),
        ("a]", r"unexpected '\]' at position 2"),
        ("a[x]", r'write \[0\] for a list position, \["x"\] for a key'),
        ("a['x']", "at position 3"),
        ("a[", "at position 3"),
        ("a[0", r'expected "\]" at position 4'),
        ('a["x]', "at position 3"),
        ("a[{}]", "an object cannot be a key"),
        ("l[+]", r"unexpected '\[' at position 2"),
        ("/a~2", "followed by 0 or 1"),
        ("/a~", "followed by 0 or 1"),
    ],
)
def test_what_is_no_path_is_refused_with_its_position(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_path(text)


def test_a_pointer_starts_with_a_slash() -> None:
    assert parse_pointer("") == ()
    with pytest.raises(ValueError, match="starts with"):
        parse_pointer("a")


@given(st.lists(STEPS, max_size=5).map(tuple))
def test_a_pointer_names_every_text_and_number(path: Path) -> None:
    assert [str(step) for step in parse_pointer(format_pointer(path))] == [str(step) for step in path]


@pytest.mark.parametrize("step", [1.5, None, True, b"x"])
def test_a_pointer_cannot_name_other_keys(step: Value) -> None:
    with pytest.raises(ValueError, match="cannot name the key"):
        format_pointer(("m", step))


STATE: dict[str, Value] = {
    "l": ["a", "b"],
    "d": {"0": "zero", 1: "one", "x": None},
    "ints": {1: "one"},
    "message": Tagged("m.Msg", Tagged("m.Inner", {"content": ["hi"]})),
    "blob": Opaque("pickle", b"1"),
}


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("/l/1", ("l", 1), "b"),
        ("l.1", ("l", 1), "b"),
        ("/d/0", ("d", "0"), "zero"),
        ("/d/1", ("d", 1), "one"),
        ("/ints/1", ("ints", 1), "one"),
        ("message.content[0]", ("message", "content", 0), "hi"),
        ("/message/content/0", ("message", "content", 0), "hi"),
        ("d.x", ("d", "x"), None),
    ],
)
def test_a_path_settles_on_what_is_there(text: str, path: Path, value: Value) -> None:
    settled = settle_path(STATE, parse_path(text))
    assert settled == path
    assert get_path(STATE, settled) == value


@pytest.mark.parametrize(
    ("path", "wanted"),
    [(("d", 5), ("d", "5")), (("ints", 5), ("ints", 5)), (("new", 5), ("new", 5)), (("l", "x"), ("l", "x"))],
)
def test_what_is_not_there_settles_on_what_it_would_be(path: Path, wanted: Path) -> None:
    assert settle_path(STATE, path) == wanted


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        (("gone",), KeyError, "nothing at gone"),
        (("d", "1"), KeyError, r"nothing at d\[\\?\"1\\?\"\]"),
        (("d", True), KeyError, "nothing at d"),
        (("l", 2), IndexError, r"nothing at l\[2\]: the list has 2 elements"),
        (("l", -1), IndexError, "nothing at l"),
        (("l", "x"), LookupError, "a list has positions"),
        (("l", True), LookupError, "a list has positions"),
        (("blob", "x"), LookupError, "Opaque has no parts"),
        (("l", 0, "x"), LookupError, "str has no parts"),
    ],
)
def test_what_leads_nowhere_names_the_place(path: Path, error: type[LookupError], says: str) -> None:
    with pytest.raises(error, match=says):
        get_path(STATE, path)
