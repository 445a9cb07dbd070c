"""What langgraph 1.2.24 wrote, read by us, against what that very runtime said of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from stores.langgraph.sqlite import LangGraphStore
from stores.langgraph.tasks import COMMAND
from stores.model import MISSING, Checkpoint, Header, Opaque, Partial, Ref, Status, Tagged, Task
from tests.stores.langgraph_files import CURRENT, text, unpack

Expected = dict[str, Any]
FIELDS = ("parent", "step", "source", "created", "next", "tasks", "keys", "values")

# Channels with a reducer that nothing has written to yet: the runtime makes their defaults up, the rows lack them.
DEFAULTS = {"log", "messages", "notes", "results"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LangGraphStore]:
    opened = LangGraphStore(unpack(CURRENT, tmp_path_factory.mktemp("langgraph")))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def history() -> list[Expected]:
    found: list[Expected] = json.loads(text(CURRENT.replace(".sqlite", ".expected.json")))["history"]
    return found


def ref_of(row: Expected) -> Ref:
    return Ref(row["thread_id"], row["ns"], row["id"])


def path_of(task: Task) -> str:
    """The path as the runtime's tuple prints."""
    kind, *rest = task.path.removeprefix("~").split(", ")
    return str((kind, *rest) if kind == "__pregel_pull" else (kind, int(rest[0]), bool(int(rest[1]))))


def is_the_runtimes(task: Task) -> bool:
    """Whether the runtime lists it: no call inside a functional workflow, no command or update from outside."""
    return task.node not in (COMMAND, "update_state") and not task.path.startswith("~__pregel_push, ~")


def by_id(task: Expected) -> str:
    return str(task["id"])


def plain(value: object) -> object:
    """A value as the recorder printed it, delta channels (of `operator.add`) folded as their reducer would."""
    if isinstance(value, Partial):
        total: list[object] = [] if value.seed is MISSING else list(value.seed)
        for write in value.writes:
            total = list(write.value["value"]) if isinstance(write, Tagged) else total + write
        return total
    return value


def differences(row: Expected, header: Header, checkpoint: Checkpoint) -> list[str]:
    """The fields in which we disagree with the runtime."""
    tasks = [
        {
            "id": task.id,
            "name": task.node,
            "path": path_of(task),
            "error": task.error,
            "interrupts": [repr(one.value) for one in task.interrupts],
            "has_result": task.status == "done",
        }
        for task in checkpoint.tasks
        if is_the_runtimes(task)
    ]
    state = {key: plain(value) for key, value in checkpoint.state.items()}
    made_up = {key for key in set(row["value_keys"] or ()) - set(state) if key in DEFAULTS}
    values = {key: value for key, value in (row.get("values") or {}).items() if key not in made_up}
    pairs = {
        "parent": (header.parent and header.parent.id, row["parent"]),
        "step": (header.step, row["step"]),
        "source": (header.source, row["source"]),
        "created": (header.created and header.created.isoformat(), row["created_at"]),
        "next": (sorted(header.next), row["next"]),
        "tasks": (sorted(tasks, key=by_id), sorted(row["tasks"], key=by_id)),
        "keys": (set(state) | made_up, set(row["value_keys"] or ())),
        "values": (state, values) if "values" in row else (None, None),
    }
    assert set(pairs) == set(FIELDS)
    return [name for name, (ours, theirs) in pairs.items() if ours != theirs]


# Every history row that differs, with the reason.
MISSES = {
    # Command(goto="a") from outside set node a off on a finished checkpoint: the runtime's record of the step leaves
    # it out, as it was not due there; we list it, because it ran there and wrote.
    ("command-goto", "1f1ec15e-29b8-628d-8002-4dc2e6ebc291"): ["tasks"],
}


def test_history_rows_agree_in_every_field_but_for_the_listed_misses(
    store: LangGraphStore, history: list[Expected]
) -> None:
    headers = {one.ref: one for info in store.threads().items for one in store.headers(info.thread).items}
    assert set(headers) == {ref_of(row) for row in history}
    found = {}
    for row in history:
        ref = ref_of(row)
        checkpoint = store.load(ref)
        assert checkpoint.header == headers[ref]
        found[ref] = differences(row, headers[ref], checkpoint)
    misses = {(ref.thread, ref.id): fields for ref, fields in found.items() if fields}
    assert misses == MISSES
    assert (len(history), len(history) - len(misses)) == (311, 310)


def test_next_agrees_everywhere(store: LangGraphStore, history: list[Expected]) -> None:
    headers = {one.ref: one for info in store.threads().items for one in store.headers(info.thread).items}
    assert sum(sorted(headers[ref_of(row)].next) == row["next"] for row in history) == 311


def test_defaults_that_the_runtime_makes_up_are_not_invented(store: LangGraphStore, history: list[Expected]) -> None:
    missing = [set(row["value_keys"] or ()) - set(store.load(ref_of(row)).state) for row in history]
    assert sum(1 for keys in missing if keys) == 49
    assert {key for keys in missing for key in keys} == DEFAULTS


def test_threads_come_newest_write_first(store: LangGraphStore) -> None:
    infos = store.threads().items
    assert len(infos) == 28
    assert [info.updated for info in infos] == sorted((info.updated for info in infos), reverse=True)
    assert {info.thread: info.checkpoints for info in infos}["subgraph-nested"] == 13
    for info in infos:
        assert info.head == store.head(info.thread)
        assert info.forked_from is None


def test_how_threads_stand(store: LangGraphStore) -> None:
    statuses = {info.thread: (info.status, info.step, info.last_node) for info in store.threads().items}
    assert statuses["agent-linear"] == (Status.DONE, 30, "agent")
    assert statuses["node-error"] == (Status.FAILED, 1, "one")
    assert statuses["hitl-waiting"] == (Status.WAITING, 1, "prepare")
    assert statuses["hitl-half-answered"] == (Status.WAITING, 1, "prepare")
    assert statuses["functional-interrupt"] == (Status.WAITING, -1, "__input__")
    assert statuses["subgraph-interrupt-waiting"] == (Status.WAITING, 0, "__start__")
    assert statuses["fanout-pending"] == (Status.UNFINISHED, 1, "split")
    assert statuses["recursion-limit"] == (Status.UNFINISHED, 8, "agent")


def test_pages_join_to_the_whole(store: LangGraphStore) -> None:
    whole = store.headers("agent-fork").items
    pages, after = [], None
    while True:
        page = store.headers("agent-fork", after, 7)
        pages.extend(page.items)
        if (after := page.next) is None:
            break
    assert tuple(pages) == whole
    seen: set[Ref] = set()
    for header in whole:
        assert header.parent is None or header.parent not in seen
        seen.add(header.ref)
    threads, after = [], None
    while True:
        listed = store.threads(after, 5)
        threads.extend(listed.items)
        if (after := listed.next) is None:
            break
    assert tuple(threads) == store.threads().items


def test_who_wrote_a_checkpoint(store: LangGraphStore) -> None:
    headers = store.headers("fanout-send").items
    assert [header.nodes for header in reversed(headers)] == [
        ("__input__",),
        ("__start__",),
        ("split",),
        ("side", "worker"),
        ("join",),
    ]
    assert [header.nodes for header in reversed(store.headers("command-goto").items)][-1] == ("a",)


def test_tasks_of_a_failed_step(store: LangGraphStore) -> None:
    tasks = {task.node: task for task in store.load(store.head("node-error")).tasks}
    assert tasks["boom"].status == "failed"
    assert tasks["boom"].error == "ValueError('Rate limit exceeded: 429 — try again später')"
    assert tasks["ok"].status == "done"
    assert [(write.channel, write.value) for write in tasks["ok"].writes] == [("log", ["ok ran in the same step"])]


def test_open_questions(store: LangGraphStore) -> None:
    tasks = {task.node: task for task in store.load(store.head("hitl-half-answered")).tasks}
    assert tasks["approve"].status == "waiting"
    assert [(one.id, one.value) for one in tasks["approve"].interrupts] == [
        ("e39b34148a12857aa17af9fb198258d7", "Your name?")
    ]
    assert (tasks["audit"].status, tasks[COMMAND].status) == ("done", "done")
    assert [(write.channel, write.value) for write in tasks[COMMAND].writes] == [("__resume__", "yes")]


def test_pending_sends_have_their_tasks_before_they_wrote(store: LangGraphStore) -> None:
    tasks = store.load(store.head("fanout-pending")).tasks
    assert [(task.node, task.status) for task in tasks] == [("worker", "pending")] * 5 + [("side", "pending")]
    assert tasks[0].id == "34bcf44f-32ce-2940-e063-99e4990257b0"


def test_calls_inside_a_functional_workflow_are_named(store: LangGraphStore) -> None:
    first = store.headers("functional-api").items[-1]
    calls = [task for task in store.load(first.ref).tasks if task.path.startswith("~__pregel_push, ~")]
    assert {task.node for task in calls} == {"square", "total"}
    assert first.nodes == ("__input__",)
    assert store.headers("functional-api").items[-2].nodes == ("workflow",)


def test_a_delta_channel_is_its_seed_and_the_writes_since(store: LangGraphStore) -> None:
    head = store.load(store.head("delta-nosnapshot"))
    log = head.state["log"]
    assert isinstance(log, Partial)
    assert log.seed is MISSING
    assert log.writes[:2] == ([{"i": -1, "text": "input"}], [{"i": 0, "text": "entry 0 ✎"}])
    assert len(log.writes) == 15
    seeded = store.load(store.head("delta-snap5")).state["log"]
    assert isinstance(seeded, Partial)
    assert seeded.seed[-1] == "FORKED"
    assert len(seeded.writes) == 2
    snapshots = [
        one for one in store.headers("delta-snap5").items if isinstance(store.load(one.ref).state.get("log"), list)
    ]
    assert [header.step for header in snapshots] == [8, 14, 9, 4]


def test_messages_keep_their_class_and_are_shared(store: LangGraphStore) -> None:
    newest, older = (store.load(header.ref).state["messages"] for header in store.headers("agent-linear").items[:2])
    assert newest[0].type_name == "langchain_core.messages.system.SystemMessage"
    assert newest[0].value["content"] == "You are a careful weather agent."
    assert newest[0].raw is not None
    assert all(new is old for new, old in zip(newest, older, strict=False))


def test_odd_values_are_shown_as_what_they_are(store: LangGraphStore) -> None:
    array = store.load(store.head("odd-numpy")).state["arr"]
    assert {(type(value), value.kind) for value in array.values()} == {(Opaque, "ndarray")}
    odd = store.load(store.head("odd-types")).state
    assert odd["misc"]["uuid"] == Tagged(
        "uuid.UUID", "12345678123456781234567812345678", odd["misc"]["uuid"].raw, (0, "uuid", "UUID")
    )
    assert odd["person"].type_name == "_graphs.Person"
    assert odd["person"].value["balance"].value == "0.10"
    assert (odd["top_bytes"].kind, odd["keys"][1], odd["keys"][None]) == ("bytes", "int key", "None key")


def test_metadata_is_kept_without_what_is_already_a_field(store: LangGraphStore) -> None:
    header = store.headers("meta-user").items[0]
    assert header.meta["parents"] == {}
    assert not {"source", "step"} & set(header.meta)
    assert len(header.meta) > 1
