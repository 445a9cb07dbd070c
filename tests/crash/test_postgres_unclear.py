"""A PostgreSQL server that crashes before it has a commit on its disk: its next transactions get the same ids."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

import stores.postgres_writing
from stores.errors import NotWritten, Unclear
from stores.postgres_address import address_of
from stores.postgres_writing import WriteConnection
from tests.postgres import fresh_database, postgres_server, restart

__all__ = ["postgres_server"]

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif("TT_DEBUG_TEST_POSTGRES" in os.environ, reason="that server is not ours to restart"),
]


@pytest.fixture
def rows(postgres_server: str) -> Iterator[str]:
    """A database with an empty table of one column."""
    with fresh_database(postgres_server) as url:
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("CREATE TABLE rows (n int)")
        yield url


def test_a_commit_that_a_crash_took_is_not_believed_for_somebody_elses_of_the_same_id(
    rows: str, postgres_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[int] = []

    def crash(point: str) -> None:
        if point == "postgres.written":
            restart(postgres_server, "immediate")
            _take_ids(rows, up_to=lost[0])

    monkeypatch.setattr(stores.postgres_writing, "point", crash)
    # Where the server had the insert on its disk by chance the id is not given twice, and it can tell.
    with closing(WriteConnection(address_of(rows))) as writing, pytest.raises((Unclear, NotWritten)):
        _insert(writing, lost)
    with psycopg.connect(rows) as db:
        assert db.execute("SELECT count(*) FROM rows").fetchone() == (0,)


def _insert(writing: WriteConnection, ids: list[int]) -> None:
    with writing.transaction() as db:
        db.execute("INSERT INTO rows VALUES (1)")
        ids.append(_id(db))


def _take_ids(url: str, up_to: int) -> None:
    """Somebody else's transactions, each committed."""
    with psycopg.connect(url, autocommit=True) as db:
        while _id(db) < up_to:
            pass


def _id(db: psycopg.Connection[Any]) -> int:
    row = db.execute("SELECT pg_current_xact_id()::text").fetchone()
    assert row is not None
    return int(row[0])
