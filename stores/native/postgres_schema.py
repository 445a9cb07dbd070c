"""The native tables in a PostgreSQL schema of their own: made, recognised, brought up to date.

Owns their age, with numbers of its own: what a release of the SQLite schema adds, a migration here adds too.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Final

from stores.errors import Corrupt, Unsupported
from stores.native.dialect import PostgresRows, statements_for
from stores.native.schema import FORMAT, version_of
from stores.native.schema import MIGRATIONS as FILE_MIGRATIONS
from stores.native.states import States
from stores.native.tables import (
    BREAKPOINTS,
    CHECKPOINTS,
    CHUNKS,
    DEFINITIONS,
    EFFECT_USES,
    EFFECTS,
    EVENT_INDEXES,
    EVENTS,
    INBOX,
    META,
    PAST_TASKS,
    RUNS,
    STEPS,
    THREADS,
)
from stores.points import point
from stores.postgres import Database
from stores.postgres_address import Address, address_of
from stores.postgres_writing import Begun, WriteConnection

SCHEMA: Final = "tt_debug"
"""Where native tables live, unless a URL's ``schema=`` says otherwise."""

_TABLES: Final = (
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
)

_CLOCK: Final = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)"
_LOOK: Final = f"SELECT set_config('search_path', quote_ident(%s), true), {_CLOCK}"
_TURN: Final = (
    "SELECT pg_advisory_xact_lock(hashtext('tt-debug'), hashtext({schema})),"
    f" set_config('search_path', quote_ident({{schema}}), true), {_CLOCK}"
)


def create_schema(url: str) -> None:
    """Make an empty native store, or bring an older one up to date.

    Raises Unsupported for a schema in which other tables live, ReadOnly where the role may not make one.
    """
    address = address_of(url)
    writing = WriteConnection(address)
    try:
        schema = address.schema or SCHEMA
        with writing.asking(turn_of(schema)) as begun:
            migrate(begun.db, address, schema)
    finally:
        writing.close()


def turn_of(schema: str) -> str:
    """What makes the only writer of a native schema until the transaction ends; waits for others a bounded while."""
    from psycopg import sql

    return sql.SQL(_TURN).format(schema=sql.Literal(schema)).as_string()


def turn_taken(begun: Begun, states: States) -> PostgresRows:
    """The native store's statements for whoever asked for the turn first."""
    return PostgresRows(begun.db, begun.answers[0][-1], states)


def look_into(db: Database, schema: str, states: States | None = None) -> PostgresRows:
    """The native store's statements in a schema, for the length of a transaction."""
    row = db.execute(_LOOK, (schema,)).fetchone()
    assert row is not None
    return PostgresRows(db, row[1], states or States(_no_blob))


def _no_blob(digest: str) -> bytes:
    raise Corrupt(f"no store to read the binary value {digest} from")


def migrate(db: Database, address: Address, schema: str) -> None:
    """Bring the schema to the newest form, or make it. The caller holds its lock in a transaction."""
    names = {row[0] for row in db.execute(_TABLES, (schema,))}
    if db.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is None:
        from psycopg import sql

        db.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    rows = look_into(db, schema)
    if names and not is_native(rows, names):
        raise Unsupported(
            f"the schema {schema} of {address.shown} holds other tables ({', '.join(sorted(names)[:4])})",
            hint="A native store keeps a schema of its own: name one by ?schema=…",
        )
    found = version_of(rows) if names else 0
    check_readable(found, address, schema)
    for number, step in enumerate(MIGRATIONS[found:], start=found + 1):
        step(rows)
        rows.execute(
            "INSERT INTO meta (key, value) VALUES ('schema', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (str(number),),
        )
        point("native.schema-changed")


def is_native(rows: PostgresRows, names: set[str]) -> bool:
    """Whether the tables of a schema say of themselves that they are ours."""
    if "meta" not in names or "threads" not in names:
        return False
    row = rows.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    return row is not None and row[0] == FORMAT


def check_readable(version: int, address: Address, schema: str) -> None:
    """Raises Unsupported for tables that a newer release wrote in a form that this one does not know."""
    if version > len(MIGRATIONS):
        raise Unsupported(
            f"the schema {schema} of {address.shown} has native form {version}, this tt-debug knows up to"
            f" {len(MIGRATIONS)}",
            hint="Upgrade tt-debug to open it; nothing was changed.",
        )


def _first(rows: PostgresRows) -> None:
    for table in (META, THREADS, CHECKPOINTS, DEFINITIONS, RUNS, STEPS, INBOX, EVENTS):
        for statement in statements_for(table):
            rows.execute(statement)
    for key, value in {"format": FORMAT, "store_id": uuid.uuid4().hex}.items():
        rows.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (key, value))


def _second(rows: PostgresRows) -> None:
    for statement in statements_for(PAST_TASKS):
        rows.execute(statement)


def _third(rows: PostgresRows) -> None:
    for table in (EFFECTS, EFFECT_USES):
        for statement in statements_for(table):
            rows.execute(statement)
    rows.execute('ALTER TABLE runs ADD COLUMN on_conflict text COLLATE "C"')


def _fourth(rows: PostgresRows) -> None:
    for statement in statements_for(BREAKPOINTS):
        rows.execute(statement)
    for name, columns in EVENT_INDEXES.items():
        rows.execute(f"CREATE INDEX {name} ON events ({', '.join(columns.split())})")


def _fifth(rows: PostgresRows) -> None:
    for statement in statements_for(CHUNKS):
        rows.execute(statement)


MIGRATIONS: Final[tuple[Callable[[PostgresRows], None], ...]] = (_first, _second, _third, _fourth, _fifth)
assert len(MIGRATIONS) == len(FILE_MIGRATIONS), "both forms of the native schema grow together"
