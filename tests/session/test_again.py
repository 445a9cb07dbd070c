"""A batch that is repeated: what was done is left, what stopped goes on, what is not there yet starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stores import create_native
from stores.errors import Conflict, Invalid
from tt_debug.errors import DefinitionChanged, NotAHead, WaitingForAnswer
from tt_debug.session.plans import RunPlan, RunRequest
from tt_debug.session.session import Session

FLOW = """
workflow_id: flow
version: "{version}"
nodes:
  - {{id: a, type: llm_call, next: b}}
  - {{id: b, type: llm_call, prompt: "{prompt}", next: {last}}}
  - {{id: ask, type: human_task, next: null}}
"""
END, ASK = "[{when: city, to: null}, {to: ask}]", "ask"


class Bench:
    """A store and a workflow file beside it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "flow.yaml"
        self.write()
        create_native(folder / "flow.db")
        self.session = Session.open(str(folder / "flow.db"))

    def write(self, version: int = 1, prompt: str = "To {city}", last: str = END) -> None:
        self.file.write_text(FLOW.format(version=version, prompt=prompt, last=last))

    def plan(self, input: dict[str, Any], thread: str = "t", **fields: Any) -> RunPlan:
        request = RunRequest("run", thread=thread, input=input, workflow=self.file, again=True, **fields)
        return self.session.plan(request)

    def run(self, plan: RunPlan) -> tuple[str, list[str]]:
        ran: list[str] = []

        def note(event: Any) -> None:
            if event.kind == "step_finished":
                ran.append(event.fields["node"])

        return self.session.execute(plan, note).status, ran


@pytest.fixture
def on(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.session.close()


def test_what_is_done_runs_nothing_and_tells_how_it_ended(on: Bench) -> None:
    assert on.run(on.plan({"city": "Oslo"})) == ("done", ["a", "b"])
    again = on.plan({"city": "Oslo"})
    assert (again.nodes, again.title) == ((), "t is done already")
    assert on.run(again) == ("done", [])
    assert again.ended is not None
    assert again.ended.head == on.session.resolve("t")
    assert len(on.session.runs("t")) == 1


def test_what_stopped_goes_on(on: Bench) -> None:
    on.session.execute(on.plan({"city": "Oslo"}, single_step=True), lambda event: None)
    again = on.plan({"city": "Oslo"})
    assert (again.request.action, again.nodes) == ("resume", ("b",))
    assert on.run(again) == ("done", ["b"])


def test_what_failed_is_tried_again_by_the_same_run(on: Bench) -> None:
    assert on.run(on.plan({"town": "Oslo"})) == ("failed", ["a"])
    assert on.run(on.plan({"town": "Oslo"})) == ("failed", [])
    assert len(on.session.runs("t")) == 1


def test_what_waits_goes_on_waiting(on: Bench) -> None:
    on.write(last=ASK)
    assert on.run(on.plan({"city": "Oslo"})) == ("waiting", ["a", "b"])
    with pytest.raises(WaitingForAnswer):
        on.plan({"city": "Oslo"})


def test_what_was_cancelled_stays_so(on: Bench) -> None:
    on.session.execute(on.plan({"city": "Oslo"}, single_step=True), lambda event: None)
    on.session.stop("t", "cancel")
    with pytest.raises(NotAHead, match="cancelled"):
        on.plan({"city": "Oslo"})


@pytest.mark.parametrize("other", [{"city": "Rome"}, {"city": "Oslo", "n": 1}, {}])
def test_another_input_is_another_thread(on: Bench, other: dict[str, Any]) -> None:
    on.run(on.plan({"city": "Oslo"}))
    with pytest.raises(Conflict, match="not started with this input"):
        on.plan(other)


def test_a_fork_is_no_thread_that_was_started_with_an_input(on: Bench) -> None:
    on.run(on.plan({"city": "Oslo"}))
    on.session.fork(on.session.resolve("t@0"), "u")
    with pytest.raises(Conflict, match="not started with this input"):
        on.plan({"city": "Oslo"}, "u")


def test_a_changed_definition_leaves_what_is_done_and_starts_what_is_new(on: Bench) -> None:
    on.run(on.plan({"city": "Oslo"}))
    on.session.execute(on.plan({"city": "Rome"}, "half", single_step=True), lambda event: None)
    on.write(version=2)
    assert on.plan({"city": "Oslo"}).ended is not None
    with pytest.raises(DefinitionChanged):
        on.plan({"city": "Rome"}, "half")
    assert on.run(on.plan({"city": "Bern"}, "new")) == ("done", ["a", "b"])


def test_a_changed_definition_of_the_same_version_is_refused_with_its_differences(on: Bench) -> None:
    on.run(on.plan({"city": "Oslo"}))
    on.write(prompt="Off to {city}")
    with pytest.raises(DefinitionChanged, match="has run in this store") as caught:
        on.session.plan(RunRequest("run", input={}, workflow=on.file))
    assert caught.value.differences == ('node b: prompt "To {city}" → "Off to {city}"',)


def test_an_input_that_is_no_json_is_refused_by_the_plan(on: Bench) -> None:
    with pytest.raises(Invalid, match="nan is not a JSON number"):
        on.plan({"city": float("nan")})


def test_two_that_were_given_the_same_free_name_both_run(on: Bench) -> None:
    request = RunRequest("run", input={"city": "Oslo"}, workflow=on.file)
    one, other = on.session.plan(request), on.session.plan(request)
    assert one.thread == other.thread == "flow-1"
    assert [on.run(plan)[0] for plan in (one, other)] == ["done", "done"]
    assert sorted(info.thread for info in on.session.threads()) == ["flow-1", "flow-2"]


def test_a_name_that_was_asked_for_is_not_changed(on: Bench) -> None:
    request = RunRequest("run", thread="t", input={"city": "Oslo"}, workflow=on.file)
    one, other = on.session.plan(request), on.session.plan(request)
    on.run(one)
    with pytest.raises(Conflict, match="exists"):
        on.run(other)


def test_a_run_that_stops_before_its_first_node_goes_on_with_it(on: Bench) -> None:
    plan = on.session.plan(RunRequest("run", thread="t", input={"city": "Oslo"}, workflow=on.file, until="a"))
    assert plan.nodes == ()
    assert on.run(plan) == ("paused", [])
    assert on.run(on.session.plan(RunRequest("resume", on.session.resolve("t")))) == ("done", ["a", "b"])
