"""Connections to PostgreSQL that break, and servers that go away: a question costs a notice at most."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from stores import postgres_connecting
from stores.errors import Unreachable
from stores.postgres import MOST, Database, Server
from stores.postgres_address import Address
from stores.postgres_connecting import RETURN_SECONDS
from stores.postgres_errors import Lost
from stores.postgres_writing import WriteConnection
from tests.postgres import SERVER, kill_ours, restart
from tests.postgres import database as database
from tests.postgres import postgres_server as postgres_server
from tests.stores.postgres_connections import ids, value
from tests.stores.postgres_connections import server as server
from tests.stores.postgres_connections import writing as writing


def test_a_killed_connection_costs_one_notice(server: Server, database: str) -> None:
    assert server.notices == ()
    with ThreadPoolExecutor(MOST) as pool:
        list(pool.map(lambda _: server.read(lambda db: value(db, "SELECT pg_sleep(0.01)")), range(MOST)))
    assert kill_ours(database) >= 1
    assert [server.read(value) for _ in range(5)] == [1] * 5
    assert len(server.notices) == 1


def test_a_question_is_asked_once_more_when_its_connection_breaks(server: Server, database: str) -> None:
    asked = []

    def question(db: Database) -> object:
        asked.append(db)
        if len(asked) == 1:
            kill_ours(database)
        return value(db)

    assert server.read(question) == 1
    assert len(asked) == 2
    assert len(server.notices) == 1


def test_a_question_that_breaks_every_connection_is_not_asked_for_ever(server: Server, database: str) -> None:
    asked = []

    def question(db: Database) -> object:
        asked.append(db)
        kill_ours(database)
        return value(db)

    with pytest.raises(Lost):
        server.read(question)
    assert len(asked) == 2


@pytest.mark.skipif(SERVER in os.environ, reason="the server is not ours to restart")
def test_a_restarted_server_costs_one_notice(
    server: Server, writing: WriteConnection, database: str, postgres_server: str
) -> None:
    assert server.read(value) == 1
    restart(postgres_server)
    assert [server.read(value) for _ in range(3)] == [1] * 3
    with writing.transaction() as db:
        db.execute("INSERT INTO kept VALUES ('a')")
    assert ids(database) == ["a"]
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
        server.read(value)
    assert RETURN_SECONDS <= tried[-1] < 2 * RETURN_SECONDS
    tried.clear()
    with pytest.raises(Unreachable):
        server.read(value)
    assert len(tried) == 1
    monkeypatch.undo()
    assert server.read(value) == 1
