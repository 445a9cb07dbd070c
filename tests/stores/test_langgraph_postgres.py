"""LangGraph's PostgreSQL tables of every generation, against what that very release said, and what a page costs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from stores.errors import Corrupt, NotFound, ReadOnly, Unsupported
from stores.langgraph import postgres_tables
from stores.langgraph.postgres import LangGraphPostgresStore
from stores.langgraph.postgres_columns import Columns
from stores.langgraph.postgres_tables import PostgresTables
from stores.model import Capability, Change, Opaque, Ref, Status
from stores.scanning import Scanned, Unscanned
from tests.postgres import at, fresh_database
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.stores.langgraph_histories import history_of, misses
from tests.stores.langgraph_postgres import load, opened
from tests.stores.scans import CHECKS
from tt_debug.needle import Needle

CURRENT = "lg1.2.24_pg3.2.0.sql"

# As in the SQLite files of the same generations, and for the same reasons.
GONE_TO = ["tasks"]
NAMELESS = ["next", "tasks"]
STORED_NONE = ["keys"]
ANSWERED = ["tasks"]

DUMPS = {
    "lg0.2.20_pg1.0.6.sql": (
        214,
        {
            ("node-error", "1f1ec175-f20b-6977-8001-9ec51ffdab77"): NAMELESS,
            ("odd-types", "1f1ec175-f26d-6f21-8002-31d4385acccb"): STORED_NONE,
            ("subgraph-interrupt-waiting", "1f1ec175-f1bf-6eb0-8001-73eab2ea3111"): NAMELESS,
        },
    ),
    "lg0.6.11_pg2.0.25.sql": (
        275,
        {
            ("command-goto", "1f1ec176-30a6-6a81-8002-3546e3d108fb"): GONE_TO,
            ("hitl-half-answered", "1f1ec176-3028-68e1-8001-406faa8ce540"): ANSWERED,
        },
    ),
    CURRENT: (311, {("command-goto", "1f1ec176-80ea-6edd-8002-4c21dd7e507d"): GONE_TO}),
}


@pytest.mark.parametrize("name", DUMPS)
def test_rows_agree_in_every_field_but_for_the_listed_misses(name: str, database: str) -> None:
    total, expected = DUMPS[name]
    load(name, database)
    store = opened(database)
    history = history_of(name.replace(".sql", ""))
    assert len(history) == total
    assert misses(store, history) == expected
    assert store.info.notices == ()
    store.close()


@pytest.fixture(scope="module")
def current(postgres_server: str) -> Iterator[str]:
    """The newest generation's dump, for tests that only look."""
    with fresh_database(postgres_server) as url:
        load(CURRENT, url)
        yield url


@pytest.fixture
def store(current: str) -> Iterator[LangGraphPostgresStore]:
    found = opened(current)
    yield found
    found.close()


# --- which tables


def test_the_shallow_savers_table_says_that_it_has_no_history(database: str) -> None:
    load("pg_shallow.sql", database)
    store = opened(database, read_only=False)
    assert any("no history" in notice for notice in store.info.notices)
    assert Capability.FORK not in store.info.capabilities
    (header,) = store.headers("hitl-half-answered").items
    assert (header.parent, header.step, header.status) == (None, 1, Status.WAITING)
    loaded = store.load(header.ref)
    assert loaded.state == {"amount": 77, "log": ["prepare 77"]}
    assert [(task.node, task.status) for task in loaded.tasks if task.node != "Command"] == [
        ("approve", "waiting"),
        ("audit", "done"),
    ]
    assert store.head("hitl-half-answered") == header.ref
    with pytest.raises(Unsupported):
        store.fork(header.ref, "fork")
    store.close()


def test_an_unfinished_migration_opens_as_far_as_it_can_be_read(database: str) -> None:
    load("pg_unfinished_migration.sql", database)
    store = opened(database, read_only=False)
    (notice,) = store.info.notices
    assert "checkpoint_writes" in notice
    newest = store.headers("hitl-resumed").items[0]
    assert (newest.step, newest.source, newest.next) == (3, "loop", ())
    assert store.load(newest.ref).state["log"] == ["prepare 5", "approved", "audit done", "paid"]
    with pytest.raises(Unsupported):
        store.fork(newest.ref, "fork")
    store.close()


def test_a_migrations_number_decides_nothing(database: str) -> None:
    """Two savers gave the same number to different migrations; columns alone tell what there is."""
    load(CURRENT, database)
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("ALTER TABLE checkpoint_writes DROP COLUMN task_path")
    store = opened(database)
    newest = store.headers("agent-linear").items[0]
    assert store.load(newest.ref).header == newest
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("ALTER TABLE checkpoint_writes ADD COLUMN task_path text NOT NULL DEFAULT ''")
        db.execute("DELETE FROM checkpoint_migrations")
        db.execute("INSERT INTO checkpoint_migrations VALUES (8)")
    newest = store.headers("agent-linear").items[0]
    assert store.load(newest.ref).header == newest
    store.close()


def test_schemas_are_never_mixed(database: str) -> None:
    load(CURRENT, database)
    load("lg0.2.20_pg1.0.6.sql", database, schema="old")
    store, other = opened(database), opened(database, schema="old")
    assert "delta-snap5" in {one.thread for one in store.threads().items}
    assert "delta-snap5" not in {one.thread for one in other.threads().items}
    assert other.load(other.head("meta-user")).state
    assert store.info.store_id != other.info.store_id
    store.close()
    other.close()


def test_a_foreign_table_of_the_same_name_is_not_taken_for_langgraphs(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("CREATE TABLE checkpoints (thread_id text, checkpoint_id text, checkpoint text)")
    with pytest.raises(Unsupported):
        opened(database)


# --- rows


def test_values_stand_in_the_row_or_apart_and_those_apart_win(store: LangGraphPostgresStore) -> None:
    found = next(one for one in store.headers("hitl-waiting").items if one.step == 1)
    assert store.load(found.ref).state == {"amount": 1200, "log": ["prepare 1200"]}
    snapshots = [one for one in store.headers("delta-snap5").items if one.step == 5]
    assert isinstance(store.load(snapshots[0].ref).state["log"], list)


@pytest.mark.parametrize("name", [CURRENT, "lg0.2.20_pg1.0.6.sql"])
def test_a_value_whose_row_is_gone_is_missing_and_not_null(name: str, database: str) -> None:
    load(name, database)
    store = opened(database)
    ref = next(one.ref for one in store.headers("hitl-waiting").items if one.step == 1)
    before = store.load(ref)
    with psycopg.connect(database, autocommit=True) as db:
        own = "thread_id = 'hitl-waiting' AND channel = 'log'"
        newest = f"SELECT max(version) FROM checkpoint_blobs WHERE {own}"
        db.execute(f"DELETE FROM checkpoint_blobs WHERE {own} AND version = ({newest})".encode())
    assert before.state["log"] == ["prepare 1200"]
    assert store.load(ref).state == {**before.state, "log": Opaque("missing", b"")}
    # Its neighbours are as they were.
    assert before.header.parent is not None
    assert store.load(before.header.parent).state["log"] == []
    store.close()


def test_a_damaged_row_is_listed_and_hides_no_neighbour(database: str) -> None:
    load(CURRENT, database)
    with psycopg.connect(database, autocommit=True) as db:
        ids = db.execute(
            "SELECT checkpoint_id FROM checkpoints WHERE thread_id = 'hitl-resumed' ORDER BY 1 DESC"
        ).fetchall()
        for (id,), content in zip(
            ids, ("[]", '{"channel_versions": 5}', '{"channel_values": []}', "null"), strict=False
        ):
            db.execute("UPDATE checkpoints SET checkpoint = %s WHERE checkpoint_id = %s", (content, id))
    store = opened(database)
    headers = store.headers("hitl-resumed").items
    assert [one.problem is None for one in headers] == [False] * 4 + [True]
    with pytest.raises(Corrupt):
        store.load(headers[0].ref)
    assert store.load(headers[-1].ref).header == headers[-1]
    store.close()


@pytest.mark.parametrize("check", CHECKS)
def test_what_is_read_at_once_is_what_loading_each_gives(
    store: LangGraphPostgresStore, check: Callable[[LangGraphPostgresStore], None]
) -> None:
    check(store)


def test_a_text_is_found_in_values_that_stand_apart(store: LangGraphPostgresStore) -> None:
    refs = [ref for info in store.threads(limit=1000).items for ref in store.addresses(info.thread).refs]
    text = "outer.load"
    answers = store.scan(refs, Needle(text))
    found = [answer.state for answer in answers if isinstance(answer, Scanned)]
    assert len(found) < len(refs)
    assert any(text in repr(state) for state in found)
    assert Unscanned.PASSED in answers


def test_what_is_not_there_is_not_found(store: LangGraphPostgresStore) -> None:
    for thread in ("nobody", "a\0b", "\ud800"):
        with pytest.raises(NotFound):
            store.headers(thread)
    with pytest.raises(NotFound):
        store.load(Ref("hitl-waiting", "", "1f1ec175"))


# --- cost


def test_no_question_for_a_page_reads_a_large_table(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(CURRENT, database)
    with psycopg.connect(database, autocommit=True) as db:
        for statement in (
            "INSERT INTO checkpoints SELECT 'bulk-' || n, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, "
            "checkpoint, metadata FROM checkpoints, generate_series(1, 300) n WHERE thread_id = 'agent-linear'",
            "INSERT INTO checkpoint_writes SELECT 'bulk-' || n, checkpoint_ns, checkpoint_id, task_id, idx, channel, "
            "type, blob, task_path FROM checkpoint_writes, generate_series(1, 300) n WHERE thread_id = 'agent-linear'",
            "INSERT INTO checkpoint_blobs SELECT 'bulk-' || n, checkpoint_ns, channel, version, type, blob "
            "FROM checkpoint_blobs, generate_series(1, 300) n WHERE thread_id = 'agent-linear'",
            "ANALYZE",
        ):
            db.execute(statement)
    store = opened(database)
    with psycopg.connect(database) as db:
        columns = Columns.of(db, "public")
    plans: list[str] = []
    ask = PostgresTables.rows

    def explained(self: PostgresTables, question: str, *parameters: object) -> list[tuple[Any, ...]]:
        plans.append("\n".join(line for (line,) in ask(self, f"EXPLAIN {question}", *parameters)))
        return ask(self, question, *parameters)

    monkeypatch.setattr(PostgresTables, "rows", explained)
    monkeypatch.setattr(postgres_tables, "many_rows", lambda db, *asked: PostgresTables(db, columns).rows(*asked))
    page = store.threads(limit=20)
    store.threads(page.next, limit=20)
    newest = store.headers("bulk-7", limit=10)
    store.headers("bulk-7", newest.next, limit=10)
    store.load(newest.items[3].ref)
    # Ten questions for a page at most, however many rows it has.
    assert 5 < len(plans) <= 50
    scans = [found for plan in plans for found in re.findall(r"Seq Scan on (\w+)", plan)]
    assert not [name for name in scans if name.startswith("checkpoint")], plans
    plans.clear()
    assert len(store.addresses("bulk-8").refs) > len(newest.items)
    assert any("checkpoints_pkey" in plan or "thread_id_idx" in plan for plan in plans), plans
    assert not any("Sort" in plan or "Seq Scan" in plan for plan in plans), plans
    store.close()


def test_pages_of_threads_join_to_the_whole_with_the_newest_write_first(database: str) -> None:
    load(CURRENT, database)
    store = opened(database, read_only=False)
    before = [one.thread for one in store.threads().items]
    store.fork(next(one.ref for one in store.headers("agent-linear").items if one.step == 3), "fork")
    whole = store.threads().items
    assert [one.thread for one in whole] == ["fork", *before]
    found: list[str] = []
    after = None
    while True:
        page = store.threads(after, limit=7)
        found += [one.thread for one in page.items]
        if (after := page.next) is None:
            break
    assert found == [one.thread for one in whole]
    store.close()


def test_long_texts_in_rows_are_read_for_the_state_alone(database: str) -> None:
    load(CURRENT, database)
    long = "Łódź " * 4000
    with psycopg.connect(database, autocommit=True) as db:
        values = "jsonb_set(checkpoint, '{channel_values,memo}', to_jsonb(%s::text))"
        versions = f"jsonb_set({values}, '{{channel_versions,memo}}', '\"7\"')"
        own = "thread_id = 'hitl-waiting'"
        db.execute(f"UPDATE checkpoints SET checkpoint = {versions} WHERE {own}".encode(), (long,))
    store = opened(database)
    plain = opened(database)
    headers = store.headers("hitl-waiting").items
    assert [one.next for one in headers] == [("approve", "audit"), ("prepare",), ("__start__",)]
    assert all(one.size is not None and one.size > 200 and one.problem is None for one in headers)
    assert plain.load(headers[0].ref).state == {"amount": 1200, "log": ["prepare 1200"], "memo": long}
    assert plain.load(headers[0].ref).header == headers[0]
    store.close()
    plain.close()


def test_a_lost_connection_costs_a_notice_and_no_answer(database: str) -> None:
    load(CURRENT, database)
    store = opened(database)
    before = store.threads()
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tt-debug'")
    assert store.threads() == before
    assert any("connection was lost" in notice for notice in store.info.notices)
    store.close()


def test_many_threads_of_the_program_read_at_once(current: str) -> None:
    store = opened(current)
    names = [one.thread for one in store.threads().items]

    def states(name: str) -> list[str]:
        return [repr(store.load(one.ref).state) for one in store.headers(name).items[:3]]

    alone = [states(name) for name in names]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(states, names * 2)) == alone * 2
    store.close()


# --- rights


def test_a_role_with_select_only_browses_everything(database: str, postgres_server: str) -> None:
    load(CURRENT, database)
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("DROP ROLE IF EXISTS langgraph_looker")
        db.execute("CREATE ROLE langgraph_looker LOGIN")
        db.execute("GRANT SELECT ON checkpoints, checkpoint_blobs, checkpoint_writes TO langgraph_looker")
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    store = opened(at(postgres_server, dbname=str(name), user="langgraph_looker"), read_only=False)
    for info in store.threads().items:
        for header in store.headers(info.thread).items:
            assert store.load(header.ref).header == header
    with pytest.raises(ReadOnly):
        store.fork(store.head("agent-linear"), "fork", [Change("add", ("x",), new=1)])
    store.close()
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("DROP OWNED BY langgraph_looker")
        db.execute("DROP ROLE langgraph_looker")
