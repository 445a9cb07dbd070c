"""Whether bytes may hold a text: a no is never wrong, whatever case and form the text stands in."""

from __future__ import annotations

import json
import sys

import ormsgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tt_debug.needle import _AS_JSON, _STRANGERS, Needle, _is_caseless

LETTERS = st.text(st.sampled_from("sSkKfiIßſKﬁİÉéΣσς京¥\"\\/'\n\u2028 a1"), max_size=12) | st.text(max_size=12)


def forms(text: str) -> list[bytes]:
    """The bytes that a store may hold it as."""
    return [
        text.encode(),
        ormsgpack.packb({"x": [text]}),
        json.dumps({"x": text}).encode(),
        json.dumps({"x": text}, ensure_ascii=False).encode(),
    ]


@given(LETTERS, LETTERS, LETTERS.filter(bool), st.booleans())
@example("", "", "ſ", False)
@example("", "", "STRASSE", False)
@example("", "ß", "ss", False)
def test_bytes_that_hold_it_are_never_said_not_to(before: str, after: str, text: str, case: bool) -> None:
    needle = Needle(text, case=case)
    variants = [text] if case else [text, text.upper(), text.lower(), text.title(), text.casefold()]
    for variant in variants:
        whole = before + variant + after
        if (text in whole) if case else (text.casefold() in whole.casefold()):
            assert all(map(needle, forms(whole)))


@pytest.mark.parametrize("text", ["find me", "京都", "a_b-c.d", "HTTP 502"])
def test_bytes_without_it_are_passed_over(text: str) -> None:
    assert not any(map(Needle(text), forms("something else, in the same state")))
    assert Needle(text, case=True)(text.encode())


@pytest.mark.parametrize("text", ["88000", "-1", "4.9", "1e+30", "E5", "."])
def test_a_number_s_text_may_stand_in_bytes_that_do_not_show_it(text: str) -> None:
    assert Needle(text)(ormsgpack.packb({"price": 1}))
    assert not Needle(f"{text}, he said")(ormsgpack.packb({"price": 1}))


def test_what_has_no_bytes_of_its_own_may_be_anywhere() -> None:
    assert Needle("É")(b"anything")
    assert Needle("\ud800")(b"anything")


def test_the_characters_that_fold_into_others_are_all_known() -> None:
    folded = {
        char: char.casefold()
        for char in map(chr, range(0x80, sys.maxunicode + 1))
        if not "\ud800" <= char <= "\udfff" and char.casefold() != char
    }
    into_ascii = [char for char, fold in folded.items() if any(part.isascii() for part in fold)]
    for char in into_ascii:
        letters = next(letters for begins, letters in _STRANGERS.items() if char.encode().startswith(begins))
        assert {part for part in folded[char] if part.isascii()} <= {*letters}
    assert all(json.dumps(char).lower().encode()[1:].startswith(_AS_JSON) for char in into_ascii)
    assert not any(_is_caseless(part) for fold in folded.values() for part in fold if not part.isascii())
