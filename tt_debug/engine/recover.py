"""What a run that stopped in the middle is found as, and stopping one that nobody runs any more.

Owns the reading of a step log that a dead process left. Who owns a run is `ownership`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from stores.errors import Conflict
from stores.protocol import RunStore
from stores.runs import Run, RunStatus, StepRecord
from tt_debug.engine.ownership import claimed, why_ownerless


def stop(store: RunStore, run_id: str, what: str, *, force: bool = False) -> Run:
    """Ask a run to "pause" or "cancel" at its next step; at once when nobody runs it.

    ``force`` takes it over from a living owner first, whose next write is refused then.
    """
    run = store.request(run_id, what)
    if run.status != RunStatus.RUNNING:
        return run
    evidence = why_ownerless(store, run) or (f"{what} by force" if force else None)
    if evidence is None:
        return run
    # Whoever took it since may have ended the run; then there is nothing to stop.
    with suppress(Conflict), claimed(store, run, evidence=evidence) as taken:
        return store.finish(run_id, taken.token, RunStatus.CANCELLED if what == "cancel" else RunStatus.PAUSED)
    return store.run(run_id)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the step log of a run stands: what the next attempt is.

    ``failed`` counts the failures of the present series of attempts; a series ends with the failure that failed
    the run. ``interrupted`` is the attempt that was running when its process died.
    """

    ordinal: int = 0
    attempt: int = 1
    failed: int = 0
    wait_until: datetime | None = None
    interrupted: StepRecord | None = None


def standing(log: Sequence[StepRecord]) -> Standing:
    """Read the log of one run, oldest first. A part that is done does not make its node done."""
    log = [record for record in log if not record.substep]
    done = [record.ordinal for record in log if record.status in ("completed", "skipped")]
    ordinal = max(done) + 1 if done else 0
    attempts = sorted((record for record in log if record.ordinal == ordinal), key=lambda record: record.attempt)
    if not attempts:
        return Standing(ordinal)
    last = attempts[-1]
    failed = 0
    for record in reversed(attempts):
        if record.status == "failed" and record.next_attempt_at is None:
            break
        failed += record.status == "failed"
    return Standing(
        ordinal,
        last.attempt + 1,
        failed,
        last.next_attempt_at if last.status == "failed" else None,
        last if last.status == "running" else None,
    )
