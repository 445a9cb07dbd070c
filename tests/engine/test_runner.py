"""A run from its claim to its end, in this process, over a real store and with a clock that never waits."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from stores.errors import Conflict, LeaseLost
from stores.ids import new_id
from stores.model import Change, NewCheckpoint, Ref
from stores.runs import RunStatus
from stores.supervision import Takeover
from tests.engine.flows import bench, line, log_of, python


def test_every_step_leaves_a_checkpoint_and_a_log_entry(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a", "b", "c"))
    on.start({"city": "Kyoto"})
    ending = on.go()
    assert ending.status == "done"
    assert on.state() == {"city": "Kyoto", "trail": ["a1", "b1", "c1"]}
    headers = on.store.headers("t").items[::-1]
    assert [(header.step, header.source, header.nodes, header.next) for header in headers] == [
        (-1, "input", (), ("a",)),
        (0, "step", ("a",), ("b",)),
        (1, "step", ("b",), ("c",)),
        (2, "step", ("c",), ()),
    ]
    assert [header.parent for header in headers[1:]] == [header.ref for header in headers[:-1]]
    assert ending.head == headers[-1].ref == on.store.head("t")
    run = on.store.run("run-t")
    assert (run.status, run.head, run.token, run.owner) == (RunStatus.COMPLETED, ending.head, 1, None)
    (step,) = on.store.steps(ref=headers[2].ref)
    assert step.input == {"city": "Kyoto", "trail": ["a1"]}
    assert step.output == {"trail": ["a1", "b1"]}
    assert step.started is not None
    assert step.ended is not None


def test_events_come_in_order_and_name_the_checkpoints(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "talks", "b"), python("b", "count", None)])
    on.start({})
    on.go()
    assert on.kinds() == [
        "run_started", "step_started", "log", "log", "step_finished", "step_started", "step_finished", "run_ended",
    ]  # fmt: skip
    started, first, said, _, finished, *_, ended = on.events
    assert started.fields["next"] == ["a"]
    assert (started.fields["workflow"], started.fields["version"]) == ("flow", "1")
    assert (first.fields["node"], first.fields["step"], first.fields["attempt"]) == ("a", 0, 1)
    assert said.fields["text"] == "one"
    assert finished.fields["next"] == ["b"]
    assert on.store.load(Ref("t", "", finished.fields["checkpoint"])).header.step == 0
    assert ended.fields == {"status": "done", "head": on.store.head("t").id, "error": None}
    assert on.store.steps("run-t")[0].log == ("one", "2")


def test_a_loop_counts_its_visits_and_a_fork_goes_on_counting(tmp_path: Path) -> None:
    edges = [{"when": "length(trail) >= `3`", "to": None}, {"to": "a"}]
    on = bench(tmp_path, [python("a", "trail", edges)])
    on.start({})
    assert on.go().status == "done"
    assert on.state()["trail"] == ["a1", "a2", "a3"]
    second = next(header for header in on.store.headers("t").items if header.step == 1)
    forked = on.store.fork(second.ref, "u")
    on.store.create_run(on.store.run("run-t").__class__("run-u", "u", on.workflow.hash, base=forked.ref))
    assert on.go("run-u").status == "done"
    assert on.state("u")["trail"] == ["a1", "a2", "a3"]
    assert on.state("t")["trail"] == ["a1", "a2", "a3"]
    assert [step.visit for step in on.store.steps("run-u")] == [3]


def test_until_stops_before_the_node_and_is_nothing_when_there_already(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a", "b", "c"))
    on.start({})
    assert on.go(until="c").status == "paused"
    assert on.state()["trail"] == ["a1", "b1"]
    assert on.go(until="c").status == "paused"
    assert on.state()["trail"] == ["a1", "b1"]
    assert on.store.run("run-t").status == RunStatus.PAUSED
    assert on.go().status == "done"
    assert on.state()["trail"] == ["a1", "b1", "c1"]


def test_single_steps(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a", "b"))
    on.start({})
    assert on.go(single_step=True).status == "paused"
    assert on.state()["trail"] == ["a1"]
    assert on.go(single_step=True).status == "done"
    assert log_of(on) == [("a", 1, "completed"), ("b", 1, "completed")]


@pytest.mark.parametrize(("what", "status"), [("pause", "paused"), ("cancel", "cancelled")])
def test_a_request_is_followed_after_the_step(tmp_path: Path, what: str, status: str) -> None:
    on = bench(tmp_path, line("a", "b"))
    on.start({})

    def ask(event: Any) -> None:
        on.events.append(event)
        if event.kind == "step_started":
            on.store.request("run-t", what)

    on.events, kept = _Hooked(ask), on.events
    assert on.go().status == status
    assert on.state()["trail"] == ["a1"]
    assert not kept
    if what == "cancel":
        with pytest.raises(Conflict, match="cancelled"):
            on.go()
    else:
        on.events = []
        assert on.go().status == "done"


class _Hooked(list[Any]):
    """A list of events that calls somebody for each."""

    def __init__(self, hook: Any) -> None:
        super().__init__()
        self._hook = hook
        self._inside = False

    def append(self, event: Any) -> None:
        if self._inside:
            super().append(event)
            return
        self._inside = True
        self._hook(event)
        self._inside = False


def test_an_interrupt_stops_after_the_step(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a", "b"))
    on.start({})
    on.stop.asked = True
    assert on.go().status == "paused"
    assert log_of(on) == []


def test_retries_wait_1_2_4_and_keep_every_attempt(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "flaky", None, retry={"max": 4})])
    on.start({"works_at": 4})
    assert on.go().status == "done"
    assert on.clock.slept == 7
    assert log_of(on) == [("a", 1, "failed"), ("a", 2, "failed"), ("a", 3, "failed"), ("a", 4, "completed")]
    waits = [event.fields["retry_in"] for event in on.events if event.kind == "step_failed"]
    assert waits == [1, 2, 4]
    first = on.store.steps("run-t")[0]
    assert (first.error, first.error_class, first.retryable) == ("TimeoutError: attempt 1", "TimeoutError", True)
    assert first.log[0] == "Traceback (most recent call last):"
    assert [step.attempt for step in on.store.steps(ref=on.store.head("t"))] == [1, 2, 3, 4]


def test_attempts_used_up_fail_the_run_and_a_requeue_starts_a_new_series(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "flaky", None, retry={"max": 2, "backoff": "fixed", "first": 0})])
    on.start({"works_at": 4})
    ending = on.go()
    assert (ending.status, ending.error) == ("failed", "TimeoutError: attempt 2")
    run = on.store.run("run-t")
    assert (run.status, run.error) == (RunStatus.FAILED, "TimeoutError: attempt 2")
    failed = on.store.steps(ref=on.store.head("t"))
    assert [(step.attempt, step.status) for step in failed] == [(1, "failed"), (2, "failed")]
    on.store.requeue("run-t", None)
    assert on.go().status == "done"
    assert log_of(on) == [("a", 1, "failed"), ("a", 2, "failed"), ("a", 3, "failed"), ("a", 4, "completed")]


def test_a_fatal_error_is_not_retried(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "fatal", None, retry={"max": 5})])
    on.start({})
    assert on.go().error == "FatalError: no such account"
    assert on.clock.slept == 0
    assert log_of(on) == [("a", 1, "failed")]


def test_retry_after_lengthens_the_wait(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "retryable", None, retry={"max": 2})])
    on.start({})
    on.go()
    assert on.clock.slept == 7


@pytest.mark.parametrize("run", ["exits", "interrupts", "connection", "huge"])
def test_whatever_user_code_does_is_its_failure(tmp_path: Path, run: str) -> None:
    on = bench(tmp_path, [python("a", run, None)])
    on.start({"x": 1})
    assert on.go().status == "failed"
    assert on.state() == {"x": 1}
    assert log_of(on) == [("a", 1, "failed")]
    assert on.kinds()[-1] == "run_ended"


def test_a_crash_in_a_wait_keeps_the_count_and_the_rest_of_the_wait(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "flaky", None, retry={"max": 3, "first": 4})])
    on.start({"works_at": 3})

    class Died(BaseException):
        pass

    def die(_seconds: float) -> None:
        raise Died

    on.clock.sleep = die  # type: ignore[method-assign]
    with pytest.raises(Died):
        on.go()
    del on.clock.sleep  # type: ignore[method-assign]
    assert on.store.run("run-t").status == RunStatus.RUNNING
    on.clock.time += timedelta(seconds=1)
    assert on.go().status == "done"
    assert on.clock.slept == 3 + 8
    assert log_of(on) == [("a", 1, "failed"), ("a", 2, "failed"), ("a", 3, "completed")]
    assert on.store.run("run-t").recoveries == 1


def test_a_pause_during_a_wait_keeps_the_rest_for_later(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "flaky", None, retry={"max": 2, "first": 4})])
    on.start({"works_at": 2})
    sleep = on.clock.sleep

    def pause(seconds: float) -> None:
        sleep(seconds)
        on.store.request("run-t", "pause")

    on.clock.sleep = pause  # type: ignore[method-assign]
    assert on.go().status == "paused"
    del on.clock.sleep  # type: ignore[method-assign]
    waited = on.clock.slept
    assert waited < 4
    assert on.go().status == "done"
    assert on.clock.slept == 4


def test_no_edge_matches_fails_the_step_and_an_edit_before_it_helps(tmp_path: Path) -> None:
    on = bench(tmp_path, [python("a", "count", [{"when": "city", "to": None}])])
    on.start({})
    ending = on.go()
    assert ending.status == "failed"
    assert "no edge matches" in (ending.error or "")
    assert on.store.steps("run-t")[0].output == {"n": 1}
    on.store.fork(on.store.head("t"), "t", (Change("add", ("city",), new="Kyoto"),))
    on.store.requeue("run-t", None)
    assert on.go().status == "done"


def test_a_next_node_that_the_definition_does_not_have(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a"))
    run = on.start({})
    on.go()
    ref = Ref("u", "", "1f000000-0000-6000-8000-000000000000")
    on.store.create_run(type(run)("run-u", "u", on.workflow.hash), NewCheckpoint(ref, None, {}, "input", next=("x",)))
    ending = on.go("run-u")
    assert ending.status == "failed"
    assert "has none of that name" in (ending.error or "")


def test_a_run_that_was_taken_over_writes_nothing_more(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a", "b"))
    on.start({})

    def steal(event: Any) -> None:
        on.events.append(event)
        if event.kind == "step_started" and on.store.run("run-t").token == 1:
            on.store.claim("run-t", "thief", 2, takeover=Takeover(1, "theft"))

    on.events = _Hooked(steal)
    ending = on.go()
    assert ending.status == "lost"
    assert "is another owner's under token 2; token 1 may not write" in (ending.error or "")
    assert [header.step for header in on.store.headers("t").items] == [-1]
    with pytest.raises(LeaseLost):
        on.store.finish("run-t", 1, RunStatus.PAUSED)


def test_a_head_that_moved_while_the_node_ran_fails_the_step(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a", "b"))
    on.start({})

    def edit(event: Any) -> None:
        on.events.append(event)
        if event.kind == "step_started" and event.fields["node"] == "a":
            head = on.store.head("t")
            ref = Ref("t", "", new_id(0, head.id))
            on.store.append(NewCheckpoint(ref, head, {"x": 1}, "import", step=0, next=("a",)))

    on.events = _Hooked(edit)
    ending = on.go()
    assert ending.status == "failed"
    assert "moved" in (ending.error or "")
    assert on.state() == {"x": 1}


def test_a_thread_without_anything_next_is_done(tmp_path: Path) -> None:
    on = bench(tmp_path, line("a"))
    run = on.start({})
    on.go()
    on.store.create_run(type(run)("again", "t", on.workflow.hash))
    assert on.go("again").status == "done"
    assert on.store.steps("again") == ()
