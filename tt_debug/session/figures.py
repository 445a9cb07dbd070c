"""Figures about the runs of a store: recoveries and what came of them, writes, what waits; and what is alarming.

Pure but for reading. Reached as ``session.operations.figures()``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from stores.model import Value
from stores.protocol import RunStore
from stores.runs import Run, RunStatus, StepRecord
from stores.supervision import Case, StoredEvent
from tt_debug.engine.recovery import ALERT_AFTER

LOWEST_RATE: Final = 0.95
"""Of the runs that were recovered, so many should have finished."""

_EVENTS: Final = 100_000
_UNFELT: Final = 1.0  # seconds that nobody minds
_FINISHED: Final = frozenset({RunStatus.COMPLETED, RunStatus.WAITING, RunStatus.PAUSED})


@dataclass(frozen=True, slots=True)
class Mean:
    """A number of durations, in seconds."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    @property
    def mean(self) -> float | None:
        """None where there is none."""
        return self.total / self.count if self.count else None


@dataclass(frozen=True, slots=True)
class Figures:
    """What a store's runs came to.

    ``outcomes`` counts the runs that were recovered by how they stand: finished (or stopped where they should),
    failed, held, given up, open. ``recovery`` lasts from a takeover to the next completed step; ``rerun`` is what a run
    from the beginning would have taken to get there. ``writes`` are commits of a step.
    """

    runs: Mapping[str, int]
    recoveries: int
    outcomes: Mapping[str, int]
    recovery: Mean
    rerun: Mean
    writes: Mean
    waiting: int
    waiting_since: datetime | None
    taken_over: int
    replayed: int
    most_recovered: tuple[tuple[str, int], ...] = field(default=())

    @property
    def success_rate(self) -> float | None:
        """Of the recovered runs whose end is known, how many finished. One that is held waits for somebody's decision,
        as it should; one that was held for dying again and again is given up."""
        ended = sum(count for outcome, count in self.outcomes.items() if outcome not in ("open", "held"))
        return self.outcomes.get("finished", 0) / ended if ended else None

    def alerts(self) -> tuple[str, ...]:
        """What somebody should look into, one sentence each."""
        found = []
        rate = self.success_rate
        if rate is not None and rate < LOWEST_RATE:
            found.append(f"of the runs that were recovered {rate:.0%} finished, below {LOWEST_RATE:.0%}")
        found += [f"run {run} was recovered {count} times" for run, count in self.most_recovered if count > ALERT_AFTER]
        recovery, rerun = self.recovery.mean, self.rerun.mean
        # One that waited out the rest of a retry's delay says nothing about the others.
        if recovery is not None and rerun is not None and self.recovery.count > 1 and recovery > max(rerun, _UNFELT):
            found.append(f"recovering takes {recovery:.1f} s on the mean, running again from the start {rerun:.1f} s")
        return tuple(found)


def figures(store: RunStore) -> Figures:
    """Of every run in the store."""
    runs = store.runs()
    recovered = [event for event in store.events(["recovered"], limit=_EVENTS) if event.run_id is not None]
    times = Counter(str(event.run_id) for event in recovered)
    waiting = [run for run in runs if run.status == RunStatus.WAITING]
    questions = [asked.since for asked in store.approvals() if asked.since is not None]
    return Figures(
        runs=Counter(run.shown for run in runs),
        recoveries=len(recovered),
        outcomes=Counter(_outcome(run) for run in runs if run.run_id in times and run.status != RunStatus.CANCELLED),
        recovery=_mean(_each(store, recovered, _until_progress)),
        rerun=_mean(_each(store, recovered, _from_the_start)),
        writes=_writes(store.events(["writes"], limit=_EVENTS)),
        waiting=len(waiting),
        waiting_since=min(questions, default=None),
        taken_over=sum("lease is over" in str(event.data.get("evidence")) for event in recovered),
        replayed=sum(not use.called for use in store.effects()),
        most_recovered=tuple(times.most_common(5)),
    )


def _outcome(run: Run) -> str:
    if run.status in _FINISHED:
        return "finished"
    if run.status == RunStatus.FAILED:
        return "failed"
    if run.hold_reason == Case.RECOVERY_LIMIT:
        return "given up"
    return "held" if run.hold_reason else "open"


def _each(
    store: RunStore, recovered: Sequence[StoredEvent], measure: Callable[[Sequence[StepRecord], datetime], float | None]
) -> Iterable[float]:
    logs: dict[str, tuple[StepRecord, ...]] = {}
    for event in recovered:
        run_id = str(event.run_id)
        if run_id not in logs:
            logs[run_id] = store.steps(run_id)
        seconds = measure(logs[run_id], event.at)
        if seconds is not None:
            yield seconds


def _until_progress(log: Sequence[StepRecord], at: datetime) -> float | None:
    following = _next_done(log, at)
    return None if following is None or following.ended is None else (following.ended - at).total_seconds()


def _from_the_start(log: Sequence[StepRecord], at: datetime) -> float | None:
    """What was completed before, and the step after it, which a run from the start would come to as well."""
    following = _next_done(log, at)
    if following is None:
        return None
    done = [step for step in log if step.status == "completed" and step.ended is not None and step.ended <= at]
    return sum(step.duration or 0.0 for step in [*done, following])


def _next_done(log: Sequence[StepRecord], at: datetime) -> StepRecord | None:
    after = [step for step in log if step.status == "completed" and step.ended is not None and step.ended > at]
    return min(after, key=lambda step: step.ended or at, default=None)


def _mean(seconds: Iterable[float]) -> Mean:
    known = list(seconds)
    return Mean(len(known), sum(known), max(known, default=0.0))


def _writes(events: Sequence[StoredEvent]) -> Mean:
    def number(value: Value) -> float:
        return float(value) if isinstance(value, int | float) else 0.0

    return Mean(
        sum(int(number(event.data.get("count"))) for event in events),
        sum(number(event.data.get("seconds")) for event in events),
        max((number(event.data.get("longest")) for event in events), default=0.0),
    )
