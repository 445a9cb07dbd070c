"""When a condition holds, asked of every checkpoint or by halving."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.lines import Line
from tt_debug.finding import Finder, NotMonotone, Unsure
from tt_debug.query import compile_expr


def finder(line: Line, expression: str) -> Finder:
    return Finder(line.load, compile_expr(expression))


def test_every_hit_in_the_order_given() -> None:
    line = Line([{"n": number} for number in (1, 5, 2, 7)])
    hits = list(finder(line, "n > `3`").every(line.headers))
    assert [(hit.step, hit.value) for hit in hits] == [(1, True), (3, True)]


def test_a_zero_is_an_answer_and_what_is_empty_is_not() -> None:
    line = Line([{"n": value} for value in (0, None, "", [], {}, False, 0.0, "x")])
    assert [hit.step for hit in finder(line, "n").every(line.headers)] == [0, 6, 7]


def test_a_state_that_cannot_answer_is_counted_and_is_no_no() -> None:
    line = Line([{"n": "abc"}, {"n": 3}, None, {"n": "abcdef"}])
    asked = finder(line, "length(n) > `4`")
    assert [hit.step for hit in asked.every(line.headers)] == [3]
    assert asked.tally.asked == 4
    assert sorted(asked.tally.unanswered.values()) == [1, 1]
    assert "002 is torn" in asked.tally.unanswered


def test_changes_are_those_of_the_answer() -> None:
    line = Line([{"n": 1}, {"n": 1, "m": 2}, None, {"n": 1}, {"n": 1.0}, {}])
    hits = list(finder(line, "n").changes(line.headers))
    assert [(hit.step, hit.value) for hit in hits] == [(0, 1), (4, 1.0), (5, None)]


@given(st.integers(1, 300), st.integers(0, 299))
def test_halving_finds_what_asking_everyone_finds_with_few_questions(count: int, start: int) -> None:
    line = Line([{"done": step >= start} for step in range(count)])
    asked = finder(line, "done")
    hit = asked.bisect(line.headers)
    first = next(finder(line, "done").every(line.headers), None)
    assert (hit and hit.step) == (first and first.step)
    assert asked.tally.asked <= count.bit_length() + 8


def test_halving_says_when_the_condition_did_not_stay_true() -> None:
    line = Line([{"on": step in (4, 6, 7)} for step in range(8)])
    with pytest.raises(NotMonotone) as caught:
        finder(line, "on").bisect(line.headers)
    assert (caught.value.early.id, caught.value.late.id) == ("004", "005")


def test_halving_stops_at_one_that_cannot_answer() -> None:
    line = Line([{"on": False}, None, {"on": True}])
    with pytest.raises(Unsure, match="torn") as caught:
        finder(line, "on").bisect(line.headers)
    assert caught.value.ref.id == "001"


def test_halving_nothing() -> None:
    assert finder(Line([]), "on").bisect([]) is None
    line = Line([{}, {}])
    assert finder(line, "on").bisect(line.headers) is None
