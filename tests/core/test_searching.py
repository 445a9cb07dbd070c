"""A text looked for in checkpoints: everywhere a person could have read it, told where it came in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stores.model import Checkpoint, Interrupt, Partial, Tagged, Task
from tests.core.lines import Line
from tt_debug.searching import Found, Search, texts_of


def found(line: Line, search: Search) -> list[tuple[int, tuple[object, ...]]]:
    return [(int(hit.ref.id), hit.path) for hit in hits(line, search)]


def hits(line: Line, search: Search) -> list[Found]:
    return [
        hit
        for header in line.headers
        for hit in search.within(header.ref, header.parent, texts_of(line.load(header.ref)))
    ]


LINE = Line(
    [
        {"a": "Kyoto"},
        {"a": "Kyoto", "b": ["x", "to kyoto by train"]},
        {"a": "Kyoto", "b": ["new", "x", "to kyoto by train"]},
        {"a": "Kyoto!", "b": []},
    ]
)


def test_each_text_is_told_where_it_came_in() -> None:
    assert found(LINE, Search("kyoto")) == [(0, ("a",)), (1, ("b", 1)), (3, ("a",))]


def test_or_at_each_checkpoint_that_holds_it() -> None:
    assert len(found(LINE, Search("kyoto", every=True))) == 6


def test_case_counts_when_wanted() -> None:
    assert found(LINE, Search("kyoto", case=True)) == [(1, ("b", 1))]


def test_numbers_are_read_too_where_they_are_asked_for() -> None:
    line = Line([{"price": 88000}, {"price": 88000, "rate": [4.9, True, -1e30, 2**64]}, {"price": 880}])
    assert found(line, Search("88000")) == [(0, ("price",))]
    assert found(line, Search("4.9")) == [(1, ("rate", 0))]
    assert found(line, Search("-1E+30")) == [(1, ("rate", 2))]
    assert found(line, Search("true")) == []
    assert found(Line([{"huge": 10**5000}]), Search("10")) == []


def test_keys_wrappers_tasks_questions_metadata_and_nodes() -> None:
    header = replace(Line([{}]).headers[0], nodes=("find-it",), meta={"user": "find me"})
    state = {"find": 1, "m": Tagged("app.M", {"content": "find this"}), "d": Partial("find seed", ({"x": "find w"},))}
    task = Task("t1", "n", "", "failed", error="find: HTTP 502", interrupts=(Interrupt("i", {"ask": "find?"}),))
    searched = Search("find").within(header.ref, None, texts_of(Checkpoint(header, state, (task,))))
    assert {(hit.part, hit.path, hit.is_key) for hit in searched} == {
        ("node", (), False),
        ("state", ("find",), True),
        ("state", ("m", "content"), False),
        ("state", ("d",), False),
        ("state", ("d", "x"), False),
        ("task", ("n", "error"), False),
        ("task", ("n", "interrupt", "ask"), False),
        ("meta", ("user",), False),
    }


def test_an_excerpt_is_short_however_long_the_text_is() -> None:
    line = Line([{"a": "x" * 10_000 + "needle" + "y" * 10_000}])
    excerpt = hits(line, Search("needle"))[0].excerpt
    assert excerpt == "…" + "x" * 40 + "needle" + "y" * 40 + "…"


def test_an_empty_text_is_everywhere() -> None:
    with pytest.raises(ValueError, match="everywhere"):
        Search("")
