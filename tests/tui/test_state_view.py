"""The state tree: folding, chunks, secrets, classes, marks, and that no value costs more than its row."""

from __future__ import annotations

from typing import Any

import pytest

from stores.model import Change, Opaque, Partial, Tagged, Value
from tests.tui.sample_threads import message
from tt_debug.redaction import Redaction
from tt_debug.session.hiding import hidden_state
from tt_debug.tui.glyphs import ASCII, UNICODE
from tt_debug.tui.rows.meta import meta_facts
from tt_debug.tui.rows.pieces import Piece, cells, cut, pad, spread, text_of, wrap
from tt_debug.tui.rows.state import Node, marks_of, state_line, state_nodes
from tt_debug.tui.rows.values import value_line


def tree(state: dict[str, Value], width: int = 60, **folds: bool) -> list[str]:
    """The rows of a state as text; ``folds`` are top-level keys opened or closed."""
    nodes = state_nodes(state, {((key,), -1): opened for key, opened in folds.items()})
    return [text_of(state_line(node, width, {})).rstrip() for node in nodes]


def find(nodes: list[Node], *path: Any) -> Node:
    """The row of a path."""
    return next(node for node in nodes if node.path == path)


def test_small_flat_dicts_and_message_lists_open_by_themselves_deeper_ones_do_not() -> None:
    state = {"plan": {"a": 1}, "deep": {"a": {"b": 1}}, "messages": [message("human", "hi", "m0")]}
    nodes = state_nodes(state, {})
    assert [node.path for node in nodes] == [("plan",), ("plan", "a"), ("deep",), ("messages",), ("messages", 0)]


def test_the_user_decides_what_is_open_and_the_decision_is_kept_by_path() -> None:
    assert tree({"plan": {"a": 1}}, plan=False) == [" ▸ plan  {a: 1}                                        1 key"]
    assert len(tree({"deep": {"a": {"b": 1}}}, deep=True)) == 2


def test_values_are_shown_by_type() -> None:
    rows = tree(
        {
            "n": 1,
            "f": 1.5,
            "s": "x\ny",
            "t": True,
            "z": None,
            "e": [],
            "d": {},
            "v": [0.5] * 9,
            "b": Opaque("bytes", b"abc"),
        }
    )
    assert [row.lstrip(" ▸").split(maxsplit=1)[1].split("   ")[0] for row in rows] == [
        "1", "1.5", '"x⏎y"', "true", "null", "[]", "{}", "[9 floats]", "<bytes 3>",
    ]  # fmt: skip
    assert rows[7].endswith("9 items")


def test_a_class_is_shown_by_its_name_and_opens_to_its_payload() -> None:
    state = {"when": Tagged("datetime.datetime", "2026-09-14"), "pt": Tagged("app.models.Point", {"x": 1, "y": 2})}
    assert tree(state)[0] == '   when  datetime "2026-09-14"'
    assert tree(state)[1].startswith(" ▸ pt  app.models.Point {x: 1, y: 2}")
    assert tree(state, pt=True)[1:] == [
        " ▾ pt  app.models.Point                               2 keys",
        " │   x  1",
        " │   y  2",
    ]


def test_a_key_is_seen_to_be_a_number_or_a_text() -> None:
    state = {"m": {1: "a", "1": "b", None: "c", "null": "d", (1, 2): "e"}}
    keys = [row.split("  ")[1].strip(" │") for row in tree(state, m=True)[1:]]
    assert keys == ["1", '"1"', "null", '"null"', "(1, 2)"]
    assert text_of(value_line({1: "a", "1": "b"})) == '{1: "a", "1": "b"}'
    assert text_of(value_line({key: [0] for key in (1, "1", "x")})) == '{1, "1", x}'


def test_a_partly_known_value_says_so_and_is_never_empty() -> None:
    rows = tree({"m": Partial([1], ({"a": 1}, {"b": 2}))}, m=True)
    assert rows[0].startswith(" ▾ m")
    assert "2 writes" in rows[0]
    assert [row.split()[2] for row in rows[1:]] == ["start", "writes"]
    assert "partly known: 2 writes on a start value" in tree({"m": Partial([1], (1, 2))})[0]


def test_a_hidden_value_is_its_sign_wherever_it_lies() -> None:
    hidden = hidden_state({"api_key": "sk-1", "db": {"password": "p", "n": 1}, "token": None, "tokens": 7}, Redaction())
    assert [row.removesuffix("2 keys").strip() for row in tree(dict(hidden))] == [
        "api_key  ●●●●", "▾ db",
        "│   password  ●●●●", "│   n  1", "token  null", "tokens  7",
    ]  # fmt: skip
    assert text_of(value_line(hidden["db"])) == "{password: ●●●●, n: 1}"
    call = {"role": "assistant", "content": "", "tool_calls": [{"name": "pay", "args": {"card": "4111", "sum": 3}}]}
    assert text_of(value_line(Redaction().hide(call))) == "ai     ⚙ pay(card=●●●●, sum=3)"


def test_long_lists_open_in_chunks_of_a_hundred_the_newest_messages_first() -> None:
    numbers = tree({"n": list(range(250))}, n=True)
    assert [row.split()[-1] for row in numbers[1:]] == ["0…99", "100…199", "200…249"]
    talk = state_nodes({"messages": [message("ai", "x", str(n)) for n in range(101)]}, {})
    assert [node.label for node in talk] == ["messages", "0…99", "100…100", "[100]"]


def test_a_long_text_is_cut_with_its_size() -> None:
    line = value_line("京" * 1000)
    assert cells(line) < 230
    assert text_of(line).endswith("3.0k")
    assert text_of(value_line("x" * 10_000_000)).endswith("10M")


def test_marks_stand_at_the_place_and_on_what_holds_it() -> None:
    marks = marks_of((Change("add", ("a", "b"), new=1), Change("change", ("c",), 1, 2), Change("remove", ("d",), 1)))
    assert marks == {("a", "b"): "+", ("a",): "~", ("c",): "~"}
    node = find(state_nodes({"a": {"b": 1}}, {}), "a", "b")
    assert state_line(node, 40, marks)[0] == Piece("+", "added")


def test_keys_that_are_not_text_keep_their_own_paths() -> None:
    nodes = state_nodes({"m": {1: "a", None: "b", (1, 2): "c"}}, {})
    assert [node.path[-1] for node in nodes[1:]] == [1, None, (1, 2)]


def test_five_hundred_levels_are_no_problem() -> None:
    state: dict[str, Value] = {"x": 1}
    for _ in range(500):
        state = {"x": state}
    folds = {(("x",) * depth, -1): True for depth in range(1, 501)}
    nodes = state_nodes(state, folds)
    assert len(nodes) == 501
    assert all(cells(state_line(node, 80, {})) <= 80 for node in nodes)


@pytest.mark.parametrize("width", [10, 24, 60, 110])
def test_no_row_is_wider_than_its_place(width: int) -> None:
    state = {
        "键" * 40: "値" * 90,
        "messages": [message("ai", "👨‍👩‍👧 ❤️ " * 30, "m", tool_calls=[{"name": "f", "args": {"a": 1}}])],
    }
    for glyphs in (UNICODE, ASCII):
        for node in state_nodes(state, {}):
            assert cells(state_line(node, width, {}, glyphs)) <= width


def test_meta_facts_name_the_address_the_parent_and_what_the_store_keeps() -> None:
    from tests.tui.thread_fakes import TripSession

    session = TripSession()
    point = session.load(session.heads["trip-planner"])
    facts = meta_facts(point, children=2)
    assert facts["thread"] == "trip-planner"
    assert facts["children"] == 2
    assert facts["step"] == 24
    assert facts["internals"] == {"versions": {"messages": 25}}


def test_cutting_never_halves_a_wide_character() -> None:
    assert text_of(cut((Piece("京都京都"),), 5)) == "京都…"
    assert text_of(cut((Piece("ab"), Piece("cd")), 4)) == "abcd"
    assert text_of(cut((Piece("ab"), Piece("cde")), 4)) == "abc…"
    assert cells(pad((Piece("京"),), 5)) == 5
    assert text_of(spread((Piece("left side"),), (Piece("r"),), 14)) == "left side    r"


def test_wrapping_breaks_at_spaces_and_newlines_and_long_words_hard() -> None:
    assert [text_of(line).rstrip() for line in wrap((Piece("one two three"),), 8)] == ["one two", "three"]
    assert [text_of(line) for line in wrap((Piece("a\n\nb"),), 8)] == ["a", "", "b"]
    assert [text_of(line) for line in wrap((Piece("abcdefghij"),), 4)] == ["abcd", "efgh", "ij"]
    assert [text_of(line) for line in wrap((Piece("京都京都"),), 5)] == ["京都", "京都"]
    lines = wrap((Piece("some ", "ai"), Piece("words here")), 6)
    assert lines[0] == (Piece("some ", "ai"),)
    assert text_of(lines[1]).strip() == "words"
