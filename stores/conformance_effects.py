"""The contract of the effect ledger, of substeps and of business statements as tests; see `stores.conformance`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stores.conformance_runs import DEFINITION, THREAD, AnyStore, create, with_runs
from stores.effects import EffectCall, EffectClass, EffectStatus, OnConflict, Slot, digest
from stores.errors import Conflict, Invalid, LeaseLost, NotFound
from stores.ids import new_id
from stores.model import Change, NewCheckpoint, Ref, Status, Value
from stores.runs import Approval, Run, RunStatus, StepCommit, StepRecord
from stores.supervision import Takeover

STEP = StepRecord("r1", 0, "plan", status="abandoned", error="nobody knows")


def call(
    request: Value, kind: str = EffectClass.IDEMPOTENT, seq: int = 0, name: str = "send", **more: Any
) -> EffectCall:
    """A call that the node ``plan`` makes on its first visit."""
    slot = Slot("trip", "plan", more.pop("business_id", THREAD), 1, name, 1)
    return EffectCall(slot, kind, request, digest(request), 0, more.pop("attempt", 1), seq, **more)


def held(store: AnyStore, run: Run, made: EffectCall, kind: str, key: str) -> Run:
    """The run, held for a question about the entry."""
    asked = Approval("q1", THREAD, "", store.head(THREAD).id, "plan", "was it sent?", run_id="r1", kind=kind)
    return store.hold("r1", run.token, STEP, asked, key)  # type: ignore[no-any-return]


def part(store: AnyStore, run: Run, name: str, output: Value) -> StepCommit:
    """A completed part of the node ``plan``, to be committed."""
    head = store.load(store.head(run.thread))
    ref = Ref(run.thread, "", new_id(0, head.header.ref.id))
    new = NewCheckpoint(ref, head.header.ref, head.state, "substep", {"inside": "plan"}, 0, ("plan",), ("plan",))
    step = StepRecord(run.run_id, 0, "plan", status="completed", output=output, substep=name)
    return StepCommit(run.run_id, run.token, step, new, commit_id=f"{run.run_id}/{name}")


class EffectsConformance:
    """Effects, substeps and statements: `stores.protocol.RunStore`."""

    @with_runs
    def test_an_effect_is_an_intent_until_it_is_done_and_then_its_result(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        begun = sample.begin_effect("r1", run.token, call({"to": "anna"}))
        assert (begun.before, begun.effect.status, begun.effect.key) == (None, EffectStatus.INTENT, call(0).slot.key)
        again = sample.begin_effect("r1", run.token, call({"to": "anna"}, attempt=2))
        assert (again.before, again.effect.status) == (EffectStatus.INTENT, EffectStatus.INTENT)
        done = sample.end_effect("r1", run.token, begun.effect.key, EffectStatus.DONE, {"id": 7})
        assert (done.status, done.result, done.request) == (EffectStatus.DONE, {"id": 7}, {"to": "anna"})
        last = sample.begin_effect("r1", run.token, call({"to": "anna"}, attempt=3))
        assert (last.before, last.effect.result, last.effect.replays) == (EffectStatus.DONE, {"id": 7}, 1)
        assert [(use.attempt, use.called) for use in sample.effects(THREAD)] == [(1, True), (2, True), (3, False)]
        assert [effect.key for effect in sample.effects_at(begun.effect.key)] == [begun.effect.key]

    @with_runs
    def test_a_value_without_a_call_is_recorded_at_once(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        first = sample.begin_effect("r1", run.token, call(None, EffectClass.REPEATABLE, value="a", has_value=True))
        second = sample.begin_effect(
            "r1", run.token, call(None, EffectClass.REPEATABLE, attempt=2, value="b", has_value=True)
        )
        assert (first.effect.result, second.effect.result) == ("a", "a")

    @with_runs
    def test_of_two_lines_that_call_at_once_the_first_result_stands(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        key = sample.begin_effect("r1", run.token, call(1)).effect.key
        sample.fork(sample.head(THREAD), "aside")
        sample.create_run(Run("r2", "aside", DEFINITION.hash))
        other = sample.claim("r2", "me", 1)
        assert sample.begin_effect("r2", other.token, call(1)).before == EffectStatus.INTENT
        assert sample.end_effect("r1", run.token, key, EffectStatus.DONE, "first").result == "first"
        late = sample.end_effect("r2", other.token, key, EffectStatus.DONE, "second")
        assert (late.status, late.result) == (EffectStatus.DONE, "first")
        assert sample.end_effect("r2", other.token, key, EffectStatus.FAILED, error="late").result == "first"

    @with_runs
    def test_a_failed_effect_is_called_again_under_its_key(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        key = sample.begin_effect("r1", run.token, call(1)).effect.key
        failed = sample.end_effect("r1", run.token, key, EffectStatus.FAILED, error="no network")
        assert (failed.status, failed.error) == (EffectStatus.FAILED, "no network")
        begun = sample.begin_effect("r1", run.token, call(1, attempt=2))
        assert (begun.before, begun.effect.status, begun.effect.key) == (EffectStatus.FAILED, EffectStatus.INTENT, key)

    @with_runs
    def test_a_lost_lease_writes_no_effect(self, sample: AnyStore) -> None:
        create(sample)
        old = sample.claim("r1", "me", 1)
        key = sample.begin_effect("r1", old.token, call(1)).effect.key
        sample.claim("r1", "you", 2, takeover=Takeover(1, "it is gone"))
        for write in (
            lambda: sample.begin_effect("r1", old.token, call(2, seq=1, name="other")),
            lambda: sample.end_effect("r1", old.token, key, EffectStatus.DONE, 1),
            lambda: held(sample, old, call(1), "unknown_effect", key),
            lambda: sample.commit_substep(part(sample, old, "one", 1)),
        ):
            with pytest.raises(LeaseLost):
                write()
        assert [effect.status for effect in sample.effects_at(key)] == [EffectStatus.INTENT]
        assert len(sample.effects(THREAD)) == 1
        assert sample.approvals() == ()

    @with_runs
    def test_another_request_takes_a_new_key_where_it_may_and_else_is_decided(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        for kind, name in ((EffectClass.REPEATABLE, "ask"), (EffectClass.IDEMPOTENT, "pay")):
            key = sample.begin_effect("r1", run.token, call(1, kind, name=name)).effect.key
            sample.end_effect("r1", run.token, key, EffectStatus.DONE, "one")
            begun = sample.begin_effect("r1", run.token, call(2, kind, name=name, attempt=2)).effect
            undecided = kind == EffectClass.IDEMPOTENT
            assert begun.key == f"{key}~f1"
            assert begun.status == (EffectStatus.CONFLICT if undecided else EffectStatus.INTENT)

    @with_runs
    @pytest.mark.parametrize(
        ("decided", "status", "result"),
        [
            (OnConflict.NEW, EffectStatus.INTENT, None),
            (OnConflict.REUSE, EffectStatus.DONE, "one"),
            (OnConflict.SKIP, EffectStatus.SKIPPED, None),
        ],
    )
    def test_a_decision_is_kept_with_the_run(self, sample: AnyStore, decided: str, status: str, result: Value) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1, decided)
        key = sample.begin_effect("r1", run.token, call(1)).effect.key
        sample.end_effect("r1", run.token, key, EffectStatus.DONE, "one")
        run = sample.claim("r1", "you", 2, takeover=Takeover(1, "it is gone"))
        begun = sample.begin_effect("r1", run.token, call(2, attempt=2)).effect
        assert (begun.key, begun.status, begun.result) == (f"{key}~f1", status, result)
        again = sample.begin_effect("r1", run.token, call(2, attempt=3)).effect
        assert (again.key, again.status) == (begun.key, status)

    @with_runs
    @pytest.mark.parametrize(
        ("verdict", "status", "key_ends"),
        [
            ({"as": "done", "result": 9}, EffectStatus.DONE, ""),
            ({"as": "retry"}, EffectStatus.INTENT, ""),
            ({"as": "skip"}, EffectStatus.SKIPPED, ""),
            ({"as": "new-key"}, EffectStatus.INTENT, "~f1"),
        ],
    )
    def test_an_unknown_outcome_holds_the_run_until_it_is_resolved(
        self, sample: AnyStore, verdict: Value, status: str, key_ends: str
    ) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        made = call(1, EffectClass.AT_MOST_ONCE)
        key = sample.begin_effect("r1", run.token, made).effect.key
        stopped = held(sample, run, made, "unknown_effect", key)
        assert (stopped.status, stopped.hold_reason, stopped.owner) == (RunStatus.CRASHED, "unknown_effect", None)
        assert next(info.status for info in sample.threads().items if info.thread == THREAD) == Status.HELD
        (task,) = sample.load(sample.head(THREAD)).tasks
        assert (task.node, task.status, task.interrupts[0].value) == ("plan", Status.WAITING, "was it sent?")
        with pytest.raises(Conflict, match="held"):
            sample.claim("r1", "you", 2)
        with pytest.raises(Conflict, match="held"):
            sample.requeue("r1", None)
        with pytest.raises(Invalid):
            sample.answer("q1", {"as": "whatever"}, "anna")
        sample.answer("q1", verdict, "anna")
        assert sample.run("r1").status == RunStatus.PENDING
        assert sample.load(sample.head(THREAD)).state == {"city": "Oslo"}
        run = sample.claim("r1", "you", 2)
        begun = sample.begin_effect("r1", run.token, replace(made, attempt=2)).effect
        assert (begun.key, begun.status) == (key + key_ends, status)
        assert begun.result == (9 if status == EffectStatus.DONE else None)

    @with_runs
    @pytest.mark.parametrize("verdict", OnConflict.ALL)
    def test_a_conflict_holds_the_run_until_it_is_resolved(self, sample: AnyStore, verdict: str) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        key = sample.begin_effect("r1", run.token, call(1)).effect.key
        sample.end_effect("r1", run.token, key, EffectStatus.DONE, "one")
        conflict = sample.begin_effect("r1", run.token, call(2, attempt=2)).effect
        held(sample, run, call(2), "effect_conflict", conflict.key)
        sample.answer("q1", {"as": verdict}, "anna")
        run = sample.claim("r1", "you", 2)
        begun = sample.begin_effect("r1", run.token, call(2, attempt=3)).effect
        expected = {"new": EffectStatus.INTENT, "reuse": EffectStatus.DONE, "skip": EffectStatus.SKIPPED}
        assert (begun.key, begun.status) == (conflict.key, expected[verdict])
        assert begun.result == ("one" if verdict == "reuse" else None)

    @with_runs
    def test_a_fork_meets_its_origins_effects_and_another_thread_does_not(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        key = sample.begin_effect("r1", run.token, call(1, business_id=run.business_id)).effect.key
        sample.end_effect("r1", run.token, key, EffectStatus.DONE, "one")
        sample.fork(sample.head(THREAD), "aside")
        forked = sample.create_run(Run("r2", "aside", DEFINITION.hash))
        apart = create(sample, "r3", "another")
        assert forked.business_id == run.business_id
        assert str(apart.business_id).startswith("another@")
        for name, business_id, status in (("r2", forked.business_id, "done"), ("r3", apart.business_id, "intent")):
            token = sample.claim(name, "me", 1).token
            assert sample.begin_effect(name, token, call(1, business_id=business_id)).effect.status == status
        fresh = sample.fork(sample.head(THREAD), "fresh", meta={"business_id": "fresh~1"})
        assert sample.create_run(Run("r4", fresh.ref.thread, DEFINITION.hash)).business_id == "fresh~1"

    @with_runs
    def test_a_part_of_a_node_is_kept_and_the_node_goes_on(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        started = sample.head(THREAD)
        sample.start_step("r1", run.token, StepRecord("r1", 0, "plan"))
        first = part(sample, run, "one", [1])
        one = sample.commit_substep(first)
        two = sample.commit_substep(part(sample, run, "two", None))
        assert sample.commit_substep(first) == sample.load(one.ref).header
        with pytest.raises(Conflict):
            sample.commit_substep(part(sample, run, "one", [2]))
        assert (one.parent, two.parent, two.source, two.next) == (started, one.ref, "substep", ("plan",))
        assert sample.head(THREAD) == sample.run("r1").head == two.ref
        assert sample.substeps(two.ref) == {"one": [1], "two": None}
        assert (sample.substeps(one.ref), sample.substeps(started)) == ({"one": [1]}, {})
        assert sample.visits(two.ref) == {}
        log = [(step.substep, step.status) for step in sample.steps("r1")]
        assert sorted(log) == [("", "running"), ("one", "completed"), ("two", "completed")]
        forked = sample.fork(one.ref, "aside")
        edited = sample.fork(one.ref, "edited", [Change("change", ("city",), "Oslo", "Rome")])
        assert (sample.substeps(forked.ref), sample.substeps(edited.ref)) == ({"one": [1]}, {})

    @with_runs
    def test_business_statements_are_committed_with_their_step_or_not_at_all(self, sample: AnyStore) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        statements = ["CREATE TABLE orders (n INTEGER PRIMARY KEY)", "INSERT INTO orders VALUES (1)"]
        commit = self.commit_with(sample, run, *statements)
        header = sample.commit_step(commit)
        assert header == sample.commit_step(commit)
        assert [use.effect.status for use in sample.effects(THREAD)] == ["done", "done"]
        assert {use.effect.kind for use in sample.effects(THREAD)} == {EffectClass.TRANSACTIONAL}
        bad = self.commit_with(sample, run, "INSERT INTO orders VALUES (2)", "INSERT INTO orders VALUES (1)")
        with pytest.raises(Invalid, match="orders"):
            sample.commit_step(replace(bad, commit_id="c2"))
        large = replace(bad.statements[0], request={"sql": "INSERT INTO orders VALUES (?)", "params": [2**63]})
        with pytest.raises(Invalid, match="orders"):
            sample.commit_step(replace(bad, commit_id="c2", statements=(large,)))
        assert sample.head(THREAD) == header.ref
        fine = self.commit_with(sample, run, "INSERT INTO orders VALUES (2)")
        sample.commit_step(replace(fine, commit_id="c3"))

    @with_runs
    @pytest.mark.parametrize(
        "verb", ["DELETE FROM runs", "DROP TABLE effects", "UPDATE checkpoints SET step = 1", "COMMIT"]
    )
    def test_a_business_statement_cannot_touch_our_tables(self, sample: AnyStore, verb: str) -> None:
        create(sample)
        run = sample.claim("r1", "me", 1)
        before = sample.headers(THREAD).items
        with pytest.raises(Invalid, match=verb.split()[0]):
            sample.commit_step(self.commit_with(sample, run, verb))
        assert sample.headers(THREAD).items == before
        assert sample.run("r1").status == RunStatus.RUNNING
        with pytest.raises(NotFound):
            sample.run("r0")

    def commit_with(self, store: AnyStore, run: Run, *statements: str) -> StepCommit:
        """The step's commit with the statements."""
        head = store.head(THREAD)
        new = NewCheckpoint(Ref(THREAD, "", new_id(0, head.id)), head, {}, "step", {}, 0, ("plan",), ("plan",))
        made = tuple(
            call({"sql": sql, "params": []}, EffectClass.TRANSACTIONAL, seq, f"{new.ref.id}-{seq}")
            for seq, sql in enumerate(statements)
        )
        step = StepRecord("r1", len(store.headers(THREAD).items), "plan", status="completed", output={})
        made = tuple(replace(each, ordinal=step.ordinal) for each in made)
        return StepCommit("r1", run.token, step, new, RunStatus.RUNNING, commit_id="c1", statements=made)
