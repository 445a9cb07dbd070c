"""The native store without a file: for a program that runs workflows in its own process, and for tests.

Owns one connection to a database that ends with it. `stores.memory` is the contract in plain Python, and keeps no runs.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stores.errors import ReadOnly, Unreachable
from stores.model import StoreInfo
from stores.native import schema
from stores.native.base import NativeBase
from stores.native.database import Database, FileRows
from stores.native.history import CAPABILITIES, NativeHistory
from stores.native.states import States
from stores.points import point
from stores.sqlite import text_of
from stores.sqlite_errors import translated

_URL: Final = "memory:"


class NativeMemory(NativeBase):
    """A connection that every thread takes in turn, and that no other process can open."""

    def __init__(self, db: sqlite3.Connection | None = None, *, read_only: bool = False) -> None:
        """``db`` is a database in memory with the native tables; a new one when it is None."""
        super().__init__()
        found = db or _made()
        self._db: sqlite3.Connection | None = found
        self._read_only = read_only
        self._lock = threading.RLock()
        self._states = States(self.blob)
        self._store_id = schema.store_id_of(found)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Database]:
        with self._lock, translated(Path(_URL)):
            yield FileRows(self._open(), self._states)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Database]:
        with self._lock, translated(Path(_URL)):
            self._check_writable()
            db = self._open()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield FileRows(db, self._states)
                point("memory.written")
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def _check_writable(self) -> None:
        self._open()
        if self._read_only:
            raise ReadOnly("this store was opened for reading only")

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            raise Unreachable("this store was closed")
        return self._db

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                db.close()


class MemoryRunStore(NativeHistory, NativeMemory):
    """A native store that lasts as long as the object."""

    @property
    def info(self) -> StoreInfo:
        """What this store is and can do."""
        return StoreInfo(_URL, "native", self._store_id, CAPABILITIES, self._read_only)

    def frozen(self) -> MemoryRunStore:
        """A copy that refuses writes."""
        with self._lock:
            copy = _connection()
            self._open().backup(copy)
        return MemoryRunStore(copy, read_only=True)


def _made() -> sqlite3.Connection:
    db = _connection()
    schema.migrate(db, _URL)
    return db


def _connection() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    db.text_factory = text_of
    db.execute("PRAGMA foreign_keys = ON")
    return db
