"""What runs next and what tasks did, in cases that the recorded histories do not hold."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest
from xxhash import xxh3_128_hexdigest

from stores.langgraph import tasks
from stores.langgraph.next import Due, Place, due_tasks, learn
from stores.langgraph.outline import Outline, outline_of
from stores.langgraph.rows import NULL_TASK, CheckpointRow, WriteRow
from stores.langgraph.skeleton import Key, build, enclosing, level_of
from stores.langgraph.tasks import Ran, checkpoint_status, match, writers
from stores.model import STUCK, Interrupt, Status

ID = "1f1ec15e-28e1-6da8-8001-93e629750635"
PLACE = Place("", ID, 1)


def ran(*channels: str, due: bool = True, id: str = "t", path: str = "~__pregel_pull, a") -> Ran:
    rows = tuple(WriteRow(id, path, index, channel) for index, channel in enumerate(channels))
    return Ran(id, "a", path, rows, due)


@pytest.mark.parametrize(
    ("channels", "status"),
    [
        ((), "pending"),
        (("log",), "done"),
        (("__no_writes__",), "done"),
        (("__return__",), "done"),
        (("__error__",), "failed"),
        (("__error__", "log"), "done"),
        (("__interrupt__",), "waiting"),
        (("__resume__", "__interrupt__"), "waiting"),
        (("__resume__",), "pending"),
        (("__interrupt__", "__error__"), "failed"),
    ],
)
def test_a_task_is_finished_when_it_wrote_more_than_control(channels: tuple[str, ...], status: str) -> None:
    assert ran(*channels).status == status


@pytest.mark.parametrize(
    ("found", "has_child", "status"),
    [
        ((), False, Status.DONE),
        ((ran("log"),), True, Status.DONE),
        ((ran(), ran("log")), False, Status.UNFINISHED),
        ((ran("__interrupt__"), ran("__error__")), False, Status.WAITING),
        ((ran("__error__"), ran("log")), False, Status.FAILED),
        ((ran("__interrupt__", due=False),), False, Status.WAITING),
        ((ran("log", due=False),), False, Status.DONE),
        ((ran("__resume__", due=False, id=NULL_TASK, path=""),), False, Status.DONE),
    ],
)
def test_how_a_checkpoint_stands(found: tuple[Ran, ...], has_child: bool, status: str) -> None:
    assert checkpoint_status(found, has_child) == (status, None)


def test_a_step_that_was_never_saved_is_failed_and_says_so() -> None:
    assert checkpoint_status((ran("log"), ran("n")), False) == (Status.FAILED, STUCK)


def test_a_task_without_a_path_is_found_by_its_id() -> None:
    triggers = {"approve": {"branch:to:approve"}}
    due = due_tasks(PLACE, Outline(available={"branch:to:approve": "1.x"}), triggers)
    assert due == (Due("847b0d99-01c4-c88d-946c-90c1280b4fb6", "approve", "~__pregel_pull, approve"),)
    found = match(PLACE, due, [WriteRow(due[0].id, "", -3, "__interrupt__")], triggers)
    assert [(one.node, one.status, one.due) for one in found] == [("approve", "waiting", True)]


def test_writes_from_outside_are_not_a_nodes() -> None:
    typed = str(uuid5(UUID(ID), "__input__"))
    updated = str(uuid5(UUID(ID), "__interrupt__"))
    rows = [
        WriteRow(typed, "", 0, "log"),
        WriteRow(NULL_TASK, "", 0, "branch:to:a"),
        WriteRow(updated, "~__interrupt__, 0000000000", 0, "n"),
        WriteRow("a-task", "~__pregel_pull, a", 0, "log"),
    ]
    found = match(PLACE, (), rows, {"a"})
    assert {one.node for one in found} == {tasks.INPUT, tasks.COMMAND, tasks.UPDATE, "a"}
    assert not any(one.due for one in found)
    assert writers(found) == ("a",)


def test_a_failed_nodes_handler_is_named() -> None:
    failed = PLACE.task_id("bad", "__pregel_pull", "branch:to:bad")
    mender = PLACE.task_id("mend", "__pregel_push", "node_error_handler", failed)
    rows = [
        WriteRow(failed, "~__pregel_pull, bad", -1, "__error__"),
        WriteRow(mender, "~__pregel_pull, bad, node_error_handler, 0000000000", 0, "log"),
    ]
    due = [Due(failed, "bad", "~__pregel_pull, bad")]
    assert writers(match(PLACE, due, rows, {"bad", "mend"})) == ("mend",)
    assert writers(match(PLACE, due, rows, {"bad"})) == ("bad (handler)",)


def test_a_deferred_node_waits_until_all_is_finished() -> None:
    def woken(value: object) -> tuple[str, ...]:
        versions = {"branch:to:late": f"{1:032}.0.5"}
        content = {"v": 4, "channel_values": {"branch:to:late": value}, "channel_versions": versions}
        found = outline_of(CheckpointRow("", ID, None, "json", _json(content), None))
        return tuple(task.node for task in due_tasks(PLACE, found, learn([found])))

    assert (woken([None, False]), woken([None, True]), woken(None)) == ((), ("late",), ("late",))


def test_the_id_of_a_task_is_taken_from_the_rows_that_tell_it() -> None:
    found = Outline(available={"branch:to:a": "2.x", "branch:to:b": "2.x"})
    triggers = {"a": {"branch:to:a"}, "b": {"branch:to:b"}}
    first, second = due_tasks(PLACE, found, triggers, {"~__pregel_pull, a": "told"})
    assert first == Due("told", "a", "~__pregel_pull, a")
    assert second == Due(PLACE.pull_id("b", ["branch:to:b"]), "b", "~__pregel_pull, b")


@pytest.mark.parametrize(
    ("version", "seen", "is_due"),
    [("2.x", "1.x", True), ("2.x", "2.x", False), (2, 1, True), (2, 2, False), (2.0, 2.0, False), ("2.x", None, True)],
)
def test_a_node_is_due_for_what_it_has_not_seen(version: object, seen: object, is_due: bool) -> None:
    found = Outline(available={"c": version}, seen={"a": {} if seen is None else {"c": seen}})
    assert bool(due_tasks(PLACE, found, {"a": {"c"}})) is is_due


def test_an_edge_of_a_first_release_wakes_its_end() -> None:
    found = Outline(channels=frozenset({"start:a", "branch:a:route:b", "join:x+y:z", "branch:to:c", "messages"}))
    assert learn([found]) == {
        "a": {"start:a"},
        "b": {"branch:a:route:b"},
        "c": {"branch:to:c"},
        "z": {"join:x+y:z"},
    }


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ({"value": "q", "when": "during"}, Interrupt("t", "q")),
        ({"value": "q", "id": "i", "response_schema": {"type": "string"}}, Interrupt("i", "q", {"type": "string"})),
        ({"value": "q", "resumable": True, "ns": ["a:1"], "interrupt_id": "old"}, Interrupt("old", "q")),
        ({"value": "q", "resumable": True, "ns": ["a:1", "b:2"]}, Interrupt(xxh3_128_hexdigest(b"a:1|b:2"), "q")),
        ("bare", Interrupt("t", "bare")),
    ],
)
def test_questions_of_every_generation(stored: object, expected: Interrupt) -> None:
    row = WriteRow("t", "", -3, "__interrupt__")
    for value in (stored, [stored]):
        task = tasks.to_task(Ran("t", "a", "", (row,)), lambda _, value=value: value)
        assert task.interrupts == (expected,)


def test_a_thread_is_listed_children_first_whatever_the_clock_said() -> None:
    rows = [("", "3", None), ("", "1", "3"), ("", "2", "1"), ("", "9", "8"), ("", "8", "9"), ("in", "4", "gone")]
    order = build(rows).order
    assert [key.id for key in order] == ["4", "2", "1", "3", "9", "8"]
    assert build(rows).lineage(Key("2", "")) == [Key("2", ""), Key("1", ""), Key("3", "")]
    assert build(rows).lineage(Key("9", "")) == [Key("9", ""), Key("8", "")]


def test_what_a_namespace_tells() -> None:
    assert level_of("mid:task|inner:other|1") == "mid|inner"
    assert enclosing("mid:task|inner:other|1") == ("mid:task", "other")
    assert enclosing("memory") is None


def _json(value: object) -> bytes:
    import json

    return json.dumps(value).encode()
