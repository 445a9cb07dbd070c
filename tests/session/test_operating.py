"""Looking after runs that nobody works on, and deciding about them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from stores.effects import EffectCall, EffectClass, Slot
from stores.errors import Conflict, LeaseLost, NotFound, ReadOnly
from stores.runs import Run, RunStatus, StepRecord
from stores.supervision import Case, Takeover
from tests.engine.flows import Bench, bench, python
from tests.engine.holders import holder
from tt_debug.engine.ownership import lock_path
from tt_debug.engine.recovery import ALERT_AFTER, HOLD_AFTER
from tt_debug.errors import UsageError, WaitingForAnswer
from tt_debug.session.operating import Operations, needs_attention
from tt_debug.session.plans import RunRequest
from tt_debug.session.session import Session

HUMAN = {"id": "ask", "type": "human_task", "prompt": "Go?", "due": "1h", "next": None}


@pytest.fixture
def on(tmp_path: Path) -> Bench:
    return bench(tmp_path, [python("a", "trail", "b"), python("b", "trail", None)])


@pytest.fixture
def operations(on: Bench) -> Iterator[Operations]:
    session = Session.open(str(on.folder / "store.sqlite"))
    yield session.operations
    session.close()


def crash(on: Bench, thread: str = "t", node: str = "a") -> Run:
    """A run as a process leaves it that died inside ``node``, the first of the thread."""
    on.start({}, thread)
    run = on.store.claim(f"run-{thread}", "dead", 999)
    on.store.start_step(run.run_id, run.token, StepRecord(run.run_id, 0, node))
    return run


def ignore(_event: object) -> None:
    """Nobody listens."""


def test_a_run_that_waits_for_its_next_attempt_is_taken_up_once_that_may_begin(
    on: Bench, operations: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = crash(on)
    soon = on.store.time() + timedelta(minutes=1)
    failed = StepRecord(run.run_id, 0, "a", status="failed", error="no network", next_attempt_at=soon)
    on.store.fail_step(run.run_id, run.token, failed)
    (plan,) = operations.plans()
    assert (plan.action, plan.after) == ("run", soon)
    assert list(operations.sweep("auto", ignore, due=True)) == []
    on.store.finish(run.run_id, run.token, RunStatus.PAUSED)
    on.store.requeue(run.run_id, None)
    assert operations.ready() == ()
    assert operations.awaits()
    assert not operations.awaits(["another"])
    monkeypatch.setattr("stores.native.lease_clock.time.time_ns", lambda: int(soon.timestamp() + 1) * 10**9)
    assert [found.run_id for found in operations.ready()] == ["run-t"]
    assert not operations.awaits()


def test_a_run_that_nobody_works_on_is_found_with_the_evidence_and_run_on(on: Bench, operations: Operations) -> None:
    assert operations.plans() == ()
    crash(on)
    (plan,) = operations.plans()
    assert (plan.action, plan.evidence, plan.then) == ("run", "its process 999 is gone", "run a again")
    assert operations.plans(["another"]) == ()
    result = operations.act(plan, ignore)
    assert result is not None
    assert (result.status, on.state()["trail"]) == ("done", ["a1", "b1"])
    assert operations.plans() == ()
    (event,) = on.store.events(["recovered"])
    assert event.data["evidence"] == "its process 999 is gone"
    with pytest.raises(Conflict):
        operations.act(plan, ignore)


def test_a_run_that_was_paused_since_it_was_found_ready_is_left_alone(on: Bench, operations: Operations) -> None:
    on.start({})
    (ready,) = operations.ready()
    on.store.request("run-t", "pause")
    with pytest.raises(Conflict, match="was pending and is paused by now"):
        operations.run_on(ready, ignore)
    assert on.store.run("run-t").status == RunStatus.PAUSED
    assert on.store.steps("run-t") == ()


def test_a_run_at_work_is_left_alone(on: Bench, operations: Operations) -> None:
    run = crash(on)
    with holder(lock_path(on.store, run.run_id, "dead")):
        assert operations.plans() == ()
        on.store.beat(run.run_id, run.token, 0)
        (plan,) = operations.plans()
        assert "its lease is over" in plan.evidence


@pytest.mark.parametrize(
    ("policy", "then"), [("skip", "skip a"), ("fail", "fail at a"), ("ask", "ask what to do with a")]
)
def test_a_plan_says_what_the_node_wants_done(tmp_path: Path, policy: str, then: str) -> None:
    on = bench(tmp_path, [python("a", "trail", None, on_interrupt=policy)])
    crash(on)
    assert [plan.then for plan in Session.open(str(tmp_path / "store.sqlite")).operations.plans()] == [then]


def test_a_sweep_remembers_its_plans_and_tells_each_once(on: Bench, operations: Operations) -> None:
    crash(on)
    assert list(operations.sweep("off", ignore)) == []
    (told,) = operations.sweep("log_only", ignore)
    assert (told.acted, told.plan.then) == (False, "run a again")
    assert list(operations.sweep("log_only", ignore)) == []
    assert list(operations.sweep("confirm", ignore, agree=lambda plan: True)) == []
    (event,) = on.store.events(["recovery_plan"])
    assert (event.data["action"], event.data["mode"], event.run_id) == ("run", "log_only", "run-t")
    assert on.store.run("run-t").token == 1
    (swept,) = operations.sweep("auto", ignore)
    assert swept.acted
    assert on.store.run("run-t").status == RunStatus.COMPLETED


def test_a_sweep_that_asks_acts_on_what_was_agreed_to(on: Bench, operations: Operations) -> None:
    crash(on, "t")
    crash(on, "u")
    swept = list(operations.sweep("confirm", ignore, agree=lambda plan: plan.run.thread == "u"))
    assert [(each.plan.run.thread, each.acted) for each in swept] == [("t", False), ("u", True)]
    assert on.store.run("run-u").status == RunStatus.COMPLETED


def test_one_runs_error_does_not_stop_the_sweep(
    on: Bench, operations: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash(on, "t")
    crash(on, "u")
    run_on = operations.run_on

    def fails(run: Run, on_event: Any) -> Any:
        if run.thread == "t":
            raise LeaseLost("somebody was faster")
        return run_on(run, on_event)

    monkeypatch.setattr(operations, "run_on", fails)
    swept = list(operations.sweep("auto", ignore))
    assert [(each.plan.run.thread, str(each.error or "")) for each in swept] == [
        ("t", "somebody was faster"),
        ("u", ""),
    ]
    assert on.store.run("run-u").status == RunStatus.COMPLETED


def test_only_calls_that_may_have_been_made_are_told_of(on: Bench, operations: Operations) -> None:
    run = crash(on)
    for seq, kind in enumerate((EffectClass.AT_MOST_ONCE, EffectClass.TRANSACTIONAL, EffectClass.REPEATABLE)):
        slot = Slot("flow", "a", "t", 1, kind, 1)
        on.store.begin_effect(run.run_id, run.token, EffectCall(slot, kind, None, "0", 0, 1, seq))
    (plan,) = operations.plans()
    assert plan.calls == ("at_most_once: not called again: you are asked", "repeatable: called again")


def test_a_run_that_dies_again_and_again_is_told_of_and_then_held(on: Bench, operations: Operations) -> None:
    run = crash(on)
    for number in range(1, HOLD_AFTER + 1):
        run = on.store.claim("run-t", "dead", 999, takeover=Takeover(run.token, f"death {number}"))
        on.store.start_step("run-t", run.token, StepRecord("run-t", 0, "a", attempt=number + 1))
    assert run.recoveries > ALERT_AFTER
    (plan,) = operations.plans()
    assert (plan.action, plan.then[:22]) == ("hold", "hold it: recovered 5 t")
    assert operations.act(plan, ignore) is None
    held = on.store.run("run-t")
    assert (held.shown, held.hold_reason) == ("held", Case.RECOVERY_LIMIT)
    assert needs_attention(on.store) == 1
    (waits,) = operations.plans()
    (asked,) = operations.inbox()
    assert (waits.action, waits.case) == ("wait", asked.id)
    assert operations.act(waits, ignore) is None
    with closing(Session.open(str(on.folder / "store.sqlite"))) as session, pytest.raises(WaitingForAnswer) as refused:
        session.plan(RunRequest("resume", ref=session.resolve("t")))
    assert refused.value.hint.endswith(f"{asked.id} --as retry|cancel|dismiss")
    with pytest.raises(UsageError, match="cannot be decided as skip"):
        operations.decide(asked.id, "skip", "Ada")
    decided = operations.decide(asked.id, "retry", "Ada")
    assert decided is not None
    assert decided.status == RunStatus.PENDING
    assert operations.run_on(decided, ignore).status == "done"


def test_a_fourth_recovery_puts_a_notice_into_the_inbox_and_goes_on(on: Bench, operations: Operations) -> None:
    run = crash(on)
    for number in range(ALERT_AFTER):
        run = on.store.claim("run-t", "dead", 999, takeover=Takeover(run.token, f"death {number}"))
    (plan,) = operations.plans()
    result = operations.act(plan, ignore)
    assert result is not None
    assert result.status == "done"
    (asked,) = operations.inbox()
    assert (asked.kind, asked.prompt) == (Case.RECOVERY_LIMIT, "recovered 4 times")
    operations.decide(asked.id, "dismiss", "Ada")
    assert operations.inbox() == ()


def test_a_failed_run_waits_in_the_inbox_until_it_is_retried(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "fixable", None)])
    on.start({})
    on.go()
    operations = Session.open(str(tmp_path / "store.sqlite")).operations
    (asked,) = operations.inbox()
    assert (asked.kind, asked.prompt) == (Case.FAILED, "a failed: ValueError: not fixed")
    assert operations.retry("t", "Ada").status == RunStatus.PENDING
    assert operations.inbox() == ()
    assert [run.run_id for run in operations.ready()] == ["run-t"]
    on.go()
    (again,) = operations.inbox()
    assert again.id != asked.id
    cancelled = operations.decide(again.id[:12], "cancel", "Ada")
    assert cancelled is not None
    assert cancelled.status == RunStatus.CANCELLED
    with pytest.raises(NotFound):
        operations.retry("nobody", "Ada")
    with pytest.raises(Conflict):
        operations.retry("run-t", "Ada")


@pytest.mark.parametrize(
    ("on_timeout", "action", "status"), [("reject", "reject", "pending"), ("fail", "expire", "failed")]
)
def test_a_question_nobody_answered_in_time(tmp_path: Path, on_timeout: str, action: str, status: str) -> None:
    on = bench(tmp_path, [{**HUMAN, "on_timeout": on_timeout}])
    on.clock.time = datetime.now(UTC) - timedelta(hours=2)
    on.start({})
    on.go()
    operations = Session.open(str(tmp_path / "store.sqlite")).operations
    (asked,) = operations.inbox()
    assert asked.due == on.clock.time + timedelta(hours=1)
    (plan,) = operations.plans()
    assert plan.action == action
    assert "nobody answered ask by" in plan.evidence
    operations.act(plan, ignore)
    assert on.store.run("run-t").status == status
    assert on.store.approvals() == ()


def test_a_question_may_wait_for_ever(tmp_path: Path) -> None:
    on = bench(tmp_path, [HUMAN])
    on.clock.time = datetime.now(UTC) - timedelta(days=400)
    on.start({})
    on.go()
    assert Session.open(str(tmp_path / "store.sqlite")).operations.plans() == ()


def test_a_run_is_cancelled_by_force(on: Bench, operations: Operations) -> None:
    run = replace(crash(on), owner_pid=os.getpid())
    with holder(lock_path(on.store, run.run_id, "dead")):
        assert operations.cancel_by_force("t").status == RunStatus.CANCELLED
    with pytest.raises(NotFound, match="no active run"):
        operations.cancel_by_force("t")


def test_a_store_opened_for_looking_is_left_as_it_is(on: Bench) -> None:
    crash(on)
    looking = Session.open(str(on.folder / "store.sqlite"), read_only=True).operations
    (plan,) = looking.plans()
    for write in (
        lambda: looking.act(plan, ignore),
        lambda: looking.retry("t", "Ada"),
        lambda: looking.protect("t", True),
        lambda: looking.decide("x", "retry", "Ada"),
    ):
        with pytest.raises(ReadOnly):
            write()


def test_nobody_goes_on_unasked_with_the_runs_of_a_copied_store(on: Bench, tmp_path: Path) -> None:
    crash(on)
    on.start({}, "u")
    store = on.folder / "copy.sqlite"
    with closing(sqlite3.connect(store)) as copy, closing(sqlite3.connect(on.folder / "store.sqlite")) as original:
        original.backup(copy)
    with closing(Session.open(str(store))) as session:
        (swept,) = session.operations.sweep("auto", ignore)
        assert "copied store" in str(swept.error)
        assert f"{on.folder / 'store.sqlite'}, which is there" in str(swept.error)
        with pytest.raises(Conflict, match="copied store"):
            session.operations.run_on(on.store.run("run-u"), ignore)
        plan = session.plan(RunRequest("resume", ref=session.resolve("u")))
        assert plan.notes[0].startswith("copied store: ")
        assert session.execute(plan, ignore).status == "done"
        # Somebody has agreed: from now on it is a store of its own.
        assert session.plan(RunRequest("resume", ref=session.resolve("t"))).notes == ()
        (swept,) = session.operations.sweep("auto", ignore)
        assert (swept.error, swept.result and swept.result.status) == (None, "done")
    assert on.store.run("run-u").status == RunStatus.PENDING
    assert on.store.copied_from() is None
