"""The native store: the contract, and what is its own."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.conformance import (
    SAMPLE,
    TRIP,
    AddressConformance,
    EffectsConformance,
    RunStoreConformance,
    StoreConformance,
    WriterConformance,
    folder_as_it_is,
    sample_ref,
)
from stores.errors import Conflict, Corrupt, Invalid, NotFound, Unreachable, Unsupported
from stores.model import Change, Header, NewCheckpoint, Ref, Tagged
from stores.native import schema
from stores.native.sqlite import NativeStore, create_native
from stores.sqlite import open_writing
from tests.builders import native_file, sql_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_file(tmp_path / "native.sqlite")


@pytest.fixture
def sample(path: Path) -> Iterator[NativeStore]:
    with closing(NativeStore(path, read_only=False)) as store:
        yield store


@pytest.fixture
def frozen(path: Path) -> Iterator[NativeStore]:
    with closing(NativeStore(path)) as store:
        yield store


class TestNative(StoreConformance, AddressConformance, WriterConformance, RunStoreConformance, EffectsConformance):
    pass


def sql(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(statement, values).fetchall()


def appended(store: NativeStore, number: int, parent: Ref | None, thread: str = TRIP, **state: object) -> Header:
    return store.append(NewCheckpoint(sample_ref(number, 0, thread), parent, state, "step"))


# --- what lies in the file


def test_the_record_of_the_promise_is_readable_with_any_shell(path: Path) -> None:
    columns = "thread_id, checkpoint_id, parent_id, state"
    rows = sql(path, f"SELECT {columns} FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id", TRIP)
    assert [(row[1], row[2], json.loads(str(row[3]))) for row in rows] == [
        (new.ref.id, new.parent and new.parent.id, new.state) for new in SAMPLE[:6]
    ]


def test_state_is_the_last_column_and_a_listing_reads_an_index_alone(path: Path) -> None:
    assert sql(path, "SELECT name FROM pragma_table_info('checkpoints')")[-1] == ("state",)
    with closing(sqlite3.connect(path)) as db:
        from stores.native.history import _HEADERS

        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {_HEADERS}", (TRIP, 99, 99))]
    assert [step for step in plan if "checkpoints_headers" in step] == [
        "SEARCH c USING COVERING INDEX checkpoints_headers (thread_id=? AND seq<?)"
    ]
    assert all("COVERING" in step for step in plan if "INDEX" in step)


def test_a_fork_is_one_row_whatever_the_length_of_the_thread(sample: NativeStore, path: Path) -> None:
    before = sql(path, "SELECT count(*) FROM checkpoints")
    header = sample.fork(SAMPLE[4].ref, "fork", [Change("change", ("n",), 1, 2)])
    rows = sql(path, "SELECT parent_id, parent_thread, source, step FROM checkpoints WHERE thread_id = 'fork'")
    assert rows == [(SAMPLE[4].ref.id, TRIP, "fork", 4)]
    assert sql(path, "SELECT count(*) FROM checkpoints") == [(int(str(before[0][0])) + 1,)]
    assert header.parent == SAMPLE[4].ref
    listed = {info.thread: info for info in sample.threads().items}
    assert (listed["fork"].forked_from, listed[TRIP].forked_from) == (SAMPLE[4].ref, None)


def test_a_fork_of_a_fork_shares_the_business_id_of_the_first_thread(sample: NativeStore, path: Path) -> None:
    one = sample.fork(SAMPLE[2].ref, "one")
    sample.fork(one.ref, "two")
    ids = "SELECT business_id FROM threads WHERE thread_id IN ('one', 'two')"
    (one_id,), (two_id,) = sql(path, ids)
    assert one_id == two_id == f"{TRIP}@{sample.info.store_id[:8]}"


def test_a_line_keeps_its_workflow_until_it_is_bound_to_another(sample: NativeStore) -> None:
    first = sample.append(NewCheckpoint(sample_ref(9, -1, "w"), None, {}, "input", meta={"workflow_hash": "one"}))
    plain = sample.fork(first.ref, "same")
    adopted = sample.fork(first.ref, "other", meta={"workflow_hash": "two"})
    assert [sample.load(h.ref).header.meta["workflow_hash"] for h in (first, plain, adopted)] == ["one", "one", "two"]


def test_a_changed_ancestor_shows_in_every_checksum_after_it(tmp_path: Path) -> None:
    def checksums(name: str, city: str) -> list[object]:
        with closing(NativeStore(native_file(tmp_path / name, ()), read_only=False)) as store:
            first = appended(store, 1, None, city=city)
            appended(store, 2, appended(store, 3, first.ref, city="x").ref, city="x")
        return [row[0] for row in sql(tmp_path / name, "SELECT checksum FROM checkpoints ORDER BY seq")]

    assert checksums("a", "Oslo") == checksums("b", "Oslo")
    assert all(one != other for one, other in zip(checksums("c", "Oslo"), checksums("d", "Rome"), strict=True))


# --- order and ids that say nothing


def test_the_order_is_that_of_appending_whatever_the_ids_say(sample: NativeStore) -> None:
    names = ["z", "m", "a", "15", "", "Ω"]
    parent = None
    for name in names:
        parent = sample.append(NewCheckpoint(Ref("odd", "", name), parent, {"name": name}, "step")).ref
    assert [header.ref.id for header in sample.headers("odd").items] == names[::-1]
    assert sample.head("odd").id == "Ω"
    assert sample.fork(sample.head("odd"), "fork").parent == parent


def test_an_edit_follows_the_head(sample: NativeStore) -> None:
    changes = [Change("change", ("n",), n, n + 1) for n in (1, 2)]
    ids = [sample.fork(sample.head(TRIP), TRIP, [change]).ref.id for change in changes]
    assert SAMPLE[5].ref.id < ids[0] < ids[1]
    assert sample.head(TRIP).id == ids[1]


@pytest.mark.parametrize("thread", ["'", '"; DROP TABLE threads; --', "a\nb", "\u202eabc", "x" * 1000, "", "\x00"])
def test_threads_may_have_any_name(sample: NativeStore, thread: str) -> None:
    header = sample.append(NewCheckpoint(sample_ref(9, -1, thread), None, {"a": 1}, "input"))
    assert sample.threads().items[0].thread == thread
    assert sample.load(sample.headers(thread).items[0].ref).header == header


def test_a_name_that_is_no_text_is_told(sample: NativeStore) -> None:
    broken = "caf\udce9"
    with pytest.raises(NotFound, match="not valid text"):
        sample.headers(broken)
    with pytest.raises(Invalid):
        sample.append(NewCheckpoint(Ref(broken, "", "1"), None, {}, "input"))


def test_a_class_has_no_place_in_a_native_state(sample: NativeStore) -> None:
    state = {"messages": [Tagged("langchain_core.messages.AIMessage", {"content": "hi"})]}
    with pytest.raises(Invalid, match=r"messages\[0\].*AIMessage"):
        sample.append(NewCheckpoint(sample_ref(9, 0), None, state, "step"))
    with pytest.raises(Unsupported, match="namespaces"):
        sample.append(NewCheckpoint(Ref(TRIP, "inner", "1"), None, {}, "step"))


# --- damage


def test_a_damaged_row_hides_none_of_its_neighbours(sample: NativeStore, path: Path) -> None:
    broken = SAMPLE[3].ref.id
    sql(path, "UPDATE checkpoints SET state = '{\"half', nodes = 'x' WHERE checkpoint_id = ?", broken)
    headers = sample.headers(TRIP).items
    assert len(headers) == 6
    assert [header.ref.id for header in headers if header.problem] == [broken]
    assert "nodes" in str(next(header.problem for header in headers if header.problem))
    with pytest.raises(Corrupt, match=broken):
        sample.load(SAMPLE[3].ref)
    assert sample.load(SAMPLE[2].ref).state == SAMPLE[2].state
    sql(path, "UPDATE checkpoints SET state = '[]' WHERE checkpoint_id = ?", broken)
    with pytest.raises(Corrupt, match="no object"):
        sample.load(SAMPLE[3].ref)


# --- the schema's age


def test_a_thread_whose_head_is_not_there_is_listed_by_its_newest_row(sample: NativeStore, path: Path) -> None:
    before = {info.thread: info for info in sample.threads().items}
    sql(path, "UPDATE threads SET head = 'gone' WHERE thread_id = ?", TRIP)
    after = {info.thread: info for info in sample.threads().items}
    assert after.keys() == before.keys()
    assert after[TRIP].head is None
    assert after[TRIP].checkpoints == before[TRIP].checkpoints
    assert sample.headers(TRIP).items


def test_a_newer_schema_is_neither_read_nor_written(sample: NativeStore, path: Path) -> None:
    head = sample.head(TRIP)
    sql(path, "UPDATE meta SET value = '99' WHERE key = 'schema'")
    before = sql(path, "SELECT count(*) FROM checkpoints")
    with pytest.raises(Unsupported, match="99"):
        sample.fork(head, "fork")
    with pytest.raises(Unsupported, match="99"):
        NativeStore(path)
    with pytest.raises(Unsupported, match="99"):
        create_native(path)
    assert sql(path, "SELECT count(*) FROM checkpoints") == before


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(db: object) -> None:
        db.create_table("half", {"a": int})  # type: ignore[attr-defined]
        raise Conflict("midway")

    path = native_file(tmp_path / "native.sqlite")
    before, known = sql(path, "SELECT sql FROM sqlite_master"), str(len(schema.MIGRATIONS))
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, fails))
    with pytest.raises(Conflict, match="midway"):
        create_native(path)
    assert sql(path, "SELECT sql FROM sqlite_master") == before
    assert sql(path, "SELECT value FROM meta WHERE key = 'schema'") == [(known,)]


def test_an_older_file_is_brought_up_to_date_by_the_first_write(
    sample: NativeStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def adds(db: object) -> None:
        db.create_table("later", {"a": int})  # type: ignore[attr-defined]

    known = len(schema.MIGRATIONS)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, adds))
    with closing(NativeStore(path)) as looking:
        looking.headers(TRIP)
    assert sql(path, "SELECT value FROM meta WHERE key = 'schema'") == [(str(known),)]
    sample.fork(SAMPLE[2].ref, "fork")
    assert sql(path, "SELECT value FROM meta WHERE key = 'schema'") == [(str(known + 1),)]
    assert sql(path, "SELECT count(*) FROM later") == [(0,)]


def test_a_second_sqlite_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite_utils

    monkeypatch.setattr(sqlite_utils.utils, "sqlite3", json)
    with pytest.raises(Unsupported, match="two SQLite libraries"):
        create_native(tmp_path / "new.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_not_made_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="does not exist"):
        create_native(tmp_path / "absent" / "new.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_strangers_meta_table_does_not_make_a_file_ours(tmp_path: Path) -> None:
    script = """CREATE TABLE meta (key TEXT, value TEXT); INSERT INTO meta VALUES ('format', 'theirs');
                CREATE TABLE checkpoints (thread_id, checkpoint_id, state)"""
    path = sql_file(tmp_path / "theirs.db", script)
    before = folder_as_it_is(tmp_path)
    with pytest.raises(Unsupported, match="not a native store"):
        NativeStore(path)
    with pytest.raises(Unsupported, match="another program's"):
        create_native(path)
    assert folder_as_it_is(tmp_path) == before


# --- several processes

APPEND = """
import sys
from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore
store = NativeStore(__import__("pathlib").Path(sys.argv[1]), read_only=False)
for number in range(25):
    store.append(NewCheckpoint(Ref(sys.argv[2], "", str(number)), None, {"n": number}, "step"))
store.close()
"""


def test_processes_append_side_by_side_and_readers_see_it(frozen: NativeStore, path: Path) -> None:
    names = ("one", "two", "three")
    children = [subprocess.Popen([sys.executable, "-c", APPEND, str(path), name]) for name in names]
    seen = [8]
    while any(child.poll() is None for child in children):
        seen += [sum(info.checkpoints for info in frozen.threads().items)]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert seen == sorted(seen)
    counts = {info.thread: info.checkpoints for info in frozen.threads().items}
    assert {name: counts[name] for name in names} == dict.fromkeys(names, 25)
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]


def test_writes_are_durable_and_checked(tmp_path: Path) -> None:
    create_native(tmp_path / "new.sqlite")
    writing = open_writing(tmp_path / "new.sqlite", tmp_path / "lock")
    with writing.transaction() as db:
        settings = {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "foreign_keys")}
        mode = db.execute("PRAGMA journal_mode").fetchone()[0]
    writing.close()
    assert (settings, mode) == ({"synchronous": 3, "foreign_keys": 1}, "wal")
