"""The SQL over a mapped table, and its rows as values.

Owns quoting, ordering and reading of single cells; refuses to open anything.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from stores.codec import json
from stores.errors import Corrupt
from stores.ids import time_of
from stores.model import Checkpoint, Header, Opaque, Ref, Status, Value

Cell = Value
"""What sqlite3 gives: None, int, float, str or bytes."""

_META_TEXT: Final = 200  # characters of an unmapped column that a listing carries
_STATUSES: Final = {
    **dict.fromkeys(("failed", "failure", "error", "errored"), Status.FAILED),
    **dict.fromkeys(("waiting", "interrupted", "suspended"), Status.WAITING),
    **dict.fromkeys(("running", "in_progress", "started"), Status.RUNNING),
    **dict.fromkeys(("pending", "queued"), Status.PENDING),
    **dict.fromkeys(("cancelled", "canceled"), Status.CANCELLED),
}
_MILLISECONDS_FROM: Final = 1e11  # as seconds that would be the year 5138
_MICROSECONDS_FROM: Final = 1e14


class Row(NamedTuple):
    """One row as a listing reads it. ``place`` are the values of the ordering columns, ``meta`` the unmapped ones."""

    id: Cell
    parent: Cell
    step: Cell
    node: Cell
    status: Cell
    created: Cell
    size: Cell
    place: tuple[Cell, ...]
    meta: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """The mapped columns of a table, each an SQL expression; "NULL" for a part that is not mapped.

    ``order`` sorts a thread, oldest first; ``recency`` sorts rows of different threads.
    """

    table: str
    thread: str
    id: str
    state: str
    parent: str | None
    step: str
    node: str
    status: str
    created: str
    order: tuple[str, ...]
    recency: str
    meta: tuple[str, ...]

    def threads(self, *, after: bool) -> str:
        """Every thread with its head row; parameters: the recency to start below when ``after``, then the limit."""
        return (
            "SELECT thread, count, recency, updated, id, step, node, status FROM ("
            f"SELECT {self.thread} AS thread, count(*) OVER each AS count, max({self.recency}) OVER each AS recency,"
            f" max({self.created}) OVER each AS updated, {self.id} AS id, {self.step} AS step, {self.node} AS node,"
            f" {self.status} AS status, row_number() OVER (PARTITION BY {self.thread} ORDER BY {self._head_first()})"
            f" AS place FROM {self.table} AS t WINDOW each AS (PARTITION BY {self.thread}))"
            f" WHERE place = 1{' AND recency < ?' if after else ''} ORDER BY recency DESC LIMIT ?"
        )

    def headers(self, *, after: bool) -> str:
        """A thread's rows, newest first; parameters: thread, the place to start below when ``after``, limit."""
        below = f" AND ({', '.join(self.order)}) < ({', '.join('?' * len(self.order))})" if after else ""
        return f"{self._row()} WHERE {self.thread} IS ?{below} ORDER BY {self._newest_first()} LIMIT ?"

    def head(self) -> str:
        """The id of the newest row that is nobody's parent; parameter: thread."""
        return f"SELECT {self.id} FROM {self.table} AS t WHERE {self.thread} IS ? ORDER BY {self._head_first()} LIMIT 1"

    def one(self) -> str:
        """One row; parameters: thread, id."""
        return f"{self._row()} WHERE {self.thread} IS ? AND {self.id} = ? ORDER BY {self._newest_first()} LIMIT 1"

    def state_of(self) -> str:
        """The state of one row; parameters: thread, id."""
        where = f"{self.thread} IS ? AND {self.id} IS ?"
        return f"SELECT {self.state} FROM {self.table} WHERE {where} ORDER BY {self._newest_first()} LIMIT 1"

    def thread_key(self, *, null: bool) -> str:
        """The stored name of a thread; parameter: the name as text, which NULL stands for when ``null``."""
        same = f"{self.thread} = ?1" + (f" OR {self.thread} IS NULL" if null else "")
        return f"SELECT {self.thread} FROM {self.table} WHERE {same} LIMIT 1"

    def meta_names(self) -> tuple[str, ...]:
        """The unmapped columns by their names."""
        return tuple(name[1:-1].replace('""', '"') for name in self.meta)

    def row_of(self, cells: tuple[Cell, ...]) -> Row:
        """What `headers` and `one` select, as a Row."""
        places = 7 + len(self.order)
        id, parent, step, node, status, created, size = cells[:7]
        return Row(id, parent, step, node, status, created, size, cells[7:places], cells[places:])

    def _row(self) -> str:
        # A text's length would walk its pages; a blob's stands in the row's own header.
        size = f"CASE typeof({self.state}) WHEN 'blob' THEN length({self.state}) END"
        meta = (
            f"CASE typeof({column}) WHEN 'blob' THEN NULL WHEN 'text' THEN substr({column}, 1, {_META_TEXT})"
            f" ELSE {column} END"
            for column in self.meta
        )
        parts = [self.id, self._parent(), self.step, self.node, self.status, self.created, size, *self.order, *meta]
        return f"SELECT {', '.join(parts)} FROM {self.table} AS t"

    def _parent(self) -> str:
        if self.parent is not None:
            return self.parent
        earlier = f"({', '.join(f'p.{c}' for c in self.order)}) < ({', '.join(f't.{c}' for c in self.order)})"
        order = ", ".join(f"p.{column} DESC" for column in self.order)
        return (
            f"(SELECT p.{self.id} FROM {self.table} AS p WHERE p.{self.thread} IS t.{self.thread} AND {earlier}"
            f" ORDER BY {order} LIMIT 1)"
        )

    def _head_first(self) -> str:
        if self.parent is None:
            return self._newest_first()
        # Ids are compared as text: a parent column is often of another type than the id it holds.
        is_parent = (
            f"({self.thread}, CAST({self.id} AS TEXT)) IN (SELECT {self.thread}, CAST({self.parent} AS TEXT)"
            f" FROM {self.table} WHERE {self.parent} IS NOT NULL)"
        )
        return f"{is_parent}, {self._newest_first()}"

    def _newest_first(self) -> str:
        return ", ".join(f"{column} DESC" for column in self.order)


def quoted(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def name_of(cell: Cell) -> str:
    """A thread or id as text. NULL is the empty name, bytes are written in hex."""
    if cell is None:
        return ""
    return cell.hex() if isinstance(cell, bytes) else str(cell)


def stored_as(db: sqlite3.Connection, sql: str, *names: Cell) -> tuple[Cell, ...] | None:
    """The row that ``sql`` finds for a last name as it was typed: as text, else, where that is not stored, a number."""
    found: tuple[Cell, ...] | None = db.execute(sql, names).fetchone()
    if found is None and re.fullmatch(r"-?[0-9]{1,18}", names[-1]):
        found = db.execute(sql, (*names[:-1], int(names[-1]))).fetchone()
    return found


def header_of(thread: str, row: Row, columns: Columns) -> Header:
    """A header. Such a table does not say what would run, so nothing is pending."""
    id = name_of(row.id)
    step = row.step if isinstance(row.step, int) else None
    meta = dict(zip(columns.meta_names(), row.meta, strict=True))
    return Header(
        ref=Ref(thread, "", id),
        parent=None if row.parent is None or row.parent == "" else Ref(thread, "", name_of(row.parent)),
        step=step,
        source="step",
        created=moment(row.created) or time_of(id),
        nodes=() if row.node is None else (name_of(row.node),),
        status=status_of(row.status),
        size=row.size,
        meta={name: cell for name, cell in meta.items() if cell is not None},
    )


def status_of(cell: Cell) -> str:
    """The status a cell tells; done where it tells nothing that is known."""
    return _STATUSES.get(cell.lower(), Status.DONE) if isinstance(cell, str) else Status.DONE


def moment(cell: Cell) -> datetime | None:
    """A time from ISO 8601 text or a number of seconds, milliseconds or microseconds since 1970, in UTC."""
    try:
        if isinstance(cell, str):
            read = datetime.fromisoformat(cell)
            return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
        if isinstance(cell, int | float):
            unit = 1e6 if cell >= _MICROSECONDS_FROM else 1e3 if cell >= _MILLISECONDS_FROM else 1
            return datetime.fromtimestamp(cell / unit, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def checkpoint_of(header: Header, column: str, cell: Cell) -> Checkpoint:
    """A row with its state: a JSON object as it is, any other value under the name of its column."""
    if cell is None:
        return Checkpoint(replace(header, problem=f"{column} is NULL: no state was stored"), {})
    if isinstance(cell, int | float):
        return Checkpoint(header, {column: cell})
    raw = cell if isinstance(cell, bytes) else cell.encode("utf-8", "surrogatepass")
    try:
        value = json.loads(raw)
    except Corrupt:
        kind = "bytes" if isinstance(cell, bytes) else "undecodable"
        return Checkpoint(replace(header, problem=f"{column} is not JSON"), {column: Opaque(kind, raw)})
    return Checkpoint(header, value if isinstance(value, dict) else {column: value})
