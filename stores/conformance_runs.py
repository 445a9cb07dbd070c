"""The contract of `stores.protocol.RunStore` as tests, but for what is `stores.supervision`'s.

`stores.conformance` says how to use them.

A store that does not declare `Capability.RUNS` must not pass for a RunStore.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import pytest

from stores.conformance_sample import TRIP
from stores.errors import Conflict, LeaseLost, NotFound
from stores.ids import new_id
from stores.model import Capability, Change, Header, NewCheckpoint, Ref, Status
from stores.protocol import RunStore
from stores.runs import Approval, Definition, Run, RunStatus, StepCommit, StepRecord
from stores.supervision import Takeover

DEFINITION: Final = Definition("ab" * 32, "trip", "1.0", '{"workflow_id":"trip"}')
THREAD: Final = "journey"

Self = TypeVar("Self")
P = ParamSpec("P")
AnyStore = Any


def with_runs(test: Callable[Concatenate[Self, AnyStore, P], None]) -> Callable[..., None]:
    """A test of a store that keeps runs; one that does not must not pass for one that does."""

    @functools.wraps(test)
    def run(self: Self, sample: AnyStore, *args: P.args, **kwargs: P.kwargs) -> None:
        if Capability.RUNS in sample.info.capabilities:
            return test(self, sample, *args, **kwargs)
        assert not isinstance(sample, RunStore)
        return None

    return run


def create(store: AnyStore, run_id: str = "r1", thread: str = THREAD) -> Run:
    """A pending run of a new thread."""
    store.put_definition(DEFINITION)
    first = NewCheckpoint(Ref(thread, "", new_id(-1)), None, {"city": "Oslo"}, "input", step=-1, next=("plan",))
    return store.create_run(Run(run_id, thread, DEFINITION.hash, base=first.ref, head=first.ref), first)  # type: ignore[no-any-return]


def commit(store: AnyStore, run: Run, step: StepRecord, status: str, **more: Any) -> Header:
    head = store.head(run.thread)
    number = (store.load(head).header.step or 0) + 1
    new = NewCheckpoint(
        ref=Ref(run.thread, "", new_id(number, head.id)),
        parent=head,
        state={"city": "Oslo", step.node: step.output},
        source="suspend" if status == RunStatus.WAITING else "step",
        step=number,
        nodes=(step.node,),
        next=more.pop("next", ()),
        meta=more.pop("meta", {}),
    )
    commit = StepCommit(run.run_id, run.token, step, new, status, commit_id=f"{run.run_id}:{step.ordinal}", **more)
    return store.commit_step(commit)  # type: ignore[no-any-return]


def status_of(store: AnyStore, thread: str = THREAD) -> str:
    return next(info.status for info in store.threads().items if info.thread == thread)  # type: ignore[no-any-return]


class StepConformance:
    """Runs, steps, approvals: what `stores.protocol.RunStore` has beside `stores.supervision`."""

    @with_runs
    def test_a_definition_is_kept_under_its_hash(self, sample: AnyStore) -> None:
        sample.put_definition(DEFINITION)
        sample.put_definition(DEFINITION)
        assert sample.definition(DEFINITION.hash).body == DEFINITION.body
        known = sample.registered(DEFINITION.workflow_id, DEFINITION.version)
        assert known is not None
        assert known.hash == DEFINITION.hash
        assert sample.registered(DEFINITION.workflow_id, "another") is None
        with pytest.raises(Conflict):
            sample.put_definition(Definition("cd" * 32, "trip", "1.0", "{}"))
        with pytest.raises(NotFound):
            sample.definition("ef" * 32)

    @with_runs
    def test_a_thread_has_one_active_run(self, sample: AnyStore) -> None:
        run = create(sample)
        assert (run.status, run.token, sample.load(run.head).state) == (RunStatus.PENDING, 0, {"city": "Oslo"})
        with pytest.raises(Conflict, match="r1"):
            sample.create_run(Run("r2", THREAD, DEFINITION.hash, base=run.base, head=run.head))
        assert [known.run_id for known in sample.runs(THREAD)] == ["r1"]
        assert status_of(sample) == Status.PENDING

    @with_runs
    def test_a_run_is_not_created_on_half_a_thread(self, sample: AnyStore) -> None:
        create(sample)
        with pytest.raises(Conflict):
            create(sample, "r2")
        with pytest.raises(NotFound):
            sample.create_run(Run("r3", "no such thread", DEFINITION.hash))
        with pytest.raises(NotFound):
            sample.run("r3")

    @with_runs
    def test_a_claim_takes_the_run_and_the_old_token_is_worth_nothing(self, sample: AnyStore) -> None:
        create(sample)
        old = sample.claim("r1", "me", 1)
        assert (old.status, old.token, old.owner, old.owner_pid) == (RunStatus.RUNNING, 1, "me", 1)
        new = sample.claim("r1", "you", 2, takeover=Takeover(1, "it is gone"))
        assert new.token == 2
        step = StepRecord("r1", 0, "plan")
        before = sample.headers(THREAD).items
        for write in (
            lambda: sample.beat("r1", old.token),
            lambda: sample.owned("r1", old.token),
            lambda: sample.start_step("r1", old.token, step),
            lambda: commit(sample, old, step, RunStatus.RUNNING),
            lambda: sample.fail_step("r1", old.token, step, run_status=RunStatus.FAILED),
            lambda: sample.finish("r1", old.token, RunStatus.PAUSED),
            lambda: sample.append(
                NewCheckpoint(Ref(THREAD, "", new_id(0, before[0].ref.id)), before[0].ref, {}, "step"),
                ("r1", old.token),
            ),
        ):
            with pytest.raises(LeaseLost):
                write()
        assert sample.headers(THREAD).items == before
        assert sample.steps("r1") == ()
        assert sample.run("r1").status == RunStatus.RUNNING

    @with_runs
    def test_of_many_runs_for_one_thread_one_is_created(self, sample: AnyStore) -> None:
        run = create(sample)
        sample.request("r1", "cancel")

        def attempt(number: int) -> bool:
            try:
                sample.create_run(Run(f"n{number}", THREAD, DEFINITION.hash, base=run.base, head=run.head))
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(attempt, range(12))) == 1

    @with_runs
    def test_a_step_and_its_checkpoint_are_committed_as_one(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        started = sample.head(THREAD)
        sample.start_step("r1", run.token, StepRecord("r1", 0, "plan"))
        assert [step.status for step in sample.steps("r1")] == ["running"]
        done = StepRecord("r1", 0, "plan", status="completed", output={"plan": "go"})
        following = StepRecord("r1", 1, "book")
        header = commit(sample, run, done, RunStatus.RUNNING, following=following, next=("book",))
        assert (header.parent, header.nodes, header.next) == (started, ("plan",), ("book",))
        assert sample.head(THREAD) == sample.run("r1").head == header.ref
        assert [(step.node, step.status) for step in sample.steps("r1")] == [("plan", "completed"), ("book", "running")]
        assert [step.output for step in sample.steps(ref=header.ref) if step.node == "plan"] == [{"plan": "go"}]
        assert sample.load(started).header.status == Status.DONE
        assert status_of(sample) == Status.RUNNING

    @with_runs
    def test_a_commit_repeated_is_the_same_commit(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        parent = sample.head(THREAD)
        new = NewCheckpoint(Ref(THREAD, "", new_id(0, parent.id)), parent, {"plan": 1}, "step", step=0, nodes=("plan",))
        done = StepRecord("r1", 0, "plan", status="completed", output={"plan": 1})
        commit = StepCommit("r1", run.token, done, new, RunStatus.COMPLETED, commit_id="once")
        assert sample.commit_step(commit) == sample.commit_step(commit)
        assert len(sample.headers(THREAD).items) == 2
        assert (sample.run("r1").status, status_of(sample)) == (RunStatus.COMPLETED, Status.DONE)

    @with_runs
    def test_a_failed_step_shows_where_it_started(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        head = sample.head(THREAD)
        for attempt in (1, 2):
            sample.start_step("r1", run.token, StepRecord("r1", 0, "plan", attempt))
            failed = StepRecord(
                "r1", 0, "plan", attempt, status="failed", error="no network", error_class="TimeoutError"
            )
            sample.fail_step("r1", run.token, failed, run_status=RunStatus.FAILED if attempt == 2 else None)
        assert [(step.attempt, step.status) for step in sample.steps(ref=head)] == [(1, "failed"), (2, "failed")]
        assert sample.head(THREAD) == head
        assert sample.run("r1").status == RunStatus.FAILED
        assert sample.load(head).header.status == status_of(sample) == Status.FAILED
        assert [(task.node, task.status, task.error) for task in sample.load(head).tasks] == [
            ("plan", Status.FAILED, "no network")
        ]
        assert sample.requeue("r1", None).status == RunStatus.PENDING

    @with_runs
    def test_a_run_that_waits_for_its_next_attempt_says_until_when(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        later = sample.time() + timedelta(seconds=30)
        failed = StepRecord("r1", 0, "plan", status="failed", error="no network", next_attempt_at=later)
        sample.fail_step("r1", run.token, failed)
        assert (sample.run("r1").status, sample.run("r1").available) == (RunStatus.RUNNING, later)
        sample.finish("r1", run.token, RunStatus.PAUSED)
        assert sample.requeue("r1", None).available == later
        run = sample.claim("r1", "you", 2)
        sample.fail_step("r1", run.token, failed._replace(attempt=2, next_attempt_at=None))
        assert sample.run("r1").available is None

    @with_runs
    def test_an_ended_run_is_not_requeued(self, sample: AnyStore) -> None:
        create(sample)
        assert sample.request("r1", "cancel").status == RunStatus.CANCELLED
        with pytest.raises(Conflict):
            sample.requeue("r1", None)
        with pytest.raises(Conflict):
            sample.claim("r1", "me", 1)
        assert status_of(sample) == Status.CANCELLED

    @with_runs
    def test_asking_a_run_to_stop(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        assert sample.request("r1", "pause").requested == "pause"
        assert sample.run("r1").status == RunStatus.RUNNING
        assert sample.finish("r1", run.token, RunStatus.PAUSED).status == RunStatus.PAUSED
        assert status_of(sample) == Status.PAUSED
        assert sample.requeue("r1", "book").until == "book"
        with pytest.raises(ValueError):
            sample.request("r1", "explode")

    @with_runs
    def test_a_question_is_answered_once(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        sample.start_step("r1", run.token, StepRecord("r1", 0, "ask"))
        step = StepRecord("r1", 0, "ask", status="waiting")
        waiting_at = new_id(0, sample.head(THREAD).id)
        asked = Approval("q1", THREAD, "", waiting_at, "ask", "Book it?", {"type": "boolean"}, run_id="r1")
        new = NewCheckpoint(
            ref=Ref(THREAD, "", waiting_at),
            parent=sample.head(THREAD),
            state={"city": "Oslo"},
            source="suspend",
            step=0,
            next=("ask",),
            meta={"edges": [{"when": None, "to": "send"}]},
        )
        sample.commit_step(StepCommit("r1", run.token, step, new, RunStatus.WAITING, approval=asked, commit_id="c"))
        assert [(found.id, found.prompt, found.status) for found in sample.approvals()] == [("q1", "Book it?", "open")]
        assert status_of(sample) == sample.load(new.ref).header.status == Status.WAITING
        assert [task.interrupts[0].value for task in sample.load(new.ref).tasks] == ["Book it?"]
        header = sample.answer("q1", True, "anna")
        assert (header.source, header.next, sample.load(header.ref).state["ask"]) == ("answer", ("send",), True)
        assert sample.run("r1").status == RunStatus.PENDING
        with pytest.raises(Conflict, match="anna"):
            sample.answer("q1", False, "otto")
        with pytest.raises(NotFound):
            sample.answer("q2", True, "anna")
        assert sample.approvals() == ()
        assert [found.answer for found in sample.approvals(status="answered")] == [True]
        assert sample.load(new.ref).header.status == Status.DONE

    @with_runs
    def test_an_edit_of_a_thread_that_runs_is_refused(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        head = sample.head(THREAD)
        with pytest.raises(Conflict, match="r1"):
            sample.fork(head, THREAD)
        assert sample.fork(head, "aside").ref.thread == "aside"
        sample.finish("r1", run.token, RunStatus.PAUSED)
        edited = sample.fork(head, THREAD)
        assert sample.head(THREAD) == edited.ref
        assert status_of(sample) == Status.PAUSED

    @with_runs
    def test_of_two_edits_of_the_same_head_one_is_refused(self, sample: AnyStore) -> None:
        seen = sample.head(TRIP)
        edited = sample.fork(seen, TRIP, [Change("change", ("city",), "Łódź", "Kraków")])
        with pytest.raises(Conflict, match=edited.ref.id):
            sample.fork(seen, TRIP, [Change("change", ("city",), "Łódź", "Gdańsk")])
        assert sample.head(TRIP) == edited.ref

    @with_runs
    def test_a_run_whose_owner_died_can_be_set_aside_for_an_edit(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        sample.start_step("r1", run.token, StepRecord("r1", 0, "plan"))
        assert sample.finish("r1", run.token, RunStatus.CRASHED).status == RunStatus.CRASHED
        edited = sample.fork(sample.head(THREAD), THREAD, [Change("change", ("city",), "Oslo", "Rome")])
        assert (status_of(sample), sample.head(THREAD)) == (Status.CRASHED, edited.ref)
        assert sample.requeue("r1", None).status == RunStatus.PENDING
        assert sample.claim("r1", "you", 2).token == 2
