"""The same threads in PostgreSQL, as PostgresSaver stores them: on a server that lives as long as the measuring.

Owns the server and its tables; what stands in them is `tests.bench.data`'s.
"""

from __future__ import annotations

import atexit
import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import cache
from typing import Any, Final

import ormsgpack
import psycopg

from tests.bench import data
from tests.postgres import fresh_database, running

_TABLES: Final = (
    "CREATE TABLE checkpoint_migrations (v INTEGER PRIMARY KEY)",
    "INSERT INTO checkpoint_migrations SELECT generate_series(0, 9)",
    "CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT "
    "NULL, parent_checkpoint_id TEXT, type TEXT, checkpoint JSONB NOT NULL, metadata JSONB NOT NULL DEFAULT '{}', "
    "PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))",
    "CREATE TABLE checkpoint_blobs (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', channel TEXT NOT "
    "NULL, version TEXT NOT NULL, type TEXT NOT NULL, blob BYTEA, "
    "PRIMARY KEY (thread_id, checkpoint_ns, channel, version))",
    "CREATE TABLE checkpoint_writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id "
    "TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, blob BYTEA NOT "
    "NULL, task_path TEXT NOT NULL DEFAULT '', PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))",
    "CREATE INDEX ON checkpoints (thread_id)",
    "CREATE INDEX ON checkpoint_blobs (thread_id)",
    "CREATE INDEX ON checkpoint_writes (thread_id)",
)


@cache
def _server() -> str:
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(running())


@cache
def linear(count: int) -> str:
    """The URL of a database with the thread of `tests.bench.data.linear`."""
    stack = ExitStack()
    url = stack.enter_context(fresh_database(_server()))
    atexit.register(stack.close)
    rows = list(_rows(count))
    with psycopg.connect(url) as db, db.cursor() as cursor:
        for statement in _TABLES:
            cursor.execute(statement)
        with cursor.copy(
            "COPY checkpoints (thread_id, checkpoint_id, parent_checkpoint_id, checkpoint, metadata) FROM STDIN"
        ) as copy:
            for thread, id, parent, content, metadata, _ in rows:
                copy.write_row((thread, id, parent, json.dumps(content), metadata.decode()))
        with cursor.copy("COPY checkpoint_blobs (thread_id, channel, version, type, blob) FROM STDIN") as copy:
            for thread, _, _, content, _, messages in rows:
                copy.write_row((thread, "messages", content["channel_versions"]["messages"], "msgpack", messages))
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("VACUUM ANALYZE")
    return url


Row = tuple[str, str, str | None, dict[str, Any], bytes, bytes]


def _rows(count: int) -> Iterator[Row]:
    """Thread, id, parent, the row without its messages, metadata, the messages."""
    with closing(sqlite3.connect(data.linear(count))) as db:
        question = "SELECT thread_id, checkpoint_id, parent_checkpoint_id, checkpoint, metadata FROM checkpoints"
        for thread, id, parent, stored, metadata in db.execute(question):
            content = ormsgpack.unpackb(stored, ext_hook=ormsgpack.Ext)
            messages = ormsgpack.packb(content["channel_values"].pop("messages"))
            yield thread, id, parent, content, metadata, messages
