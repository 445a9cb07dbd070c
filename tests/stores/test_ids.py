"""Checkpoint ids: in order as text, with time and step in them, as LangGraph reads and makes them."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.ids import is_ours, new_id, step_of, time_of


@given(st.integers(-2, 16_000))
def test_an_id_tells_its_step_and_its_time(step: int) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    id = new_id(step)
    made = time_of(id)
    assert made is not None
    assert before <= made <= datetime.now(UTC) + timedelta(milliseconds=1)
    assert step_of(id) == step
    assert uuid.UUID(id).version == 6
    assert uuid.UUID(id).variant == uuid.RFC_4122


def test_ids_made_in_a_row_are_in_order() -> None:
    ids = [new_id(0)]
    for step in range(1000):
        ids.append(new_id(step, ids[-1]))
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


def test_an_id_follows_one_from_a_clock_that_runs_ahead() -> None:
    ahead = "3f000000-ffff-6fff-8005-000000000000"
    following = new_id(6, ahead)
    assert following > ahead
    assert step_of(following) == 6
    assert time_of(following) is not None


def test_where_no_id_can_follow_it_is_said() -> None:
    for last in ("ffffffff-ffff-6fff-bfff-ffffffffffff", "zebra"):
        with pytest.raises(ValueError, match=last):
            new_id(1, last)
    assert new_id(1, "0-first") > "0-first"


def test_langgraphs_own_ids_are_read() -> None:
    langgraph = pytest.importorskip("langgraph.checkpoint.base.id")
    for step in (-1, 0, 20):
        id = str(langgraph.uuid6(clock_seq=step))
        assert step_of(id) == step
        made = time_of(id)
        assert made is not None
        assert abs(made - datetime.now(UTC)) < timedelta(minutes=1)
        assert new_id(step + 1, id) > id


@pytest.mark.parametrize(
    "id", ["", "15", "head", str(uuid.UUID(int=5, version=4)), "1F000000-0000-6000-8000-00000000FFFF"]
)
def test_other_ids_tell_nothing(id: str) -> None:
    assert not is_ours(id)
    assert step_of(id) is None
    assert time_of(id) is None


def test_javascript_writes_the_input_step_with_other_bits() -> None:
    assert step_of("1f0000aa-1111-6222-ffff-0123456789ab") == -1
