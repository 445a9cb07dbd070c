"""The durable transitions of one run, each one call of the store, and the event that tells of it afterwards.

Owns the run's place: its head, the state there, the visits so far. Calls no node and decides no retry.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NoReturn

from stores.codec import json as codec
from stores.effects import EffectCall
from stores.errors import Busy, StoreError, Unreachable
from stores.ids import new_id
from stores.model import Header, NewCheckpoint, Ref, Status, Value
from stores.points import point
from stores.runs import Approval, Decision, Run, RunStatus, StepCommit, StepRecord
from stores.supervision import Breakpoint, BreakpointHit, Case
from tt_debug.binaries import Binaries
from tt_debug.definition.workflow import Workflow
from tt_debug.engine.breakpoints import Stops, met
from tt_debug.engine.effects import Calls, Hold, Ledger, Parts, verdict_schema
from tt_debug.engine.events import Event
from tt_debug.engine.patience import patiently
from tt_debug.engine.plan import next_node
from tt_debug.engine.retry import Failure
from tt_debug.engine.surroundings import Orders, Surroundings
from tt_debug.engine.until import parse_until

LOST: Final = "lost"
"""How a run ends for a process that it was taken over from, or whose last steps the store has lost."""


@dataclass(frozen=True, slots=True)
class Place:
    """The durable point that a run stands on. ``state`` is JSON."""

    head: Ref
    step: int
    state: bytes


@dataclass(frozen=True, slots=True)
class Question:
    """What a human is asked. ``kind``: "approval" for a human task, "question" about a step found running."""

    prompt: str
    schema: Mapping[str, Value] | None = None
    kind: str = "approval"
    due: timedelta | None = None
    on_timeout: str = "wait"


class Ended(Exception):
    """The run's last transition is durable. ``status`` is a `RunStatus`."""

    def __init__(self, status: str, error: str | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.error = error


class Transitions:
    """One claimed run and where it stands. Every method raises LeaseLost once another process owns the run."""

    def __init__(self, run: Run, workflow: Workflow, orders: Orders, around: Surroundings) -> None:
        self.run = run
        self._owner = (run.run_id, run.token)
        self._workflow = workflow
        self._orders = orders
        self._until = parse_until(orders.until, workflow)
        self._stops = Stops(around.store, run)
        self._store = around.store
        self._around = around
        self._visits: dict[str, int] = {}
        self._committed = 0
        self._has_parts = True  # what the node completed of itself before we began, as far as is known
        self._writes: list[float] = []
        self._write = partial(patiently, around.clock)
        self.binaries = Binaries(around.store.blob)
        self.place = Place(run.head or Ref(run.thread, "", ""), -1, b"{}")

    def tell(self, kind: str, **fields: Value) -> None:
        """Emit an event of this run."""
        self._around.tell(Event(kind, self.run.run_id, self.run.thread, self.now().isoformat(), fields))

    def now(self) -> datetime:
        """In UTC."""
        return self._around.clock.now()

    def load(self) -> tuple[Header, tuple[StepRecord, ...]]:
        """Stand on the thread's head; its header and the run's log so far."""
        checkpoint = self._store.load(self._store.head(self.run.thread))
        # After the head was read: who was stopped and taken over in between must not tell of the other's head.
        self._store.owned(*self._owner)
        header = checkpoint.header
        step = -1 if header.step is None else header.step
        if header.meta.get("inside"):  # a part of the next node's step stands here
            step -= 1
        self.place = Place(header.ref, step, self.binaries.text(checkpoint.state))
        self._visits = dict(self._store.visits(header.ref))
        return header, self._store.steps(self.run.run_id)

    def state(self) -> dict[str, Value]:
        """The values of the state here, a copy."""
        values: dict[str, Value] = codec.loads_own(self.place.state)
        return values

    def record(self, node: str, ordinal: int, attempt: int = 1) -> StepRecord:
        """An attempt that starts now."""
        visit = self._visits.get(node, 0) + 1
        return StepRecord(self.run.run_id, ordinal, node, attempt, visit, started=self.now())

    def begin(self, record: StepRecord) -> None:
        """Log an attempt as running, before its node is called."""
        self._write(lambda: self._store.start_step(*self._owner, record))
        point("run.step-started")

    def wished(self) -> str | None:
        """The status that somebody wants the run to stop with at this moment. Raises LeaseLost."""
        return self._wish(self._stops.look())

    def stop_before(self, node: str) -> str | None:
        """The status that the run stops with before ``node``, None to go on."""
        return self.wished() or self._arrived(node, self.place.step, self.state(), 0)

    def _wish(self, requested: str | None) -> str | None:
        if requested == "cancel":
            return RunStatus.CANCELLED
        return RunStatus.PAUSED if requested == "pause" or self._around.stop.asked else None

    def _arrived(self, node: str, step: int, state: Mapping[str, Value], steps: int) -> str | None:
        there = self._until.reached(node, step, state) or (self._orders.single_step and steps > 0)
        return RunStatus.PAUSED if there else None

    def finish(self, status: str, error: str | None = None, hit: BreakpointHit | None = None) -> NoReturn:
        """End or stop the run without a checkpoint."""
        case = self._case("", error or "", f"-{self.run.token}") if status == RunStatus.FAILED else None
        run = self._write(lambda: self._store.finish(*self._owner, status, error, case=case, hit=hit))
        point("run.finished")
        raise Ended(run.status, error)

    def stop_at_first(self, node: str) -> None:
        """Stop at a breakpoint before a thread's very first node; who resumes elsewhere knows what comes next."""
        hit = self._stops.at("before", node, self.state())
        if hit is not None:
            self.finish(RunStatus.PAUSED, hit.said, hit)

    def pause(self, record: StepRecord, hit: BreakpointHit) -> NoReturn:
        """Stop at a breakpoint inside an attempt, which is begun again later."""
        ended = record._replace(status="abandoned", ended=self.now(), error=hit.said)
        self._write(lambda: self._store.fail_step(*self._owner, ended, run_status=RunStatus.PAUSED, hit=hit))
        point("run.paused")
        raise Ended(self._status_after(RunStatus.PAUSED), hit.said)

    def ledger(self, record: StepRecord) -> Ledger:
        """The effects of the attempt."""
        parts = Parts(
            dict(self._store.substeps(self.place.head)) if self._has_parts else {},
            lambda name, output, statements: self._keep(record, name, output, statements),
        )
        calls = Calls(self.run, self._workflow.workflow_id, record, self._orders.allow)
        before = partial(self._before_call, record.node)
        return Ledger(self._store, self.run, calls, parts, before, self._write)

    def _before_call(self, node: str, name: str, key: str) -> BreakpointHit | None:
        self._around.prolong()
        return self._stops.before_effect(node, name, key, self.state)

    def _keep(self, record: StepRecord, name: str, output: Value, statements: tuple[EffectCall, ...]) -> None:
        """A part of the node is done: its output and a checkpoint, in one transaction."""
        values, meta = self.state(), {"inside": record.node, "substep": name}
        output = self.binaries.taken(output)  # before the checkpoint, which brings the bytes
        made = self._checkpoint(record.node, values, record.node, RunStatus.RUNNING)
        done = record._replace(status="completed", output=output, ended=self.now(), substep=name)
        point("run.substep-before-commit")
        commit = StepCommit(
            *self._owner, done, replace(made, source="substep", meta=meta),
            commit_id=f"{_commit_id(record)}/{name}", statements=statements,
        )  # fmt: skip
        header = self._write(lambda: self._store.commit_substep(commit), tells=True)
        point("run.substep-committed")
        self.binaries.stored()
        self.place, self._has_parts = replace(self.place, head=header.ref), True
        self.tell("substep_finished", node=record.node, substep=name, step=header.step, checkpoint=header.ref.id)

    def hold(self, record: StepRecord, held: Hold) -> NoReturn:
        """Stop the run until a human has decided about an effect."""
        asked = Approval(
            id=f"{self.run.run_id}-{record.ordinal}-{record.attempt}",
            thread=self.run.thread, ns="", checkpoint=self.place.head.id, node=record.node, prompt=held.prompt,
            schema=verdict_schema(held.kind), since=self.now(), run_id=self.run.run_id, kind=held.kind,
        )  # fmt: skip
        ended = record._replace(status="abandoned", ended=self.now(), error=held.prompt, error_class=held.kind)
        self._write(lambda: self._store.hold(*self._owner, ended, asked, held.effect.key))
        point("run.held")
        self.tell("waiting", node=record.node, approval=asked.id, prompt=held.prompt, ns="")
        raise Ended(RunStatus.CRASHED, held.prompt)

    def commit(self, record: StepRecord, state: bytes, statements: tuple[EffectCall, ...] = ()) -> StepRecord:
        """The step is done: its checkpoint, and the next step running, in one transaction. Gives that next step.

        Raises Ended when there is none. Nothing is written where it raises NoWayOn, because no edge matches, Invalid,
        because the store cannot hold the state, or Conflict, because somebody else made another head.
        """
        values = codec.loads_own(state)
        following = next_node(self._workflow, record.node, values)
        then = Decision(RunStatus.COMPLETED if following is None else RunStatus.RUNNING)
        self._visits[record.node] = record.visit
        checkpoint = self._checkpoint(record.node, values, following, then.run_status)

        def decide(requested: str | None, known: tuple[Breakpoint, ...]) -> Decision:
            nonlocal then
            if following is not None:
                then = self._decided(record, following, values, requested, known)
            return then

        commit = StepCommit(
            *self._owner, record, checkpoint, commit_id=_commit_id(record), statements=statements, decide=decide
        )
        point("run.step-before-commit")
        begun = time.monotonic()
        header = self._write(lambda: self._store.commit_step(commit), tells=True)
        self._writes.append(time.monotonic() - begun)
        point("run.step-committed")
        self.binaries.stored()
        self.place, self._has_parts = Place(header.ref, self.place.step + 1, state), False
        self._committed += 1
        self.tell(
            "step_finished", node=record.node, step=self.place.step, checkpoint=header.ref.id,
            duration_ms=round((record.duration or 0.0) * 1000, 3), next=list(header.next),
        )  # fmt: skip
        if then.following is None:
            raise Ended(self._status_after(then.run_status), then.error)
        return then.following

    def _decided(
        self, record: StepRecord, following: str, values: Mapping[str, Value], requested: str | None,
        known: tuple[Breakpoint, ...],
    ) -> Decision:  # fmt: skip
        """What becomes of the run after a step that another follows, by what holds at this moment."""
        done = self._committed + 1
        hit = met(known, "after", record.node, values) or met(known, "before", following, values)
        stopped = self._wish(requested) or self._arrived(following, self.place.step + 1, values, done)
        status = stopped or (RunStatus.RUNNING if hit is None else RunStatus.PAUSED)
        upcoming = self.record(following, record.ordinal + 1) if status == RunStatus.RUNNING else None
        return Decision(status, upcoming, None if hit is None else hit.said, hit)

    def suspend(self, record: StepRecord, question: Question) -> NoReturn:
        """End the run durably until a human has answered; the answer's checkpoint is the next on this line."""
        checkpoint = self._checkpoint(record.node, self.state(), record.node, RunStatus.WAITING)
        approval = Approval(
            id=f"{self.run.run_id}-{record.ordinal}-{record.attempt}",
            thread=self.run.thread, ns="", checkpoint=checkpoint.ref.id, node=record.node,
            prompt=question.prompt, schema=question.schema, since=self.now(), run_id=self.run.run_id,
            kind=question.kind, due=None if question.due is None else self.now() + question.due,
            on_timeout=question.on_timeout,
        )  # fmt: skip
        node = self._workflow.node(record.node)
        edges = [] if node is None else [{"when": edge.when, "to": edge.to} for edge in node.next]
        suspended = replace(checkpoint, source="suspend", meta={"edges": edges})
        point("run.suspend-before-commit")
        commit = StepCommit(
            *self._owner, record, suspended,
            run_status=RunStatus.WAITING, approval=approval, commit_id=_commit_id(record),
        )  # fmt: skip
        header = self._write(lambda: self._store.commit_step(commit), tells=True)
        point("run.suspended")
        self.place = Place(header.ref, self.place.step + 1, self.place.state)
        if self._status_after(RunStatus.WAITING) == RunStatus.CANCELLED:
            raise Ended(RunStatus.CANCELLED)
        self.tell("waiting", node=record.node, approval=approval.id, prompt=question.prompt, ns="")
        raise Ended(RunStatus.WAITING)

    def keep_figures(self) -> None:
        """How long the commits took, as an event of the run that has ended for us."""
        if took := self._writes:
            data: dict[str, Value] = {"count": len(took), "seconds": sum(took), "longest": max(took)}
            with suppress(StoreError):  # a figure; the run itself is durable
                self._store.log_event("writes", data, run_id=self.run.run_id, thread=self.run.thread)

    def _status_after(self, asked: str) -> str:
        """The status that a commit left: a request to cancel, made while it was, wins over stopping otherwise."""
        with suppress(Busy, Unreachable):  # what ended the run is durable, though it cannot be looked at now
            if self._store.run(self.run.run_id).status == RunStatus.CANCELLED:
                return RunStatus.CANCELLED
        return asked

    def failed(self, record: StepRecord, failure: Failure, retry_in: float | None) -> StepRecord:
        """Log a failed attempt. Gives it back with the time of the next one; raises Ended when it was the last."""
        now = self.now()
        self._stops.look()
        hit = self._stops.at("error", record.node, self.state())
        retry_in = None if hit is not None else retry_in
        ended = record._replace(
            status="failed", ended=now, error=failure.error, error_class=failure.error_class,
            retryable=failure.retryable,
            next_attempt_at=None if retry_in is None else now + timedelta(seconds=retry_in),
        )  # fmt: skip
        status = None if retry_in is not None else RunStatus.FAILED if hit is None else RunStatus.PAUSED
        which = f"-{record.ordinal}-{record.attempt}"
        case = None if status != RunStatus.FAILED else self._case(record.node, failure.error, which)
        self._write(lambda: self._store.fail_step(*self._owner, ended, run_status=status, case=case, hit=hit))
        point("run.step-failed")
        self.tell("step_failed", node=record.node, attempt=record.attempt, error=failure.error, retry_in=retry_in)
        if status is not None:
            raise Ended(self._status_after(status), failure.error if hit is None else f"{failure.error}; {hit.said}")
        return ended

    def _case(self, node: str, error: str, which: str) -> Approval:
        """That the run failed, for the inbox: somebody has to see to it."""
        return Approval(
            f"{self.run.run_id}{which}-failed", self.run.thread, "", self.place.head.id, node,
            f"{node} failed: {error}" if node else error, {"enum": ["retry", "cancel", "dismiss"]}, since=self.now(),
            run_id=self.run.run_id, kind=Case.FAILED,
        )  # fmt: skip

    def _checkpoint(self, node: str, values: Mapping[str, Value], following: str | None, status: str) -> NewCheckpoint:
        step = self.place.step + 1
        return NewCheckpoint(
            ref=Ref(self.run.thread, "", new_id(step, self.place.head.id)), parent=self.place.head,
            state=values, source="step", step=step, nodes=(node,), next=() if following is None else (following,),
            status=_CHECKPOINT_STATUS.get(status, Status.UNFINISHED),
            blobs=self.binaries.given,
        )  # fmt: skip


# A checkpoint's own status never changes; whether its run is paused or cancelled is the run's to say.
_CHECKPOINT_STATUS: Final = {RunStatus.COMPLETED: Status.DONE, RunStatus.WAITING: Status.WAITING}


def _commit_id(record: StepRecord) -> str:
    """The same for a repeated commit of the same attempt, so that an unclear COMMIT can be looked up."""
    return f"{record.run_id}/{record.ordinal}/{record.attempt}"
