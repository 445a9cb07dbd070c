"""Text from a store cannot act on a terminal, deceive a reader, or break a line's width."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from stores.model import MISSING, Change, Opaque, Partial, Tagged, Value
from tests.core.strategies import values
from tt_debug.diff import diff
from tt_debug.diff_text import format_diff
from tt_debug.redaction import SHOWN, Hidden
from tt_debug.text import (
    cell_width,
    clip,
    format_state,
    human_age,
    human_duration,
    human_size,
    one_line,
    safe_text,
)
from tt_debug.words import word_diff

AI = "langchain_core.messages.ai.AIMessage"
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HIDDEN = "\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\u180e\u2028\u2029\ufff9\ufffa\ufffb\U000e0041\U000e007f"
HOSTILE = [
    "\x1b]52;c;ZXZpbA==\x1b\\",
    "\x1b]0;pwn\x07",
    "\x1b[2J",
    "\x9b31m",
    "\x9d0;pwn\x9c",
    "a\rb",
    "a\bb",
    "\x00",
    "\x7f",
    *BIDI,
    *HIDDEN,
    "\ud83d",
    "\udc00x",
]


def unsafe(text: str) -> list[str]:
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cs") or c in BIDI or c in HIDDEN]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_not_obeyed(text: str) -> None:
    for shown in (safe_text(text), safe_text(f"before {text} after"), one_line(text), one_line({text: [text]})):
        assert unsafe(shown) == []
        assert shown.encode()
    assert "before " in safe_text(f"before {text} after")


def test_every_control_has_its_picture() -> None:
    assert safe_text("".join(map(chr, range(32)))) == "␀␁␂␃␄␅␆␇␈    ⏎␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟"
    assert safe_text("\x7f\x9b31m\x9d") == "␡␛[31m␛]"
    assert safe_text(BIDI + HIDDEN) == "\ufffd" * len(BIDI + HIDDEN)
    assert safe_text("a\ud83dz\udfff") == r"a\ud83dz\udfff"
    # Each alone, too: whether a text has one is told by whether Python calls all of it printable.
    assert not [c for c in f"{''.join(map(chr, range(32)))}\x7f\x9b{BIDI}{HIDDEN}\ud83d" if safe_text(c) == c]


@given(st.text(st.characters(codec=None)))  # lone surrogates too
def test_nothing_unsafe_is_left_in_any_text(text: str) -> None:
    assert unsafe(safe_text(text)) == []
    assert set(unsafe(safe_text(text, newlines=True))) <= {"\n"}
    assert safe_text(safe_text(text)) == safe_text(text)


@pytest.mark.parametrize(
    "text", ["", "plain", "[@click=app.quit]x[/]", "京都", "e\u0301", "⚠\ufe0f", "👨\u200d👩\u200d👧", "می\u200cخواهم"]
)
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    assert safe_text(text) == text


def test_line_ends() -> None:
    assert safe_text("a\r\nb\nc\td") == "a⏎b⏎c    d"
    assert safe_text("a\r\nb\nc\td\re", newlines=True) == "a\nb\nc    d␍e"


CHARACTERS = ["a", "京", "é", "e\u0301", "👨\u200d👩\u200d👧", "❤\ufe0f", "🙂", " "]
WIDE = st.lists(st.sampled_from(CHARACTERS), max_size=20).map("".join)


@given(WIDE, st.integers(0, 30))
def test_cutting_keeps_to_the_width_and_never_splits_a_character(text: str, width: int) -> None:
    cut = clip(text, width)
    assert cell_len(cut) <= width
    assert cell_width(cut) == cell_len(cut)
    if cell_len(text) <= width:
        assert cut == text
    elif width:
        assert cut.endswith("…")
        assert text.startswith(cut[:-1].rstrip())


def test_cutting_a_long_text_measures_only_its_beginning() -> None:
    assert clip("京" * 1_000_000, 5) == "京京…"
    assert clip("a" * 1_000_000, 5) == "aaaa…"


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        *((0, "0"), (999, "999"), (1000, "1.0k"), (5949, "5.9k"), (9_949, "9.9k"), (9_951, "10k"), (183_400, "183k")),
        *((999_499, "999k"), (999_500, "1.0M"), (2_100_000, "2.1M"), (3 * 10**9, "3.0G"), (5 * 10**15, "5000T")),
    ],
)
def test_sizes(size: int, wanted: str) -> None:
    assert human_size(size) == wanted


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [
        *((0, "0ms"), (0.0004, "0ms"), (0.174, "174ms"), (0.9996, "1.0s"), (2.14, "2.1s"), (59.94, "59.9s")),
        *((59.96, "1m00s"), (552, "9m12s"), (3599.7, "1h00m"), (7500, "2h05m")),
    ],
)
def test_durations(seconds: float, wanted: str) -> None:
    assert human_duration(seconds) == wanted


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [(-5, "0s"), (0, "0s"), (59, "59s"), (60, "1m"), (7199, "1h"), (86_400, "1d"), (400 * 86_400, "1y")],
)
def test_ages(seconds: int, wanted: str) -> None:
    now = datetime(2026, 9, 14, tzinfo=UTC)
    assert human_age(now - timedelta(seconds=seconds), now) == wanted
    assert human_age(None, now) == ""


LINES: list[tuple[Value, str]] = [
    (None, "null"),
    (True, "true"),
    (1.0, "1.0"),
    (float("nan"), "NaN"),
    ("a\nb", '"a⏎b"'),
    ('a" → "b\\', r'"a\" → \"b\\"'),
    ("half \ud83d", r'"half \ud83d"'),
    (r"half \ud83d", r'"half \\ud83d"'),
    ({}, "{}"),
    ([], "[]"),
    ({"city": "Kyoto", "nights": [3, 4]}, '{city: "Kyoto", nights: [3, 4]}'),
    ({1: "x", None: "y"}, '{1: "x", null: "y"}'),
    ({1: "a", "1": "b", "-2.5e3": "c", "1st": "d"}, '{1: "a", "1": "b", "-2.5e3": "c", 1st: "d"}'),
    ({"": 1, "null": 2, "NaN": 3, "(1, 2)": 4}, '{"": 1, "null": 2, "NaN": 3, "(1, 2)": 4}'),
    ({"x\x1b": 1}, "{x␛: 1}"),
    ([0.5] * 1536, "[1536 numbers]"),
    (Opaque("pickle", b"x" * 2000), "<pickle 2.0k>"),
    (b"123", "<bytes 3>"),
    (Partial(MISSING, (1,)), "<partly known: 1 write since the start>"),
    (Partial([], (1, 2)), "<partly known: 2 writes since a snapshot>"),
    (Tagged("decimal.Decimal", "1.0"), 'Decimal("1.0")'),
    (Tagged("builtins.set", [1]), "set([1])"),
    (Tagged("ghostmod.Rec", {"value": 3}), "ghostmod.Rec({value: 3})"),
    (Tagged("os.mkdir", "/x"), 'os.mkdir("/x")'),
    ({"type": "human", "content": "hi"}, "human  hi"),
    ({"role": "user", "content": "hi"}, "human  hi"),
    (Tagged(AI, {"type": "ai", "content": [{"type": "text", "text": "look"}, {"type": "image"}]}), "ai  look <image>"),
    (
        Tagged(AI, {"type": "ai", "content": "", "tool_calls": [{"name": "search", "args": {"q": "kyoto", "n": 3}}]}),
        'ai  ⚙ search(q="kyoto", n=3)',
    ),
    ({"type": "ai", "content": 3}, '{type: "ai", content: 3}'),
]


@pytest.mark.parametrize(("value", "wanted"), LINES)
def test_any_value_on_one_line(value: Value, wanted: str) -> None:
    assert one_line(value) == wanted


@given(values(), st.integers(1, 60))
def test_a_line_is_one_safe_line_of_the_width_asked_for(value: Value, width: int) -> None:
    line = one_line(value, width)
    assert cell_len(line) <= width
    assert unsafe(line) == []


def test_a_line_of_a_huge_or_deep_value_looks_at_its_beginning_only() -> None:
    deep: Value = "x"
    for _ in range(5000):
        deep = {"type": "ai", "content": deep} if isinstance(deep, dict) else [deep]
        deep = {"k": deep}
    assert len(one_line(deep, 80)) == 80
    assert len(one_line(["x" * 10_000_000] * 100_000, 80)) == 80


@given(WIDE, WIDE)
def test_a_word_diff_holds_both_texts(old: str, new: str) -> None:
    pieces = word_diff(old, new)
    assert "".join(text for op, text in pieces if op != "add") == old
    assert "".join(text for op, text in pieces if op != "remove") == new
    assert all(text for _, text in pieces)
    assert all(one[0] != other[0] for one, other in pairwise(pieces))


def test_two_texts_with_little_in_common_stand_one_after_the_other() -> None:
    old, new = "OVER BUDGET by 168000 yen", "within the budget of everybody"
    assert format_diff((Change("change", ("verdict",), old, new),)) == [f'~ verdict  "{old}" → "{new}"']


def test_a_word_diff_keeps_the_words_that_stay() -> None:
    assert word_diff("the quick brown fox", "the quick red fox") == [
        ("equal", "the quick "),
        ("remove", "brown"),
        ("add", "red"),
        ("equal", " fox"),
    ]
    assert word_diff("same", "same") == [("equal", "same")]
    assert word_diff("", "") == []


def test_texts_with_nothing_in_common_do_not_take_for_ever() -> None:
    old, new = " ".join(f"a{n}" for n in range(20_000)), " ".join(f"b{n}" for n in range(20_000))
    assert [op for op, _ in word_diff(old, new)] == ["remove", "add"]


def message(number: int, text: str) -> Tagged:
    return Tagged(AI, {"id": f"m{number}", "type": "ai", "content": text})


def test_a_diff_as_text() -> None:
    text = "The quick brown fox jumps over the lazy dog and then sleeps under the old tree until the dawn comes."
    messages = [message(n, f"text {n}") for n in range(5)]
    old = {
        "messages": messages,
        "plan": {"status": "review", "steps": ["a", "b", "c"]},
        "n": 1,
        "doc": text,
        "gone": None,
        "same": 1,
        "also": 2,
        "x\x1b[2J": 1,
    }
    new = {
        "messages": [*messages[:2], message(2, "edited"), *messages[3:], message(9, "I will look\n\x1b[31m")],
        "plan": {"status": "final", "steps": ["c", "a", "b"]},
        "n": "1",
        "doc": text.replace("brown", "red").replace("dawn", "dusk"),
        "same": 1,
        "also": 2,
        "x\x1b[2J": 2,
    }
    assert format_diff(diff(old, new), old, new) == [
        "≡ messages  5 → 6, 4 unchanged",
        "+ messages[5]  ai  I will look⏎␛[31m",
        '~ messages[2].content  "text 2" → "edited"',
        '~ plan.status  "review" → "final"',
        '↷ plan.steps[0]  from plan.steps[2]  "c"',
        '~ n  1 → "1"  int → str',
        "~ doc  The quick [-brown-]{+red+} fox jumps over the lazy… the old tree until the [-dawn-]{+dusk+} comes.",
        "- gone  null",
        '~ ["x\\u001b[2J"]  1 → 2',
        "⋯ 2 keys unchanged",
    ]
    assert format_diff(diff(old, new))[0].startswith("+ messages[5]")
    assert format_diff(()) == []
    assert format_diff((Change("change", (), 1, 2),)) == ["~ (the whole)  1 → 2"]


def test_two_sides_that_read_alike_are_told_apart() -> None:
    long = "same " * 100
    old = {"o": Opaque("pickle", b"abc"), "b": b"abc", "t": Tagged("app.Doc", long + "a"), "l": long + "a" * 400}
    new = {"o": Opaque("pickle", b"abd"), "b": b"abd", "t": Tagged("app.Doc", long + "b"), "l": "b" * 400 + long}
    lines = format_diff(diff(old, new))
    assert lines[0] == "~ o  <pickle 3 sha256 ba7816bf> → <pickle 3 sha256 a52d159f>"
    assert lines[1] == "~ b  <bytes 3 sha256 ba7816bf> → <bytes 3 sha256 a52d159f>"
    for line in lines:
        before, _, after = line.partition("  ")[2].partition(" → ")
        assert before != after
    hidden = format_diff((Change("change", ("token",), Hidden("text"), Hidden("text")),))
    assert hidden == [f"~ token  {SHOWN} → {SHOWN}"]


@given(values(), values())
def test_any_diff_is_safe_text(old: Value, new: Value) -> None:
    for line in format_diff(diff({"a": old}, {"a": new}), {"a": old}, {"a": new}):
        assert unsafe(line) == []


def test_a_state_as_text() -> None:
    long = "a text that takes its room " * 3
    state = {
        "messages": [message(0, "hi")],
        "plan": {"status": "draft"},
        "big": {"a": Tagged("app.Rec", {"city": long, "京": long}), "many": list(range(60))},
        "n": 1,
    }
    assert format_state(state) == [
        "messages  1 item",
        "  [0]  ai  hi",
        'plan      {status: "draft"}',
        "big       2 keys",
        "  a     app.Rec  2 keys",
        f'    city  "{long}"',
        f'    京    "{long}"',
        "  many  60 items",
        *(f"    {f'[{n}]':4}  {n}" for n in range(50)),
        "    ⋯ 10 more",
        "n         1",
    ]
    assert format_state({}) == []


@given(st.dictionaries(st.text(max_size=4), values(), max_size=4))
def test_any_state_is_safe_text(state: dict[str, Value]) -> None:
    for line in format_state(state):
        assert unsafe(line) == []


def test_plain_text_needs_no_tables_of_widths() -> None:
    """The command line's help and narration import this module."""
    script = """
import sys
from tt_debug.text import cell_width, clip, safe_text
assert clip("abc", 2) + str(cell_width("abc")) + safe_text("x\x1b") == "a…3x␛"
print("rich" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
