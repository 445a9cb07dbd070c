"""Files of other writers than the current one in Python: LangGraph JS, the async saver, pickles, custom serializers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.langgraph.sqlite import LangGraphStore
from stores.langgraph.tasks import COMMAND, UNKNOWN
from stores.model import Header, Opaque
from tests.stores.langgraph_files import unpack

JS = "js_lg1.7.3_sqlite1.0.4.sqlite"
Open = Callable[[str], LangGraphStore]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    stores: list[LangGraphStore] = []

    def open_it(name: str) -> LangGraphStore:
        stores.append(LangGraphStore(unpack(name, tmp_path)))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


def headers(store: LangGraphStore) -> list[Header]:
    return [one for info in store.threads().items for one in store.headers(info.thread).items]


# --- LangGraph JS


def test_threads_of_langgraph_js(opened: Open) -> None:
    store = opened(JS)
    assert store.info.notices == ()
    found = {info.thread: (info.checkpoints, info.status, info.step, info.last_node) for info in store.threads().items}
    assert found == {
        "js-types": (3, "done", 1, "make"),
        "js-error": (2, "failed", 0, "__start__"),
        "js-hitl-resumed": (7, "done", 2, "sub"),
        "js-hitl-waiting": (5, "waiting", 1, "prep"),
        "js-fanout-pending": (3, "unfinished", 1, "split"),
        "js-fanout": (5, "done", 3, "join"),
        "js-agent": (37, "done", 18, "agent"),
    }
    assert [header.problem for header in headers(store) if header.problem] == []


def test_every_task_of_langgraph_js_is_named(opened: Open) -> None:
    """Their saver stores no task paths: each id is proven by recomputing it."""
    store = opened(JS)
    tasks = [task for header in headers(store) for task in store.load(header.ref).tasks]
    assert len([task for task in tasks if task.node not in (COMMAND, UNKNOWN) and task.writes]) == 53
    assert {task.node for task in tasks} == {
        *("__start__", "agent", "tools", "boom", "split", "work", "join", "prep", "sub", "ask", "make", COMMAND)
    }
    for thread in ("js-agent", "js-fanout", "js-types"):
        statuses = {task.status for one in store.headers(thread).items for task in store.load(one.ref).tasks}
        assert statuses == {"done"}


def test_what_runs_next_in_langgraph_js(opened: Open) -> None:
    store = opened(JS)
    assert store.headers("js-fanout-pending").items[0].next == ("work", "work", "work")
    tasks = store.load(store.head("js-hitl-waiting")).tasks
    assert [(task.node, task.status) for task in tasks] == [("sub", "waiting")]
    assert [(one.id, one.value) for one in tasks[0].interrupts] == [
        ("048c98f0ccf4782362bcfd99c50c314b", {"q": "Publish?"})
    ]
    failed = store.load(store.head("js-error")).tasks
    assert [(task.node, task.status, task.error) for task in failed] == [("boom", "failed", "Error: Rate limit 429")]


def test_values_of_langgraph_js_stay_what_they_are(opened: Open) -> None:
    store = opened(JS)
    state = store.load(store.head("js-types")).state
    assert state["n"] == 0
    assert state["v"]["set"]["lc"] == 2
    assert state["u8"]["id"] == ["Uint8Array"]


# --- the async saver


def test_the_async_saver_writes_what_the_other_does(opened: Open) -> None:
    store = opened("special_async.sqlite")
    found = {info.thread: (info.checkpoints, info.status, info.step) for info in store.threads().items}
    assert found == {"async-agent": (28, "done", 26), "async-hitl": (3, "waiting", 1)}
    for header in headers(store):
        tasks = store.load(header.ref).tasks
        assert UNKNOWN not in {task.node for task in tasks}
        assert header.next == tuple(task.node for task in tasks)


# --- pickles and custom serializers


def test_a_pickled_checkpoint_is_closed_and_its_neighbours_are_not(opened: Open) -> None:
    store = opened("special_pickle.sqlite")
    newest, pickled, *older = store.headers("pickled").items
    assert pickled.problem == (
        "stored as a pickle, which is never opened, as that can run code: its state and next nodes cannot be read"
    )
    state = store.load(pickled.ref).state
    assert isinstance(state["checkpoint"], Opaque)
    assert state["checkpoint"].kind == "pickle"
    assert store.load(newest.ref).state == {"v": "plain again"}
    assert [one.problem for one in (newest, *older)] == [None] * 3
    wrote = {task.node: task.writes[0].value for one in older for task in store.load(one.ref).tasks}
    assert (wrote["__start__"], wrote["make"].kind) == (1, "pickle")


def test_a_custom_serializer_is_said_to_be_one(opened: Open, tmp_path: Path) -> None:
    """``SerializerCompat`` stores the class name of a value as its type."""
    path = unpack("readonly.sqlite", tmp_path)
    path.chmod(0o644)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE checkpoints SET type = 'dict', checkpoint = ?", (json.dumps({"a": 1}).encode(),))
    store = LangGraphStore(path)
    found = headers(store)
    assert {one.problem for one in found} == {
        "stored by another serializer than LangGraph's, as dict: its state and next nodes cannot be read"
    }
    assert store.load(found[0].ref).state["checkpoint"] == Opaque("dict", b'{"a": 1}')
    store.close()
