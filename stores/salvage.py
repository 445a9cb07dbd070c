"""What can still be read of a damaged SQLite file, put into a new one.

Owns going over the pages table by table, and saying what is lost; refuses to judge rows, and to touch the damaged file.
"""

from __future__ import annotations

import contextlib
import mmap
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stores.pages import Broken, Cell, Pages


@dataclass(slots=True)
class _Table:
    """One table to be filled. ``keys`` are the columns of its primary key, ``alias`` the one that is the rowid."""

    name: str
    root: int
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    alias: str | None
    indexes: list[int] = field(default_factory=list)
    lost_pages: int = 0


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What came of it: rows by table, rows of which only a part was there, and pages there and expected."""

    rows: dict[str, int]
    partly: int
    there: int
    expected: int

    def __str__(self) -> str:
        """One sentence."""
        kept = ", ".join(f"{count} rows of {name}" for name, count in self.rows.items()) or "nothing"
        cut = f" ({self.partly} of them in part)" if self.partly else ""
        ends = f" and ends after {self.there} of {self.expected} pages" if self.there < self.expected else ""
        return f"The file is damaged{ends}: {kept} could be read{cut}, what else it held is lost."


def salvage(damaged: Path, target: Path) -> Salvaged:
    """Make ``target`` of what ``damaged``, and the log beside it, still hold. Raises Broken when that is nothing."""
    with contextlib.ExitStack() as stack:
        pages = Pages(_mapped(damaged, stack), _mapped(Path(f"{damaged}-wal"), stack))
        tables = _tables(pages)
        db = sqlite3.connect(target, isolation_level=None)
        stack.callback(db.close)
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        partly = _fill(db, pages, tables)
        rows = {table.name: db.execute(f"SELECT count(*) FROM {_quoted(table.name)}").fetchone()[0] for table in tables}
        db.execute("COMMIT")
        there = len(pages.numbers())
    if not any(rows.values()):
        raise Broken("no row of it can be read")
    return Salvaged(rows, partly, there, pages.expected)


def _mapped(path: Path, stack: contextlib.ExitStack) -> Any:
    if not path.exists() or path.stat().st_size == 0:
        return b""
    file = stack.enter_context(path.open("rb"))
    return stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _tables(pages: Pages) -> list[_Table]:
    """The tables that the schema's own pages tell of."""
    found: dict[str, _Table] = {}
    indexes: list[tuple[str, int]] = []
    for cell in _cells(pages, 1):
        kind, name, owner, root, sql = (*cell.values, None, None, None, None, None)[:5]
        if kind == "index" and sql is None and isinstance(root, int):
            indexes.append((owner, root))
        is_users = kind == "table" and isinstance(sql, str) and not str(name).startswith("sqlite_")
        if is_users and isinstance(root, int) and (table := _table(str(name), root, sql)) is not None:
            found[table.name] = table
    for owner, root in indexes:
        if owner in found:
            found[owner].indexes.append(root)
    return list(found.values())


def _table(name: str, root: int, sql: str) -> _Table | None:
    """The table as its statement makes it, in a database of its own; None for one that keeps no rowids."""
    if not sql.upper().startswith("CREATE TABLE") or "WITHOUT ROWID" in sql.upper():
        return None
    with contextlib.closing(sqlite3.connect(":memory:")) as scratch:
        try:
            scratch.execute(sql)
            columns = scratch.execute("SELECT name, type, pk FROM pragma_table_info(?)", (name,)).fetchall()
        except sqlite3.Error:
            return None
    keys = [column for column, _, pk in sorted(columns, key=lambda column: int(column[2])) if pk]
    alias = next((column for column, kind, pk in columns if pk and len(keys) == 1 and kind.upper() == "INTEGER"), None)
    return _Table(name, root, tuple(column for column, _, _ in columns), tuple(keys), alias)


def _fill(db: sqlite3.Connection, pages: Pages, tables: list[_Table]) -> int:
    """Put every row that is found into its table; returns how many were there only in part."""
    visited: set[int] = set()
    partly = 0
    for table in tables:
        _create(db, table)
        for number, is_there in pages.walk(table.root):
            visited.add(number)
            table.lost_pages += not is_there
            partly += _insert(db, table, pages.cells(number) if pages.is_table_leaf(number) else ())
    torn = [table for table in tables if table.lost_pages]
    if torn:
        # Below a page that is lost, rows may be whole: those that only one of the tables can have.
        free = pages.free()
        for number in pages.numbers():
            if number not in visited and number not in free and pages.is_table_leaf(number):
                cells = list(pages.cells(number))
                homes = [table for table in torn if all(len(cell.values) == len(table.columns) for cell in cells)]
                partly += _insert(db, homes[0], cells) if cells and len(homes) == 1 else 0
    for table in torn:
        partly += _insert(db, table, _from_indexes(pages, table))
    return partly


def _create(db: sqlite3.Connection, table: _Table) -> None:
    # Without the constraints: a row in part would break them.
    db.execute(f"CREATE TABLE {_quoted(table.name)} ({', '.join(map(_quoted, table.columns))})")
    if table.keys:
        index = _quoted(f"{table.name} by key")
        db.execute(f"CREATE INDEX {index} ON {_quoted(table.name)} ({', '.join(map(_quoted, table.keys))})")


def _insert(db: sqlite3.Connection, table: _Table, cells: Iterable[Cell]) -> int:
    names = ", ".join(map(_quoted, table.columns))
    statement = f"INSERT OR IGNORE INTO {_quoted(table.name)} (rowid, {names}) VALUES (?{', ?' * len(table.columns)})"
    partly = 0
    for cell in cells:
        values = (*cell.values, *(None,) * len(table.columns))[: len(table.columns)]
        if table.alias:
            values = tuple(
                cell.rowid if name == table.alias else value for name, value in zip(table.columns, values, strict=True)
            )
        added = db.execute(statement, (cell.rowid, *values)).rowcount
        partly += added > 0 and not cell.whole
    return partly


def _from_indexes(pages: Pages, table: _Table) -> Iterator[Cell]:
    """The rows that only the primary key's index still knows: their keys alone."""
    for root in table.indexes:
        for cell in _cells(pages, root):
            if cell.whole and len(cell.values) == len(table.keys) + 1:
                known = dict(zip(table.keys, cell.values, strict=False))
                yield Cell(cell.rowid, tuple(known.get(name) for name in table.columns), whole=False)


def _cells(pages: Pages, root: int) -> Iterator[Cell]:
    for number, _ in pages.walk(root):
        yield from pages.cells(number)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
