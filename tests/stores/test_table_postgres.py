"""Mapped PostgreSQL tables: the contract, strangers' columns of every type, schemas, and no scan of a big table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from stores import open_store
from stores.conformance import SAMPLE, AdapterConformance
from stores.errors import NotFound, Unreachable, Unsupported
from stores.model import Opaque, Ref, Status
from stores.postgres_address import address_of
from stores.protocol import Store
from stores.table_postgres import PostgresTableStore
from tests.postgres import at, fresh_database, kill_ours, postgres_server

__all__ = ["postgres_server"]

HISTORY = {"table": "history", "thread": "run", "id": "id", "parent": "prev", "state": "payload", "created": "at"}
TABLE = """
CREATE TABLE {} (id text PRIMARY KEY, run text NOT NULL, prev text, payload {}, at timestamptz NOT NULL);
CREATE INDEX ON {} (run, at)
"""


@pytest.fixture(scope="module")
def shared(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture
def home(shared: str) -> str:
    """A URL whose schema is empty, and the test's own."""
    name = f"App {uuid4().hex[:8]}"
    with psycopg.connect(shared, autocommit=True) as db:
        db.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    return address_of(shared).choosing(schema=name).shown


def run_sql(home: str, text: str) -> None:
    """Statements in the schema of the URL."""
    address = address_of(home)
    with psycopg.connect(**address.parameters, autocommit=True) as db:  # type: ignore[arg-type]
        db.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(address.schema or "")))
        db.execute(text.encode())


def mapped(home: str, read_only: bool = True, **columns: str) -> Store:
    address = address_of(home)
    return open_store(address.choosing(schema=address.schema or "", **columns).shown, read_only=read_only)


def fill(home: str, state_type: str) -> None:
    """The conformance sample, its states in a column of that type."""
    run_sql(home, TABLE.format("history", state_type, "history"))
    address = address_of(home)
    with psycopg.connect(**address.parameters) as db:  # type: ignore[arg-type]
        db.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(address.schema or "")))
        for number, new in enumerate(SAMPLE):
            state = json.dumps(new.state)
            db.execute(
                "INSERT INTO history VALUES (%s, %s, %s, %s, timestamptz '2026-01-02 03:04:05Z' + %s * interval '1 s')",
                (
                    new.ref.id, new.ref.thread, new.parent and new.parent.id,
                    state.encode() if state_type == "bytea" else state, number,
                ),
            )  # fmt: skip


@pytest.fixture
def filled(home: str) -> str:
    fill(home, "jsonb")
    return home


@pytest.fixture
def sample(filled: str) -> Iterator[Store]:
    with closing(mapped(filled, read_only=False, **HISTORY)) as store:
        yield store


@pytest.fixture
def frozen(filled: str) -> Iterator[Store]:
    with closing(mapped(filled, **HISTORY)) as store:
        yield store


class TestTablePostgres(AdapterConformance):
    pass


@pytest.mark.parametrize("state_type", ["text", "json", "bytea", "varchar"])
def test_states_are_the_same_in_a_column_of_any_type(home: str, state_type: str) -> None:
    fill(home, state_type)
    with closing(mapped(home, **HISTORY)) as store:
        assert [store.load(new.ref).state for new in SAMPLE] == [new.state for new in SAMPLE]


NUMBERED = """
CREATE TABLE log (run int, seq int, payload text, node text, status text, note text, raw bytea);
INSERT INTO log VALUES (7, 1, '{"a": 1}', 'plan', 'completed', 'first', '\\x00'),
                       (7, 2, '{"a": 2}', 'book', 'failed', NULL, NULL), (8, 1, '[1, 2]', NULL, NULL, NULL, NULL);
"""


@pytest.mark.parametrize("index", ["", "CREATE INDEX ON log (run, seq)"])
def test_whole_numbers_are_names_like_any(home: str, index: str) -> None:
    run_sql(home, NUMBERED + index)
    columns = {"table": "log", "thread": "run", "id": "seq", "state": "payload", "node": "node", "status": "status"}
    with closing(mapped(home, **columns)) as store:
        threads = store.threads().items
        assert [(info.thread, info.head, info.checkpoints) for info in threads] == [
            ("7", Ref("7", "", "2"), 2),
            ("8", Ref("8", "", "1"), 1),
        ]
        assert (threads[0].status, threads[0].last_node) == (Status.FAILED, "book")
        pages = [store.threads(limit=1), store.threads(after=store.threads(limit=1).next, limit=1)]
        assert [info.thread for page in pages for info in page.items] == ["7", "8"]
        newest, oldest = store.headers("7").items
        assert (newest.parent, oldest.parent) == (oldest.ref, None)
        assert oldest.meta == {"note": "first", "raw": "\\x00"}
        assert store.load(newest.ref).state == {"a": 2}
        assert store.load(Ref("8", "", "1")).state == {"payload": [1, 2]}
        for thread, id in (("7", "02"), ("7", "3"), ("07", "1"), ("7", "x"), ("x", "1")):
            with pytest.raises(NotFound):
                store.load(Ref(thread, "", id))
        with pytest.raises(NotFound):
            store.headers(str(2**70))


TYPED = """
CREATE TYPE kind AS ENUM ('plan', 'book');
CREATE TABLE typed (run uuid NOT NULL, id uuid NOT NULL, prev uuid, payload jsonb, node kind, at timestamp,
                    cost numeric(9,2), tags text[], "50% ""off"" x" boolean, huge text);
CREATE INDEX ON typed (run);
INSERT INTO typed VALUES
  ('10000000-0000-0000-0000-000000000000', '20000000-0000-0000-0000-000000000002', NULL, '{"n": 1.50}', 'plan',
   '2026-01-02 03:04:05', 1.50, '{a,b}', true, repeat('x', 100000)),
  ('10000000-0000-0000-0000-000000000000', '20000000-0000-0000-0000-000000000001',
   '20000000-0000-0000-0000-000000000002', NULL, 'book', '2026-01-02 03:04:06', NULL, NULL, NULL, NULL);
"""


def test_columns_of_other_types_are_told_as_text(home: str) -> None:
    run_sql(home, TYPED)
    columns = {"table": "typed", "thread": "run", "id": "id", "parent": "prev", "state": "payload", "node": "node"}
    with closing(mapped(home, **columns, created="at")) as store:
        (info,) = store.threads().items
        newest, oldest = store.headers(info.thread).items
        assert (info.head, newest.parent, newest.nodes) == (newest.ref, oldest.ref, ("book",))
        assert oldest.created is not None
        assert oldest.created.isoformat() == "2026-01-02T03:04:05+00:00"
        assert {"cost": "1.50", "tags": "{a,b}", '50% "off" x': "true"}.items() <= oldest.meta.items()
        assert store.load(oldest.ref).state == {"n": 1.5}
        assert "NULL" in (store.load(newest.ref).header.problem or "")


def test_a_state_that_is_no_json_is_shown_as_it_is(home: str) -> None:
    run_sql(home, "CREATE TABLE t (run text, id int, state text); INSERT INTO t VALUES ('r', 1, 'no json')")
    with closing(mapped(home, table="t", thread="run", id="id", state="state")) as store:
        loaded = store.load(Ref("r", "", "1"))
        assert loaded.state == {"state": Opaque("undecodable", b"no json")}


def test_parents_that_go_round_in_a_circle_have_a_head_all_the_same(home: str) -> None:
    run_sql(home, "CREATE TABLE t (run text, id int, up int, state text);"
                  " INSERT INTO t VALUES ('r', 1, 2, '{}'), ('r', 2, 1, '{}')")  # fmt: skip
    with closing(mapped(home, table="t", thread="run", id="id", parent="up", state="state")) as store:
        assert store.head("r") == Ref("r", "", "2")


# --- which table


def test_a_table_that_says_what_it_is_opens_by_itself_and_says_so(home: str) -> None:
    run_sql(home, "CREATE TABLE runs (thread_id text, id int, parent_id int, state jsonb, step int);"
                  " INSERT INTO runs VALUES ('a', 1, NULL, '{\"x\": 1}', 0)")  # fmt: skip
    with closing(open_store(home)) as store:
        assert store.info.kind == "table"
        assert store.load(store.head("a")).state == {"x": 1}
        (notice,) = store.info.notices
    with closing(open_store(notice.rpartition(" ")[2])) as again:
        assert again.head("a") == Ref("a", "", "1")


def test_what_is_only_likely_is_proposed(home: str) -> None:
    rows = "SELECT 'l' || n / 3, n % 3, '{\"n\": 1}'::jsonb FROM generate_series(0, 8) n"
    run_sql(home, f"CREATE TABLE verlauf (lauf text, nr int, zustand jsonb); INSERT INTO verlauf {rows}")
    with pytest.raises(Unsupported) as caught:
        open_store(home)
    assert "thread=lauf&id=nr&state=zustand" in caught.value.hint


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"table": "log"}, "lacks thread, id, state"),
        ({"table": "nowhere", "thread": "a", "id": "b", "state": "c"}, "no table 'nowhere'"),
        ({"table": "log", "thread": "a", "id": "seq", "state": "payload"}, "no column a"),
    ],
)
def test_a_mapping_that_fits_nothing_says_what_there_is(home: str, columns: dict[str, str], message: str) -> None:
    run_sql(home, NUMBERED)
    with pytest.raises(Unsupported, match=message) as caught:
        mapped(home, **columns)
    assert caught.value.hint


# --- looking only


def test_a_role_with_select_only_reads_it_and_a_missing_right_is_named(filled: str, shared: str) -> None:
    address = address_of(filled)
    run_sql(filled, f'CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA "{address.schema}" TO reader')
    reader = address_of(at(shared, user="reader")).choosing(schema=address.schema or "").shown
    try:
        with pytest.raises(Unreachable) as caught, closing(mapped(reader, **HISTORY)) as store:
            store.threads()
        assert "GRANT SELECT ON history" in caught.value.hint
        run_sql(filled, "GRANT SELECT ON history TO reader")
        with closing(mapped(reader, **HISTORY)) as store:
            assert [info.thread for info in store.threads().items] == [SAMPLE[7].ref.thread, "trip"]
            kill_ours(shared)
            assert len(store.headers("trip").items) == 6
            assert len(store.info.notices) == 1
    finally:
        run_sql(filled, "DROP OWNED BY reader; DROP ROLE reader")


def test_a_big_table_is_not_scanned_to_list_a_page(home: str) -> None:
    rows = "SELECT n % 50, n, nullif(n - 50, n % 50 - 50), '{}' FROM generate_series(0, 29999) n"
    run_sql(
        home,
        "CREATE TABLE big (run int NOT NULL, id int PRIMARY KEY, up int, state text NOT NULL);"
        f" INSERT INTO big {rows}; CREATE INDEX ON big (run, id); ANALYZE big",
    )
    with closing(mapped(home, table="big", thread="run", id="id", parent="up", state="state")) as store:
        assert len(store.threads(limit=5).items) == 5
        newest = store.headers("7", limit=10).items
        assert [header.ref.id for header in newest][:2] == ["29957", "29907"]
        assert store.head("7") == newest[0].ref
        scans = _scans(store)
    assert scans == []


def _scans(store: Store) -> list[str]:
    """Plans of the listing's and the headers' questions that walk the whole table."""
    assert isinstance(store, PostgresTableStore)
    columns = store._columns
    asked: list[tuple[str, tuple[object, ...]]] = [
        (columns.threads(after=False), (6,)),
        (columns.headers(after=False), ("7", 11)),
        (columns.one(), ("7", "7")),
    ]
    with store._server.connection() as db:
        plans = [
            "\n".join(row[0] for row in db.execute(f"EXPLAIN {question}".encode(), given)) for question, given in asked
        ]
    return [plan for plan in plans if "Seq Scan on big" in plan]
