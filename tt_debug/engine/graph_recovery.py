"""What is found of runs of users' graphs that nobody works on, and what would be done about each.

Pure but for reading, as `recovery` is for the embedded engine, in the same words; a graph has tasks side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stores.effects import EffectClass, EffectStatus
from stores.protocol import RunStore
from stores.runs import Run, RunStatus
from tt_debug.engine.ownership import why_ownerless
from tt_debug.engine.recovery import HOLD_AFTER, RecoveryPlan, open_cases, without_progress

_AT_RISK = {
    EffectClass.REPEATABLE: "called again",
    EffectClass.IDEMPOTENT: "called again under the same key",
    EffectClass.PROBE: "the other side is asked first",
}


def plans(records: RunStore, threads: Sequence[str] = ()) -> Iterator[RecoveryPlan]:
    """Of every run that is not at work, oldest first."""
    for run in reversed(records.runs()):
        if threads and run.thread not in threads:
            continue
        evidence = why_ownerless(records, run) if run.status == RunStatus.RUNNING else None
        if run.status == RunStatus.CRASHED:
            evidence = "it was recorded as crashed"
        if run.status == RunStatus.CRASHED and run.hold_reason is not None:
            yield _held(records, run)
        elif evidence is not None:
            yield _plan(records, run, evidence)


def _plan(records: RunStore, run: Run, evidence: str) -> RecoveryPlan:
    recoveries = without_progress(records, run)
    if recoveries >= HOLD_AFTER:
        then = f"hold it: recovered {recoveries} times at this checkpoint, and never got further"
        return RecoveryPlan(run, "hold", evidence, then)
    steps = [step for step in records.steps(run.run_id) if not step.substep]
    done = {step.ordinal for step in steps if step.status == "completed"}
    begun = dict.fromkeys(step.node for step in steps if step.ordinal not in done)
    following = begun or dict.fromkeys(records.load(records.head(run.thread)).header.next)
    then = f"run {', '.join(following)} again" if begun else f"go on with {', '.join(following)}"
    calls = tuple(
        f"{use.effect.slot.name}: {_AT_RISK.get(use.effect.kind, 'not called again: you are asked')}"
        for use in records.effects(run_id=run.run_id)
        if use.effect.status == EffectStatus.INTENT and use.ordinal not in done
    )
    return RecoveryPlan(run, "run", evidence, then if following else "end it: nothing is left to run", calls)


def _held(records: RunStore, run: Run) -> RecoveryPlan:
    asked = next((case.id for case in open_cases(records, run.thread) if case.run_id == run.run_id), None)
    why = f"held: {run.hold_reason}" + (f", {run.error}" if run.error else "")
    return RecoveryPlan(run, "wait", why, f"wait for a decision about {asked}" if asked else "wait", case=asked)
