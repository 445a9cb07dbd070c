"""Any SQLite table with a thread, an id and a state column, read as history by a mapping of column names.

Owns what such a table can tell; refuses to write to it, and to guess what it does not say.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import quote, urlencode

from stores.codec import json
from stores.errors import NotFound, Unsupported
from stores.ids import time_of
from stores.looking import LookingOnly
from stores.model import Checkpoint, Header, Page, Ref, StoreInfo, ThreadInfo
from stores.sqlite import file_id, open_reading
from stores.table_rows import (
    Cell,
    Columns,
    Row,
    checkpoint_of,
    header_of,
    moment,
    name_of,
    quoted,
    status_of,
    stored_as,
)


@dataclass(frozen=True, slots=True)
class TableMapping:
    """Which column of which table plays which part. Without ``parent`` the row before is the parent."""

    table: str
    thread: str
    id: str
    state: str
    parent: str | None = None
    step: str | None = None
    node: str | None = None
    status: str | None = None
    created: str | None = None

    def parts(self) -> dict[str, str]:
        """Part → column, without the table and what is not mapped."""
        named = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "table"}
        return {part: column for part, column in named.items() if column is not None}

    def url(self, path: Path) -> str:
        """The URL that opens the file by this mapping."""
        query = urlencode({"table": self.table, **self.parts()}, quote_via=quote)
        return f"sqlite:///{quote(str(path))}?{query}"


class TableStore(LookingOnly):
    """One mapped table. It can be looked at only: appending to a stranger's table is nobody's wish."""

    def __init__(self, path: Path, mapping: TableMapping, *, read_only: bool = True, proposed: bool = False) -> None:
        """Open a table. Raises Unsupported when the file has no such table or column."""
        self._path = path
        self._mapping = mapping
        self._reader = open_reading(path)
        try:
            self._columns = self._reader.read(lambda db: _columns_of(db, path, mapping))
        except BaseException:
            self._reader.close()
            raise
        said = ", ".join(f"{part} = {column}" for part, column in {"table": mapping.table, **mapping.parts()}.items())
        self.info = StoreInfo(
            url=str(path),
            kind="table",
            store_id=file_id(path),
            capabilities=frozenset(),
            read_only=read_only,
            path=str(path),
            notices=(f"Read as a table, by its columns: {said}. To choose others: {mapping.url(path)}",)
            if proposed
            else (),
        )

    def threads(self, after: str | None = None, limit: int = 200) -> Page[ThreadInfo]:
        """Newest row first."""
        _check_limit(limit)
        start = _cursor(after)
        sql = self._columns.threads(after=bool(start))
        rows = self._reader.read(lambda db: db.execute(sql, (*start, limit + 1)).fetchall())
        following = _after([row[2:3] for row in rows], after, limit)
        return Page(tuple(_thread_of(row) for row in rows[:limit]), following)

    def headers(self, thread: str, after: str | None = None, limit: int = 1000) -> Page[Header]:
        """Newest row first. Raises NotFound."""
        _check_limit(limit)
        start = _cursor(after)
        sql = self._columns.headers(after=bool(start))

        def question(db: sqlite3.Connection) -> list[Row]:
            found = db.execute(sql, (self._key(db, thread), *start, limit + 1))
            return [self._columns.row_of(cells) for cells in found]

        rows = self._reader.read(question)
        following = _after([row.place for row in rows], after, limit)
        return Page(tuple(header_of(thread, row, self._columns) for row in rows[:limit]), following)

    def head(self, thread: str, ns: str = "") -> Ref:
        """The newest row that no other row of the thread has as its parent. Raises NotFound."""
        if ns:
            raise NotFound(f"{self._path} has no namespaces", hint="Leave the namespace empty.")
        sql = self._columns.head()
        row = self._reader.read(lambda db: db.execute(sql, (self._key(db, thread),)).fetchone())
        return Ref(thread, "", name_of(row[0]))

    def load(self, ref: Ref) -> Checkpoint:
        """One row. A state that is no JSON object is shown as it is, with the reason in ``header.problem``."""

        def question(db: sqlite3.Connection) -> tuple[Row, Cell] | None:
            key = self._key(db, ref.thread)
            cells = stored_as(db, self._columns.one(), key, ref.id)
            row = None if cells is None else self._columns.row_of(cells)
            if row is None or name_of(row.id) != ref.id:
                return None
            return row, db.execute(self._columns.state_of(), (key, row.id)).fetchone()[0]

        found = None if ref.ns else self._reader.read(question)
        if found is None:
            raise NotFound(f"no row {ref.id} in thread {ref.thread!r}", hint="List the thread with `log`.")
        row, state = found
        return checkpoint_of(header_of(ref.thread, row, self._columns), self._mapping.state, state)

    def _key(self, db: sqlite3.Connection, thread: str) -> Cell:
        """The cell that names the thread, as it is stored. Raises NotFound."""
        row = stored_as(db, self._columns.thread_key(null=not thread), thread)
        if row is None or name_of(row[0]) != thread:
            raise NotFound(f"no thread {thread!r} in {self._path}", hint="List the threads with `tt-debug threads`.")
        return row[0]

    def version(self) -> object:
        """As `stores.protocol.TellsVersion`."""
        return self._reader.version()

    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""
        self._reader.close()


def _columns_of(db: sqlite3.Connection, path: Path, mapping: TableMapping) -> Columns:
    """Raises Unsupported, naming what there is, for a table or column that is not there."""
    kinds = {row[0]: row[1] for row in db.execute("SELECT name, type FROM pragma_table_info(?)", (mapping.table,))}
    if not kinds:
        tables = sorted(row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"))
        raise Unsupported(f"no table {mapping.table!r} in {path}", hint=f"It has: {', '.join(tables) or 'none'}.")
    parts = mapping.parts()
    missing = sorted(column for column in parts.values() if column not in kinds)
    if missing:
        raise Unsupported(
            f"table {mapping.table!r} of {path} has no column {', '.join(missing)}",
            hint=f"It has: {', '.join(kinds)}.",
        )
    table, id = quoted(mapping.table), quoted(mapping.id)
    rowid = _rowid(db, table, kinds)
    # Whole numbers say the order themselves, also where rows were copied in another one.
    numbered = "INT" in kinds[mapping.id].upper()
    order = (id, *rowid) if numbered or not rowid else rowid
    named = {part: quoted(parts[part]) if part in parts else "NULL" for part in ("step", "node", "status", "created")}
    return Columns(
        table=table,
        thread=quoted(mapping.thread),
        id=id,
        state=quoted(mapping.state),
        parent=None if mapping.parent is None else quoted(mapping.parent),
        order=order,
        recency=rowid[0] if rowid else id,
        meta=tuple(quoted(name) for name in kinds if name not in parts.values()),
        **named,
    )


def _rowid(db: sqlite3.Connection, table: str, kinds: Mapping[str, str]) -> tuple[str, ...]:
    """The name of the row number; none in a view or a table WITHOUT ROWID."""
    taken = {name.lower() for name in kinds}
    name = next((name for name in ("rowid", "_rowid_", "oid") if name not in taken), None)
    if name is None:
        return ()
    try:
        known = db.execute(f"SELECT {name} FROM {table} LIMIT 1").fetchone()
    except sqlite3.OperationalError:
        return ()
    return () if known is not None and known[0] is None else (name,)


def _check_limit(limit: int) -> None:
    if limit < 0:
        raise ValueError(f"a page cannot have {limit} items")


def _cursor(after: str | None) -> tuple[Cell, ...]:
    return () if after is None else tuple(json.loads(after))


def _after(places: Sequence[tuple[Cell, ...]], after: str | None, limit: int) -> str | None:
    if len(places) <= limit:
        return None
    return json.dumps(list(places[limit - 1])).decode() if limit else after


def _thread_of(cells: tuple[Cell, ...]) -> ThreadInfo:
    thread, count, _, updated, id, step, node, status = cells
    name, head = name_of(thread), name_of(id)
    return ThreadInfo(
        thread=name,
        checkpoints=count,
        head=Ref(name, "", head),
        step=step if isinstance(step, int) else None,
        status=status_of(status),
        updated=moment(updated) or time_of(head),
        last_node=None if node is None else name_of(node),
    )
