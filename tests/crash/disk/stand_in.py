"""apsw in the words of Python's `sqlite3`: as much of it as a store needs, under that name in this process.

Only for a process that has not imported `sqlite3`, and never will.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

import apsw

synchronous: list[str] = []
"""What a writer gets when it says how it wants to sync, where a test puts something else here."""
LOG_PAGES = 50
"""The log is written back this often, so that a short run meets it many times; SQLite's own figure is 1000."""


class Warning(Exception): ...


class Error(Exception):
    sqlite_errorcode = apsw.SQLITE_ERROR
    sqlite_errorname = "SQLITE_ERROR"


class DatabaseError(Error): ...


class OperationalError(DatabaseError): ...


class IntegrityError(DatabaseError): ...


class InterfaceError(Error): ...


class ProgrammingError(DatabaseError): ...


class NotSupportedError(DatabaseError): ...


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        kind = IntegrityError if isinstance(error, apsw.ConstraintError) else OperationalError
        told = kind(str(error))
        told.sqlite_errorcode = getattr(error, "extendedresult", None) or getattr(error, "result", apsw.SQLITE_ERROR)
        told.sqlite_errorname = str(apsw.mapping_extended_result_codes.get(told.sqlite_errorcode, "SQLITE_ERROR"))
        raise told from error


class Cursor:
    """What came of a statement."""

    def __init__(self, db: apsw.Connection, sql: str, parameters: Any) -> None:
        before = db.total_changes()
        with _translated():
            self._cursor = db.execute(sql, parameters)
        self.rowcount = db.total_changes() - before

    @property
    def description(self) -> Any:
        return self._cursor.description

    def fetchone(self) -> Any:
        with _translated():
            return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        with _translated():
            return list(self._cursor.fetchall())

    def close(self) -> None:
        self._cursor.close()

    def __iter__(self) -> Iterator[Any]:
        with _translated():
            yield from self._cursor


class Connection:
    """In autocommit, as the stores ask for it."""

    isolation_level = None
    text_factory: Callable[[bytes], str]

    def __init__(self, name: str, timeout: float) -> None:
        with _translated():
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
            self._db = apsw.Connection(name, flags)
        self._db.set_busy_timeout(int(timeout * 1000))
        self._db.wal_autocheckpoint(LOG_PAGES)

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    def execute(self, sql: str, parameters: Any = ()) -> Cursor:
        if synchronous and sql.startswith("PRAGMA synchronous = "):
            sql = f"PRAGMA synchronous = {synchronous[0]}"
        return Cursor(self._db, sql, parameters)

    def executemany(self, sql: str, many: Any) -> None:
        for parameters in many:
            self.execute(sql, tuple(parameters))

    def set_authorizer(self, hook: Callable[..., int] | None) -> None:
        self._db.authorizer = hook

    def close(self) -> None:
        # What goes wrong while the log is written back at the end is SQLite's own business, as in `sqlite3`.
        with suppress(apsw.Error):
            self._db.close()


def connect(name: str, timeout: float = 5.0, **_autocommit: Any) -> Connection:
    return Connection(name, timeout)


def install() -> None:
    """Be `sqlite3` from now on. Raises RuntimeError where the other library is there already."""
    if "_sqlite3" in sys.modules:
        raise RuntimeError("two SQLite libraries in one process break each other's locks")
    module = ModuleType("sqlite3")
    own = {name: value for name, value in globals().items() if not name.startswith("_")}
    codes = {name: getattr(apsw, name) for name in dir(apsw) if name.startswith("SQLITE_")}
    version = apsw.sqlite_lib_version()
    numbers = tuple(int(part) for part in version.split("."))
    module.__dict__.update(own, **codes, sqlite_version=version, sqlite_version_info=numbers)
    module.__dict__["dbapi2"] = module
    sys.modules["sqlite3"] = sys.modules["sqlite3.dbapi2"] = module
