"""The native schema: its tables, its numbered migrations, and how a native file is recognised.

Owns making and migrating the tables of `stores.native.tables`; refuses to read or write a single row of history.
Times are INTEGER microseconds since 1970 in UTC, JSON stands as plain text.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from stores.errors import Unsupported
from stores.native.database import Statements as Rows
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
    ONE_ACTIVE_RUN,
    PAST_TASKS,
    RUNS,
    STEPS,
    THREADS,
    Table,
)
from stores.points import point

if TYPE_CHECKING:
    from sqlite_utils import Database

FORMAT: Final = "tt-debug"


def is_native(db: sqlite3.Connection) -> bool:
    """Whether the file says of itself that it is ours: a row in its `meta` table, not a table's name."""
    if _columns(db, "meta") != {"key", "value"}:
        return False
    row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    return row is not None and row[0] == FORMAT


VERSION: Final = "SELECT value FROM meta WHERE key = 'schema'"


def version_of(db: Rows) -> int:
    """The number of the newest migration that a native store has seen."""
    return version_in(db.execute(VERSION).fetchone())


def version_in(row: tuple[str] | None) -> int:
    """The same, from the row that `VERSION` gives."""
    return int(row[0]) if row else 0


def store_id_of(db: Rows) -> str:
    """The id a native store was born with; a copy of it keeps the id."""
    return str(db.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchone()[0])


def check_readable(db: sqlite3.Connection, path: str) -> None:
    """Raises Unsupported for a file that a newer release wrote in a form that this one does not know."""
    found = version_of(db)
    if found > len(MIGRATIONS):
        raise Unsupported(
            f"{path} has native schema {found}, this tt-debug knows up to {len(MIGRATIONS)}",
            hint="Upgrade tt-debug to open it; nothing was changed.",
        )


def check_ours(db: sqlite3.Connection, path: str) -> None:
    """Raises Unsupported for a newer schema, and for a file in which somebody else's tables live."""
    if is_native(db):
        check_readable(db, path)
        return
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    if not names:
        return
    whose = "LangGraph's" if {"checkpoints", "writes"} <= set(names) else "another program's"
    raise Unsupported(
        f"{path} holds {whose} tables ({', '.join(names[:4])}); a native store keeps a file of its own",
        hint="Choose a file that does not exist yet.",
    )


def migrate(db: sqlite3.Connection, path: str) -> None:
    """Bring the file to the newest schema, or make it. The caller holds an immediate transaction, and commits it.

    Raises Unsupported as `check_ours` does.
    """
    check_ours(db, path)
    found = version_of(db) if is_native(db) else 0
    if found == len(MIGRATIONS):
        return
    tables = _sqlite_utils(db)
    for number, step in enumerate(MIGRATIONS[found:], start=found + 1):
        step(tables)
        db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', ?)", (str(number),))
        point("native.schema-changed")


def check_library() -> None:
    """Raises Unsupported where sqlite-utils would use another SQLite library than Python's own."""
    import sqlite_utils  # 175 ms, and only a file that is made or migrated needs it

    library = vars(sqlite_utils.utils)["sqlite3"]
    if library is not sqlite3:
        raise Unsupported(
            f"{library.__name__} is installed beside Python's own sqlite3; two SQLite libraries break file locks",
            hint=f"Uninstall {library.__name__.split('.')[0]}.",
        )


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in db.execute(f"PRAGMA table_info({table})")}


def _sqlite_utils(db: sqlite3.Connection) -> Database:
    import sqlite_utils

    check_library()
    return sqlite_utils.Database(db, recursive_triggers=False, execute_plugins=False)


def _first(db: Database) -> None:
    for table in (META, THREADS, CHECKPOINTS, DEFINITIONS, RUNS, STEPS, INBOX, EVENTS):
        _create(db, table)
    db.execute(ONE_ACTIVE_RUN)
    identity = {"format": FORMAT, "store_id": uuid.uuid4().hex}
    db.conn.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", identity.items())


def _second(db: Database) -> None:
    _create(db, PAST_TASKS)


def _third(db: Database) -> None:
    _create(db, EFFECTS)
    _create(db, EFFECT_USES)
    db.execute("ALTER TABLE runs ADD COLUMN on_conflict TEXT")  # new | reuse | skip; null: ask


def _fourth(db: Database) -> None:
    _create(db, BREAKPOINTS)
    for name, columns in EVENT_INDEXES.items():
        db.execute(f"CREATE INDEX {name} ON events ({', '.join(columns.split())})")


def _fifth(db: Database) -> None:
    _create(db, CHUNKS)  # states that are there stay as they stand: history is never rewritten


def _create(db: Database, table: Table) -> None:
    pk = table.pk[0] if len(table.pk) == 1 else table.pk
    made = db.create_table(
        table.name,
        dict(table.columns),
        pk=pk,
        not_null=table.not_null.split(),
        defaults=dict(table.defaults),
        foreign_keys=list(table.references),
    )
    for name, columns in table.indexes:
        made.create_index(columns.split(), name)
    for name, columns in table.unique:
        made.create_index(columns.split(), name, unique=True)


MIGRATIONS: Final[tuple[Callable[[Database], None], ...]] = (_first, _second, _third, _fourth, _fifth)
