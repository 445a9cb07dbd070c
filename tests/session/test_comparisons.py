"""What is on record about a step, for telling why two lines part; and lines across copied rows of LangGraph's."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stores.model import Change
from tt_debug.session.comparisons import Records, compare
from tt_debug.session.questions import Stopped
from tt_debug.session.session import Session


def test_our_executor_tells_the_code_and_the_calls_of_a_step(native: Session) -> None:
    records, headers = Records(native), native.open_thread("trip-planner").headers
    of = {header.nodes[0]: header for header in headers.values() if header.nodes}
    calls = records.calls(of["reserve_hotel"])
    assert calls
    assert "option" in {call.name for call in calls}
    assert records.calls(of["note"]) in ((), None)
    step = of["reserve_hotel"]
    definition = {"definition of the workflow": step.meta["workflow_hash"]}
    assert records.code(step) == {**definition, "code of reserve_hotel": None}, "the demo was made before that was kept"


def test_the_code_of_a_step_is_what_was_looked_at_last_before_it(
    native: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = native.load(native.resolve("trip-planner@18")).header
    assert step.created is not None
    times = (step.created - timedelta(days=1), step.created - timedelta(seconds=1), step.created + timedelta(seconds=1))
    looked = [(at, {"reserve_hotel": f"digest {number}"}) for number, at in enumerate(times)]
    monkeypatch.setattr(native.executor, "code", lambda thread: looked)
    assert Records(native).code(step)["code of reserve_hotel"] == "digest 1"


def test_langgraph_tells_neither(langgraph: Session) -> None:
    records = Records(langgraph)
    header = langgraph.load(langgraph.resolve("trip-kyoto")).header
    assert records.code(header) == {"code": None}
    assert records.calls(header) is None


def test_an_edited_copy_of_langgraph_s_rows_parts_where_it_was_edited(langgraph: Session) -> None:
    base = langgraph.resolve("trip-kyoto@15")
    old = langgraph.load(base).state["nights"]
    made = langgraph.fork(base, "other", (Change("change", ("nights",), old, old + 1),))
    found = compare(langgraph, langgraph.resolve("trip-kyoto"), made.ref)
    assert found.base is not None
    assert found.base.step == 15
    first = next(iter(found.rows()))
    assert first.is_parting
    assert (first.a, first.keys) == (None, ("nights",))
    assert found.comparison.cause is not None
    assert found.comparison.cause.kind == "edited"


def test_a_comparison_can_be_stopped(native: Session) -> None:
    found = compare(native, native.resolve("trip-planner"), native.resolve("offer-17"))
    with pytest.raises(Stopped):
        list(found.rows(lambda done, of: done < 3))
