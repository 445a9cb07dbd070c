"""When a condition holds, asked of every checkpoint or by halving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.errors import Corrupt
from stores.model import MISSING, Value
from tt_debug.finding import Finder, NotMonotone, State, Unsure
from tt_debug.query import compile_expr


def finder(expression: str) -> Finder:
    return Finder(compile_expr(expression))


def told(states: Sequence[Mapping[str, Value] | None]) -> list[State]:
    """States in order; None cannot be read."""
    return [Corrupt("torn") if state is None else state for state in states]


def halved(asked: Finder, states: Sequence[Mapping[str, Value] | None]) -> tuple[int, Value] | None:
    return asked.bisect(len(states), told(states).__getitem__)


def test_every_hit_in_the_order_given() -> None:
    states = told([{"n": number} for number in (1, 5, 2, 7)])
    assert list(finder("n > `3`").every(states)) == [(1, True), (3, True)]


def test_a_zero_is_an_answer_and_what_is_empty_is_not() -> None:
    states = told([{"n": value} for value in (0, None, "", [], {}, False, 0.0, "x")])
    assert [at for at, _ in finder("n").every(states)] == [0, 6, 7]


def test_a_state_that_cannot_answer_is_counted_and_is_no_no() -> None:
    asked = finder("length(n) > `4`")
    assert [at for at, _ in asked.every(told([{"n": "abc"}, {"n": 3}, None, {"n": "abcdef"}]))] == [3]
    assert asked.tally.asked == 4
    assert sorted(asked.tally.unanswered.values()) == [1, 1]
    assert "torn" in asked.tally.unanswered


def test_changes_are_those_of_the_answer() -> None:
    states = told([{"n": 1}, {"n": 1, "m": 2}, None, {"n": 1}, {"n": 1.0}, {}])
    assert list(finder("n").changes(states)) == [(0, 1), (4, 1.0), (5, MISSING)]


def test_a_null_and_nothing_are_two_answers() -> None:
    states = told([{}, {"n": None}, {"n": 1}, {}])
    assert list(finder("n").changes(states)) == [(0, MISSING), (1, None), (2, 1), (3, MISSING)]


@given(st.integers(1, 300), st.integers(0, 299))
def test_halving_finds_what_asking_everyone_finds_with_few_questions(count: int, start: int) -> None:
    states = [{"done": step >= start} for step in range(count)]
    asked = finder("done")
    assert halved(asked, states) == next(finder("done").every(told(states)), None)
    assert asked.tally.asked <= count.bit_length() + 8


def test_halving_says_when_the_condition_did_not_stay_true() -> None:
    with pytest.raises(NotMonotone) as caught:
        halved(finder("on"), [{"on": step in (4, 6, 7)} for step in range(8)])
    assert (caught.value.early, caught.value.late) == (4, 5)


def test_halving_stops_at_one_that_cannot_answer() -> None:
    with pytest.raises(Unsure, match="torn") as caught:
        halved(finder("on"), [{"on": False}, None, {"on": True}])
    assert caught.value.place == 1


def test_halving_nothing() -> None:
    assert halved(finder("on"), []) is None
    assert halved(finder("on"), [{}, {}]) is None
