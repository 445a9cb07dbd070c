"""LangGraph's PostgreSQL dumps under tests/data, loaded where a test may do with them what it likes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import psycopg

from stores.langgraph.postgres import LangGraphPostgresStore
from stores.postgres import Server
from stores.postgres_address import address_of
from tests.stores.langgraph_files import text


def load(name: str, url: str, schema: str = "public") -> None:
    """Put a dump into a database, in a schema of any name."""
    dump = text(name)
    if schema != "public":
        dump = f"CREATE SCHEMA {schema};\n" + re.sub(r"\bpublic\.", f"{schema}.", dump)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(dump.encode())


def opened(url: str, *, schema: str = "public", read_only: bool = True) -> LangGraphPostgresStore:
    """Our store on a schema of a database."""
    server = Server(address_of(url))
    try:
        return LangGraphPostgresStore(server, schema, read_only=read_only)
    except BaseException:
        server.close()
        raise


def rows_of(url: str, thread: str) -> dict[str, Sequence[tuple[Any, ...]]]:
    """Every row of one thread in all tables."""
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    with psycopg.connect(url, autocommit=True) as db:
        questions = {table: f"SELECT * FROM {table} WHERE thread_id = %s ORDER BY 2, 3, 4, 5" for table in tables}
        return {table: db.execute(question.encode(), (thread,)).fetchall() for table, question in questions.items()}
