"""Rows of many checkpoints by their ids, a few hundred in a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from stores.model import Ref, Value
from stores.native.asking import parts
from stores.native.database import Statements

Row = tuple[Value, ...]


# The ids are looked up by themselves: given the choice, SQLite goes through a whole thread in the index that holds
# every column of a header.
_BY_ID: Final = "FROM checkpoints i JOIN checkpoints c ON c.seq = i.seq WHERE i.thread_id = ? AND i.checkpoint_id"


def rows_at(db: Statements, refs: Iterable[Ref], columns: str) -> Iterator[tuple[Ref, Row]]:
    """These columns of each checkpoint ``c`` that is there."""
    return rows_of(db, refs, f"SELECT c.checkpoint_id, {columns} {_BY_ID}")


def rows_of(db: Statements, refs: Iterable[Ref], sql: str, more: str = "") -> Iterator[tuple[Ref, Row]]:
    """What a statement has of these checkpoints. It ends before the list of their ids, with ``more`` after it; its
    first column is an id, its only parameter the thread."""
    for thread, ids in _by_thread(refs):
        for row in db.execute(f"{sql} IN ({', '.join('?' * len(ids))}){more}", (thread, *ids)):
            yield Ref(thread, "", row[0]), row[1:]


def _by_thread(refs: Iterable[Ref]) -> Iterator[tuple[str, list[str]]]:
    """The ids of each thread, in parts."""
    threads: dict[str, list[str]] = {}
    for ref in refs:
        if not ref.ns:
            threads.setdefault(ref.thread, []).append(ref.id)
    for thread, ids in threads.items():
        for part in parts(ids):
            yield thread, part
