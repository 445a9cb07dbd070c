"""What the native store's statements are executed on: a connection to a file, or to a server in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from stores.model import Value


class Cursor(Protocol):
    """What came of a statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """A transaction, in which every statement is written for SQLite; `stores.native.dialect` knows the exceptions."""

    def execute(self, sql: str, parameters: Sequence[Value] | Mapping[str, Value] = (), /) -> Cursor: ...
