"""Figures about the runs of a store, and what is alarming about them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from stores.runs import RunStatus, StepRecord
from stores.supervision import Takeover
from tests.engine.flows import Bench, bench, python
from tt_debug.session.figures import Figures, Mean, figures


def crash(on: Bench, thread: str, times: int = 1) -> None:
    """A run that died so often in its second node, and was recovered each time but the last."""
    on.start({}, thread)
    on.go(f"run-{thread}", until="b")
    run = on.store.claim(f"run-{thread}", "dead", 1)
    for _ in range(times - 1):
        run = on.store.claim(run.run_id, "dead", 1, takeover=Takeover(run.token, "death"))
    on.store.start_step(run.run_id, run.token, StepRecord(run.run_id, 1, "b"))


def two(tmp_path: Path) -> Bench:
    return bench(tmp_path, [python("a", "trail", "b"), python("b", "trail", None)])


def test_an_empty_store_has_nothing_to_say(tmp_path: Path) -> None:
    found = figures(two(tmp_path).store)
    assert (found.recoveries, found.success_rate, found.recovery, found.alerts()) == (0, None, Mean(), ())


def test_recoveries_and_what_came_of_them(tmp_path: Path) -> None:
    on = two(tmp_path)
    crash(on, "t")
    before, on.clock.time = on.clock.time, datetime.now(UTC) + timedelta(seconds=5)
    on.go("run-t")
    on.clock.time = before
    crash(on, "u")
    taken = on.store.claim("run-u", "me", 1, takeover=Takeover(2, "death"))
    on.store.finish("run-u", taken.token, RunStatus.FAILED, "no")
    crash(on, "v", times=2)
    found = figures(on.store)
    assert (found.recoveries, dict(found.outcomes)) == (3, {"finished": 1, "failed": 1, "open": 1})
    assert found.success_rate == 0.5
    assert (found.recovery.count, found.rerun.count) == (1, 1)
    assert found.writes.count == 4
    assert found.alerts()[0] == "of the runs that were recovered 50% finished, below 95%"


def test_a_run_that_is_recovered_again_and_again_is_alarming_and_once_is_not(tmp_path: Path) -> None:
    on = two(tmp_path)
    crash(on, "t", times=4)
    on.go("run-t")
    assert figures(on.store).alerts() == ("run run-t was recovered 4 times",)
    crash(on, "u")
    on.go("run-u")
    assert len(figures(on.store).alerts()) == 1


def test_what_waits_is_the_backlog(tmp_path: Path) -> None:
    on = bench(tmp_path, [{"id": "ask", "type": "human_task", "next": None}])
    on.start({})
    on.go()
    found = figures(on.store)
    assert (found.waiting, found.waiting_since, dict(found.runs)) == (1, on.store.approvals()[0].since, {"waiting": 1})


def test_recoveries_that_take_longer_than_a_run_are_alarming_and_one_is_not() -> None:
    found = Figures({}, 2, {"finished": 2}, Mean(2, 18.0, 9.0), Mean(2, 4.0, 2.0), Mean(), 0, None, 0, 0)
    assert found.alerts() == ("recovering takes 9.0 s on the mean, running again from the start 2.0 s",)
    once = Figures({}, 1, {"finished": 1}, Mean(1, 9.0, 9.0), Mean(1, 2.0, 2.0), Mean(), 0, None, 0, 0)
    assert once.alerts() == ()


def test_a_run_that_is_held_for_a_decision_is_no_failed_recovery_and_one_given_up_is() -> None:
    held = Figures({}, 4, {"finished": 3, "held": 1}, Mean(), Mean(), Mean(), 0, None, 0, 0)
    assert (held.success_rate, held.alerts()) == (1.0, ())
    given_up = Figures({}, 4, {"finished": 3, "given up": 1}, Mean(), Mean(), Mean(), 0, None, 0, 0)
    assert given_up.success_rate == 0.75
