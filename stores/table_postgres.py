"""Any PostgreSQL table with a thread, an id and a state column, in any schema, read as history by a mapping.

Owns what such a table can tell; refuses to write to it, and to guess what it does not say.
"""

from __future__ import annotations

import contextlib
import functools
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from stores.codec import json
from stores.errors import NotFound, Unsupported
from stores.ids import time_of
from stores.looking import LookingOnly
from stores.model import Checkpoint, Header, Page, Ref, StoreInfo, ThreadInfo, Value
from stores.postgres import Database, Server, place_id
from stores.postgres_address import Address, driver
from stores.postgres_catalog import Table, by_schema
from stores.probing import NEEDED, PIECE, ROWS, Proposal, propose
from stores.rereading import rereading
from stores.table import TableMapping
from stores.table_postgres_rows import columns_of, told
from stores.table_rows import checkpoint_of, header_of, moment, name_of, quoted, status_of

_MOST: Final = 3
_MOST_TABLES: Final = 40
"""So many are looked into where no name tells what they hold."""


class PostgresTableStore(LookingOnly):
    """One mapped table. Rows whose thread is NULL belong to none, and are not shown."""

    def __init__(
        self, server: Server, table: Table, mapping: TableMapping, *, read_only: bool, proposed: bool = False
    ) -> None:
        self._server = server
        self._mapping = mapping
        self._columns = server.read(lambda db: columns_of(db, table, mapping.parts()))
        self._url = _mapped(server.address, table.schema, mapping).shown
        said = ", ".join(f"{part} = {column}" for part, column in {"table": mapping.table, **mapping.parts()}.items())
        self._notices = (f"Read as a table, by its columns: {said}. To choose others: {self._url}",) if proposed else ()
        self._read_only = read_only

    @property
    def info(self) -> StoreInfo:  # type: ignore[override]  # a lost connection adds to it
        """What this store is; nothing but looking can be done."""
        return StoreInfo(
            url=self._url,
            kind="table",
            store_id=place_id(self._server.address),
            capabilities=frozenset(),
            read_only=self._read_only,
            notices=(*self._notices, *self._server.notices),
        )

    @rereading
    def threads(self, after: str | None = None, limit: int = 200) -> Page[ThreadInfo]:
        """Newest row first."""
        start = _start(after, limit)
        with self._server.connection() as db:
            rows = db.execute(self._columns.threads(after=bool(start)).encode(), (*start, limit + 1)).fetchall()
        places = [(row[2], name_of(row[0])) for row in rows]
        return Page(tuple(_thread_of(row) for row in rows[:limit]), _following(places, after, limit))

    @rereading
    def headers(self, thread: str, after: str | None = None, limit: int = 1000) -> Page[Header]:
        """Newest row first. Raises NotFound."""
        start = _start(after, limit)
        with self._thread(thread) as db:
            found = db.execute(
                self._columns.headers(after=bool(start)).encode(), (thread, *start, limit + 1)
            ).fetchall()
        rows = [self._columns.row_of(cells) for cells in found]
        following = _following([row.place for row in rows], after, limit)
        return Page(tuple(header_of(thread, row, self._columns) for row in rows[:limit]), following)

    @rereading
    def head(self, thread: str, ns: str = "") -> Ref:
        """The newest row that no other row of the thread has as its parent. Raises NotFound."""
        if ns:
            raise NotFound(f"{self._url} has no namespaces", hint="Leave the namespace empty.")
        with self._thread(thread) as db:
            (id,) = db.execute(self._columns.head().encode(), {"thread": thread}).fetchall()[0]
        return Ref(thread, "", name_of(id))

    @rereading
    def load(self, ref: Ref) -> Checkpoint:
        """One row. A state that is no JSON object is shown as it is, with the reason in ``header.problem``."""
        unknown = NotFound(f"no row {ref.id} in thread {ref.thread!r}", hint="List the thread with `log`.")
        if ref.ns:
            raise unknown
        with self._thread(ref.thread) as db, _no_such(unknown):
            found = db.execute(self._columns.one().encode(), (ref.thread, ref.id)).fetchone()
        if found is None or name_of(found[0]) != ref.id:
            raise unknown
        header = header_of(ref.thread, self._columns.row_of(found[:-1]), self._columns)
        return checkpoint_of(header, self._mapping.state, found[-1])

    def interrupt(self, thread: int) -> None:
        """End the question that a thread is asking; see `stores.postgres.Server.interrupt`."""
        self._server.interrupt(thread)

    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""
        self._server.close()

    @contextlib.contextmanager
    def _thread(self, thread: str) -> Iterator[Database]:
        """A snapshot in which there are rows of the thread. Raises NotFound."""
        unknown = NotFound(f"no thread {thread!r} in {self._url}", hint="List the threads with `tt-debug threads`.")
        with self._server.connection() as db:
            with _no_such(unknown):
                row = db.execute(self._columns.thread_key().encode(), (thread,)).fetchone()
            if row is None or name_of(row[0]) != thread:
                raise unknown
            yield db


def open_mapped(server: Server, tables: tuple[Table, ...], *, read_only: bool) -> PostgresTableStore:
    """The table that the URL maps. Raises Unsupported, naming what there is, for one that is not there."""
    address = server.address
    given = address.mapping
    missing = [name for name in ("table", *NEEDED) if not given.get(name)]
    if missing:
        raise Unsupported(
            f"the column mapping in {address.shown} lacks {', '.join(missing)}",
            hint="Write ?table=…&thread=…&id=…&parent=…&state=…, each a name in the database.",
        )
    mapping = TableMapping(**given)
    named = [table for table in tables if table.name == mapping.table and address.schema in (None, table.schema)]
    here = [table for table in named if table.is_default] or named
    if len(here) != 1:
        every = ", ".join(sorted(f"{table.schema}.{table.name}" for table in (here or tables))) or "none"
        what = "several tables" if here else "no table"
        raise Unsupported(f"{what} {mapping.table!r} in {address.shown}", hint=f"Say which by schema=…: {every}.")
    absent = sorted(column for column in mapping.parts().values() if column not in here[0].columns)
    if absent:
        raise Unsupported(
            f"table {mapping.table!r} of {address.shown} has no column {', '.join(absent)}",
            hint=f"It has: {', '.join(here[0].columns)}.",
        )
    return PostgresTableStore(server, here[0], mapping, read_only=read_only)


def open_proposed(server: Server, tables: tuple[Table, ...], *, read_only: bool) -> PostgresTableStore:
    """The one table that looks like a history. Raises Unsupported, naming what there is and how to map it."""
    address = server.address
    meant = tuple(table for table in tables if address.schema in (None, table.schema))
    found = server.read(lambda db: _proposals(db, meant))
    if len(found) == 1 and found[0][1].sure:
        table, proposal = found[0]
        return PostgresTableStore(server, table, proposal.mapping, read_only=read_only, proposed=True)
    mapped = (_mapped(address, table.schema, proposal.mapping) for table, proposal in found[:_MOST])
    urls = [shlex.quote(each.shown) for each in mapped]
    example = address.choosing(table="…", thread="…", id="…", parent="…", state="…").shown
    names = ", ".join(f"{table.schema}.{table.name}" for table in meant[:_MOST_TABLES]) or "none"
    raise Unsupported(
        f"no checkpoints that tt-debug knows in {address.shown} (tables: {names})",
        hint=f"If one of them holds a history, open it as {' or '.join(urls)}"
        if urls
        else f"Say which columns hold them: {shlex.quote(example)}",
    )


def proposed_in(server: Server, tables: tuple[Table, ...]) -> list[Address]:
    """Every table that may be a history, each by a mapping that would read it."""
    meant = tuple(table for table in tables if server.address.schema in (None, table.schema))
    found = server.read(lambda db: _proposals(db, meant))
    return [_mapped(server.address, table.schema, proposal.mapping) for table, proposal in found]


def _proposals(db: Database, tables: tuple[Table, ...]) -> list[tuple[Table, Proposal]]:
    """Schema by schema, so that a table is known by its name; only what may be read is looked into."""
    readable = tuple(table for table in tables if table.readable)[:_MOST_TABLES]
    found = []
    for named in by_schema(readable).values():
        columns = {name: tuple(table.columns) for name, table in named.items()}
        proposed = propose(columns, functools.partial(_sample, db, named))
        found += [(named[proposal.mapping.table], proposal) for proposal in proposed]
    return found


def _sample(db: Database, tables: Mapping[str, Table], name: str) -> Mapping[str, list[Value]]:
    """Column → the beginnings of its first cells; nothing for an empty table."""
    table = tables[name]
    pieces = []
    for column, kind in table.columns.items():
        cell = told(column, kind)
        is_text = kind in ("text", "character varying", "json", "jsonb")
        pieces.append(f"left({cell}::text, {PIECE})" if is_text else cell)
    sql = f"SELECT {', '.join(pieces)} FROM {quoted(table.schema)}.{quoted(table.name)} AS t LIMIT {ROWS}"
    rows = db.execute(sql.encode()).fetchall()
    return {column: [row[place] for row in rows] for place, column in enumerate(table.columns)} if rows else {}


@contextlib.contextmanager
def _no_such(unknown: NotFound) -> Iterator[None]:
    """What cannot be a value of the column's type is no name in it."""
    try:
        yield
    except driver().DataError as error:
        raise unknown from error


def _mapped(address: Address, schema: str, mapping: TableMapping) -> Address:
    return address.choosing(schema=schema, table=mapping.table, **mapping.parts())


def _start(after: str | None, limit: int) -> tuple[Value, ...]:
    if limit < 0:
        raise ValueError(f"a page cannot have {limit} items")
    return () if after is None else tuple(json.loads(after))


def _following(places: Sequence[tuple[Value, ...]], after: str | None, limit: int) -> str | None:
    if len(places) <= limit:
        return None
    return json.dumps([str(cell) for cell in places[limit - 1]]).decode() if limit else after


def _thread_of(cells: tuple[Any, ...]) -> ThreadInfo:
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
