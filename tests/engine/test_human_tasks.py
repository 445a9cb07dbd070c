"""A node that asks a person: the run ends there, and goes on with the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.errors import Conflict, Invalid
from stores.model import Change
from stores.runs import RunStatus
from tests.engine.flows import bench, line, log_of

HUMAN = {"id": "ask", "type": "human_task", "prompt": "Go to {city}?"}


def test_a_human_task_ends_the_run_until_it_is_answered(tmp_path: Path) -> None:
    on = bench(tmp_path, [*line("a", "ask")[:1], {**HUMAN, "next": "b"}, *line("b")])
    on.start({"city": "Kyoto"})
    assert on.go().status == "waiting"
    assert on.kinds()[-2:] == ["waiting", "run_ended"]
    (asked,) = on.store.approvals()
    assert (asked.node, asked.prompt, asked.status, asked.thread) == ("ask", "Go to Kyoto?", "open", "t")
    assert on.events[-2].fields == {"node": "ask", "approval": asked.id, "prompt": "Go to Kyoto?", "ns": ""}
    head = on.store.load(on.store.head("t"))
    assert (head.header.source, head.header.status, head.header.next) == ("suspend", "waiting", ("ask",))
    assert asked.checkpoint == head.header.ref.id
    assert on.store.threads().items[0].status == "waiting"
    with pytest.raises(Conflict, match="waiting_human"):
        on.go()
    answered = on.store.answer(asked.id, {"approved": True}, "Ada")
    assert (answered.source, answered.step, answered.nodes, answered.next) == ("answer", 1, ("ask",), ("b",))
    assert on.state()["ask"] == {"approved": True}
    assert on.store.run("run-t").status == RunStatus.PENDING
    with pytest.raises(Conflict, match="already answered by Ada"):
        on.store.answer(asked.id, {"approved": False}, "Eve")
    assert on.go().status == "done"
    assert on.state()["trail"] == ["a1", "b1"]
    assert log_of(on) == [("a", 1, "completed"), ("ask", 1, "completed"), ("b", 1, "completed")]
    assert [step.output for step in on.store.steps(ref=answered.ref)] == [{"ask": {"approved": True}}]
    assert on.store.approvals() == ()
    assert [found.status for found in on.store.approvals(status=None)] == ["answered"]


def test_a_rejection_goes_on_with_its_reason(tmp_path: Path) -> None:
    edges = [{"when": "ask.approved", "to": "b"}, {"to": None}]
    on = bench(tmp_path, [{**HUMAN, "next": edges}, *line("b")])
    on.start({"city": "Kyoto"})
    on.go()
    header = on.store.answer(on.store.approvals()[0].id, "too far", "Ada", reject=True)
    assert on.state()["ask"] == {"approved": False, "reason": "too far"}
    assert header.next == ()
    assert on.go().status == "done"
    assert "trail" not in on.state()


def test_an_answer_without_a_way_on_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    on = bench(tmp_path, [{**HUMAN, "next": [{"when": "ask == 'yes'", "to": None}]}])
    on.start({"city": "Kyoto"})
    on.go()
    (asked,) = on.store.approvals()
    with pytest.raises(Invalid, match="no way on from ask"):
        on.store.answer(asked.id, "no", "Ada")
    assert on.store.approvals() == (asked,)
    on.store.answer(asked.id, "yes", "Ada")
    assert on.go().status == "done"


def test_an_edit_while_waiting_is_kept_by_the_answer(tmp_path: Path) -> None:
    on = bench(tmp_path, [{**HUMAN, "next": None}])
    on.start({"city": "Kyoto"})
    on.go()
    edited = on.store.fork(on.store.head("t"), "t", (Change("change", ("city",), "Kyoto", "Nara"),))
    header = on.store.answer(on.store.approvals()[0].id, 1, "Ada")
    assert header.parent == edited.ref
    assert on.state() == {"city": "Nara", "ask": 1}


def test_a_fork_of_a_waiting_thread_asks_again(tmp_path: Path) -> None:
    on = bench(tmp_path, [{**HUMAN, "next": None}])
    run = on.start({"city": "Kyoto"})
    on.go()
    forked = on.store.fork(on.store.head("t"), "u")
    on.store.create_run(type(run)("run-u", "u", on.workflow.hash, base=forked.ref))
    assert on.go("run-u").status == "waiting"
    assert [asked.thread for asked in on.store.approvals()] == ["t", "u"]


def test_a_prompt_that_cannot_be_filled_fails_the_step(tmp_path: Path) -> None:
    on = bench(tmp_path, [{**HUMAN, "next": None}])
    on.start({})
    ending = on.go()
    assert ending.status == "failed"
    assert "no 'city'" in (ending.error or "")
    assert on.store.approvals() == ()
