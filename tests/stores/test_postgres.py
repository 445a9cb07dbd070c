"""The connection layer of PostgreSQL: reading cannot write, a question can be ended, a write is whole or not there."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg import sql

from stores.errors import Busy, Conflict, Invalid, NotFound, NotWritten, ReadOnly, StoreError, Unreachable, Unsupported
from stores.postgres import MOST, Database, Server
from stores.postgres_address import address_of
from stores.postgres_connecting import connect
from stores.postgres_errors import Interrupted
from stores.postgres_writing import PREPARED_AFTER, WriteConnection
from tests.pooler import pooler
from tests.postgres import at, database, kill_ours, postgres_server
from tests.postgres_line import Line, everything, line
from tests.stores.postgres_connections import ids, value
from tests.stores.postgres_connections import server as server
from tests.stores.postgres_connections import writing as writing

__all__ = ["database", "postgres_server"]


# --- reading


def test_reading_cannot_write_and_leaves_no_setting_behind(server: Server, writing: WriteConnection) -> None:
    for write in (b"INSERT INTO kept VALUES ('a', '')", b"CREATE TABLE t (a int)", b"SELECT nextval('s')"):
        with pytest.raises((ReadOnly, Unsupported)):
            server.read(lambda db, write=write: db.execute(write))  # type: ignore[misc]
    with connect(server.address, reading=True) as db:
        assert value(db, "SHOW default_transaction_read_only") == "on"
        assert value(db, "SHOW application_name") == "tt-debug"
    for _ in range(20):
        server.read(value)
    named = server.read(lambda db: value(db, "SELECT count(*) FROM pg_prepared_statements"))
    assert named == 0
    with server.connection():
        pass
    assert server.read(lambda db: value(db, "SELECT count(*) FROM kept")) == 0


def test_a_block_is_one_snapshot_and_the_next_one_sees_what_was_written(
    server: Server, writing: WriteConnection
) -> None:
    count = "SELECT count(*) FROM kept"
    with server.connection() as db:
        assert value(db, count) == 0
        with writing.transaction() as other:
            other.execute("INSERT INTO kept VALUES ('a', '')")
        assert value(db, count) == 0
        with server.connection() as within:
            assert within is db
    assert server.read(lambda db: value(db, count)) == 1


def test_many_threads_share_few_connections(server: Server, database: str) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: server.read(value), range(60)))
    assert answers == [1] * 60
    with psycopg.connect(database) as db:
        row = db.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tt-debug'").fetchone()
    assert row is not None
    assert 1 <= row[0] <= MOST


def test_json_comes_as_it_is_stored(server: Server) -> None:
    text = '{"a": 1.0, "b": 12345678901234567890.10}'
    assert server.read(lambda db: value(db, f"SELECT '{text}'::json")) == text
    assert server.read(lambda db: value(db, f"SELECT '{text}'::jsonb")) == text


def test_text_that_is_no_utf_8_keeps_its_bytes(postgres_server: str) -> None:
    with psycopg.connect(postgres_server, autocommit=True) as admin:
        admin.execute("CREATE DATABASE latin ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    try:
        server = Server(address_of(at(postgres_server, dbname="latin")))
        assert server.read(lambda db: value(db, r"SELECT convert_from('\xe9'::bytea, 'SQL_ASCII')")) == "\udce9"
        assert server.read(lambda db: value(db, "SELECT 'Łódź'")) == "Łódź"
        server.close()
    finally:
        with psycopg.connect(postgres_server, autocommit=True) as admin:
            admin.execute("DROP DATABASE latin")


def test_after_closing_nothing_is_answered(server: Server) -> None:
    server.close()
    server.close()
    with pytest.raises(Unreachable, match="closed"):
        server.read(value)


# --- ending a question


def test_a_question_nobody_waits_for_is_ended(server: Server, database: str) -> None:
    asking: list[int] = []

    def question(db: Database) -> object:
        asking.append(threading.get_ident())
        return value(db, "SELECT pg_sleep(60)")

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(server.read, question)
        _until_asked(database)
        server.interrupt(asking[0])
        with pytest.raises(Interrupted):
            answer.result(30)
        assert pool.submit(server.read, value).result(30) == 1
    assert server.notices == ()
    server.interrupt(threading.get_ident())
    assert server.read(value) == 1


def test_closing_ends_what_is_being_asked(server: Server, database: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(server.read, lambda db: value(db, "SELECT pg_sleep(60)"))
        _until_asked(database)
        server.close()
        with pytest.raises(StoreError):
            answer.result(30)


def _until_asked(database: str) -> None:
    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    with psycopg.connect(database, autocommit=True) as db:
        while value(db, sleeping) == 0:
            pass


# --- writing


def test_a_transaction_is_whole_or_not_there(writing: WriteConnection, database: str) -> None:
    with pytest.raises(ZeroDivisionError), writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a', %s)", (1 / int(db.closed),))
    assert ids(database) == []
    with writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('b', '')")
    with pytest.raises(Conflict), writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('c', ''), ('b', '')")
    assert ids(database) == ["b"]


def test_a_write_goes_on_after_its_connection_was_killed_between_two(writing: WriteConnection, database: str) -> None:
    assert kill_ours(database) == 1
    with writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a', '')")
    assert ids(database) == ["a"]


def test_a_write_whose_connection_breaks_is_not_repeated(writing: WriteConnection, database: str) -> None:
    def write() -> None:
        with writing.transaction() as db:
            db.execute("INSERT INTO kept VALUES ('a', '')")
            kill_ours(database)
            db.execute("INSERT INTO kept VALUES ('b', '')")

    with pytest.raises(Unreachable, match="nothing was written") as caught:
        write()
    assert caught.value.hint
    assert ids(database) == []


def test_a_server_too_old_to_resolve_a_lost_commit_is_not_written_to(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.postgres_writing.OLDEST", 990000)
    writing = WriteConnection(address_of(database))
    with pytest.raises(Unsupported, match="writing needs 99"), writing.transaction():
        raise AssertionError("not reached")
    writing.close()


@pytest.mark.parametrize("arrives", [True, False])
def test_a_connection_lost_at_the_commit_is_resolved_by_asking(
    writing: WriteConnection, database: str, arrives: bool
) -> None:
    def cutting(made: Line, said: bytes, client: socket.socket) -> bytes | None:
        if b"COMMIT\0" not in said:
            return said
        made.watch = everything
        if arrives:
            made.deaf = True
            return said
        made.cut()
        return None

    with line(database) as made:
        made.watch = cutting
        over = WriteConnection(address_of(made.url))

        def write() -> None:
            with over.transaction() as db:
                db.execute("INSERT INTO kept VALUES ('a', '')")

        if arrives:
            write()
        else:
            with pytest.raises(Unreachable, match="nothing was written"):
                write()
        over.close()
    assert ids(database) == (["a"] if arrives else [])


def test_a_lock_is_waited_for_a_bounded_while(
    writing: WriteConnection, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.postgres_writing._BEGIN_WRITING", "BEGIN; SET LOCAL lock_timeout = '50ms'")
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE kept")
        with pytest.raises(Busy), writing.transaction() as db:
            db.execute("INSERT INTO kept VALUES ('a', '')")


@pytest.mark.parametrize("note", ["a\0b", "\ud800"])
def test_what_postgresql_cannot_store_is_refused(writing: WriteConnection, database: str, note: str) -> None:
    with pytest.raises((Invalid, NotFound)), writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a', %s)", (note,))
    assert ids(database) == []


def test_what_is_asked_with_the_beginning_is_answered_within_the_transaction(
    writing: WriteConnection, database: str
) -> None:
    with writing.asking("SELECT 6, txid_current()", "SELECT 7 WHERE false") as (db, answers):
        assert answers == [(6, value(db, "SELECT txid_current()")), None]
        db.execute("INSERT INTO kept VALUES ('a', '')")
    with pytest.raises(Unsupported, match="nowhere"), writing.asking("SELECT * FROM nowhere"):
        raise AssertionError("not reached")
    with writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('b', '')")
    assert ids(database) == ["a", "b"]


def test_statements_are_prepared_on_a_session_of_our_own_alone(writing: WriteConnection, database: str) -> None:
    def prepared(over: WriteConnection) -> object:
        for _ in range(20):
            with over.transaction() as db:
                db.execute("SELECT count(*) FROM kept")
        with over.transaction() as db:
            return value(db, "SELECT count(*) FROM pg_prepared_statements WHERE strpos(statement, 'FROM kept') > 0")

    assert prepared(writing) == 1
    with pooler(database) as through:
        over = WriteConnection(address_of(through.url))
        assert prepared(over) == 0
        over.close()


@pytest.mark.parametrize("meanwhile", ["ALTER TABLE kept ALTER note TYPE varchar(9);", "EXECUTE 'DEALLOCATE ALL';"])
def test_a_prepared_statement_that_is_no_more_is_prepared_again(
    writing: WriteConnection, database: str, meanwhile: str
) -> None:
    def write(id: int, first: str = "") -> None:
        with writing.transaction() as db:
            db.execute(f"DO $$ BEGIN {first} END $$".encode(), prepare=False)
            db.execute("INSERT INTO kept VALUES (%s::int::text, '') RETURNING note", (id,))

    for id in range(PREPARED_AFTER + 1):
        write(id)
    with pytest.raises(NotWritten):
        write(6, meanwhile)
    write(7)
    assert ids(database) == ["0", "1", "2", "3", "4", "5", "7"]


# --- rights


@pytest.fixture
def lookers_url(postgres_server: str, database: str) -> Iterator[str]:
    """A role that may log in and nothing more."""
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("CREATE ROLE looker LOGIN")
    yield at(database, user="looker")
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("DROP OWNED BY looker")
        admin.execute("DROP ROLE looker")


def test_a_missing_right_is_named(writing: WriteConnection, database: str, lookers_url: str) -> None:
    server = Server(address_of(lookers_url))
    with pytest.raises(Unreachable) as caught:
        server.read(lambda db: db.execute("SELECT * FROM kept"))
    assert "GRANT SELECT ON kept" in caught.value.hint
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute(sql.SQL("GRANT SELECT ON kept TO looker"))
    assert server.read(lambda db: value(db, "SELECT count(*) FROM kept")) == 0
    server.close()
    writer = WriteConnection(address_of(lookers_url))
    with pytest.raises(ReadOnly) as refused, writer.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a', '')")
    assert "GRANT" in refused.value.hint
    writer.close()
