"""A value as a text to edit, and what was changed in it."""

from __future__ import annotations

import pytest

from stores.model import Change, Opaque, Tagged
from tests.tui.conftest import unsafe_characters
from tests.tui.sample_threads import message
from tt_debug.errors import UsageError
from tt_debug.tui.draft import as_text, read_text


def test_an_untouched_text_is_no_change_whatever_the_value() -> None:
    value = {
        "m": [message("ai", "hi", "1")],
        "n": 1.0,
        "blob": Opaque("bytes", b"\x00\x01"),
        "odd": {1: "a"},
        "nan": float("nan"),
        "esc": "\x1b[31m \u202e \ud800 京都",
    }
    assert read_text(as_text(value), value, ()) == ()


def test_the_text_escapes_what_acts_on_a_terminal_and_keeps_what_people_read() -> None:
    text = as_text({"a": "\x1b]0;x\x07 \x9b1m \u202e京都 🙂"})
    assert unsafe_characters(text) == set()
    assert "京都 🙂" in text


def test_a_change_has_the_path_it_was_edited_at() -> None:
    assert read_text('{"a": 2, "c": 3}', {"a": 1, "b": 0}, ("p", 1)) == (
        Change("change", ("p", 1, "a"), 1, 2),
        Change("remove", ("p", 1, "b"), 0),
        Change("add", ("p", 1, "c"), new=3),
    )


def test_a_class_is_kept_when_its_payload_is_edited() -> None:
    old = message("ai", "hotels", "1")
    text = as_text(old).replace("hotels", "ryokan")
    assert read_text(text, old, ("messages", 0)) == (Change("change", ("messages", 0, "content"), "hotels", "ryokan"),)
    assert isinstance(old, Tagged)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "line 1, column 1: a value is missing here; text stands in double quotes"),
        ('{"a": 1,}', "line 1, column"),
        ('{\n"a": 1 "b": 2}', "line 2, column 8: a comma, or the closing bracket, is missing here"),
        ("NaN", 'NaN is not JSON: write {"$float": "nan"}'),
        ("", "a value is missing here"),
        ("1 2", "something follows after the end"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=r".") as caught:
        read_text(text, 1, ("a",))
    assert words in str(caught.value)


def test_a_whole_state_must_stay_an_object() -> None:
    with pytest.raises(UsageError, match="a state is an object"):
        read_text("[1]", {"a": 1}, ())
