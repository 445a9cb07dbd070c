"""A session that answers what a test tells it to, and notes what it was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from stores.memory import MemoryStore
from stores.model import Change, Checkpoint, Header, Ref, Status, StoreInfo, ThreadInfo, Value
from stores.runs import Approval, Run, StepRecord
from tt_debug.cli.front import Front, Screen, Wanted
from tt_debug.engine.events import Event
from tt_debug.redaction import Redaction
from tt_debug.session.executor import Executor
from tt_debug.session.plans import RunPlan, RunRequest, RunResult
from tt_debug.session.thread_view import ThreadView

AT = datetime(2026, 9, 14, 9, 12, 1, tzinfo=UTC)
HEAD = Ref("trip", "", "1f0911a0-0000-6000-8002-000000000002")
MIDDLE = Ref("trip", "", "1f0911a0-0000-6000-8001-000000000001")
ROOT = Ref("trip", "", "1f0911a0-0000-6000-8000-000000000000")


def three_steps() -> tuple[Checkpoint, ...]:
    """A thread of three checkpoints."""
    rows = ((ROOT, None, -1, "input", (), ("plan",)), (MIDDLE, ROOT, 0, "loop", ("plan",), ("book",)))
    last = (HEAD, MIDDLE, 1, "loop", ("book",), ())
    return tuple(
        Checkpoint(Header(ref, parent, step, source, AT, nodes, following, size=20 + step), {"city": "京都", "n": step})
        for ref, parent, step, source, nodes, following in (*rows, last)
    )


@dataclass
class FakeSession:
    """Stands in for `tt_debug.session.session.Session`. ``raises`` maps a method's name to what it raises."""

    checkpoints: tuple[Checkpoint, ...] = field(default_factory=three_steps)
    infos: tuple[ThreadInfo, ...] = ()
    raises: dict[str, Exception] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    status: str = Status.DONE
    questions: tuple[Approval, ...] = ()
    calls: list[tuple[str, Any]] = field(default_factory=list)
    opened: list[Wanted] = field(default_factory=list)
    closed: int = 0
    notices: tuple[str, ...] = ()

    def _called(self, name: str, *given: Any) -> None:
        self.calls.append((name, given))
        if name in self.raises:
            raise self.raises[name]

    def named(self, name: str) -> list[Any]:
        """What a method was called with, call by call."""
        return [given for called, given in self.calls if called == name]

    def close(self) -> None:
        self.closed += 1

    @property
    def info(self) -> StoreInfo:
        return StoreInfo("trip.db", "native", "fake", frozenset({"fork", "runs"}), False, None, self.notices)

    def threads(self, **given: Any) -> tuple[ThreadInfo, ...]:
        self._called("threads", given)
        return self.infos

    def open_thread(self, thread: str) -> ThreadView:
        self._called("open_thread", thread)
        own = [point.header for point in self.checkpoints if point.header.ref.thread == thread]
        others = [[point.header] for point in self.checkpoints if point.header.ref.thread != thread]
        return ThreadView(thread, own[-1].ref, [own, *others], copies=False)

    lineage = open_thread

    def resolve(self, text: str) -> Ref:
        self._called("resolve", text)
        thread, _, selector = text.partition("@")
        own = [point.header for point in self.checkpoints if point.header.ref.thread == thread]
        return next((header.ref for header in own if selector in (str(header.step), header.ref.id)), own[-1].ref)

    def header(self, ref: Ref) -> Header:
        return self.load(ref).header

    def load(self, ref: Ref) -> Checkpoint:
        self._called("load", ref)
        return next(point for point in self.checkpoints if point.header.ref == ref)

    def steps(self, ref: Ref) -> tuple[StepRecord, ...]:
        return ()

    @property
    def executor(self) -> Executor:
        return Executor(MemoryStore())

    def fork(self, ref: Ref, thread: str | None = None, changes: Sequence[Change] = (), **given: Any) -> Header:
        self._called("fork", ref, thread, tuple(changes), given)
        return Header(Ref(thread or "trip-fork-1", "", "f1"), ref, 16, "fork", AT)

    def edit(self, ref: Ref, changes: Sequence[Change]) -> Header:
        self._called("edit", ref, tuple(changes))
        return Header(Ref(ref.thread, "", "e1"), ref, 16, "edit", AT)

    def plan(self, request: RunRequest) -> RunPlan:
        self._called("plan", request)
        thread = request.thread or (request.ref.thread if request.ref else "trip-1")
        return RunPlan(f"Run {thread}", request, "workflow", thread, request.ref, 15, ("plan", "book"), "the end")

    def execute(self, plan: RunPlan, on_event: Any) -> RunResult:
        self._called("execute", plan)
        for event in self.events:
            on_event(event)
        return RunResult("r1", plan.thread, self.status, HEAD, None)

    def stop(self, thread: str, what: str) -> None:
        self._called("stop", thread, what)

    def runs(self, thread: str | None = None) -> tuple[Run, ...]:
        self._called("runs", thread)
        return (Run("r1", "trip", "hash", "completed", created=AT, started=AT, ended=AT, head=HEAD),)

    def approvals(self, thread: str | None = None) -> tuple[Approval, ...]:
        self._called("approvals", thread)
        return self.questions

    def answer(
        self, approval_id: str, answer: Value, by: str, *, reject: bool = False, thread: str | None = None
    ) -> Header:
        self._called("answer", approval_id, answer, by, reject, thread)
        return Header(Ref("trip", "", "a1"), HEAD, 1, "answer", AT)

    def export(self, thread: str, hiding: Redaction) -> Iterator[Mapping[str, Value]]:
        self._called("export", thread)
        yield from ({"thread": thread, "id": str(number)} for number in range(3))


@dataclass
class Asked:
    """A front whose person gives one fixed answer; None is nobody there."""

    session: FakeSession = field(default_factory=FakeSession)
    says: bool | None = None
    picks: str | None = None
    screen: bool = False
    screens: list[Screen] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def front(self) -> Front:
        """As `tt_debug.cli.main.main` takes it."""

        def open_session(wanted: Wanted) -> Any:
            self.session.opened.append(wanted)
            if "open" in self.session.raises:
                raise self.session.raises["open"]
            return self.session

        def open_screen(screen: Screen) -> int:
            self.screens.append(screen)
            return 0

        def pick(screen: Screen, thread: str | None) -> str | None:
            self.screens.append(screen)
            return self.picks and f"{thread or 'trip'}@{self.picks}"

        def ask(question: str) -> bool:
            self.questions.append(question)
            return bool(self.says)

        return Front(
            open_screen=open_screen,
            pick=pick,
            open_session=open_session,
            has_screen=lambda: self.screen,
            someone_to_ask=lambda: self.says is not None,
            ask=ask,
        )
