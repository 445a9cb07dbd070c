"""The connection layer of PostgreSQL: reading cannot write, a lost connection costs nothing, secrets stay hidden."""

from __future__ import annotations

import os
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from psycopg import sql

from stores import create_native, open_store, postgres_connecting
from stores.errors import Busy, Conflict, Invalid, NotFound, ReadOnly, StoreError, Unreachable, Unsupported
from stores.postgres import MOST, Database, Server, WriteConnection, place_id
from stores.postgres_address import Address, address_of
from stores.postgres_connecting import RETURN_SECONDS, connect
from stores.postgres_errors import Interrupted, Lost
from stores.urls import is_postgres
from tests.postgres import SERVER, at, database, kill_ours, postgres_server, restart
from tests.postgres_line import Line, everything, line

__all__ = ["database", "postgres_server"]


@pytest.fixture
def server(database: str) -> Iterator[Server]:
    opened = Server(address_of(database))
    yield opened
    opened.close()


@pytest.fixture
def writing(database: str) -> Iterator[WriteConnection]:
    opened = WriteConnection(address_of(database))
    with opened.transaction() as db:
        db.execute("CREATE TABLE kept (id text PRIMARY KEY, note text)")
    yield opened
    opened.close()


def _value(db: Database, question: str = "SELECT 1") -> object:
    row = db.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


def _ids(url: str) -> list[str]:
    with psycopg.connect(url) as db:
        return [row[0] for row in db.execute("SELECT id FROM kept ORDER BY id")]


# --- addresses


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me@h:5433/app", "postgresql://me@h:5433/app"),
        ("postgres://me:s3cret@h/app?schema=my%20own", "postgresql://me:***@h:5432/app?schema=my%20own"),
        ("postgresql+psycopg://me@h/app", "postgresql://me@h:5432/app"),
        ("postgresql://me@/app?host=/run/pg", "postgresql://me@/app?host=/run/pg&port=5432"),
        ("host=h dbname=app user=me password='it\\'s'", "postgresql://me:***@h:5432/app"),
        ("dbname=app user=me host=h schema=other", "postgresql://me@h:5432/app?schema=other"),
        ("service=prod", "postgresql:///?service=prod"),
        ("postgresql://me@[::1]/app", "postgresql://me@[::1]:5432/app"),
        ("postgresql://me@a:1,b:2/app", "postgresql://me@/app?host=a%2Cb&port=1%2C2"),
    ],
)
def test_an_address_is_shown_as_a_url_that_opens_it_without_its_password(url: str, shown: str) -> None:
    found = address_of(url)
    assert is_postgres(url)
    assert found.shown == shown
    again = address_of(found.shown)
    assert {**again.parameters, "password": ""} == {
        "port": "5432",
        **found.parameters,
        "password": "",
    } or "service" in url
    assert again.chosen == found.chosen


def test_what_of_a_database_is_meant_is_kept_from_libpq() -> None:
    found = address_of("postgresql://h/app?schema=mine&table=t&thread=a&id=b&state=c&sslmode=require")
    assert (found.schema, found.mapping) == ("mine", {"table": "t", "thread": "a", "id": "b", "state": "c"})
    assert dict(found.parameters) == {"host": "h", "dbname": "app", "sslmode": "require"}
    assert found.choosing(schema="x").shown.endswith("?sslmode=require&schema=x")


@pytest.mark.parametrize("url", ["app.db", "sqlite:///app.db", "/srv/service=x", "redis://h/0", "notes about host=h"])
def test_other_stores_are_not_taken_for_postgresql(url: str) -> None:
    assert not is_postgres(url)


def test_where_nothing_is_said_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGHOST": "db.test", "PGPORT": "6000", "PGUSER": "me", "PGDATABASE": "app"}.items():
        monkeypatch.setenv(name, value)
    assert address_of("postgresql://").shown == "postgresql://me@db.test:6000/app"
    assert place_id(address_of("postgresql://")) == place_id(address_of("postgresql://db.test:6000/app"))
    assert place_id(address_of("postgresql:///other")) != place_id(address_of("postgresql://"))


def test_a_service_is_looked_up(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = address_of(database).parameters
    services = tmp_path / "services.conf"
    services.write_text("[ours]\n" + "".join(f"{name}={value}\n" for name, value in parameters.items()))
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    with connect(address_of("service=ours"), reading=True) as db:
        assert _value(db, "SELECT current_database()") == parameters["dbname"]
    create_native("service=ours")
    with closing(open_store("service=ours schema=tt_debug")) as store:
        assert (store.info.kind, store.info.url) == ("native", "postgresql:///?service=ours&schema=tt_debug")


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Unsupported) as caught:
        address_of("postgresql://h/app")
    assert "tt-debug[postgres]" in caught.value.hint


# --- secrets


SECRET = "hush/hush@9x"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/app",  # not escaped: libpq takes pieces of it for a host and a port
        "postgresql://me:hush%2Fhush%409x@127.0.0.1:1/app",
        "postgresql://me:hush@9x@127.0.0.1:1/app",
        "postgresql://me:12?hush@127.0.0.1:1/app",
        "postgresql://me:hush#9x@127.0.0.1:1/app",
        f"host=127.0.0.1 port=1 user=me password='{SECRET}'",
        f"host=127.0.0.1 password={SECRET} '",
    ],
)
def test_a_password_is_in_no_message_and_no_traceback(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        Server(address_of(url))
    told = "".join(traceback.format_exception(caught.value)) + caught.value.hint
    assert "hush" not in told.replace(url, "")


def test_a_password_is_in_no_repr() -> None:
    assert SECRET not in repr(address_of(f"host=h password={SECRET}"))
    assert Address("x", {"password": SECRET}).masked(f"no {SECRET}!") == "no ***!"


# --- opening


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"port": "1", "host": "127.0.0.1"}, "refused"),
        ({"dbname": "nowhere"}, "nowhere"),
        ({"user": "nobody"}, "nobody"),
    ],
)
def test_what_cannot_be_reached_says_why(database: str, other: dict[str, str], message: str) -> None:
    with pytest.raises(Unreachable, match=message) as caught:
        Server(address_of(at(database, **other)))
    assert caught.value.hint


def test_a_pooler_that_passes_no_options_on_is_read_through(database: str) -> None:
    refused = []

    def pooler(made: Line, said: bytes, client: socket.socket) -> bytes | None:
        if b"default_transaction_read_only" not in said:
            return said
        refused.append(said)
        reason = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0"
        client.sendall(b"E" + (len(reason) + 4).to_bytes(4, "big") + reason)
        return None

    with line(database) as made:
        made.watch = pooler
        server = Server(address_of(made.url))
        with pytest.raises(ReadOnly):
            server.read(lambda db: db.execute("CREATE TABLE t (a int)"))
        server.close()
    assert len(refused) == 1


# --- reading


def test_reading_cannot_write_and_leaves_no_setting_behind(server: Server, writing: WriteConnection) -> None:
    for write in (b"INSERT INTO kept VALUES ('a', '')", b"CREATE TABLE t (a int)", b"SELECT nextval('s')"):
        with pytest.raises((ReadOnly, Unsupported)):
            server.read(lambda db, write=write: db.execute(write))  # type: ignore[misc]
    with connect(server.address, reading=True) as db:
        assert _value(db, "SHOW default_transaction_read_only") == "on"
        assert _value(db, "SHOW application_name") == "tt-debug"
    for _ in range(20):
        server.read(_value)
    named = server.read(lambda db: _value(db, "SELECT count(*) FROM pg_prepared_statements"))
    assert named == 0
    with server.connection():
        pass
    assert server.read(lambda db: _value(db, "SELECT count(*) FROM kept")) == 0


def test_a_block_is_one_snapshot_and_the_next_one_sees_what_was_written(
    server: Server, writing: WriteConnection
) -> None:
    count = "SELECT count(*) FROM kept"
    with server.connection() as db:
        assert _value(db, count) == 0
        with writing.transaction() as other:
            other.execute("INSERT INTO kept VALUES ('a', '')")
        assert _value(db, count) == 0
        with server.connection() as within:
            assert within is db
    assert server.read(lambda db: _value(db, count)) == 1


def test_many_threads_share_few_connections(server: Server, database: str) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: server.read(_value), range(60)))
    assert answers == [1] * 60
    with psycopg.connect(database) as db:
        row = db.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tt-debug'").fetchone()
    assert row is not None
    assert 1 <= row[0] <= MOST


def test_json_comes_as_it_is_stored(server: Server) -> None:
    text = '{"a": 1.0, "b": 12345678901234567890.10}'
    assert server.read(lambda db: _value(db, f"SELECT '{text}'::json")) == text
    assert server.read(lambda db: _value(db, f"SELECT '{text}'::jsonb")) == text


def test_text_that_is_no_utf_8_keeps_its_bytes(postgres_server: str) -> None:
    with psycopg.connect(postgres_server, autocommit=True) as admin:
        admin.execute("CREATE DATABASE latin ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    try:
        server = Server(address_of(at(postgres_server, dbname="latin")))
        assert server.read(lambda db: _value(db, r"SELECT convert_from('\xe9'::bytea, 'SQL_ASCII')")) == "\udce9"
        assert server.read(lambda db: _value(db, "SELECT 'Łódź'")) == "Łódź"
        server.close()
    finally:
        with psycopg.connect(postgres_server, autocommit=True) as admin:
            admin.execute("DROP DATABASE latin")


def test_after_closing_nothing_is_answered(server: Server) -> None:
    server.close()
    server.close()
    with pytest.raises(Unreachable, match="closed"):
        server.read(_value)


# --- a lost connection


def test_a_killed_connection_costs_one_notice(server: Server, database: str) -> None:
    assert server.notices == ()
    with ThreadPoolExecutor(MOST) as pool:
        list(pool.map(lambda _: server.read(lambda db: _value(db, "SELECT pg_sleep(0.01)")), range(MOST)))
    assert kill_ours(database) >= 1
    assert [server.read(_value) for _ in range(5)] == [1] * 5
    assert len(server.notices) == 1


def test_a_question_is_asked_once_more_when_its_connection_breaks(server: Server, database: str) -> None:
    asked = []

    def question(db: Database) -> object:
        asked.append(db)
        if len(asked) == 1:
            kill_ours(database)
        return _value(db)

    assert server.read(question) == 1
    assert len(asked) == 2
    assert len(server.notices) == 1


def test_a_question_that_breaks_every_connection_is_not_asked_for_ever(server: Server, database: str) -> None:
    asked = []

    def question(db: Database) -> object:
        asked.append(db)
        kill_ours(database)
        return _value(db)

    with pytest.raises(Lost):
        server.read(question)
    assert len(asked) == 2


@pytest.mark.skipif(SERVER in os.environ, reason="the server is not ours to restart")
def test_a_restarted_server_costs_one_notice(
    server: Server, writing: WriteConnection, database: str, postgres_server: str
) -> None:
    assert server.read(_value) == 1
    restart(postgres_server)
    assert [server.read(_value) for _ in range(3)] == [1] * 3
    with writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a')")
    assert _ids(database) == ["a"]
    assert len(server.notices) == 1


def test_a_server_that_stays_away_is_waited_for_once(
    server: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_ours(database)
    now = [0.0]
    tried: list[float] = []

    def pass_time(seconds: float) -> None:
        now[0] += seconds

    def refuse(address: Address, *, reading: bool) -> Database:
        tried.append(now[0])
        raise Unreachable("connection refused")

    monkeypatch.setattr(postgres_connecting, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=pass_time))
    monkeypatch.setattr(postgres_connecting, "connect", refuse)
    with pytest.raises(Unreachable):
        server.read(_value)
    assert RETURN_SECONDS <= tried[-1] < 2 * RETURN_SECONDS
    tried.clear()
    with pytest.raises(Unreachable):
        server.read(_value)
    assert len(tried) == 1
    monkeypatch.undo()
    assert server.read(_value) == 1


# --- ending a question


def test_a_question_nobody_waits_for_is_ended(server: Server, database: str) -> None:
    asking: list[int] = []

    def question(db: Database) -> object:
        asking.append(threading.get_ident())
        return _value(db, "SELECT pg_sleep(60)")

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(server.read, question)
        _until_asked(database)
        server.interrupt(asking[0])
        with pytest.raises(Interrupted):
            answer.result(30)
        assert pool.submit(server.read, _value).result(30) == 1
    assert server.notices == ()
    server.interrupt(threading.get_ident())
    assert server.read(_value) == 1


def test_closing_ends_what_is_being_asked(server: Server, database: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(server.read, lambda db: _value(db, "SELECT pg_sleep(60)"))
        _until_asked(database)
        server.close()
        with pytest.raises(StoreError):
            answer.result(30)


def _until_asked(database: str) -> None:
    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    with psycopg.connect(database, autocommit=True) as db:
        while _value(db, sleeping) == 0:
            pass


# --- writing


def test_a_transaction_is_whole_or_not_there(writing: WriteConnection, database: str) -> None:
    with pytest.raises(ZeroDivisionError), writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a', %s)", (1 / int(db.closed),))
    assert _ids(database) == []
    with writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('b', '')")
    with pytest.raises(Conflict), writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('c', ''), ('b', '')")
    assert _ids(database) == ["b"]


def test_a_write_goes_on_after_its_connection_was_killed_between_two(writing: WriteConnection, database: str) -> None:
    assert kill_ours(database) == 1
    with writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a', '')")
    assert _ids(database) == ["a"]


def test_a_write_whose_connection_breaks_is_not_repeated(writing: WriteConnection, database: str) -> None:
    def write() -> None:
        with writing.transaction() as db:
            db.execute("INSERT INTO kept VALUES ('a', '')")
            kill_ours(database)
            db.execute("INSERT INTO kept VALUES ('b', '')")

    with pytest.raises(Unreachable, match="nothing was written") as caught:
        write()
    assert caught.value.hint
    assert _ids(database) == []


def test_a_server_too_old_to_resolve_a_lost_commit_is_not_written_to(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.postgres.OLDEST", 990000)
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
    assert _ids(database) == (["a"] if arrives else [])


def test_a_lock_is_waited_for_a_bounded_while(
    writing: WriteConnection, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.postgres._BEGIN_WRITING", "BEGIN; SET LOCAL lock_timeout = '50ms'")
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE kept")
        with pytest.raises(Busy), writing.transaction() as db:
            db.execute("INSERT INTO kept VALUES ('a', '')")


@pytest.mark.parametrize("note", ["a\0b", "\ud800"])
def test_what_postgresql_cannot_store_is_refused(writing: WriteConnection, database: str, note: str) -> None:
    with pytest.raises((Invalid, NotFound)), writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a', %s)", (note,))
    assert _ids(database) == []


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
    assert server.read(lambda db: _value(db, "SELECT count(*) FROM kept")) == 0
    server.close()
    writer = WriteConnection(address_of(lookers_url))
    with pytest.raises(ReadOnly) as refused, writer.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a', '')")
    assert "GRANT" in refused.value.hint
    writer.close()
