"""What the rows of a thread take in a file, by the lengths of their values."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Protocol

from stores.keeping import Room
from stores.langgraph.skeleton import Key


class _Tables(Protocol):
    @property
    def db(self) -> sqlite3.Connection: ...
    @property
    def id(self) -> str: ...
    @property
    def ns(self) -> str: ...
    @property
    def metadata(self) -> str: ...
    @property
    def has_writes(self) -> bool: ...


def room(self: _Tables, thread: str, kept: Collection[Key]) -> Room:
    """As `stores.langgraph.tables.Tables.room`, whose method it is. SQLite knows the length of a blob without reading
    it, and of a text it does not."""
    names = set(kept)
    total = free = 0
    tables = {"checkpoints": ("checkpoint", self.metadata)} | ({"writes": ("value",)} if self.has_writes else {})
    for table, columns in tables.items():
        lengths = (
            f"ifnull(CASE typeof({what}) WHEN 'text' THEN length(CAST({what} AS BLOB)) ELSE length({what}) END, 0)"
            for what in columns
        )
        question = f"SELECT {self.ns}, {self.id}, {' + '.join(lengths)} FROM {table} WHERE thread_id = ?"
        for ns, id, size in self.db.execute(question, (thread,)):
            total += size
            free += 0 if (id, ns) in names else size
    return Room(total, free)
