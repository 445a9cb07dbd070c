"""LangGraph's PostgreSQL dumps under tests/data, loaded where a test may do with them what it likes."""

from __future__ import annotations

import re

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
