"""The native schema: its tables, its numbered migrations, and how a native file is recognised.

Owns every CREATE statement; refuses to read or write a single row of history.
Times are INTEGER microseconds since 1970 in UTC, JSON stands as plain text.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from stores.errors import Unsupported

if TYPE_CHECKING:
    from sqlite_utils import Database

FORMAT: Final = "tt-debug"


def is_native(db: sqlite3.Connection) -> bool:
    """Whether the file says of itself that it is ours: a row in its `meta` table, not a table's name."""
    if _columns(db, "meta") != {"key", "value"}:
        return False
    row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    return row is not None and row[0] == FORMAT


def version_of(db: sqlite3.Connection) -> int:
    """The number of the newest migration that a native file has seen."""
    row = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    return int(row[0]) if row else 0


def store_id_of(db: sqlite3.Connection) -> str:
    """The id a native file was born with; a copy of the file keeps it."""
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


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: Mapping[str, type]
    pk: tuple[str, ...]
    not_null: str = ""
    defaults: Mapping[str, str | int] = field(default_factory=dict)
    references: tuple[tuple[str, str, str], ...] = ()
    indexes: tuple[tuple[str, str], ...] = ()
    unique: tuple[tuple[str, str], ...] = ()


_META: Final = _Table("meta", {"key": str, "value": str}, ("key",), "key value")

_THREADS: Final = _Table(
    "threads",
    {
        "thread_id": str,
        "forked_from_thread": str,
        "forked_from": str,
        "head": str,
        "business_id": str,
        "title": str,
        "labels": str,
        "protected": int,
        "created_at": int,
        "archived_at": int,
    },
    ("thread_id",),
    "thread_id protected created_at",
    {"protected": 0},
)

_CHECKPOINTS: Final = _Table(
    "checkpoints",
    {
        # The order of insertion: a parent is always before its child, whatever their ids say.
        "seq": int,
        "thread_id": str,
        "checkpoint_id": str,
        "parent_id": str,
        "parent_thread": str,  # null: the same thread
        "step": int,
        "source": str,  # input | step | substep | suspend | answer | edit | fork | migrate | import | cancel
        "nodes": str,
        "visit": int,
        "next": str,
        "status": str,
        "run_id": str,
        "token": int,
        "commit_id": str,
        "workflow_hash": str,
        "checksum": str,
        "size": int,
        "created_at": int,
        "meta": str,
        "state": str,  # last, so that the columns before it are read without walking past it
    },
    ("seq",),
    "thread_id checkpoint_id step source nodes next status checksum size created_at meta state",
    references=(("thread_id", "threads", "thread_id"),),
    indexes=(
        ("checkpoints_by_parent", "parent_id thread_id parent_thread source"),
        # Covers all that a header needs: a listing never touches the pages that hold states.
        (
            "checkpoints_headers",
            "thread_id seq checkpoint_id parent_id parent_thread step source nodes visit next status"
            " run_id workflow_hash size created_at meta",
        ),
    ),
    unique=(("checkpoints_by_id", "thread_id checkpoint_id"), ("checkpoints_by_commit", "commit_id")),
)

_DEFINITIONS: Final = _Table(
    "definitions",
    {
        "hash": str,
        "workflow_id": str,
        "version": str,
        "body": str,
        "origin": str,
        "code_fingerprint": str,
        "state_schema": str,
        "compatible_with": str,
        "created_at": int,
        "retired_at": int,
    },
    ("hash",),
    "hash workflow_id version body",
    unique=(("definitions_by_version", "workflow_id version"),),
)

_RUNS: Final = _Table(
    "runs",
    {
        "run_id": str,
        "thread_id": str,
        "workflow_hash": str,
        "business_id": str,
        "mode": str,  # live | recorded | verify
        "status": str,
        "hold_reason": str,
        "base": str,
        "head": str,
        "until": str,
        "requested": str,  # pause | cancel, of a running owner
        "owner": str,
        "owner_pid": int,
        "boot_id": str,
        "token": int,
        "lease_until": int,
        "beat_at": int,
        "recoveries": int,
        "available_at": int,
        "traceparent": str,
        "error": str,
        "created_at": int,
        "started_at": int,
        "ended_at": int,
    },
    ("run_id",),
    "run_id thread_id workflow_hash mode status token recoveries created_at",
    {"mode": "live", "status": "pending", "token": 0, "recoveries": 0},
    references=(("thread_id", "threads", "thread_id"), ("workflow_hash", "definitions", "hash")),
    indexes=(("runs_by_thread", "thread_id created_at"),),
)

_STEPS: Final = _Table(
    "steps",
    {
        "run_id": str,
        "ordinal": int,
        "substep": str,
        "attempt": int,
        "node": str,
        "visit": int,
        "token": int,
        "status": str,  # running | completed | failed | abandoned | skipped
        "thread_id": str,
        "base": str,  # the checkpoint it started from
        "checkpoint_id": str,  # the checkpoint it ended at
        "input_hash": str,
        "output_hash": str,
        "input": str,
        "output": str,
        "started_at": int,
        "ended_at": int,
        "error_class": str,
        "retryable": int,
        "error": str,
        "next_attempt_at": int,
        "log": str,
        "span_id": str,
    },
    ("run_id", "ordinal", "substep", "attempt"),
    "run_id ordinal substep attempt node visit token status",
    {"substep": "", "visit": 1},
    references=(("run_id", "runs", "run_id"),),
    indexes=(("steps_by_checkpoint", "thread_id checkpoint_id"), ("steps_by_base", "thread_id base")),
)

_INBOX: Final = _Table(
    "inbox",
    {
        "id": str,
        "kind": str,  # approval | question | unknown_effect | effect_conflict | version | checksum | recovery_limit
        "run_id": str,
        "thread_id": str,
        "checkpoint_id": str,
        "node": str,
        "prompt": str,
        "response_schema": str,
        "status": str,  # open | answered | expired | withdrawn
        "due_at": int,
        "on_timeout": str,
        "answer": str,
        "answered_by": str,
        "answered_at": int,
        "created_at": int,
    },
    ("id",),
    "id kind thread_id status created_at",
    {"kind": "approval", "status": "open"},
    indexes=(("inbox_by_thread", "thread_id status"),),
)

_EVENTS: Final = _Table(
    "events",
    {"id": int, "at": int, "run_id": str, "thread_id": str, "kind": str, "data": str},
    ("id",),
    "at kind",
)

_PAST_TASKS: Final = _Table(
    "past_tasks",
    # Tasks as a runtime elsewhere told of them, for checkpoints that were imported: no step of ours says it again.
    {"thread_id": str, "checkpoint_id": str, "tasks": str},
    ("thread_id", "checkpoint_id"),
    "thread_id checkpoint_id tasks",
)

_ONE_ACTIVE_RUN: Final = (
    "CREATE UNIQUE INDEX runs_one_active ON runs (thread_id)"
    " WHERE status IN ('pending', 'running', 'waiting_human', 'paused', 'crashed')"
)


def _first(db: Database) -> None:
    for table in (_META, _THREADS, _CHECKPOINTS, _DEFINITIONS, _RUNS, _STEPS, _INBOX, _EVENTS):
        _create(db, table)
    db.execute(_ONE_ACTIVE_RUN)
    identity = {"format": FORMAT, "store_id": uuid.uuid4().hex}
    db.conn.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", identity.items())


def _second(db: Database) -> None:
    _create(db, _PAST_TASKS)


def _create(db: Database, table: _Table) -> None:
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


MIGRATIONS: Final[tuple[Callable[[Database], None], ...]] = (_first, _second)
