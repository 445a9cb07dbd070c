"""A session that lives in memory: the same answers as the real one, made of values, without a store.

Threads: "trip-planner" (25 steps, an edit in place, forks), "review" (waits for an answer), "broken" (a failed step),
"写作-计划" (CJK and emoji). `TripSession.runs_made` and `.forks` tell a test what was asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from stores.changes import apply_changes
from stores.errors import NotFound, ReadOnly
from stores.model import (
    Capability,
    Change,
    Checkpoint,
    Diff,
    Header,
    Ref,
    Status,
    StoreInfo,
    Task,
    ThreadInfo,
    Value,
)
from stores.runs import Approval, Run, StepRecord
from stores.supervision import Breakpoint
from tests.tui.fakes import FakeMarks, FakeWatches
from tests.tui.sample_threads import fill
from tt_debug.engine.events import Event
from tt_debug.errors import NotAHead, RefNotFound, WaitingForAnswer
from tt_debug.session.executor import Chapter, Duplicate, PlacedUse
from tt_debug.session.plans import RunPlan, RunRequest, RunResult
from tt_debug.session.scanner import Scanner
from tt_debug.session.thread_view import ThreadView

START = datetime(2026, 9, 14, 9, 12, tzinfo=UTC)


class TripSession:
    """The methods of `tt_debug.session.session.Session` that the screens call."""

    label = "demo.db"

    def __init__(self, *, read_only: bool = False, sample: bool = True) -> None:
        self.checkpoints: dict[Ref, Checkpoint] = {}
        self.heads: dict[str, Ref] = {}
        self.forks: list[tuple[Ref, str, tuple[Change, ...]]] = []
        self.edits: list[tuple[Ref, tuple[Change, ...]]] = []
        self.plans: list[RunRequest] = []
        self.runs_made: list[RunPlan] = []
        self.answers: list[tuple[str, Value, str, bool]] = []
        self.stops: list[tuple[str, str]] = []
        self.loads: list[Ref] = []
        self.failing: dict[Ref, Exception] = {}
        self.gate: threading.Event | None = None
        self.adopted: object = None
        self.executor = self
        self.uses: tuple[PlacedUse, ...] = ()
        self.done_twice: tuple[Duplicate, ...] = ()
        self.fresh_forks: list[str | None] = []
        self.operations = self
        self.breaks: list[Breakpoint] = []
        self.marks = FakeMarks()
        self.watches = FakeWatches()
        self.undoing = SimpleNamespace(writes=lambda thread=None: ())
        self.scanner = Scanner(None, self.load)
        self.read_only = read_only
        self._lock = threading.RLock()
        if sample:
            fill(self)

    # --- making

    def add(
        self,
        thread: str,
        state: Mapping[str, Value],
        *,
        node: str = "",
        parent: Ref | None = None,
        source: str = "loop",
        seconds: float = 1.0,
        next: tuple[str, ...] = (),
        status: str = Status.DONE,
        tasks: tuple[Task, ...] = (),
        step: int | None = None,
    ) -> Ref:
        """Append a checkpoint; its parent is the thread's head unless given."""
        base = parent if parent is not None else self.heads.get(thread)
        old = self.checkpoints[base].header if base is not None else None
        number = len(self.checkpoints)
        created = (old.created if old is not None and old.created else START) + timedelta(seconds=seconds)
        number_of_step = step if step is not None else (-1 if old is None or old.step is None else old.step + 1)
        ref = Ref(thread, "", f"1f{number:06x}-0000-6000-8000-000000000000")
        header = Header(
            ref, base, number_of_step, source, created, (node,) if node else (), next, status, 400 + len(repr(state))
        )
        self.checkpoints[ref] = Checkpoint(header, dict(state), tasks, {"versions": {"messages": number}})
        self.heads[thread] = ref
        return ref

    # --- looking

    @property
    def info(self) -> StoreInfo:
        every = frozenset({Capability.WRITE, Capability.FORK, Capability.RUNS, Capability.TASKS})
        return StoreInfo("sqlite:////tmp/demo.db", "native", "fake", every, self.read_only, "/tmp/demo.db")

    def close(self) -> None:
        return None

    def interrupt(self, thread: int) -> None:
        return None

    has_brief = False

    def threads(
        self,
        *,
        text: str = "",
        status: str | None = None,
        meta: Mapping[str, str] | None = None,
        limit: int | None = None,
        on_thread: Callable[[ThreadInfo], bool] | None = None,
        brief: bool = False,
    ) -> tuple[ThreadInfo, ...]:
        with self._lock:
            found = [self._thread_info(thread) for thread in self.heads if text.lower() in thread.lower()]
        kept = [info for info in found if status is None or info.status == status]
        kept.sort(key=lambda info: info.updated or START, reverse=True)
        return tuple(kept[:limit])

    def _thread_info(self, thread: str) -> ThreadInfo:
        own = [point.header for ref, point in self.checkpoints.items() if ref.thread == thread]
        head = self.checkpoints[self.heads[thread]].header
        base = next((header.parent for header in own if header.parent and header.parent.thread != thread), None)
        node = head.nodes[-1] if head.nodes else None
        return ThreadInfo(thread, len(own), head.ref, head.step, head.status, head.created, base, node)

    def open_thread(self, thread: str, on_page: object = None) -> ThreadView:
        with self._lock:
            if thread not in self.heads:
                raise NotFound(f"no thread {thread!r}")
            family = self._family(thread)
            return ThreadView(thread, self.heads[thread], [self._headers(name) for name in family], copies=False)

    lineage = open_thread

    def _family(self, thread: str) -> list[str]:
        links = {
            (ref.thread, point.header.parent.thread)
            for ref, point in self.checkpoints.items()
            if point.header.parent is not None and point.header.parent.thread != ref.thread
        }
        found = [thread]
        for name in found:
            for child, parent in sorted(links):
                for other in (parent,) if child == name else (child,) if parent == name else ():
                    if other not in found:
                        found.append(other)
        return found

    def _headers(self, thread: str) -> list[Header]:
        return [point.header for ref, point in self.checkpoints.items() if ref.thread == thread]

    def resolve(self, text: str) -> Ref:
        thread, _, selector = text.rpartition("@")
        if not thread:
            thread, selector = text, "head"
        if thread not in self.heads:
            raise RefNotFound(f"no thread {thread!r}")
        if selector == "head":
            return self.heads[thread]
        for ref, point in self.checkpoints.items():
            if ref.thread == thread and (ref.id == selector or str(point.header.step) == selector):
                return ref
        raise RefNotFound(f"nothing called {selector!r} in {thread!r}")

    def header(self, ref: Ref) -> Header:
        return self.load(ref).header

    def load(self, ref: Ref) -> Checkpoint:
        if self.gate is not None:
            self.gate.wait(60)
        with self._lock:
            self.loads.append(ref)
            if ref in self.failing:
                raise self.failing[ref]
            if ref not in self.checkpoints:
                raise NotFound(f"no checkpoint {ref.id!r}")
            return self.checkpoints[ref]

    def load_once(self, ref: Ref) -> Checkpoint:
        return self.load(ref)

    def steps(self, ref: Ref) -> tuple[StepRecord, ...]:
        return ()

    def diff(self, new: Ref, old: Ref | None = None) -> Diff:
        from tt_debug.diff import diff

        before = old or self.load(new).header.parent
        return diff(self.load(before).state if before else {}, self.load(new).state)

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

    def completed(self, ref: Ref) -> Mapping[str, int] | None:
        return None

    def effects(self, thread: str | None = None) -> tuple[PlacedUse, ...]:
        return self.uses

    has_runs = False

    def duplicates(self, thread: str | None = None) -> tuple[Duplicate, ...]:
        return self.done_twice

    def story(self, line: Sequence[Header]) -> tuple[Chapter, ...]:
        return tuple(Chapter(header) for header in line)

    # --- writing

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
