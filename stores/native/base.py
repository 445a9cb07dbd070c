"""The connections of a native store, and its schema's age.

Owns opening, closing and bringing a file up to date; refuses to know what a row means.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from stores.errors import Corrupt, ReadOnly, Unreachable, Unsupported
from stores.native import schema
from stores.native.chunks import fetched
from stores.native.database import Database, FileRows
from stores.native.states import States
from stores.rereading import rereading
from stores.sqlite import Reader, WriteConnection, open_reading, open_writing


def lock_path(path: Path) -> Path:
    """The file that is locked around each write transaction of a native store."""
    return Path(f"{path.resolve()}.wlock")


def create_file(path: Path) -> None:
    """Make an empty native store, or bring an older one up to date. Raises Unsupported for a foreign file."""
    schema.check_library()
    if path.exists() and path.stat().st_size > 0:
        # Looked at first: opening for writing would turn a stranger's file into WAL mode.
        reader = open_reading(path)
        try:
            reader.read(lambda db: schema.check_ours(db, str(path)))
        finally:
            reader.close()
    writing = open_writing(path, lock_path(path), create=True)
    try:
        with writing.transaction() as db:
            schema.migrate(db, str(path))
    finally:
        writing.close()


class Fence(NamedTuple):
    """What a run's owner writes under. ``owner`` is its name where this store object made the claim, else None."""

    run_id: str
    token: int
    owner: str | None


class NativeBase:
    """What the parts of a native store are built on. How a transaction comes about is its place's business."""

    def __init__(self) -> None:
        self._claims: dict[tuple[str, int], str] = {}
        """The owners of the runs that were claimed through this object, by run and token."""

    def _fence(self, run_id: str, token: int) -> Fence:
        return Fence(run_id, token, self._claims.get((run_id, token)))

    def _reading(self) -> AbstractContextManager[Database]:
        """A read-only transaction on one snapshot, which holds what other processes have committed by now."""
        raise NotImplementedError

    def _writing(self) -> AbstractContextManager[Database]:
        """A transaction that no other writer of the store is in, committed at the end of the block or not at all.

        Raises ReadOnly for a store opened for looking, Busy after five seconds of another one's lock, Unsupported
        when a newer release has changed the store since.
        """
        raise NotImplementedError

    def _check_writable(self) -> None:
        """Raises ReadOnly, or Unreachable after closing."""
        raise NotImplementedError

    @rereading
    def blob(self, digest: str) -> bytes:
        """A binary value by its SHA-256. Raises Corrupt for one that is gone, or is not what was written."""
        with self._reading() as db:
            (found,) = fetched(db, [bytes.fromhex(digest)]).values()
        if isinstance(found, str):
            raise Corrupt(f"the binary value {digest} {found}", hint="Restore it from a copy of the store.")
        return found


class NativeFile(NativeBase):
    """A native file, open: read-only connections for looking, one write connection made when first needed."""

    def __init__(self, path: Path, *, read_only: bool = True) -> None:
        super().__init__()
        self._path = path.resolve()
        self._read_only = read_only
        self._reader: Reader = open_reading(path)
        self._writer: WriteConnection | None = None
        self._closed = False
        self._states = States(self.blob)
        try:
            self._store_id: str = self._reader.read(self._identify)
        except BaseException:
            self._reader.close()
            raise

    def _identify(self, db: sqlite3.Connection) -> str:
        if not schema.is_native(db):
            raise Unsupported(f"{self._path} is not a native store", hint="Open it by its path alone.")
        schema.check_readable(db, str(self._path))
        return schema.store_id_of(db)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Database]:
        with self._reader.connection() as db:
            yield FileRows(db, self._states)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Database]:
        self._check_writable()
        if self._writer is None:
            self._writer = open_writing(self._path, lock_path(self._path))
        with self._writer.transaction() as db:
            if schema.version_of(db) != len(schema.MIGRATIONS):
                schema.migrate(db, str(self._path))
            yield FileRows(db, self._states)

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnly(f"{self._path} was opened for reading only", hint="Open it without --read-only.")
        if self._closed:
            raise Unreachable(f"{self._path} was closed", hint="Open the store again.")

    def version(self) -> object:
        """As `stores.protocol.TellsVersion`."""
        return self._reader.version()

    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""
        # The reader first: the write connection is then the last one, and tidies the log away.
        self._closed = True
        self._reader.close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
