"""Connections of ours to a test's database, and what tests ask over them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from stores.postgres import Database, Server
from stores.postgres_address import address_of
from stores.postgres_writing import WriteConnection


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


def value(db: Database, question: str = "SELECT 1") -> object:
    row = db.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


def ids(url: str) -> list[str]:
    with psycopg.connect(url) as db:
        return [row[0] for row in db.execute("SELECT id FROM kept ORDER BY id")]
