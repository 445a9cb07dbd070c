"""What langgraph 1.2.24 wrote, read by us: listings, statuses, tasks, odd values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stores.langgraph.sqlite import LangGraphStore
from stores.langgraph.tasks import COMMAND
from stores.model import Opaque, Ref, Status, Tagged
from tests.stores.langgraph_files import CURRENT, unpack
from tests.stores.langgraph_histories import DEFAULTS, history_of, ref_of


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LangGraphStore]:
    opened = LangGraphStore(unpack(CURRENT, tmp_path_factory.mktemp("langgraph")))
    yield opened
    opened.close()


def test_defaults_that_the_runtime_makes_up_are_not_invented(store: LangGraphStore) -> None:
    history = history_of(CURRENT)
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
