"""The executor's records in the native store: who may change what, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stores.errors import Conflict, LeaseLost, NotFound, ReadOnly
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore
from stores.runs import Approval, Definition, Run, RunStatus, StepCommit, StepRecord
from stores.supervision import Takeover
from tests.engine.flows import Bench, bench, python


@pytest.fixture
def on(tmp_path: Path) -> Bench:
    return bench(tmp_path, [python("a", "count", "b"), python("b", "count", None)])


def commit(on: Bench, token: int, **fields: object) -> StepCommit:
    head = on.store.head("t")
    checkpoint = NewCheckpoint(Ref("t", "", new_id(0, head.id)), head, {"n": 1}, "step", nodes=("a",), next=("b",))
    step = StepRecord("run-t", 0, "a", status="completed", output={"n": 1})
    return replace(StepCommit("run-t", token, step, checkpoint, commit_id="run-t/0/1"), **fields)  # type: ignore[arg-type]


def test_definitions_are_kept_by_hash_and_versions_never_change(on: Bench) -> None:
    one = Definition("h1", "flow", "1", "{}", "/a/flow.json")
    on.store.put_definition(one)
    on.store.put_definition(one)
    assert on.store.definition("h1") == one
    on.store.put_definition(replace(one, origin="/b/flow.json"))
    assert on.store.definition("h1").origin == "/b/flow.json"
    on.store.put_definition(replace(one, origin=None))
    assert on.store.definition("h1").origin == "/b/flow.json"
    with pytest.raises(Conflict, match="flow 1 is registered with another body"):
        on.store.put_definition(Definition("h2", "flow", "1", '{"x":1}'))
    on.store.put_definition(Definition("h2", "flow", "2", '{"x":1}'))
    with pytest.raises(NotFound):
        on.store.definition("h3")


def test_a_run_needs_its_definition_and_its_thread(on: Bench) -> None:
    first = NewCheckpoint(Ref("t", "", new_id(-1)), None, {}, "input")
    with pytest.raises(NotFound, match="definition"):
        on.store.create_run(Run("r", "t", "nope"), first)
    assert on.store.threads().items == ()
    on.store.put_definition(on.workflow.definition())
    with pytest.raises(NotFound, match="no thread"):
        on.store.create_run(Run("r", "t", on.workflow.hash))


def test_one_active_run_a_thread(on: Bench) -> None:
    run = on.start({})
    assert (run.status, run.base, run.head) == ("pending", on.store.head("t"), run.base)
    assert run.business_id == f"t@{on.store.info.store_id[:8]}"
    with pytest.raises(Conflict, match="run run-t of thread 't' is pending"):
        on.store.create_run(Run("other", "t", on.workflow.hash))
    with pytest.raises(Conflict, match="exists"):
        on.start({})
    on.store.request("run-t", "cancel")
    assert on.store.create_run(Run("other", "t", on.workflow.hash)).status == "pending"
    assert [found.run_id for found in on.store.runs("t")] == ["other", "run-t"]
    assert on.store.runs("u") == ()
    with pytest.raises(NotFound):
        on.store.run("gone")


def test_a_forks_run_inherits_the_business_id(on: Bench) -> None:
    on.start({}, business_id="cv-17")
    forked = on.store.fork(on.store.head("t"), "u")
    run = on.store.create_run(Run("r", "u", on.workflow.hash))
    assert (run.business_id, run.base) == ("cv-17", forked.ref)


def test_every_claim_raises_the_token_and_old_tokens_write_nothing(on: Bench) -> None:
    on.start({})
    first = on.store.claim("run-t", "one", 11)
    second = on.store.claim("run-t", "two", 22, takeover=Takeover(1, "it is gone"))
    assert (first.token, second.token, second.owner, second.owner_pid) == (1, 2, "two", 22)
    assert second.recoveries == 1
    writes: list[Callable[[], object]] = [
        lambda: on.store.start_step("run-t", 1, StepRecord("run-t", 0, "a")),
        lambda: on.store.commit_step(commit(on, 1)),
        lambda: on.store.fail_step("run-t", 1, StepRecord("run-t", 0, "a")),
        lambda: on.store.finish("run-t", 1, RunStatus.PAUSED),
    ]
    for write in writes:
        with pytest.raises(LeaseLost, match="token 1 may not write"):
            write()
    assert on.store.steps("run-t") == ()
    assert len(on.store.headers("t").items) == 1
    assert on.store.run("run-t") == second


@pytest.mark.parametrize("status", [RunStatus.COMPLETED, RunStatus.CANCELLED, RunStatus.FAILED])
def test_an_ended_run_cannot_be_claimed_or_asked(on: Bench, status: str) -> None:
    on.start({})
    on.store.claim("run-t", "one", 1)
    ended = on.store.finish("run-t", 1, status, "why")
    assert (ended.status, ended.error, ended.owner) == (status, "why", None)
    assert ended.ended is not None
    for call in (
        lambda: on.store.claim("run-t", "one", 1),
        lambda: on.store.request("run-t", "pause"),
        lambda: on.store.request("run-t", "cancel"),
    ):
        with pytest.raises(Conflict, match=f"is {status} and cannot"):
            call()
    if status == RunStatus.FAILED:
        assert on.store.requeue("run-t", "b").until == "b"
        return
    with pytest.raises(Conflict):
        on.store.requeue("run-t", None)


def test_a_failed_run_is_not_requeued_beside_another(on: Bench) -> None:
    on.start({})
    on.store.claim("run-t", "one", 1)
    on.store.finish("run-t", 1, RunStatus.FAILED)
    on.store.create_run(Run("other", "t", on.workflow.hash))
    with pytest.raises(Conflict, match="run other of thread 't' is pending"):
        on.store.requeue("run-t", None)


def test_a_commit_is_one_transaction_and_happens_once(on: Bench) -> None:
    on.start({})
    token = on.store.claim("run-t", "one", 1).token
    on.store.start_step("run-t", token, StepRecord("run-t", 0, "a"))
    following = StepRecord("run-t", 1, "b")
    made = commit(on, token, following=following)
    header = on.store.commit_step(made)
    assert on.store.commit_step(made) == header
    assert on.store.head("t") == header.ref == on.store.run("run-t").head
    assert [(step.node, step.status) for step in on.store.steps("run-t")] == [("a", "completed"), ("b", "running")]
    assert on.store.visits(header.ref) == {"a": 1}


def test_a_commit_repeated_later_still_gives_what_it_made(on: Bench) -> None:
    on.start({})
    token = on.store.claim("run-t", "one", 1).token
    on.store.start_step("run-t", token, StepRecord("run-t", 0, "a"))
    made = commit(on, token, following=StepRecord("run-t", 1, "b"))
    header = on.store.commit_step(made)
    edited = on.store.append(NewCheckpoint(Ref("t", "", new_id(1, header.ref.id)), header.ref, {}, "edit"))
    assert on.store.commit_step(made).ref == header.ref
    assert (on.store.head("t"), on.store.run("run-t").head) == (edited.ref, header.ref)
    on.store.finish("run-t", token, RunStatus.PAUSED)
    assert on.store.commit_step(made).ref == header.ref
    assert on.store.run("run-t").status == RunStatus.PAUSED
    other = replace(made, checkpoint=replace(made.checkpoint, ref=Ref("t", "", new_id(0, header.ref.id))))
    with pytest.raises(LeaseLost):
        on.store.commit_step(other)


def test_a_commit_that_fails_leaves_nothing(on: Bench) -> None:
    on.start({})
    token = on.store.claim("run-t", "one", 1).token
    on.store.start_step("run-t", token, StepRecord("run-t", 0, "a"))
    before = on.store.run("run-t"), on.store.steps("run-t"), on.store.head("t")
    made = commit(on, token)
    bad = replace(made, following=StepRecord("no such run", 1, "b"))
    with pytest.raises(Conflict):
        on.store.commit_step(bad)
    question = Approval("q", "t", "", made.checkpoint.ref.id, "a", prompt={1, 2}, run_id="run-t")
    with pytest.raises(Exception, match="prompt"):
        on.store.commit_step(replace(made, approval=question))
    assert (on.store.run("run-t"), on.store.steps("run-t"), on.store.head("t")) == before
    assert len(on.store.headers("t").items) == 1


def test_a_commit_on_a_head_that_moved_is_refused(on: Bench) -> None:
    on.start({})
    token = on.store.claim("run-t", "one", 1).token
    made = commit(on, token)
    ref = Ref("t", "", new_id(0, on.store.head("t").id))
    on.store.append(NewCheckpoint(ref, on.store.head("t"), {}, "import"))
    with pytest.raises(Conflict, match="moved"):
        on.store.commit_step(made)


def test_cancelling_withdraws_the_question(on: Bench) -> None:
    on.start({})
    token = on.store.claim("run-t", "one", 1).token
    made = commit(on, token, run_status=RunStatus.WAITING)
    question = Approval("q", "t", "", made.checkpoint.ref.id, "a", "ok?", run_id="run-t")
    on.store.commit_step(replace(made, approval=question, step=made.step._replace(status="waiting")))
    assert [asked.id for asked in on.store.approvals("t")] == ["q"]
    assert on.store.approvals("u") == ()
    assert on.store.request("run-t", "pause").status == RunStatus.WAITING
    assert on.store.request("run-t", "cancel").status == RunStatus.CANCELLED
    assert on.store.approvals() == ()
    with pytest.raises(Conflict, match="withdrawn"):
        on.store.answer("q", True, "Ada")
    with pytest.raises(NotFound):
        on.store.answer("nope", True, "Ada")


def test_a_store_opened_for_looking_refuses_and_still_reads(on: Bench) -> None:
    on.start({})
    looking = NativeStore(on.folder / "store.sqlite")
    assert looking.run("run-t").status == "pending"
    for call in (
        lambda: looking.claim("run-t", "one", 1),
        lambda: looking.put_definition(on.workflow.definition()),
        lambda: looking.request("run-t", "cancel"),
        lambda: looking.answer("q", 1, "me"),
    ):
        with pytest.raises(ReadOnly):
            call()
    looking.close()
