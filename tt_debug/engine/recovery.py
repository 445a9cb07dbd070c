"""What is found of runs that nobody works on, with the evidence, and what would be done about each.

Pure but for reading: acting on a plan is the session's, running the run is `worker`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from stores.effects import EffectClass, EffectStatus
from stores.errors import Corrupt, NotFound
from stores.runs import Approval, Run, RunStatus
from stores.supervision import Case
from tt_debug.engine.ownership import why_ownerless
from tt_debug.engine.recover import Standing, standing

if TYPE_CHECKING:
    from stores.protocol import RunStore

ALERT_AFTER: Final = 3
"""A run that was recovered more often than this is told of in the inbox; it goes on."""

HOLD_AFTER: Final = 5
"""A run that was recovered more often than this without a new checkpoint is held."""

Action = Literal["run", "hold", "wait", "expire", "reject"]

_AT_RISK: Final = {
    EffectClass.REPEATABLE: "called again",
    EffectClass.IDEMPOTENT: "called again under the same key",
    EffectClass.PROBE: "the other side is asked first",
    EffectClass.AT_MOST_ONCE: "not called again: you are asked",
}
"""What becomes of a call whose end is unknown. A statement of the step's own transaction is none: it was not made."""


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """What was found of one run, and what would be done.

    ``action``: "run" it on, "hold" it, "wait" for a decision that is asked already, or "expire"/"reject" a question
    nobody answered in time. ``calls`` are calls whose outcome nobody knows, each with what would become of it.
    ``after`` is the time before which its next attempt is not to begin. ``kind`` is that of the case it is held with.
    """

    run: Run
    action: Action
    evidence: str
    then: str
    calls: tuple[str, ...] = ()
    case: str | None = None
    after: datetime | None = None
    kind: str = Case.RECOVERY_LIMIT

    @property
    def key(self) -> tuple[str, int, str]:
        """The same for as long as nothing about the run has changed."""
        return self.run.run_id, self.run.token, f"{self.action} {self.then}"

    def line(self) -> str:
        """In one sentence, as logs have it."""
        calls = f" ({'; '.join(self.calls)})" if self.calls else ""
        return f"{self.run.thread}: {self.evidence} → {self.then}{calls}"


def plans(store: RunStore, now: datetime, threads: Sequence[str] = ()) -> Iterator[RecoveryPlan]:
    """Of every run that is not at work and does not wait for its turn, oldest first."""
    for run in reversed(store.runs()):
        if threads and run.thread not in threads:
            continue
        try:
            found = tuple(_of(store, run, now))
        except (Corrupt, NotFound) as error:  # one damaged run must not keep the others from being looked after
            held = run.hold_reason or run.status == RunStatus.WAITING
            action: Action = "wait" if held else "hold"
            then = f"look into it: {error}" if held else f"hold it: {error}"
            found = (RecoveryPlan(run, action, "its record is damaged", then, kind=Case.CHECKSUM),)
        yield from found


def _of(store: RunStore, run: Run, now: datetime) -> Iterator[RecoveryPlan]:
    if run.status == RunStatus.RUNNING:
        evidence = why_ownerless(store, run)
        if evidence is not None:
            yield _plan(store, run, evidence)
    elif run.status == RunStatus.CRASHED:
        yield _held(store, run) if run.hold_reason else _plan(store, run, "it was recorded as crashed")
    elif run.status == RunStatus.WAITING:
        yield from _overdue(store, run, now)


def _plan(store: RunStore, run: Run, evidence: str) -> RecoveryPlan:
    recoveries = without_progress(store, run)
    if recoveries >= HOLD_AFTER:
        then = f"hold it: recovered {recoveries} times at this checkpoint, and never got further"
        return RecoveryPlan(run, "hold", evidence, then)
    found = standing(store.steps(run.run_id))
    calls = tuple(_calls(store, run, found))
    return RecoveryPlan(run, "run", evidence, _then(store, run, found), calls, after=found.wait_until)


def _then(store: RunStore, run: Run, found: Standing) -> str:
    if found.wait_until is not None:
        return f"try again, not before {found.wait_until:%H:%M:%S} UTC"
    if found.interrupted is None:
        following = store.load(store.head(run.thread)).header.next
        return f"go on with {following[0]}" if following else "end it: nothing is left to run"
    from tt_debug.definition.load import load_body  # 57 ms of pydantic, for a run that died inside a node

    node = load_body(store.definition(run.workflow_hash).body).node(found.interrupted.node)
    policy = getattr(node, "on_interrupt", "retry")
    words = {"retry": "run {} again", "skip": "skip {}", "fail": "fail at {}", "ask": "ask what to do with {}"}
    return words[policy].format(found.interrupted.node)


def _calls(store: RunStore, run: Run, found: Standing) -> Iterator[str]:
    for use in store.effects(run_id=run.run_id):
        effect = use.effect
        if use.ordinal == found.ordinal and effect.status == EffectStatus.INTENT and effect.kind in _AT_RISK:
            yield f"{effect.slot.name}: {_AT_RISK[effect.kind]}"


def _held(store: RunStore, run: Run) -> RecoveryPlan:
    asked = next((case for case in open_cases(store, run.thread) if case.run_id == run.run_id), None)
    case = None if asked is None else asked.id
    why = f"held: {run.hold_reason}" + (f", {run.error}" if run.error else "")
    return RecoveryPlan(run, "wait", why, f"wait for a decision about {case}" if case else "wait", case=case)


def open_cases(store: RunStore, thread: str | None = None) -> tuple[Approval, ...]:
    """What a decision is asked about: cases, and questions that hold their run."""
    held = (asked for asked in store.approvals(thread) if asked.kind not in ("approval", "question"))
    return (*store.cases(thread), *held)


def _overdue(store: RunStore, run: Run, now: datetime) -> Iterator[RecoveryPlan]:
    for asked in store.approvals(run.thread):
        if asked.run_id != run.run_id or asked.due is None or asked.due > now or asked.on_timeout == "wait":
            continue
        evidence = f"nobody answered {asked.node} by {asked.due:%Y-%m-%d %H:%M} UTC"
        if asked.on_timeout == "reject":
            yield RecoveryPlan(run, "reject", evidence, f"reject {asked.node}", case=asked.id)
        else:
            yield RecoveryPlan(run, "expire", evidence, f"fail at {asked.node}", case=asked.id)


def without_progress(store: RunStore, run: Run) -> int:
    """How often the run was recovered since its thread had its present head."""
    head = store.head(run.thread).id
    found = 0
    for event in reversed(store.events(["recovered", "resolved"], run_id=run.run_id)):
        if event.kind == "resolved" or event.data.get("head") != head:
            break
        found += 1
    return found


def recovery_case(run: Run, why: str, kind: str = Case.RECOVERY_LIMIT, *, holds: bool) -> Approval:
    """That somebody has to see to a run's recovery: told of once, or one each time that it is held for it."""
    which = f"{'limit' if kind == Case.RECOVERY_LIMIT else kind}-{run.recoveries}" if holds else "recovered"
    return Approval(
        f"{run.run_id}-{which}", run.thread, "", run.head.id if run.head else "", "", why,
        {"enum": ["retry", "cancel", "dismiss"]}, run_id=run.run_id, kind=kind,
    )  # fmt: skip
