"""What becomes of a step that was running when its process died."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.runs import StepRecord
from tests.engine.flows import Bench, bench, line, log_of


def crash_in(on: Bench, node: str) -> None:
    """Leave the run as a process that died inside ``node`` leaves it."""
    on.start({})
    on.go(until=node)
    run = on.store.claim("run-t", "dead", 1)
    done = sum(step.status == "completed" for step in on.store.steps("run-t"))
    on.store.start_step("run-t", run.token, StepRecord("run-t", done, node))


def test_a_step_found_running_is_run_again(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a", "b", "c"))
    crash_in(on, "b")
    assert on.go().status == "done"
    assert on.state()["trail"] == ["a1", "b1", "c1"]
    assert log_of(on) == [("a", 1, "completed"), ("b", 1, "abandoned"), ("b", 2, "completed"), ("c", 1, "completed")]


def test_a_step_found_running_is_skipped(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a", "b", "c", on_interrupt="skip"))
    crash_in(on, "b")
    assert on.go().status == "done"
    assert on.state()["trail"] == ["a1", "c1"]
    assert log_of(on)[1:3] == [("b", 1, "abandoned"), ("b", 2, "skipped")]


def test_a_step_found_running_fails_the_run(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a", "b", "c", on_interrupt="fail"))
    crash_in(on, "b")
    ending = on.go()
    assert ending.status == "failed"
    assert "when its process died" in (ending.error or "")
    (task,) = on.store.load(ending.head).tasks
    assert (task.node, task.status, task.error) == ("b", "failed", ending.error)
    assert ending.error in [step.error for step in on.store.steps(ref=ending.head)]
    on.store.requeue("run-t", None)
    assert on.go().status == "done"


@pytest.mark.parametrize(
    ("answer", "status", "trail"),
    [("retry", "done", ["a1", "b1", "c1"]), ("skip", "done", ["a1", "c1"]), ("fail", "failed", ["a1"])],
)
def test_a_step_found_running_is_asked_about(tmp_path: Path, answer: str, status: str, trail: list[str]) -> None:
    on = bench(tmp_path, line("a", "b", "c", on_interrupt="ask"))
    crash_in(on, "b")
    assert on.go().status == "waiting"
    (asked,) = on.store.approvals()
    assert (asked.kind, asked.schema) == ("question", {"enum": ["retry", "skip", "fail"]})
    on.store.answer(asked.id, answer, "Ada")
    assert "b" not in on.state()
    assert on.go().status == status
    assert on.state()["trail"] == trail
