"""Random operators and workers on one store, with crashes and takeovers at any point."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

import stores.leases
import stores.points
from stores.errors import Conflict, StoreError
from stores.ids import new_id
from stores.model import Change, NewCheckpoint, Ref
from stores.runs import Run
from stores.supervision import Breakpoint
from tests.crash.forks import KILLED, forked
from tests.crash.model import Place, Row, Thread
from tests.crash.watched import Watched
from tt_debug.engine import recover
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here
from tt_debug.session.pruning import Policy
from tt_debug.session.session import Session

HOUR = 3_600_000
NODE_IDS = ("A", "B", "ask", "C")
COUNTED: Counter[str] = Counter()
"""What all machines of this process did."""

which = st.integers(0, 7)
passes, soon = st.integers(1, 60), st.integers(1, 20)


class Crash(BaseException):
    """The process is gone: nothing that it would write from now on is written."""


@contextmanager
def passing(hook: Callable[[str], None]) -> Iterator[None]:
    """Call the hook at every write point in the block."""
    note, watched = stores.points._note, stores.points._IS_WATCHED
    os.environ["TT_DEBUG_POINTS"] = "told to the machine"
    stores.points._IS_WATCHED = True
    stores.points._note = lambda listing, name: (hook(name), 0)[1]
    try:
        yield
    finally:
        stores.points._note, stores.points._IS_WATCHED = note, watched
        del os.environ["TT_DEBUG_POINTS"]


def kept(found: list[BaseException], hook: Callable[[str], None], point: str) -> None:
    """Call the hook; what it raises is kept, as inside of a node it would count as the node's failure."""
    try:
        hook(point)
    except BaseException as error:
        found.append(error)
        raise


class Machine(Watched):
    """Two workers and an operator on one store; the workers are in this process and stop for good with an exception."""

    really = False

    # --- what an operator does

    @precondition(lambda self: len(self.threads) < 4)
    @rule(bad=st.booleans())
    def start(self, bad: bool) -> None:
        self.begin(bad)

    @initialize(bad=st.booleans())
    def begin(self, bad: bool) -> None:
        name, state = f"t{len(self.threads)} 'ö'", {"bad": True} if bad else {}
        with self.store() as store:
            first = NewCheckpoint(Ref(name, "", new_id(-1)), None, state, "input", step=-1, next=("A",))
            store.create_run(Run(f"r {name}", name, self.workflow.hash), first)
        self.threads[name] = Thread(name, Place((Row("input", None, "A", state),), "pending"), f"r {name}")

    @precondition(lambda self: self.threads)
    @rule(number=which, answer=st.sampled_from(["yes", {"no": [1, None]}]), reject=st.booleans())
    def answer(self, number: int, answer: Any, reject: bool) -> None:
        name, thread = self.pick(number)
        with self.store() as store:
            asked = store.approvals(name)
            assert len(asked) == (thread.place.status == "waiting_human")
            for each in asked:
                store.answer(each.id, answer, "Ada", reject=reject)
                with pytest.raises(Conflict, match="already answered by Ada"):
                    store.answer(each.id, "other", "Bob")
                value = {"approved": False, "reason": answer} if reject else answer
                head = thread.place.rows[-1]
                row = Row("answer", "ask", "C", {**head.state, "ask": value})
                thread.place = Place((*thread.place.rows, row), "pending")

    @precondition(lambda self: self.threads)
    @rule(number=which, what=st.sampled_from(["pause", "pause", "cancel"]))
    def stop(self, number: int, what: str) -> None:
        _, thread = self.pick(number)
        status, cancels = thread.place.status, what == "cancel"
        with self.store() as store:
            if status in ("completed", "failed", "cancelled"):
                with pytest.raises(Conflict):
                    recover.stop(store, thread.run, what)
                return
            recover.stop(store, thread.run, what)
        stopped = "paused" if status in ("pending", "running") else status
        thread.place = replace(thread.place, status="cancelled" if cancels else stopped)

    @precondition(lambda self: self.threads)
    @rule(number=which)
    def retry(self, number: int) -> None:
        _, thread = self.pick(number)
        with self.store() as store:
            if thread.place.status in ("paused", "failed"):
                store.requeue(thread.run, None)
                thread.place = replace(thread.place, status="pending")
            else:
                with pytest.raises(Conflict):
                    store.requeue(thread.run, None)

    @precondition(lambda self: self.threads and len(self.threads) < 7)
    @rule(number=which, at=which, bad=st.booleans())
    def fork(self, number: int, at: int, bad: bool) -> None:
        name, thread = self.pick(number)
        at %= len(thread.place.rows)
        base, new = thread.place.rows[at], f"t{len(self.threads)} fork"
        state = {**base.state, "bad": bad}
        with self.store() as store:
            ref = store.headers(name).items[::-1][at].ref
            store.fork(ref, new, (Change("change" if "bad" in base.state else "add", ("bad",), None, bad),))
            store.create_run(Run(f"r {new}", new, self.workflow.hash))
        visits = sum(row.source == "step" and row.node == "A" for row in thread.place.rows[: at + 1])
        place = Place((Row("fork", None, base.next, state),), "pending")
        self.threads[new] = Thread(thread.root, place, f"r {new}", before=thread.before + visits)

    @precondition(lambda self: self.threads)
    @rule(number=which, bad=st.booleans())
    def edit(self, number: int, bad: bool) -> None:
        name, thread = self.pick(number)
        head = thread.place.rows[-1]
        changes = (Change("change" if "bad" in head.state else "add", ("bad",), None, bad),)
        with self.store() as store:
            if thread.place.status == "running":
                with pytest.raises(Conflict):
                    store.fork(store.head(name), name, changes)
                return
            store.fork(store.head(name), name, changes)
        row = Row("edit", None, head.next, {**head.state, "bad": bad})
        thread.place = replace(thread.place, rows=(*thread.place.rows, row))

    @rule(node=st.sampled_from(NODE_IDS))
    def set_or_clear_a_breakpoint(self, node: str) -> None:
        with self.store() as store:
            if node in self.breaks:
                assert store.clear_breakpoint(node)
            else:
                store.set_breakpoint(Breakpoint(node, "before", node))
        self.breaks ^= {node}

    @precondition(lambda self: self.threads)
    @rule()
    def look(self) -> None:
        """Advice, lists and plans change nothing."""
        before = self.path.read_bytes()
        with closing(Session.open(str(self.path), read_only=True)) as session:
            session.threads()
            list(session.pruning.advice(Policy()))
            session.operations.figures()
        assert self.path.read_bytes() == before

    # --- what workers do

    @precondition(lambda self: self.threads)
    @rule(number=which, single=st.booleans())
    def work(self, number: int, single: bool) -> None:
        _, thread = self.pick(number)
        if self.runs(thread):
            expected = self.expected(thread, single)
            run_here(self.job(thread, single), StopFlag(), lambda event: None)
            self.adopt(thread, expected[-1])
        else:
            with pytest.raises(Conflict):
                run_here(self.job(thread, single), StopFlag(), lambda event: None)
        COUNTED["runs"] += 1

    @precondition(lambda self: self.is_any_ready)
    @rule(number=which, at=passes, single=st.booleans())
    def crash(self, number: int, at: int, single: bool) -> None:
        name, thread = self.pick_ready(number)
        expected, told = self.expected(thread, single), self.folder / "told"
        told.write_text("")
        dead = self.died(self.job(thread, single), at, told)
        self.repeated += dead
        COUNTED["crashes"] += dead
        acknowledged = told.read_text().count("durable")
        # The first event tells of the claim, the others each of one place more.
        durable = expected[max(acknowledged - 1, 0) :] if dead else expected[-1:]
        found = self.found(name, thread)
        assert found in [*([thread.place] if dead and not acknowledged else []), *durable]
        if found != thread.place or found.status == "running":
            self.adopt(thread, found)

    @precondition(lambda self: self.is_any_ready)
    @rule(number=which, at=soon)
    def crash_soon(self, number: int, at: int) -> None:
        self.crash(number, at, False)

    def died(self, job: WorkflowJob, at: int, told: Path) -> bool:
        """Whether a worker that dies at the pass number ``at`` got so far."""
        count = 0

        def passed(name: str) -> None:
            nonlocal count
            count += 1
            if count >= at:
                if self.really:
                    os.kill(os.getpid(), 9)
                raise Crash

        def tell(event: Any) -> None:
            if event.kind in ("run_started", "step_finished", "waiting") or event.fields.get("status") == "failed":
                with told.open("a") as file:
                    file.write("durable\n")

        def run() -> None:
            with passing(passed):
                run_here(job, StopFlag(), tell)

        if self.really:
            return forked(run, {}) == KILLED
        with suppress(Crash):
            run()
        return count >= at

    @precondition(lambda self: self.is_any_ready)
    @rule(number=which, at=passes, single=st.booleans())
    def take_over(self, number: int, at: int, single: bool) -> None:
        """A worker stands still at a point; an hour later another runs the run on; the first wakes up."""
        name, thread = self.pick_ready(number)
        expected, count, rows = self.expected(thread, single), 0, None

        def passed(point: str) -> None:
            nonlocal count, rows
            count += 1
            if rows is None and count >= at and point.startswith("run."):
                now = self.found(name, thread)
                assert now in [thread.place, *expected]
                if now.status in ("pending", "running"):
                    if now != thread.place:
                        self.adopt(thread, now)
                    self.hour_later(thread)
                    rows = self.rows()

        found: list[BaseException] = []
        with suppress(StoreError), passing(lambda point: kept(found, passed, point)):
            run_here(self.job(thread, single), StopFlag(), lambda event: None)
        if found:
            raise found[0]
        if rows is None:
            self.adopt(thread, expected[-1])
        else:
            COUNTED["taken over"] += 1
            self.repeated += 1
            assert self.rows() == rows

    @precondition(lambda self: self.is_any_ready)
    @rule(number=which, at=soon)
    def take_over_soon(self, number: int, at: int) -> None:
        self.take_over(number, at, False)

    def hour_later(self, thread: Thread) -> None:
        clock = stores.leases.boot_clock
        stores.leases.boot_clock = lambda: clock() + HOUR
        hook = stores.points._note
        stores.points._note = lambda listing, name: 0
        try:
            expected = self.expected(thread, False)
            run_here(self.job(thread, False), StopFlag(), lambda event: None)
            self.adopt(thread, expected[-1])
        finally:
            stores.leases.boot_clock, stores.points._note = clock, hook


class RealMachine(Machine):
    """The same with workers that are processes of their own, and killed."""

    really = True
