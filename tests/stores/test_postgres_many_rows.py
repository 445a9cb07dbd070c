"""A great many rows from PostgreSQL, taken in while it still sends: all of them, or the error that ended them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from stores import postgres
from stores.postgres import Database, Server, many_rows
from stores.postgres_address import address_of
from stores.postgres_errors import Interrupted, Lost
from tests.postgres import database, kill_ours, postgres_server

__all__ = ["database", "postgres_server"]

COUNT = 7
SLEEPS = f"SELECT n, CASE WHEN n >= {COUNT} THEN pg_sleep(60)::text END FROM generate_series(1, %s) n"


@pytest.fixture
def server(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(postgres, "_CHUNK", 2)
    opened = Server(address_of(database))
    yield opened
    opened.close()


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("count", [0, 1, 4, COUNT])
def test_all_rows_come_in_order(server: Server, monkeypatch: pytest.MonkeyPatch, chunked: bool, count: int) -> None:
    monkeypatch.setattr(psycopg.capabilities, "has_stream_chunked", lambda check=False: chunked)
    question = "SELECT n, n::text FROM generate_series(1, %s) n"
    rows = server.read(lambda db: many_rows(db, question, count))
    assert rows == [(n, str(n)) for n in range(1, count + 1)]


def test_they_can_be_ended_when_some_have_come(server: Server, database: str) -> None:
    asking: list[int] = []

    def question(db: Database) -> object:
        asking.append(threading.get_ident())
        return many_rows(db, SLEEPS, COUNT)

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(server.read, question)
        _until_asleep(database)
        server.interrupt(asking[0])
        with pytest.raises(Interrupted):
            answer.result(30)
        assert pool.submit(server.read, lambda db: many_rows(db, "SELECT 1")).result(30) == [(1,)]


def test_a_connection_that_breaks_when_some_have_come_is_lost(server: Server, database: str) -> None:
    def question() -> object:
        with server.connection() as db:
            return many_rows(db, SLEEPS, COUNT)

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(question)
        _until_asleep(database)
        assert kill_ours(database) == 1
        with pytest.raises(Lost):
            answer.result(30)


def _until_asleep(database: str) -> None:
    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    with psycopg.connect(database, autocommit=True) as db:
        while db.execute(sleeping).fetchall() == [(0,)]:
            pass
