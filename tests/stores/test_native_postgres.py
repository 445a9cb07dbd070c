"""The native store on PostgreSQL: the same contract, the same tests, on a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import uuid4

import psycopg
import pytest

from stores.conformance import SAMPLE, AdapterConformance
from stores.conformance_sample import sample_ref
from stores.errors import Conflict, Invalid, NotFound, Unsupported
from stores.model import Change, NewCheckpoint
from stores.native.postgres import NativePostgresStore
from stores.native.postgres_business import execute_statement
from stores.native.postgres_schema import SCHEMA, create_schema
from stores.native.trees import is_tree
from stores.postgres import Server
from stores.postgres_address import address_of
from stores.postgres_writing import WriteConnection
from tests.postgres import fresh_database, kill_ours, postgres_server
from tests.stores.native_states import message

__all__ = ["postgres_server"]


@pytest.fixture(scope="module")
def shared(postgres_server: str) -> Iterator[str]:
    """One database for all tests here: a schema is made in a tenth of the time."""
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture
def home(shared: str) -> str:
    """The URL of an empty native store in a schema of its own."""
    url = address_of(shared).choosing(schema=f"Mine {uuid4().hex[:8]}").shown
    create_schema(url)
    return url


def opened(url: str, *, read_only: bool = False) -> NativePostgresStore:
    address = address_of(url)
    return NativePostgresStore(Server(address), address.schema or SCHEMA, read_only=read_only)


@pytest.fixture
def sample(home: str) -> Iterator[NativePostgresStore]:
    with closing(opened(home)) as store:
        for new in SAMPLE:
            store.append(new)
        yield store


@pytest.fixture
def frozen(home: str, sample: NativePostgresStore) -> Iterator[NativePostgresStore]:
    with closing(opened(home, read_only=True)) as store:
        yield store


class TestNativePostgres(AdapterConformance):
    pass


def test_every_json_value_is_read_back_as_it_was(home: str) -> None:
    state = {"nul": "a\0b", "big": 2**63, "small": -(2**63), "float": 1e-320, "zero": -0.0, "order": {"b": 1, "a": 2}}
    text = {"quotes": """it's "so" \\ \\u0000 %s %(x)s ? ?1 :name ::int""", "astral": "🚀 \u2028", "": [[], {}, None]}
    new = NewCheckpoint(sample_ref(1, -1, "odd"), None, {**state, **text}, "input")
    with closing(opened(home)) as store:
        store.append(new)
        assert json.dumps(store.load(new.ref).state) == json.dumps(new.state)


def test_large_states_and_bytes_are_kept_in_chunks(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [message(number) for number in range(60)]
    with closing(opened(home)) as store:
        with monkeypatch.context() as patch:  # as the release before kept it: in its row, without a table of chunks
            patch.setattr("stores.native.states.INLINE", 10**9)
            old = store.append(NewCheckpoint(sample_ref(1, -1, "chat"), None, {"messages": messages[:40]}, "input"))
        with store._writing() as db:
            db.execute("DROP TABLE chunks")
            db.execute("UPDATE meta SET value = '4' WHERE key = 'schema'")
    with closing(opened(home, read_only=True)) as looking:
        assert looking.load(old.ref).state == {"messages": messages[:40]}
        assert looking.fault(old.ref) is None
    with closing(opened(home)) as store:
        one = store.append(NewCheckpoint(sample_ref(2, 0, "chat"), old.ref, {"messages": messages[:50]}, "step"))
        state = {"messages": messages, "image": b"image" * 1000}
        two = store.append(NewCheckpoint(sample_ref(3, 1, "chat"), one.ref, state, "step"))
    with closing(opened(home)) as store:
        assert store.load(old.ref).state == {"messages": messages[:40]}
        assert store.load(one.ref).state == {"messages": messages[:50]}
        found = store.load(two.ref).state
        assert (found["messages"], found["image"].data) == (messages, b"image" * 1000)
        assert all(a is b for a, b in zip(found["messages"], store.load(one.ref).state["messages"], strict=False))
        assert store.fault(two.ref) is None
        with store._writing() as db:
            rows = db.execute("SELECT state, size FROM checkpoints ORDER BY seq").fetchall()
            assert [is_tree(text) for text, _ in rows] == [False, True, True]
            db.execute("DELETE FROM chunks WHERE hash = ?", (bytes.fromhex(found["image"].digest),))
        fault = store.fault(two.ref)
        assert fault is not None
        assert "binary value" in fault[1]


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_thread_whose_name_postgresql_cannot_hold_is_refused(sample: NativePostgresStore, name: str) -> None:
    with pytest.raises(Invalid):
        sample.append(NewCheckpoint(sample_ref(9, -1, name), None, {}, "input"))
    with pytest.raises(NotFound):
        sample.headers(name)


def test_writers_in_several_stores_make_one_line(home: str) -> None:
    first = NewCheckpoint(sample_ref(1, -1, "line"), None, {"n": 0}, "input")
    with closing(opened(home)) as store:
        store.append(first)

    def edit(number: int) -> bool:
        with closing(opened(home)) as store:
            try:
                store.fork(first.ref, "line", [Change("change", ("n",), 0, number)])
            except Conflict:
                return False
            return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(edit, range(8))) == 1
    with closing(opened(home)) as store:
        assert len(store.headers("line").items) == 2


def test_making_it_twice_changes_nothing_and_others_tables_stay(sample: NativePostgresStore, home: str) -> None:
    before = sample.threads()
    create_schema(home)
    assert sample.threads() == before
    address = address_of(home)
    writing = WriteConnection(address)
    with writing.transaction() as db:
        db.execute("CREATE SCHEMA theirs")
        db.execute("CREATE TABLE theirs.checkpoints (thread_id text)")
    writing.close()
    with pytest.raises(Unsupported, match="theirs"):
        create_schema(address.choosing(schema="theirs").shown)


def test_tables_of_a_newer_release_are_refused(sample: NativePostgresStore, home: str) -> None:
    with sample._writing() as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    with pytest.raises(Unsupported, match="99"):
        opened(home)
    with pytest.raises(Unsupported, match="99"):
        sample.append(NewCheckpoint(sample_ref(9, -1, "new"), None, {}, "input"))


def test_a_lost_connection_costs_one_notice_and_no_write_twice(sample: NativePostgresStore, home: str) -> None:
    for _ in range(2):
        kill_ours(home)
        assert [info.thread for info in sample.threads().items][-1] == "trip"
    kill_ours(home)
    sample.append(NewCheckpoint(sample_ref(9, -1, "new"), None, {}, "input"))
    assert sample.threads().items[0].checkpoints == 1
    assert len(sample.info.notices) == 1


BROUGHT = """-- a remark
/* and another */ """


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM {schema}.runs",
        "TRUNCATE {schema}.events",
        "DROP TABLE {schema}.events",
        "CREATE INDEX ON {schema}.events (kind)",
        f"{BROUGHT}COMMIT",
        "SELECT 1; COMMIT",
        "SET search_path = pg_catalog",
    ],
)
def test_a_business_statement_that_reaches_for_the_store_is_refused(
    sample: NativePostgresStore, home: str, statement: str
) -> None:
    schema = f'"{address_of(home).schema}"'
    with sample._writing() as db:
        db.execute("INSERT INTO events (at, kind) VALUES (1, 'a')")
        db.execute("INSERT INTO definitions (hash, workflow_id, version, body) VALUES ('h', 'w', '1', '{}')")
        db.execute("INSERT INTO runs (run_id, thread_id, workflow_hash, created_at) VALUES ('r', ?, 'h', 1)", ("trip",))
    with pytest.raises(Invalid), sample._writing() as db:
        execute_statement(db, statement.format(schema=schema), [], "node")
    with sample._reading() as db:
        counts = db.execute("SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM runs)").fetchone()
    assert counts == (1, 1)


def test_a_business_statement_finds_the_tables_of_the_role(sample: NativePostgresStore, shared: str) -> None:
    with psycopg.connect(shared) as db:
        db.execute("CREATE TABLE IF NOT EXISTS bills (n int, note text)")
    with sample._writing() as rows:
        execute_statement(rows, "INSERT INTO bills VALUES (?1::int, ?2 || '?')", [7, "why"], "node")
        assert rows.execute("SELECT count(*) FROM threads").fetchone() == (2,)
    with psycopg.connect(shared) as db:
        assert db.execute("SELECT n, note FROM bills").fetchall() == [(7, "why?")]
