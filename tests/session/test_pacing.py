"""Which nodes are told to keep their parts: five times the others, seen often enough, and not human."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stores.runs import StepRecord
from tt_debug.demo import prepare
from tt_debug.session.pacing import slow_nodes
from tt_debug.session.session import Session

START = datetime(2026, 1, 1, tzinfo=UTC)


def steps(node: str, *seconds: float, run: str = "r", **fields: str) -> list[StepRecord]:
    """One completed step for each duration."""
    return [
        StepRecord(
            run, at, node, started=START, ended=START + timedelta(seconds=took), **{"status": "completed", **fields}
        )
        for at, took in enumerate(seconds)
    ]


def test_a_node_is_compared_with_the_others_and_both_numbers_are_told() -> None:
    log = [*steps("slow", 6.0, 6.0, 6.0), *steps("quick", 1.0, 1.0), *steps("other", 1.0)]
    (found,) = slow_nodes(log, {"r": "trip"})
    assert (found.node, found.workflow, found.mean, found.others, found.samples) == ("slow", "trip", 6.0, 1.0, 3)
    assert "slow of trip takes 6" in found.advice
    assert "ctx.substep" in found.advice


@pytest.mark.parametrize(
    "log",
    [
        [*steps("slow", 6.0, 6.0), *steps("quick", 1.0, 1.0, 1.0)],
        [*steps("slow", 6.0, 6.0, 6.0), *steps("quick", 1.0, 1.0)],
        [*steps("slow", 5.0, 5.0, 5.0), *steps("quick", 1.0, 1.0, 1.0)],
        [*steps("slow", 6.0, 6.0, 6.0), *steps("quick", 1.0, 1.0, 1.0, run="elsewhere")],
        [*steps("slow", 6.0, 6.0, 6.0, status="failed"), *steps("quick", 1.0, 1.0, 1.0)],
        [*steps("slow", 6.0, 6.0, 6.0), *steps("slow", 2.0, substep="a part"), *steps("quick", 1.0, 1.0, 1.0)],
    ],
)
def test_what_is_seldom_or_not_five_times_or_elsewhere_or_parted_is_not_told(log: list[StepRecord]) -> None:
    assert slow_nodes(log, {"r": "trip", "elsewhere": "another"}) == ()


def test_the_waiting_of_a_person_is_no_time_that_a_node_takes(tmp_path: Path) -> None:
    session = Session.open(str(prepare(tmp_path).native), read_only=True)
    assert session.runs("offer-17")[0].status == "waiting_human"
    assert session.executor.slow_nodes() == ()
    session.close()
