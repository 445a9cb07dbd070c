"""Effects of a run: called once, given ever after, never guessed; parts of a node; a node's own statements."""

from __future__ import annotations

import functools
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.errors import Conflict
from stores.model import Change
from tests.engine import effect_nodes as nodes
from tests.engine.effect_flows import HERE, again, flow
from tests.engine.effect_flows import fresh_world as fresh_world
from tests.engine.flows import Bench, bench, python
from tt_debug.engine.calling import call_with_key
from tt_debug.session.executor import Executor


def test_the_key_is_handed_to_the_call_and_the_result_to_the_node(tmp_path: Path) -> None:
    on = flow(tmp_path, "sends")
    on.start({"to": "anna"})
    assert on.go().status == "done"
    ((_, key, _),) = nodes.asked
    (use,) = on.store.effects("t")
    assert (use.effect.key, use.effect.status, use.effect.request, use.called) == (key, "done", "anna", True)
    assert on.state()["sent"] == use.effect.result == {"no": 1, "to": "anna"}


@pytest.mark.parametrize("kind", ["repeatable", "idempotent", "at_most_once"])
def test_what_a_failed_attempt_has_done_is_not_done_again(tmp_path: Path, kind: str) -> None:
    on = bench(tmp_path, [python("a", f"{HERE}:sends", "b"), python("b", "flaky", None)])
    on.start({"to": "anna", "cls": kind, "works_at": 2})
    assert on.go().status == "failed"
    again(on, on.store.headers("t").items[-1].ref, "u")
    assert on.go("run-u").status == "failed"
    assert nodes.names() == ["send"]
    assert [(use.called, use.effect.replays) for use in on.store.effects("u")] == [(False, 1)]


def test_a_thread_of_the_same_workflow_shares_no_effect(tmp_path: Path) -> None:
    on = flow(tmp_path, "sends")
    for thread in ("t", "other"):
        on.start({"to": "anna"}, thread)
        on.go(f"run-{thread}")
    for thread in ("third", "fourth"):
        on.start({"to": "anna"}, thread, business_id="one case")
        on.go(f"run-{thread}")
    assert nodes.names() == ["send", "send", "send"]
    assert len({key for _, key, _ in nodes.asked}) == 3


def test_threads_of_one_name_in_two_stores_share_no_effect(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        on = flow(tmp_path / name, "sends")
        on.start({"to": "anna"})
        on.go()
    assert len({key for _, key, _ in nodes.asked}) == 2


def test_each_visit_and_each_call_has_a_key_of_its_own(tmp_path: Path) -> None:
    on = flow(tmp_path, "charges_twice", [{"when": "rounds == `3`", "to": None}, {"to": "a"}])
    on.start({})
    assert on.go().status == "done"
    assert len({key for _, key, _ in nodes.asked}) == len(nodes.asked) == 6


@pytest.mark.parametrize("kind", ["repeatable", "idempotent", "probe"])
def test_a_timeout_is_retried_under_the_same_key(tmp_path: Path, kind: str) -> None:
    on = flow(tmp_path, "sends", retry={"max": 3})
    nodes.troubles["send"] = [TimeoutError("no answer")]
    on.start({"to": "anna", "cls": kind})
    assert on.go().status == "done"
    expected = ["send", "probe"] if kind == "probe" else ["send", "send"]
    assert nodes.names() == expected
    assert len({key for _, key, _ in nodes.asked}) == 1
    assert on.state()["sent"] == ({"found": "send"} if kind == "probe" else {"no": 2, "to": "anna"})


@pytest.mark.parametrize("function", ["sends", "swallows"])
@pytest.mark.parametrize("error", [TimeoutError("no answer"), KeyError("id"), SystemExit(3)])
def test_at_most_once_stops_and_asks_where_the_call_may_have_been_made(
    tmp_path: Path, function: str, error: BaseException
) -> None:
    on = flow(tmp_path, function, retry={"max": 3})
    nodes.troubles["send"] = [error]
    on.start({"to": "anna", "cls": "at_most_once"})
    ending = on.go()
    assert ending.status == "held"
    assert ending.error is not None
    assert "send in a (at_most_once): it may have been done" in ending.error
    (asked,) = on.store.approvals()
    assert (asked.kind, asked.node, asked.run_id) == ("unknown_effect", "a", "run-t")
    assert on.store.run("run-t").hold_reason == "unknown_effect"
    with pytest.raises(Conflict, match="held"):
        on.go()
    on.store.answer(asked.id, {"as": "done", "result": {"id": 5}}, "anna")
    assert on.go().status == "done"
    assert nodes.names() == ["send"]
    assert on.state()["sent"] == {"id": 5}
    assert [(step.attempt, step.status) for step in on.store.steps("run-t")] == [(1, "abandoned"), (2, "completed")]


@pytest.mark.parametrize(
    ("verdict", "sent", "calls", "twice"),
    [
        ("done", None, 1, []),
        ("skip", None, 1, []),
        ("retry", {"no": 2, "to": "anna"}, 2, ["called 2 times under one key, as somebody decided"]),
        (
            "new-key",
            {"no": 2, "to": "anna"},
            2,
            ["called under 2 keys, as somebody decided; not each is known to be done"],
        ),
    ],
)
def test_an_unknown_outcome_is_resolved_as_said(
    tmp_path: Path, verdict: str, sent: Any, calls: int, twice: list[str]
) -> None:
    on = flow(tmp_path, "sends")
    nodes.troubles["send"] = [TimeoutError("no answer")]
    on.start({"to": "anna", "cls": "at_most_once"})
    on.go()
    on.store.answer(on.store.approvals()[0].id, {"as": verdict}, "anna")
    assert on.go().status == "done"
    assert (on.state()["sent"], len(nodes.asked)) == (sent, calls)
    assert len({key for _, key, _ in nodes.asked}) == (2 if verdict == "new-key" else 1)
    assert [each.why for each in Executor(on.store).duplicates("t")] == twice


@pytest.mark.parametrize("kind", ["idempotent", "at_most_once"])
def test_a_refused_call_is_a_failure_and_may_be_made_again(tmp_path: Path, kind: str) -> None:
    on = flow(tmp_path, "sends", retry={"max": 3})
    nodes.troubles["send"] = [ConnectionRefusedError("nobody there")]
    on.start({"to": "anna", "cls": kind})
    assert on.go().status == "done"
    assert nodes.names() == ["send", "send"]


def test_a_result_that_cannot_be_kept_is_not_called_again_unasked(tmp_path: Path) -> None:
    on = flow(tmp_path, "odd")
    on.start({})
    ending = on.go()
    assert ending.status == "held"
    assert "cannot be recorded" in str(ending.error)
    on.start({"cls": "repeatable"}, "other")
    assert on.go("run-other").status == "failed"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"cls": "probe"}, "probe="),
        ({"cls": "sometimes"}, "no class 'sometimes'"),
        ({"cls": "transactional"}, "ctx.tx"),
        ({"cls": "idempotent", "request": {1, 2}}, "request"),
    ],
)
def test_an_effect_that_cannot_be_recorded_is_not_made(tmp_path: Path, options: dict[str, Any], says: str) -> None:
    from tt_debug.engine.context import Context
    from tt_debug.engine.retry import FatalError

    on = flow(tmp_path, "wrong")
    run = on.start({})
    claimed = on.store.claim(run.run_id, "test", 1)
    from tt_debug.engine.runner import Runner
    from tt_debug.engine.surroundings import Orders, Surroundings

    runner = Runner(claimed, on.workflow, Orders(), Surroundings(on.store, on.events.append, on.stop, on.clock))
    runner._on.load()
    ctx = Context("run-t", "t", "a", 1, 1, print, runner._on.ledger(runner._on.record("a", 0)))
    with pytest.raises(FatalError, match=says):
        ctx.effect("wrong", lambda: 1, **options)
    assert on.store.effects("t") == ()


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda key: key, "k"),
        (lambda: None, None),
        (lambda timeout=30: timeout, 30),
        (lambda idempotency_key=None: idempotency_key, "k"),
        (lambda *args: args, ("k",)),
        (lambda *, key="own": key, "own"),
        (functools.partial(lambda hotel, timeout=30: (hotel, timeout), "Grand"), ("Grand", 30)),
        (dict, {}),
    ],
)
def test_the_key_is_given_to_a_function_that_asks_for_it(function: Any, given: Any) -> None:
    assert call_with_key(function, "k") == given


def test_now_uuid_and_random_stand_when_the_node_is_run_again(tmp_path: Path) -> None:
    on = flow(tmp_path, "dice", retry={"max": 2})
    nodes.troubles["fail"] = [TimeoutError()]
    on.start({})
    assert on.go().status == "done"
    values = on.state()["dice"]
    assert len(set(values)) == 4
    again(on, on.store.headers("t").items[-1].ref, "u")
    assert on.go("run-u").status == "done"
    assert on.state("u")["dice"] == values


def test_an_async_node_has_async_effects(tmp_path: Path) -> None:
    on = flow(tmp_path, "asynchronous")
    on.start({"to": "anna"})
    assert on.go().status == "done"
    assert on.state()["sent"] == {"no": 1, "to": "anna"}


def orders(on: Bench) -> list[str]:
    with closing(sqlite3.connect(on.store.info.path or "")) as db:
        return [row[0] for row in db.execute("SELECT item FROM orders")]


def test_business_rows_are_written_with_their_step_and_once(tmp_path: Path) -> None:
    on = flow(tmp_path, "buys", retry={"max": 2})
    nodes.troubles["buys"] = [TimeoutError()]
    first = on.start({"item": "tea"}).base
    assert on.go().status == "done"
    assert orders(on) == ["tea"]
    assert first is not None
    again(on, first, "u")
    assert on.go("run-u").status == "done"
    again(on, first, "v", Change("change", ("item",), "tea", "milk"))
    assert on.go("run-v").status == "held"
    assert orders(on) == ["tea"]
    on.store.answer(on.store.approvals()[0].id, {"as": "new"}, "anna")
    assert on.go("run-v").status == "done"
    assert orders(on) == ["tea", "milk"]


@pytest.mark.parametrize(
    "sql", ["DELETE FROM checkpoints", "PRAGMA user_version = 3", "INSERT INTO nowhere VALUES (1)"]
)
def test_a_statement_that_is_refused_fails_the_step_and_writes_nothing(tmp_path: Path, sql: str) -> None:
    on = flow(tmp_path, "meddles")
    on.start({"sql": sql})
    ending = on.go()
    assert ending.status == "failed"
    assert sql in str(ending.error)
    assert [header.source for header in on.store.headers("t").items] == ["input"]


def test_only_the_part_that_was_not_done_is_run_again(tmp_path: Path) -> None:
    on = flow(tmp_path, "three_parts", retry={"max": 2})
    nodes.troubles["validate"] = [TimeoutError()]
    on.start({})
    assert on.go().status == "done"
    assert nodes.names() == ["retrieve", "generate", "validate", "validate"]
    headers = on.store.headers("t").items[::-1]
    assert [(header.source, header.step) for header in headers] == [
        ("input", -1), ("substep", 0), ("substep", 0), ("substep", 0), ("step", 0),
    ]  # fmt: skip
    assert [header.meta.get("substep") for header in headers[1:4]] == ["retrieve", "generate", "validate"]
    assert on.state()["parts"][0]["no"] == 1
    (done,) = on.store.steps(ref=headers[1].ref)
    assert (done.substep, done.output) == ("retrieve", on.state()["parts"][0])
    assert [step.attempt for step in on.store.steps(ref=headers[-1].ref)] == [1, 2]


def test_a_fork_inside_a_node_keeps_its_parts_and_an_edit_does_not(tmp_path: Path) -> None:
    on = flow(tmp_path, "three_parts")
    on.start({"q": 1})
    on.go()
    inside = next(header.ref for header in on.store.headers("t").items if header.meta.get("substep") == "generate")
    again(on, inside, "u", business_id="fresh")
    assert on.go("run-u").status == "done"
    assert nodes.names() == ["retrieve", "generate", "validate", "validate"]
    again(on, inside, "v", Change("change", ("q",), 1, 2), business_id="fresher")
    assert on.go("run-v").status == "done"
    assert nodes.names()[4:] == ["retrieve", "generate", "validate"]


def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    on = flow(tmp_path, "same_part_twice")
    on.start({})
    ending = on.go()
    assert ending.status == "failed"
    assert "two substeps named 'one'" in str(ending.error)


@pytest.mark.parametrize(
    ("function", "calls"), [("slow", 1), ("slow_and_reads", 1), ("slow_and_deeds", 2), ("slow_and_dated", 2)]
)
def test_a_cached_node_gives_again_what_it_gave_for_the_same_state(tmp_path: Path, function: str, calls: int) -> None:
    on = flow(tmp_path, function, cache=True)
    for thread in ("t", "u"):
        on.start({"q": 1, "old": 0}, thread)
        assert on.go(f"run-{thread}").status == "done"
    assert len(nodes.asked) == calls
    if calls == 1:
        assert on.state("u") == on.state("t")
    on.start({"q": 2, "old": 0}, "v")
    assert on.go("run-v").status == "done"
    assert len(nodes.asked) == calls + 1
    assert ("old" in on.state("v")) == (function != "slow")


def test_a_changed_definition_of_a_cached_node_is_another_node(tmp_path: Path) -> None:
    (tmp_path / "later").mkdir()
    first = flow(tmp_path, "slow", cache=True)
    changed = bench(tmp_path / "later", [python("a", f"{HERE}:slow", None, cache=True, retry={"max": 2})], version="2")
    for on in (first, replace(changed, store=first.store)):
        on.start({"q": 1}, on.workflow.version)
        on.go(f"run-{on.workflow.version}")
    assert len(nodes.asked) == 2
