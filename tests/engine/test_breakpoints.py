"""Where a run stops: breakpoints, kept in the store, and `until` in its forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stores.runs import RunStatus
from stores.supervision import Breakpoint
from tests.engine import effect_nodes as nodes
from tests.engine.flows import Bench, bench, python
from tt_debug.definition.load import load_workflow
from tt_debug.engine.breakpoints import met
from tt_debug.engine.until import parse_until
from tt_debug.errors import UsageError


@pytest.fixture
def on(tmp_path: Path) -> Bench:
    made = bench(tmp_path, [python("a", "trail", "b"), python("b", "trail", "c"), python("c", "trail", None)])
    made.start({})
    return made


def stop(on: Bench, place: str, node: str | None = None, **fields: Any) -> None:
    on.store.set_breakpoint(Breakpoint(f"b{len(on.store.breakpoints()) + 1}", place, node, **fields))


def test_a_run_stops_before_and_after_a_node_and_goes_on_from_there(on: Bench) -> None:
    stop(on, "before", "b")
    stop(on, "after", "b")
    ending = on.go()
    assert (ending.status, ending.error) == ("paused", "breakpoint b1, before b")
    assert on.state()["trail"] == ["a1"]
    assert (on.store.run("run-t").status, on.store.run("run-t").error) == (RunStatus.PAUSED, ending.error)
    assert on.go().error == "breakpoint b2, after b"
    assert on.state()["trail"] == ["a1", "b1"]
    assert on.go().status == "done"
    assert [each.hits for each in on.store.breakpoints()] == [1, 1]
    assert [event.data["place"] for event in on.store.events(["breakpoint"], run_id="run-t")] == ["before", "after"]


def test_a_run_stops_before_its_very_first_node_once(on: Bench) -> None:
    stop(on, "before", "a")
    assert on.go().error == "breakpoint b1, before a"
    assert on.store.steps("run-t") == ()
    assert on.go().status == "done"


def test_a_breakpoint_of_every_node_is_a_step_at_a_time(on: Bench) -> None:
    stop(on, "before")
    assert [on.go().status for _ in range(4)] == ["paused", "paused", "paused", "done"]


def test_a_breakpoint_may_be_of_one_thread_only(on: Bench) -> None:
    stop(on, "before", "b", thread="another")
    assert on.store.breakpoints("t") == ()
    assert on.go().status == "done"


def test_a_condition_decides_on_the_state_there(on: Bench) -> None:
    stop(on, "after", None, condition="length(trail) == `2`")
    assert on.go().error == "breakpoint b1, after b when length(trail) == `2`"
    assert on.go().status == "done"


@pytest.mark.parametrize("condition", ["length(missing)", "abs(trail)", "trail" + "[0]" * 400])
def test_a_condition_that_cannot_be_evaluated_stops_the_run_with_a_message(on: Bench, condition: str) -> None:
    stop(on, "before", "b", condition=condition)
    ending = on.go()
    if condition.startswith("trail"):  # deep, but harmless: null does not hold
        assert ending.status == "done"
        return
    assert ending.status == "paused"
    assert "cannot be evaluated" in (ending.error or "")


def test_nothing_in_a_condition_is_run_as_code() -> None:
    hostile = Breakpoint("b1", "before", condition="__import__('os').system('true')")
    hit = met([hostile], "before", "a", {})
    assert hit is not None
    assert "cannot be evaluated" in hit.said


def test_an_error_stops_instead_of_being_tried_again(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "flaky", None, retry={"max": 3})])
    on.start({"works_at": 2})
    stop(on, "error", "a")
    ending = on.go()
    assert (ending.status, ending.error) == ("paused", "TimeoutError: attempt 1; breakpoint b1, on an error of a")
    assert on.clock.slept == 0
    assert on.store.cases() == ()
    on.store.clear_breakpoint("b1")
    assert on.go().status == "done"
    assert on.state()["attempt"] == 2


def test_a_breakpoint_outlives_the_process_that_met_nothing_yet(on: Bench) -> None:
    """It is looked up at each step: one set while the run is at work counts from its next step on."""

    def set_it(event: Any) -> None:
        if event.kind == "step_started" and event.fields["node"] == "a":
            stop(on, "before", "c")

    class Hooked(list[Any]):
        def append(self, event: Any) -> None:
            set_it(event)

    on.events = Hooked()
    assert on.go().error == "breakpoint b1, before c"


def test_a_cancel_wins_over_a_breakpoint(on: Bench) -> None:
    stop(on, "before", "b")

    class Hooked(list[Any]):
        def append(self, event: Any) -> None:
            if event.kind == "step_started":
                on.store.request("run-t", "cancel")

    on.events = Hooked()
    assert on.go().status == "cancelled"


def test_the_same_breakpoint_again_is_the_one_that_is_there(on: Bench) -> None:
    first = on.store.set_breakpoint(Breakpoint("b1", "before", "a"))
    assert on.store.set_breakpoint(Breakpoint("b2", "before", "a")) == first
    assert on.store.set_breakpoint(Breakpoint("b2", "before", "a", condition="n")).id == "b2"
    assert on.store.clear_breakpoint("b1")
    assert not on.store.clear_breakpoint("b1")


def test_until_in_its_forms(tmp_path: Path, on: Bench) -> None:
    assert on.go(until="@0").status == "paused"
    assert on.state()["trail"] == ["a1"]
    assert on.go(until="step:0").status == "paused"
    assert on.go(until="when:length(trail) == `2`").status == "paused"
    assert on.state()["trail"] == ["a1", "b1"]
    assert on.go(until="node:c").status == "paused"
    assert on.go(until="when:length(missing)").status == "done"
    workflow = load_workflow(tmp_path / "flow.json")
    for wrong in ("d", "when:((", "node:d", "@x"):
        with pytest.raises(UsageError):
            parse_until(wrong, workflow)
    assert [parse_until(text, workflow).said() for text in (None, "a", "@3", "when:n")] == [
        "", "before a", "at step 3", "once n",
    ]  # fmt: skip


def test_a_run_stops_before_a_call_and_makes_it_once_when_it_goes_on(tmp_path: Path) -> None:
    nodes.reset()
    on = bench(tmp_path, [python("a", "tests.engine.effect_nodes:sends", None)])
    on.start({"to": "anna"})
    stop(on, "effect", name="send", condition="to == 'anna'")
    ending = on.go()
    assert (ending.status, ending.error) == ("paused", "breakpoint b1, before the effect send of a when to == 'anna'")
    assert (nodes.asked, on.store.effects("t")) == ([], ())
    assert on.go().status == "done"
    assert nodes.names() == ["send"]
    assert [step.status for step in on.store.steps("run-t")] == ["abandoned", "completed"]
    nodes.reset()
