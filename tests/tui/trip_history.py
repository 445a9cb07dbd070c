"""Histories that live in memory: checkpoints as a test adds them, and what the screens ask about them.

Threads of the sample: "trip-planner" (25 steps, an edit in place, forks), "review" (waits for an answer), "broken" (a
failed step), "写作-计划" (CJK and emoji).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from stores.errors import NotFound
from stores.model import (
    Capability,
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
from stores.runs import StepRecord
from tests.tui.fakes import FakeMarks, FakeWatches
from tests.tui.sample_threads import fill
from tt_debug.errors import RefNotFound
from tt_debug.session.executor import Chapter, Duplicate, PlacedUse
from tt_debug.session.scanner import Scanner
from tt_debug.session.thread_view import ThreadView

START = datetime(2026, 9, 14, 9, 12, tzinfo=UTC)


class TripHistory:
    """The looking methods of `tt_debug.session.session.Session` that the screens call."""

    label = "demo.db"

    def __init__(self, *, read_only: bool = False, sample: bool = True) -> None:
        self.checkpoints: dict[Ref, Checkpoint] = {}
        self.heads: dict[str, Ref] = {}
        self.loads: list[Ref] = []
        self.failing: dict[Ref, Exception] = {}
        self.gate: threading.Event | None = None
        self.uses: tuple[PlacedUse, ...] = ()
        self.done_twice: tuple[Duplicate, ...] = ()
        self.marks = FakeMarks()
        self.watches = FakeWatches()
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

    def completed(self, ref: Ref) -> Mapping[str, int] | None:
        return None

    def effects(self, thread: str | None = None) -> tuple[PlacedUse, ...]:
        return self.uses

    has_runs = False

    def duplicates(self, thread: str | None = None) -> tuple[Duplicate, ...]:
        return self.done_twice

    def story(self, line: Sequence[Header]) -> tuple[Chapter, ...]:
        return tuple(Chapter(header) for header in line)
