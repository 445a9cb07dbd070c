"""A session made of values, for tests of the screens: threads, forks, failures, questions; nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from stores.errors import Corrupt, NotFound
from stores.model import (
    Capability,
    Change,
    Checkpoint,
    Diff,
    Header,
    Interrupt,
    Ref,
    Status,
    StoreInfo,
    Task,
    ThreadInfo,
    Value,
)
from stores.runs import Approval, Run, StepRecord
from tt_debug.session.journal import Mark
from tt_debug.session.plans import RunPlan, RunRequest, RunResult
from tt_debug.session.thread_view import ThreadView

START = datetime(2026, 9, 14, 9, 0, tzinfo=UTC)

HOSTILE = (
    "[/red] [b]bold[/b] [@click=app.quit]x[/] \x1b]0;PWNED\x07 \x1b[31mred \x9b31m \x9d0;C1\x9c "
    "\u202etxet\u202c \u2066iso\u2069 \ud800 \x00\x08\x7f\r\n\ttab 京都 👨‍👩‍👧 ❤️ \\[ $x {y}"
)
"""Markup, ESC, OSC, C1, bidi, a lone surrogate, NUL, BS, DEL, wide characters: in one string."""


class FakeMarks:
    """Bookmarks in memory."""

    def __init__(self) -> None:
        self.kept: dict[Ref, Mark] = {}

    def all(self, thread: str | None = None) -> tuple[Mark, ...]:
        return tuple(mark for mark in self.kept.values() if thread in (None, mark.ref.thread))

    def put(self, ref: Ref, name: str, note: str = "") -> Mark:
        self.kept[ref] = Mark(ref, name, note, START)
        return self.kept[ref]

    def drop(self, ref: Ref) -> bool:
        return self.kept.pop(ref, None) is not None


class FakeWatches:
    """Watched expressions in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, list[str]] = {}
        self.columns: dict[str, str | None] = {}

    def column(self, thread: str) -> str | None:
        return self.columns.get(thread)

    def show(self, thread: str, expression: str | None) -> None:
        self.columns[thread] = expression

    def of(self, thread: str) -> tuple[str, ...]:
        return tuple(self.kept.get(thread, ()))

    def add(self, thread: str, expression: str) -> None:
        self.kept.setdefault(thread, []).append(expression)

    def drop(self, thread: str, expression: str) -> bool:
        self.kept[thread].remove(expression)
        if self.columns.get(thread) == expression:
            self.columns[thread] = None
        return True


@dataclass
class FakeSession:
    """Just enough of `tt_debug.session.session.Session`; every call is noted in ``calls``."""

    label: str = "demo.db"
    checkpoints: dict[Ref, Checkpoint] = field(default_factory=dict)
    heads: dict[str, Ref] = field(default_factory=dict)
    forked: dict[str, Ref] = field(default_factory=dict)
    open_approvals: list[Approval] = field(default_factory=list)
    calls: list[tuple[str, Any]] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    marks: FakeMarks = field(default_factory=FakeMarks)
    watches: FakeWatches = field(default_factory=FakeWatches)
    undoing: Any = field(default_factory=lambda: SimpleNamespace(writes=lambda thread=None: ()))
    closed: bool = False

    @property
    def info(self) -> StoreInfo:
        capabilities = frozenset({Capability.WRITE, Capability.FORK, Capability.RUNS, Capability.TASKS})
        return StoreInfo(f"/tmp/{self.label}", "native", "fake", capabilities, False, path=f"/tmp/{self.label}")

    def close(self) -> None:
        self.closed = True

    def interrupt(self, thread: int) -> None:
        self.calls.append(("interrupt", thread))

    def _check(self, call: str, what: Any = None) -> None:
        self.calls.append((call, what))
        if call in self.broken:
            raise Corrupt(f"{call}: page 7 of {HOSTILE} cannot be read", hint="try: tt-debug doctor")

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
        self._check("threads")
        found = []
        for thread, head in self.heads.items():
            own = [point.header for ref, point in self.checkpoints.items() if ref.thread == thread]
            top = self.checkpoints[head].header
            found.append(
                ThreadInfo(
                    thread,
                    len(own),
                    head,
                    top.step,
                    top.status,
                    top.created,
                    self.forked.get(thread),
                    top.nodes[0] if top.nodes else None,
                )
            )
        return tuple(sorted(found, key=lambda info: info.updated or START, reverse=True))

    def open_thread(self, thread: str, on_page: object = None) -> ThreadView:
        self._check("open_thread", thread)
        if thread not in self.heads:
            raise NotFound(f"no thread {thread!r} in {self.label}")
        names = [thread, *(name for name in self.heads if name != thread)]
        family = [[p.header for ref, p in self.checkpoints.items() if ref.thread == name] for name in names]
        return ThreadView(thread, self.heads[thread], family, False)

    lineage = open_thread

    def header(self, ref: Ref) -> Header:
        return self.load(ref).header

    def load(self, ref: Ref) -> Checkpoint:
        self._check("load", ref)
        try:
            return self.checkpoints[ref]
        except KeyError:
            raise NotFound(f"no checkpoint {ref.id}") from None

    def steps(self, ref: Ref) -> tuple[StepRecord, ...]:
        return ()

    def runs(self, thread: str | None = None) -> tuple[Run, ...]:
        return ()

    def diff(self, new: Ref, old: Ref | None = None) -> Diff:
        self._check("diff", (new, old))
        from tt_debug.diff import diff

        other = old or self.checkpoints[new].header.parent
        before: Mapping[str, Value] = self.checkpoints[other].state if other is not None else {}
        return diff(before, self.checkpoints[new].state)

    def preview(self, ref: Ref, changes: Sequence[Change]) -> Mapping[str, Value]:
        from stores.changes import apply_changes

        changed: Mapping[str, Value] = apply_changes(self.checkpoints[ref].state, changes)
        return changed

    def fork(self, ref: Ref, thread: str | None = None, changes: Sequence[Change] = (), **options: object) -> Header:
        name = thread or f"{ref.thread}-fork-1"
        self._check("fork", (ref, name, tuple(changes)))
        base = self.checkpoints[ref]
        new = Ref(name, "", f"{ref.id}-f")
        header = replace(
            base.header, ref=new, parent=ref, source="fork", step=(base.header.step or 0) + 1, created=START
        )
        self.add(Checkpoint(header, self.preview(ref, changes)))
        self.forked[name] = ref
        return header

    def edit(self, ref: Ref, changes: Sequence[Change]) -> Header:
        return self.fork(ref, ref.thread, changes)

    def plan(self, request: RunRequest) -> RunPlan:
        self._check("plan", request)
        assert request.ref is not None
        header = self.checkpoints[request.ref].header
        return RunPlan(
            f"Resume {request.ref.thread}",
            request,
            "workflow",
            request.ref.thread,
            request.ref,
            header.step,
            header.next,
            "the end",
        )

    def execute(self, plan: RunPlan, on_event: Any) -> RunResult:
        self._check("execute", plan)
        return RunResult("run-1", plan.thread, Status.DONE, self.heads[plan.thread])

    def stop(self, thread: str, what: str) -> None:
        self._check("stop", (thread, what))

    def approvals(self, thread: str | None = None) -> tuple[Approval, ...]:
        self._check("approvals", thread)
        return tuple(self.open_approvals)

    def answer(
        self, approval_id: str, answer: Value, by: str, *, reject: bool = False, thread: str | None = None
    ) -> Header:
        self._check("answer", (approval_id, answer, by, reject))
        asked = next(each for each in self.open_approvals if each.id == approval_id)
        self.open_approvals.remove(asked)
        return self.checkpoints[self.heads[asked.thread]].header

    # --- building

    def add(self, point: Checkpoint) -> Checkpoint:
        """Put a checkpoint in; it becomes its thread's head."""
        self.checkpoints[point.header.ref] = point
        self.heads[point.header.ref.thread] = point.header.ref
        return point

    def grow(
        self,
        thread: str,
        steps: int,
        *,
        node: str = "agent",
        status: str = Status.DONE,
        state: Mapping[str, Value] | None = None,
        parent: Ref | None = None,
        at: datetime = START,
    ) -> Ref:
        """Append ``steps`` checkpoints, a message each; the last one gets ``status``."""
        messages: list[Value] = []
        for step in range(steps):
            messages = [
                *messages,
                {
                    "id": f"m{step}",
                    "role": "user" if step % 2 else "assistant",
                    "content": f"{node} says {step} 京都 🙂",
                },
            ]
            ref = Ref(thread, "", f"{thread}-{step:04d}")
            last = step == steps - 1
            header = Header(
                ref,
                parent,
                step,
                "loop" if step else "input",
                at + timedelta(seconds=step),
                (node,),
                () if last and status == Status.DONE else (node,),
                status if last else Status.DONE,
                1000 + step,
            )
            tasks: tuple[Task, ...] = ()
            if last and status == Status.WAITING:
                tasks = (
                    Task(f"t{step}", node, "", "waiting", (), None, (Interrupt(f"q-{thread}", {"city": "Kyoto"}),)),
                )
            if last and status == Status.FAILED:
                tasks = (Task(f"t{step}", node, "", "failed", (), "HTTP 502 from booking.example"),)
            self.add(Checkpoint(header, {"messages": messages, "score": step, **(state or {})}, tasks))
            parent = ref
        assert parent is not None
        return parent


def demo_session() -> FakeSession:
    """A long thread with forks, one waiting, one failed, one with wide characters."""
    session = FakeSession()
    session.grow("screening-long", 25, node="score")
    session.grow("trip-planner", 14, node="book_hotel", status=Status.WAITING, at=START + timedelta(hours=1))
    session.grow("plan-42", 8, node="deploy", status=Status.FAILED, at=START + timedelta(minutes=5))
    session.grow("写作-plan", 33, node="summarize", at=START - timedelta(days=2))
    base = Ref("screening-long", "", "screening-long-0015")
    session.grow("screening-long-fork-1", 3, node="score", parent=base, at=START + timedelta(hours=2))
    session.forked["screening-long-fork-1"] = base
    head = session.heads["trip-planner"]
    session.open_approvals.append(
        Approval(
            "q-trip-planner",
            "trip-planner",
            "",
            head.id,
            "book_hotel",
            {"city": "Kyoto", "nights": 3, "price_max": 98000, "api_key": "sk-very-secret", "why": "a free room"},
            {
                "type": "object",
                "properties": {"decision": {"enum": ["approve", "reject"]}, "note": {"type": "string"}},
                "required": ["decision"],
            },
            since=START,
        )
    )
    return session


def hostile_session() -> FakeSession:
    """Every text a store can hold, in its worst form."""
    session = FakeSession()
    session.grow(HOSTILE, 4, node=HOSTILE, status=Status.WAITING, state={HOSTILE: HOSTILE, "deep": _deep(500)})
    session.grow("failed " + HOSTILE, 2, node="n" + HOSTILE, status=Status.FAILED)
    head = session.heads[HOSTILE]
    session.open_approvals.append(
        Approval(HOSTILE, HOSTILE, "", head.id, HOSTILE, {HOSTILE: HOSTILE, "big": "x" * 10_000_000}, None, since=START)
    )
    return session


def _deep(levels: int) -> Value:
    value: Value = HOSTILE
    for _ in range(levels):
        value = {"inner": value}
    return value
