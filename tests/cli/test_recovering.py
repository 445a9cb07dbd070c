"""What an operator types: recover, worker, inbox, resolve, retry, protect, cancel by force."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores.runs import RunStatus, StepRecord
from stores.supervision import Takeover
from tests.cli.conftest import Ran
from tests.engine import effect_nodes
from tests.engine.flows import Bench, bench, python
from tt_debug.cli.exits import ExitCode
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.cli.runner import code_for


class Operator:
    """Types on the store of a bench, with nobody at a terminal."""

    def __init__(self, on: Bench, capsys: pytest.CaptureFixture[str]) -> None:
        self.on = on
        self._capsys = capsys

    def __call__(self, command: str, *words: str) -> Ran:
        front = Front(lambda screen: 0, someone_to_ask=lambda: False)
        code = main([command, str(self.on.folder / "store.sqlite"), *words], front)
        written = self._capsys.readouterr()
        return Ran(code, written.out, written.err)


@pytest.fixture
def operator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Operator:
    ask = {"id": "ask", "type": "human_task", "prompt": "Go?", "next": "b"}
    return Operator(bench(tmp_path, [python("a", "trail", "ask"), ask, python("b", "fixable", None)]), capsys)


def crash(on: Bench) -> None:
    on.start({"fixed": True})
    run = on.store.claim("run-t", "dead", 999)
    on.store.start_step("run-t", run.token, StepRecord("run-t", 0, "a"))


def test_recover_shows_the_plan_and_does_it_when_told_to(operator: Operator) -> None:
    assert operator("recover").out == ""
    crash(operator.on)
    shown = operator("recover")
    assert (shown.code, "run a again" in shown.out, "its process 999 is gone" in shown.out) == (0, True, True)
    assert "nothing was done" in shown.err
    (plan,) = operator("recover", "--json").data
    assert (plan["thread"], plan["action"], plan["calls"], plan["case"]) == ("t", "run", [], None)
    assert operator.on.store.run("run-t").token == 1
    assert operator("recover", "--yes", "--thread", "another").code == 0
    done = operator("recover", "--yes", "--json")
    assert done.code == 5  # it waits for an answer now
    assert [line["event"] for line in done.lines][-1] == "plan"
    assert operator.on.store.run("run-t").status == RunStatus.WAITING
    assert operator("recover", "--yes", "--watch").code == 2


def test_a_worker_runs_what_was_answered(operator: Operator) -> None:
    crash(operator.on)
    assert operator("worker", "--once").code == 6
    operator("worker", "--once", "--yes", "--mode", "auto")
    (asked,) = operator("inbox", "--json").data
    assert (asked["kind"], asked["decisions"], asked["due"]) == ("approval", [], None)
    operator("approve", asked["id"])
    worked = operator("worker", "--once", "--yes", "--json")
    assert worked.code == 0
    assert json.loads(worked.out.splitlines()[-1])["status"] == "done"
    assert operator.on.store.run("run-t").status == RunStatus.COMPLETED


def test_a_worker_lets_be_what_it_may_not_or_cannot_run(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    on = operator.on
    on.start({"fixed": True})
    names = ("store.sqlite", "copy.sqlite")
    original, copy = (closing(sqlite3.connect(on.folder / name)) for name in names)
    with original as whole, copy as target:
        whole.backup(target)
    front = Front(lambda screen: 0, someone_to_ask=lambda: False)
    assert main(["worker", str(on.folder / "copy.sqlite"), "--once", "--yes"], front) == 4
    monkeypatch.setattr("sys.executable", str(on.folder / "no python"))
    refused = operator("worker", "--once", "--yes")
    assert (refused.code, refused.err.count("cannot start")) == (0, 1)
    assert on.store.run("run-t").status == RunStatus.PENDING


def test_a_failed_run_is_retried_or_decided_about(operator: Operator) -> None:
    operator.on.start({})
    operator.on.go()
    (asked,) = operator("inbox", "--json").data
    operator("approve", asked["id"])
    assert operator.on.go().status == "failed"
    listed = operator("inbox")
    assert "b failed: ValueError: not fixed" in listed.out
    assert "retry | cancel | dismiss" in listed.out
    retried = operator("retry", "run-t", "--json")
    assert (retried.code, retried.data[0]["status"]) == (0, "pending")
    assert "go on with: tt-debug resume" in retried.err
    assert operator.on.go().status == "failed"
    (case,) = operator("inbox", "--json").data
    assert operator("resolve", case["id"], "--as", "nonsense").code == 2
    assert operator("resolve", case["id"], "--as", "cancel", "--by", "Ada").code == 0
    again = operator("resolve", case["id"], "--as", "retry")
    assert (again.code, "already answered by Ada" in again.err) == (4, True)


def test_protecting_and_cancelling(operator: Operator) -> None:
    crash(operator.on)
    assert operator("protect", "t", "--json").data == {"thread": "t", "protected": True}
    assert operator("protect", "t", "--off").code == 0
    assert operator("protect", "nowhere").code == 3
    assert operator("cancel", "t", "--force", "--json").data[0]["status"] == "cancelled"


def test_breakpoints_are_set_listed_and_cleared(operator: Operator) -> None:
    operator.on.start({"fixed": True})
    assert operator("break").out == ""
    assert operator("break", "--before", "ask", "--when", "length(trail) == `1`").code == 0
    assert operator("break", "--on-error", "--node", "b").code == 0
    assert operator("break", "--before", "ask", "--when", "length(trail) == `1`").code == 0
    listed = operator("break", "--json").data
    assert [(each["id"], each["place"], each["node"], each["when"]) for each in listed] == [
        ("b1", "before", "ask", "length(trail) == `1`"),
        ("b2", "error", "b", None),
    ]
    assert operator.on.go().error == "breakpoint b1, before ask when length(trail) == `1`"
    assert "before ask" in operator("break").out
    assert operator("break", "--before-effect", "ask").err == "breakpoint b3: before the effect ask\n"
    assert operator("break", "--clear", "b3").code == 0
    assert operator("break", "--before", "ask", "--when", "size(trail)").code == 2
    assert [each["hits"] for each in operator("break", "--clear", "b1", "--json").data] == [0]
    assert operator("break", "--clear", "b9").code == 3
    assert operator("break", "--clear-all", "--json").data == []
    for wrong in (("--when", "n"), ("--before", "a", "--after", "b"), ("--before", "a", "--when", "((")):
        assert operator("break", *wrong).code == 2


def test_figures_for_people_programs_and_prometheus(operator: Operator) -> None:
    crash(operator.on)
    operator("recover", "--yes")
    found = operator("stats", "--json").data
    assert (found["recoveries"], found["success_rate"], found["waiting"], found["alerts"]) == (1, 1.0, 1, [])
    assert "success rate    100.0%" in operator("stats", "--check").out
    lines = operator("stats", "--format", "prometheus").out.splitlines()
    assert {"tt_recovery_total 1", "tt_waiting_human 1", 'tt_runs{status="waiting"} 1'} <= set(lines)
    assert operator("stats", "--format", "prometheus", "--json").code == 2


def test_a_run_recovered_too_often_is_an_exit_code(operator: Operator) -> None:
    crash(operator.on)
    run = operator.on.store.run("run-t")
    for _ in range(4):
        run = operator.on.store.claim("run-t", "dead", 1, takeover=Takeover(run.token, "death"))
    assert operator("stats").code == 0
    alarmed = operator("stats", "--check")
    assert (alarmed.code, "alert: run run-t was recovered 4 times" in alarmed.err) == (1, True)


def test_a_run_that_another_process_took_over_is_a_conflict() -> None:
    assert code_for("lost") is ExitCode.CONFLICT


def test_a_plan_names_the_breakpoints_that_it_meets(operator: Operator) -> None:
    operator.on.start({"fixed": True})
    operator("break", "--before", "b", "--when", "fixed")
    operator("break", "--before", "elsewhere")
    planned = operator("resume", "t")
    assert (planned.code, "stops at breakpoint b1: before b when fixed" in planned.out) == (6, True)
    assert "elsewhere" not in planned.out


def test_a_step_found_running_is_resolved_as_the_inbox_offers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on = bench(tmp_path, [python("a", "trail", "b", on_interrupt="ask"), python("b", "trail", None)])
    crash(on)
    assert on.go().status == "waiting"
    operator = Operator(on, capsys)
    (asked,) = operator("inbox", "--json").data
    assert (asked["kind"], asked["decisions"]) == ("question", ["retry", "skip", "fail"])
    held = operator("resume", "t", "--yes")
    assert (held.code, "resolve" in held.err, asked["id"] in held.err) == (5, True, True)
    assert operator("resolve", asked["id"], "--as", "ignore").code == 2
    assert operator("resolve", asked["id"], "--as", "skip").code == 0
    assert on.go().status == "done"
    assert on.state()["trail"] == ["b1"]


def test_a_persons_choice_is_answered_not_resolved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = {"id": "ask", "type": "human_task", "prompt": "Which?", "response_schema": {"enum": ["x", "y"]}, "next": None}
    on = bench(tmp_path, [ask])
    on.start({})
    assert on.go().status == "waiting"
    held = Operator(on, capsys)("resume", "t", "--yes")
    assert (held.code, "tt-debug answer" in held.err) == (5, True)


def test_doctor_tells_a_held_run_from_one_that_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    on = bench(tmp_path, [python("a", "tests.engine.effect_nodes:sends", None)])
    effect_nodes.reset()
    effect_nodes.troubles["send"] = [TimeoutError("no answer")]
    on.start({"to": "anna", "cls": "at_most_once"}, "asks")
    assert on.go("run-asks").status == "held"
    crash(on)
    said = Operator(on, capsys)("doctor").out
    assert "1 run crashed: t\n" in said
    assert "1 run held: asks\n" in said
