"""A session that lives in memory: the same answers as the real one, made of values, without a store.

`TripSession.runs_made` and `.forks` tell a test what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace

from stores.changes import apply_changes
from stores.errors import ReadOnly
from stores.model import (
    Change,
    Header,
    Ref,
    Status,
    Value,
)
from stores.runs import Approval, Run
from stores.supervision import Breakpoint
from tests.tui.trip_history import START as START
from tests.tui.trip_history import TripHistory
from tt_debug.engine.events import Event
from tt_debug.errors import NotAHead, WaitingForAnswer
from tt_debug.session.plans import RunPlan, RunRequest, RunResult


class TripSession(TripHistory):
    """The methods of `tt_debug.session.session.Session` that the screens call."""

    def __init__(self, *, read_only: bool = False, sample: bool = True) -> None:
        super().__init__(read_only=read_only, sample=sample)
        self.forks: list[tuple[Ref, str, tuple[Change, ...]]] = []
        self.edits: list[tuple[Ref, tuple[Change, ...]]] = []
        self.plans: list[RunRequest] = []
        self.runs_made: list[RunPlan] = []
        self.answers: list[tuple[str, Value, str, bool]] = []
        self.stops: list[tuple[str, str]] = []
        self.adopted: object = None
        self.executor = self
        self.fresh_forks: list[str | None] = []
        self.operations = self
        self.breaks: list[Breakpoint] = []
        self.undoing = SimpleNamespace(writes=lambda thread=None: ())

    # --- writing

    def breakpoints(self, thread: str | None = None) -> tuple[Breakpoint, ...]:
        return tuple(self.breaks)

    def set_breakpoint(self, wanted: Breakpoint) -> Breakpoint:
        self.breaks.append(replace(wanted, id=f"b{len(self.breaks) + 1}"))
        return self.breaks[-1]

    def replace_breakpoint(self, id: str, wanted: Breakpoint) -> Breakpoint:
        self.clear_breakpoint(id)
        return self.set_breakpoint(wanted)

    def clear_breakpoint(self, id: str) -> None:
        self.breaks = [each for each in self.breaks if each.id != id]

    def preview(self, ref: Ref, changes: Sequence[Change]) -> Mapping[str, Value]:
        changed = apply_changes(self.load(ref).state, tuple(changes))
        assert isinstance(changed, Mapping)
        return changed

    def free_name(self, thread: str) -> str:
        number = 1
        while f"{thread}-fork-{number}" in self.heads:
            number += 1
        return f"{thread}-fork-{number}"

    def fork(
        self,
        ref: Ref,
        thread: str | None = None,
        changes: Sequence[Change] = (),
        *,
        keep_results: bool = False,
        adopt: object = None,
        fresh_effects: bool = False,
    ) -> Header:
        self._refuse()
        self.fresh_forks += [thread] if fresh_effects else []
        name = thread or self.free_name(ref.thread)
        self.forks.append((ref, name, tuple(changes)))
        self.adopted = adopt
        base = self.checkpoints[ref].header
        new = self.add(
            name,
            self.preview(ref, changes),
            parent=ref,
            source="fork",
            next=base.next,
            seconds=60,
            status=Status.UNFINISHED if base.next else Status.DONE,
        )
        return self.checkpoints[new].header

    def edit(self, ref: Ref, changes: Sequence[Change]) -> Header:
        self._refuse()
        self.edits.append((ref, tuple(changes)))
        base = self.checkpoints[ref].header
        new = self.add(
            ref.thread,
            self.preview(ref, changes),
            parent=ref,
            source="edit",
            next=base.next,
            seconds=60,
            status=Status.UNFINISHED if base.next else Status.DONE,
        )
        return self.checkpoints[new].header

    def _refuse(self) -> None:
        if self.read_only:
            raise ReadOnly("the store is open for reading only")

    # --- running

    def plan(self, request: RunRequest) -> RunPlan:
        self._refuse()
        self.plans.append(request)
        ref = request.ref
        assert ref is not None
        header = self.checkpoints[ref].header
        if request.action == "resume" and self.heads[ref.thread] != ref:
            raise NotAHead(f"{ref.thread} does not end at step {header.step}", hint="fork there and run the fork")
        if request.action == "resume" and header.status == Status.WAITING and not request.has_answer:
            raise WaitingForAnswer(
                f"{ref.thread} waits for an answer", self.approvals(ref.thread)[0].id, hint="answer it"
            )
        stops = "one step" if request.single_step else "its end, or a wait for a person"
        thread = ref.thread if request.action == "resume" else self.free_name(ref.thread)
        title = f"{request.action.capitalize()} {thread}"
        return RunPlan(
            title,
            request,
            "workflow",
            thread,
            ref,
            header.step,
            header.next or ("agent",),
            stops,
            ("llm_call agent (openai/gpt-4o)",),
            code="nodes.py beside trip.yaml",
        )

    def execute(self, plan: RunPlan, on_event: Callable[[Event], None]) -> RunResult:
        self.runs_made.append(plan)
        if self.gate is not None:
            self.gate.wait(60)
        thread, base = plan.thread, plan.base
        assert base is not None
        at = START.isoformat()

        def tell(kind: str, **fields: Value) -> None:
            on_event(Event(kind, "run-1", thread, at, fields))

        state = dict(self.checkpoints[base].state)
        nodes = plan.nodes[:1] if plan.request.single_step else plan.nodes
        tell("run_started", workflow="trip", version="1", next=list(nodes), base=base.id)
        parent = self.heads.get(thread, base)
        for node in nodes:
            tell("step_started", node=node, step=0, attempt=1)
            tell("output", stream="stdout", text=f"{node} says [bold]hello[/bold]")
            with self._lock:
                parent = self.add(thread, {**state, "ran": node}, node=node, parent=parent)
            tell(
                "step_finished",
                node=node,
                step=self.checkpoints[parent].header.step,
                checkpoint=parent.id,
                duration_ms=1000,
                next=[],
            )
        tell("run_ended", status=Status.DONE, head=parent.id, error=None)
        return RunResult("run-1", thread, Status.DONE, parent)

    def stop(self, thread: str, what: str) -> None:
        self.stops.append((thread, what))

    def runs(self, thread: str | None = None) -> tuple[Run, ...]:
        return ()

    def approvals(self, thread: str | None = None) -> tuple[Approval, ...]:
        found = []
        for name, head in self.heads.items():
            point = self.checkpoints[head]
            if point.header.status != Status.WAITING or (thread is not None and name != thread):
                continue
            for task in point.tasks:
                found += [
                    Approval(
                        asked.id, name, "", head.id, task.node, asked.value, asked.schema, since=point.header.created
                    )
                    for asked in task.interrupts
                ]
        return tuple(found)

    def answer(
        self, approval_id: str, answer: Value, by: str, *, reject: bool = False, thread: str | None = None
    ) -> Header:
        self._refuse()
        self.answers.append((approval_id, answer, by, reject))
        approval = next(found for found in self.approvals() if found.id == approval_id)
        head = self.heads[approval.thread]
        state = {**self.checkpoints[head].state, "answer": answer}
        ref = self.add(approval.thread, state, source="answer", next=("finish",), status=Status.PENDING)
        return self.checkpoints[ref].header
