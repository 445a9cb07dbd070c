"""The contract of `stores.supervised.Supervised` as tests; part of `stores.conformance.RunStoreConformance`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from stores.conformance_runs import DEFINITION, THREAD, AnyStore, commit, create, status_of, with_runs
from stores.errors import Conflict, LeaseLost, NotFound
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref, Status
from stores.runs import Approval, Definition, RunStatus, StepCommit, StepRecord
from stores.supervision import CANCEL, DISMISS, Breakpoint, BreakpointHit, Case, Takeover


class SupervisionConformance:
    """Ownership, cases, events: `stores.supervised.Supervised`."""

    @with_runs
    def test_a_run_that_somebody_owns_is_claimed_only_once_its_lease_is_over(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        assert run.lease_left is not None
        assert 0 < run.lease_left <= 30
        with pytest.raises(Conflict, match="process 1"):
            sample.claim("r1", "you", 2)
        with pytest.raises(Conflict):
            sample.claim("r1", "you", 2, takeover=Takeover(0, "of an older owner"))
        sample.beat("r1", 1, 0)
        assert sample.run("r1").lease_left == 0
        assert sample.owned("r1", 1).status == RunStatus.RUNNING  # nobody took it over yet
        sample.beat("r1", 1, 60)
        with pytest.raises(Conflict):
            sample.claim("r1", "you", 2)
        sample.beat("r1", 1, 0)
        taken = sample.claim("r1", "you", 2)
        assert (taken.token, taken.recoveries, taken.owner) == (2, 1, "you")
        (event,) = sample.events(["recovered"], run_id="r1")
        assert (event.data["token"], event.data["head"], event.thread) == (2, taken.head.id, THREAD)
        sample.finish("r1", 2, RunStatus.PAUSED)
        assert sample.run("r1").lease_left is None

    @with_runs
    def test_of_many_that_claim_a_run_one_owns_it(self, sample: AnyStore) -> None:
        create(sample)

        def attempt(number: int) -> bool:
            try:
                sample.claim("r1", f"n{number}", number)
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(attempt, range(12))) == 1
        assert sample.run("r1").token == 1

    @with_runs
    def test_a_run_that_has_moved_since_somebody_looked_at_it_is_not_claimed(self, sample: AnyStore) -> None:
        create(sample)
        seen = sample.run("r1")
        sample.request("r1", "pause")
        with pytest.raises(Conflict, match="was pending and is paused by now"):
            sample.claim("r1", "me", 1, seen=seen)
        paused = sample.run("r1")
        assert (paused.status, paused.token) == (RunStatus.PAUSED, 0)
        assert sample.claim("r1", "me", 1, seen=paused).token == 1
        with pytest.raises(Conflict, match="being run by process 1"):
            sample.claim("r1", "you", 2, seen=paused)

    @with_runs
    def test_a_cancel_that_came_in_between_wins_over_a_pause(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        sample.request("r1", "cancel")
        assert sample.finish("r1", run.token, RunStatus.PAUSED).status == RunStatus.CANCELLED

    @with_runs
    def test_a_held_run_goes_on_once_its_case_is_decided(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        case = Approval("c1", THREAD, "", run.head.id, "plan", "Which?", run_id="r1", kind=Case.VERSION)
        held = sample.finish("r1", run.token, RunStatus.CRASHED, "no such node", case=case)
        assert (held.status, held.hold_reason, held.shown) == (RunStatus.CRASHED, Case.VERSION, Status.HELD)
        assert status_of(sample) == sample.load(run.head).header.status == Status.HELD
        assert sample.approvals() == ()
        assert [(found.id, found.kind, found.prompt) for found in sample.cases()] == [("c1", Case.VERSION, "Which?")]
        with pytest.raises(Conflict):
            sample.claim("r1", "you", 2)
        with pytest.raises(Conflict):
            sample.requeue("r1", None)
        with pytest.raises(Conflict, match="asks for a decision"):
            sample.answer("c1", "yes", "anna")
        assert sample.resolve("c1", "retry", "anna").status == RunStatus.PENDING
        with pytest.raises(Conflict, match="anna"):
            sample.resolve("c1", CANCEL, "otto")
        with pytest.raises(NotFound):
            sample.resolve("c2", "retry", "otto")
        assert sample.cases() == ()
        assert sample.run("r1").hold_reason is None
        assert sample.claim("r1", "you", 2).token == 2

    @with_runs
    def test_a_case_beside_a_run_is_opened_once_and_may_be_dismissed(self, sample: AnyStore) -> None:
        create(sample)
        case = Approval("c1", THREAD, "", "some id", "", "Four times", run_id="r1", kind=Case.RECOVERY_LIMIT)
        assert sample.open_case(case)
        assert not sample.open_case(case)
        assert sample.resolve("c1", DISMISS, "anna").status == RunStatus.PENDING
        assert not sample.open_case(case)
        assert sample.cases() == ()

    @with_runs
    def test_a_failed_run_asks_what_to_do_until_it_goes_on(self, sample: AnyStore) -> None:
        create(sample)
        for number, cancelled in enumerate((False, True)):
            run = sample.claim("r1", "me", 1)
            failed = StepRecord("r1", 0, "plan", number + 1, status="failed", error="no network")
            case = Approval(f"c{number}", THREAD, "", run.head.id, "plan", "no network", run_id="r1", kind=Case.FAILED)
            sample.fail_step("r1", run.token, failed, run_status=RunStatus.FAILED, case=case)
            assert [found.id for found in sample.cases(THREAD)] == [case.id]
            assert sample.run("r1").hold_reason is None
            if cancelled:
                assert sample.resolve(case.id, CANCEL, "anna").status == RunStatus.CANCELLED
            else:
                assert sample.requeue("r1", None).status == RunStatus.PENDING
            assert sample.cases() == ()

    @with_runs
    def test_a_question_that_nobody_answered_in_time(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        head = sample.head(THREAD)
        due = datetime(2026, 1, 1, tzinfo=UTC)
        asked = Approval(
            "q1", THREAD, "", new_id(0, head.id), "ask", "Well?", run_id="r1", due=due, on_timeout="fail"
        )  # fmt: skip
        new = NewCheckpoint(Ref(THREAD, "", asked.checkpoint), head, {}, "suspend", step=0, next=("ask",))
        step = StepRecord("r1", 0, "ask", status="waiting")
        sample.commit_step(StepCommit("r1", run.token, step, new, RunStatus.WAITING, approval=asked, commit_id="c"))
        assert [(found.due, found.on_timeout) for found in sample.approvals()] == [(due, "fail")]
        ended = sample.expire("q1", "nobody answered by 2026-01-01")
        assert (ended.status, ended.error) == (RunStatus.FAILED, "nobody answered by 2026-01-01")
        assert sample.approvals() == ()
        with pytest.raises(Conflict, match="expired"):
            sample.answer("q1", True, "anna")
        with pytest.raises(Conflict):
            sample.expire("q1", "again")

    @with_runs
    def test_events_are_kept_in_order(self, sample: AnyStore) -> None:
        create(sample)
        first = sample.log_event("plan", {"action": "run again", "n": 1}, run_id="r1", thread=THREAD)
        second = sample.log_event("note", {}, thread="elsewhere")
        assert [event.id for event in sample.events()] == [first.id, second.id]
        assert sample.events(["plan"]) == (first,)
        assert sample.events(thread="elsewhere") == (second,)
        assert sample.events(after=first.id) == (second,)
        assert sample.events(limit=1) == (second,)
        assert sample.events(run_id="r2") == ()

    @with_runs
    def test_a_thread_is_protected(self, sample: AnyStore) -> None:
        create(sample)
        sample.protect(THREAD, True)
        assert sample.protected() == {THREAD}
        sample.protect(THREAD, False)
        assert sample.protected() == frozenset()
        with pytest.raises(NotFound):
            sample.protect("nowhere", True)

    @with_runs
    def test_a_line_that_is_as_it_was_written_has_no_fault(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        done = StepRecord("r1", 0, "plan", status="completed", output={"plan": "go"})
        header = commit(sample, run, done, RunStatus.COMPLETED)
        assert sample.fault(header.ref) is None
        assert sample.fault(sample.fork(header.ref, "aside").ref) is None
        gone = Ref(THREAD, "", "no such id")
        assert sample.fault(gone) == (gone, "it is gone")

    @with_runs
    def test_a_run_goes_on_by_another_definition_from_a_checkpoint_of_its_own(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        other = Definition("cd" * 32, "trip", "2.0", "{}")
        sample.put_definition(other)
        assert sample.definitions_of("trip") == (other.hash, DEFINITION.hash)
        head = sample.head(THREAD)
        moved = NewCheckpoint(
            Ref(THREAD, "", new_id(-1, head.id)), head, {"city": "Rome"}, "migrate", step=-1, next=("plan",),
            meta={"workflow_hash": other.hash},
        )  # fmt: skip
        with pytest.raises(LeaseLost):
            sample.rebind("r1", run.token - 1, other.hash, moved)
        assert sample.head(THREAD) == head
        header = sample.rebind("r1", run.token, other.hash, moved)
        found = sample.run("r1")
        assert (found.workflow_hash, found.head, sample.head(THREAD)) == (other.hash, header.ref, header.ref)
        assert (header.source, header.meta["workflow_hash"], sample.fault(header.ref)) == ("migrate", other.hash, None)

    @with_runs
    def test_breakpoints_are_kept_and_their_hits_counted_with_the_step(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        first = sample.set_breakpoint(Breakpoint("b1", "before", "book", condition="city == 'Oslo'", by="anna"))
        sample.set_breakpoint(Breakpoint("b2", "effect", thread="elsewhere", name="send"))
        assert sample.set_breakpoint(Breakpoint("b3", "before", "book", condition="city == 'Oslo'")) == first
        assert [found.id for found in sample.breakpoints()] == ["b1", "b2"]
        assert [found.id for found in sample.breakpoints(THREAD)] == ["b1"]
        hit = BreakpointHit(("b1",), "before", "book", "breakpoint b1, before book")
        done = StepRecord("r1", 0, "plan", status="completed", output={"plan": "go"})
        commit(sample, run, done, RunStatus.PAUSED, next=("book",), hit=hit, error=hit.said)
        assert (sample.run("r1").status, sample.run("r1").error) == (RunStatus.PAUSED, hit.said)
        run = sample.claim("r1", "me", 1)
        sample.finish("r1", run.token, RunStatus.PAUSED, hit=hit)
        assert [found.hits for found in sample.breakpoints()] == [2, 0]
        assert [event.data["breakpoints"] for event in sample.events(["breakpoint"], run_id="r1")] == [["b1"], ["b1"]]
        assert sample.clear_breakpoint("b1")
        assert not sample.clear_breakpoint("b1")
