"""Rows of the event log, inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Mapping

from stores.model import Value
from stores.native.database import Database
from stores.native.lease_clock import micros_now
from stores.native.rows import from_micros, from_text, to_text
from stores.supervision import StoredEvent


def log(db: Database, kind: str, data: Mapping[str, Value], run_id: str | None, thread: str | None) -> StoredEvent:
    """Insert one."""
    at = micros_now(db)
    (id,) = db.execute(
        "INSERT INTO events (at, run_id, thread_id, kind, data) VALUES (?, ?, ?, ?, ?) RETURNING id",
        (at, run_id, thread, kind, to_text(dict(data), kind)),
    ).fetchone()
    time = from_micros(at)
    assert time is not None
    return StoredEvent(id, time, kind, run_id, thread, data)


def event_of(row: tuple[Value, ...]) -> StoredEvent:
    """From id, at, kind, run_id, thread_id, data."""
    id, at, kind, run_id, thread, data = row
    time = from_micros(at)
    assert time is not None
    return StoredEvent(id, time, kind, run_id, thread, from_text(data) or {})
