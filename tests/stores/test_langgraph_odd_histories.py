"""Threads whose rows are of other formats, in an odd order, incomplete, or named to do harm."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores.errors import NotFound
from stores.langgraph import sqlite_threads
from stores.langgraph.sqlite import LangGraphStore
from stores.langgraph.sqlite_tables import SqliteTables
from stores.model import Ref, Status
from tests.stores.handmade import Row, Wrote, ext, handmade, uuid, version
from tests.stores.langgraph_files import rows_of

Make = Callable[..., LangGraphStore]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Make]:
    stores: list[LangGraphStore] = []

    def make(*rows: Row, **more: Any) -> LangGraphStore:
        stores.append(LangGraphStore(handmade(tmp_path / f"{len(stores)}.sqlite", rows, **more)))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


# --- formats


def test_a_checkpoint_without_values_is_an_empty_one(made: Make) -> None:
    content = {"v": 1, "channel_values": ..., "updated_channels": ...}
    store = made(Row(uuid(1), None, {"log": []}, content=content, source="input", step=-1))
    header = store.headers("t").items[0]
    assert (header.problem, store.load(header.ref).state) == (None, {})


@pytest.mark.parametrize("v", [1, 2, 3])
def test_sends_of_old_formats_may_stand_in_what_the_parents_tasks_wrote(made: Make, v: int) -> None:
    sends = [
        Wrote(uuid(1), "task", "__pregel_tasks", ext(1, "langgraph.types", "Send", ["worker", {"n": n}]), n)
        for n in range(2)
    ]
    store = made(
        Row(uuid(1), None, {"n": 1}, content={"v": v}),
        Row(uuid(2, 1), uuid(1), {"n": 2}, content={"v": v}, step=1),
        writes=sends,
    )
    child, parent = store.headers("t").items
    assert (child.next, child.status) == (("worker", "worker"), Status.UNFINISHED)
    assert parent.next == ()
    assert [(task.node, task.status) for task in store.load(child.ref).tasks] == [("worker", "pending")] * 2


def test_a_row_that_tells_its_sends_itself_is_believed(made: Make) -> None:
    wrote = [Wrote(uuid(1), "task", "__pregel_tasks", ext(1, "langgraph.types", "Send", ["worker", {}]))]
    content = {"v": 3, "pending_sends": []}
    store = made(Row(uuid(1)), Row(uuid(2, 1), uuid(1), {"n": 2}, content=content, step=1), writes=wrote)
    assert store.headers("t").items[0].next == ()


def test_a_file_without_task_paths_opens(made: Make) -> None:
    rows = (Row(uuid(1), None, {"n": 1}, next=["a"]), Row(uuid(2, 1), uuid(1), {"n": 2}, step=1))
    wrote = [Wrote(uuid(1), "0dbed3b9-55b9-c0f4-f7ae-2c12da7133e0", "n", 2)]
    store = made(*rows, writes=wrote, with_path=False)
    assert store.info.notices == ()
    child, parent = store.headers("t").items
    assert (child.nodes, parent.next, parent.status) == (("a",), ("a",), Status.DONE)


def test_json_in_text_columns_and_msgpack_stand_side_by_side(made: Make) -> None:
    store = made(
        Row(uuid(1), None, {"n": 1, "log": ["é"]}, ["a"], type="json"),
        Row(uuid(2, 1), uuid(1), {"n": 2, "log": ["é"]}, ["b"], step=1),
        Row(uuid(3, 2), uuid(2, 1), {"n": 3, "log": ["é"]}, type="json", step=2),
    )
    found = store.headers("t").items
    assert [one.next for one in found] == [(), ("b",), ("a",)]
    assert [store.load(one.ref).state for one in found] == [{"n": n, "log": ["é"]} for n in (3, 2, 1)]
    assert [one.problem for one in found] == [None] * 3
    with closing(sqlite3.connect(f"file:{store.info.path}?mode=ro&immutable=1", uri=True)) as db:
        assert set(db.execute("SELECT typeof(checkpoint) FROM checkpoints")) == {("text",), ("blob",)}


# --- order


def test_the_tree_is_built_from_parents_and_not_from_ids(made: Make) -> None:
    """Of ids 2 and 10 the runtime takes the greater text, and says so is what we do."""
    store = made(Row("2", None, {"n": 1}), Row("10", "2", {"n": 2}, step=1))
    child, parent = store.headers("t").items
    assert (child.ref.id, parent.ref.id) == ("10", "2")
    assert child.parent == parent.ref
    assert store.head("t") == parent.ref
    assert parent.problem == (
        "LangGraph goes on from here, as no id is greater, although the thread went on from it before"
    )
    assert child.problem is None


def test_a_clock_that_went_back_does_not_turn_the_thread_around(made: Make) -> None:
    ids = [uuid(50), uuid(40, 1), uuid(30, 2), uuid(60, 3)]
    rows = [Row(one, ids[place - 1] if place else None, {"n": place}, step=place) for place, one in enumerate(ids)]
    store = made(*rows)
    listed = [one.ref.id for one in store.headers("t").items]
    assert listed == list(reversed(ids))
    assert store.head("t").id == ids[3]
    assert [one.problem for one in store.headers("t").items] == [None] * 4


def test_children_of_one_time_keep_their_order(made: Make) -> None:
    rows = [Row(uuid(1)), *(Row(uuid(n, 1), uuid(1), {"n": n}, step=1) for n in (3, 2, 4))]
    store = made(*rows)
    first = [one.ref.id for one in store.headers("t").items]
    assert first == [uuid(4, 1), uuid(3, 1), uuid(2, 1), uuid(1)]
    again = LangGraphStore(Path(str(store.info.path)))
    assert [one.ref.id for one in again.headers("t").items] == first
    again.close()


# --- incomplete


@pytest.fixture
def torn(made: Make) -> LangGraphStore:
    """1 → 2 → 3 and a fork 2 → 4, where 2 was deleted and its writes were not."""
    wrote = [Wrote(uuid(2, 1), "task", "n", 3), Wrote(uuid(2, 1), "task", "m", 3, 1)]
    return made(
        Row(uuid(1)),
        Row(uuid(3, 2), uuid(2, 1), {"n": 3}, step=2),
        Row(uuid(4, 2), uuid(2, 1), {"n": 4}, source="fork", step=2),
        writes=wrote,
    )


def test_a_deleted_checkpoint_leaves_orphans_and_late_writes(torn: LangGraphStore) -> None:
    assert torn.info.notices == (
        "2 checkpoints name a parent that is not in the file.",
        "There are writes for 1 checkpoint that is not in the file: deleted, or yet to be saved.",
    )
    problems = {one.ref.id: one.problem for one in torn.headers("t").items}
    assert problems == {
        uuid(4, 2): "its parent is not in the store",
        uuid(3, 2): "its parent is not in the store",
        uuid(1): None,
    }


def test_no_edge_is_invented_for_an_orphan(torn: LangGraphStore) -> None:
    parents = {one.ref.id: one.parent and one.parent.id for one in torn.headers("t").items}
    assert parents == {uuid(4, 2): uuid(2, 1), uuid(3, 2): uuid(2, 1), uuid(1): None}
    for header in torn.headers("t").items:
        assert torn.load(header.ref).header == header
    with pytest.raises(NotFound):
        torn.load(Ref("t", "", uuid(2, 1)))


def test_writes_come_before_their_checkpoint(made: Make) -> None:
    """A live application saves in the background: what a task wrote may be there first."""
    store = made(Row(uuid(1)), writes=[Wrote(uuid(2, 1), "task", "n", 1), Wrote(uuid(9), "task", "n", 1, thread="new")])
    assert [info.thread for info in store.threads().items] == ["t"]
    assert "writes for 2 checkpoints that are not in the file" in store.info.notices[0]
    with pytest.raises(NotFound):
        store.headers("new")


def test_a_thread_with_rows_of_a_subgraph_alone_is_listed(made: Make) -> None:
    store = made(
        Row(uuid(1), None, {"n": 1}, ns="p:00000000-0000-4000-8000-000000000000", thread="child"), Row(uuid(2))
    )
    info = next(one for one in store.threads().items if one.thread == "child")
    assert (info.head, info.checkpoints) == (None, 1)
    assert [one.ref.ns.partition(":")[0] for one in store.headers("child").items] == ["p"]
    with pytest.raises(NotFound, match="namespace ''"):
        store.head("child")


# --- names that would do harm

NAMES = [
    "a') OR 1=1 --",
    'a"b',
    "a.b",
    "x'; DROP TABLE writes;--",
    "%",
    "_",
    "",
    "\x1b]52;c;ZXZpbA==\x1b\\",
    "\u202e",
    "a\x00b",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_data_wherever_it_comes_from(made: Make, name: str) -> None:
    store = made(
        Row(uuid(1), None, {"n": 1}, thread=name, ns=name, step=1), Row(uuid(2), None, {"n": 2}, thread="other")
    )
    path = Path(str(store.info.path))
    before = rows_of(path, name)
    assert {info.thread for info in store.threads().items} == {name, "other"}
    (header,) = store.headers(name).items
    assert store.load(header.ref).state == {"n": 1}
    for asked in set(NAMES) - {name}:
        with pytest.raises(NotFound):
            store.headers(asked)
        with pytest.raises(NotFound):
            store.load(Ref(asked, asked, asked))
    assert rows_of(path, name) == before


# --- many threads


def test_threads_are_listed_by_their_newest_rows_alone(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        Row(uuid(number * 4 + step, step), uuid(number * 4 + step - 1, step - 1) if step else None, {"n": 1}, ["a"],
            thread=f"thread-{number}", step=step)
        for number in range(1500)
        for step in range(3)
    ]  # fmt: skip
    store = made(*rows)
    asked: list[Ref] = []
    alone: list[str] = []
    read_many, read = SqliteTables.read_many, SqliteTables.checkpoint

    def counted(self: SqliteTables, *wanted: Any) -> Any:
        for found in read_many(self, *wanted):
            asked.append(found[0])
            yield found

    def counted_alone(self: SqliteTables, thread: str, key: Any) -> Any:
        alone.append(thread)
        return read(self, thread, key)

    monkeypatch.setattr(SqliteTables, "read_many", counted)
    monkeypatch.setattr(SqliteTables, "checkpoint", counted_alone)
    page = store.threads(limit=2000)
    assert len(page.items) == 1500
    assert {(info.checkpoints, info.step, info.status) for info in page.items} == {(3, 2, Status.UNFINISHED)}
    # Each thread's head, and its parent for who wrote it.
    assert len(asked) == len(set(asked)) == 2 * 1500
    assert alone == []


def test_pages_of_threads_group_the_table_once_and_again_after_a_write(
    made: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = made(*(Row(uuid(number), thread=f"thread-{number}") for number in range(9)))
    grouped: list[int] = []
    group = sqlite_threads._listed

    def counted(tables: SqliteTables) -> Any:
        found = group(tables)
        grouped.append(len(found.rows))
        return found

    monkeypatch.setattr(sqlite_threads, "_listed", counted)
    first = store.threads(limit=4)
    rest = store.threads(after=first.next, limit=9)
    assert [info.thread for info in (*first.items, *rest.items)] == [f"thread-{number}" for number in range(8, -1, -1)]
    assert grouped == [9]
    with closing(sqlite3.connect(str(store.info.path))) as db, db:
        db.execute("DELETE FROM checkpoints WHERE thread_id = 'thread-8'")
        db.execute("UPDATE checkpoints SET thread_id = 'thread-x' WHERE thread_id = 'thread-7'")
    assert [info.thread for info in store.threads(limit=2).items] == ["thread-x", "thread-6"]
    assert grouped == [9, 8]


def test_metadata_may_be_anything(made: Make) -> None:
    store = made(Row(uuid(1)), Row(uuid(2, 1), uuid(1), step=1))
    path = Path(str(store.info.path))
    store.close()
    for stored in (None, "", b"", "null", "[1]", "{", b"\xff", 7, json.dumps({"step": "x", "source": 5, "parents": 3})):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE checkpoints SET metadata = ? WHERE checkpoint_id = ?", (stored, uuid(2, 1)))
        store = LangGraphStore(path)
        newest, oldest = store.headers("t").items
        assert (newest.step, oldest.problem) == (1, None)
        assert store.load(newest.ref).state == {}
        store.close()


def test_versions_of_no_known_form_do_not_break_what_runs_next(made: Make) -> None:
    odd: Any = {"branch:to:a": [1], "n": version(3)}
    content = {"channel_versions": odd, "versions_seen": {"a": {"branch:to:a": [0]}, "b": 5}}
    store = made(Row(uuid(1), None, {"n": 1}, ["a"], content=content))
    assert store.headers("t").items[0].next == ("a",)
