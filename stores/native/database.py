"""What the native store's statements are executed on: a connection to a file, or to a server in the same words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from stores.model import Value
from stores.native.states import States


class Cursor(Protocol):
    """What came of a statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Statements(Protocol):
    """A transaction, in which every statement is written for SQLite; `stores.native.dialect` knows the exceptions."""

    def execute(self, sql: str, parameters: Sequence[Value] | Mapping[str, Value] = (), /) -> Cursor: ...


class Database(Statements, Protocol):
    """A transaction of an open store, with what the store holds in memory of its states."""

    @property
    def states(self) -> States: ...


class FileRows:
    """A transaction on a file."""

    def __init__(self, connection: sqlite3.Connection, states: States) -> None:
        self.connection = connection
        self.states = states
        self.execute = connection.execute
