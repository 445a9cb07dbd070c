"""The SQL over a mapped PostgreSQL table: by its indexes, in pages, and never past a state that nobody asked for.

Owns how a column of any type is told, compared and ordered; what a row means is `stores.table_rows`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stores.postgres import Database
from stores.postgres_catalog import Table
from stores.table_rows import Columns, quoted

_INTEGERS: Final = frozenset({"smallint", "integer", "bigint"})
_AS_IT_IS: Final = _INTEGERS | {
    "real", "double precision", "bytea", "text", "character varying", "character", "name", "json", "jsonb"
}  # fmt: skip
_TIMES: Final = frozenset({"timestamp with time zone", "timestamp without time zone", "date"})
_META_TEXT: Final = 200  # characters of an unmapped column that a listing carries
_META_STORED: Final = 2000  # bytes: what is larger lies outside the row, and is not fetched for a listing
_FACTS: Final = """
SELECT a.attname::text, a.attnotnull,
       EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indkey[0] = a.attnum
               AND i.indpred IS NULL AND i.indisvalid)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped
"""


@dataclass(frozen=True, slots=True)
class PostgresColumns(Columns):
    """`Columns` in PostgreSQL's words; every parameter is a text, which the server takes as the column's type.

    ``is_indexed``: an index leads to the rows of one thread.
    """

    is_indexed: bool = False
    head_column: str = ""
    said_thread: str = ""

    def threads(self, *, after: bool) -> str:
        """Every thread with its head row; parameters: recency and thread to start below when ``after``, then limit."""
        below = " WHERE (recency, thread) < (%s, %s)" if after else ""
        page = f"SELECT * FROM recent{below} ORDER BY recency DESC, thread DESC LIMIT %s"
        thread = self.said_thread.replace(self.thread, "h.thread")
        told = f"SELECT {thread}, h.count, h.recency::text, h.updated, h.id, h.step, h.node, h.status FROM"
        if not self.is_indexed:
            return f"WITH recent AS ({self._by_one_pass()}), page AS ({page}) {told} page h ORDER BY 3 DESC"
        head = self._head_row(
            f"SELECT {self.head_column} AS id, {self.step} AS step, {self.node} AS node, {self.status} AS status,"
            f" {self.created} AS updated FROM {self.table} AS t WHERE {self.thread} = p.thread"
        )
        count = f"SELECT count(*) FROM {self.table} AS t WHERE {self.thread} = p.thread"
        rows = f"SELECT p.thread, p.recency, ({count}) AS count, l.* FROM page p CROSS JOIN LATERAL ({head}) l"
        return (
            f"WITH RECURSIVE {self._names()}, recent AS (SELECT n.thread, (SELECT {self.recency} FROM {self.table} AS t"
            f" WHERE {self.thread} = n.thread ORDER BY {self.recency} DESC LIMIT 1) AS recency FROM names n"
            f" WHERE n.thread IS NOT NULL), page AS ({page})"
            f" {told} ({rows}) h ORDER BY h.recency DESC, h.thread DESC"
        )

    def headers(self, *, after: bool) -> str:
        """A thread's rows, newest first; parameters: thread, the place to start below when ``after``, limit."""
        below = f" AND ({', '.join(self.order)}) < ({', '.join(['%s'] * len(self.order))})" if after else ""
        return f"{self._row()} WHERE {self.thread} = %s{below} ORDER BY {self._newest_first()} LIMIT %s"

    def head(self) -> str:
        """The id of the newest row that is nobody's parent; parameter: thread."""
        return self._head_row(f"SELECT {self.head_column} FROM {self.table} AS t WHERE {self.thread} = %(thread)s")

    def one(self) -> str:
        """One row and its state, last; parameters: thread, id."""
        return (
            f"{self._row(f', {self.state}')} WHERE {self.thread} = %s AND {self.id} = %s"
            f" ORDER BY {self._newest_first()} LIMIT 1"
        )

    def thread_key(self, *, null: bool = False) -> str:
        """The name of a thread as it is told; parameter: the name."""
        return f"SELECT {self.said_thread} FROM {self.table} AS t WHERE {self.thread} = %s LIMIT 1"

    def meta_names(self) -> tuple[str, ...]:
        """The unmapped columns by their names."""
        return tuple(name[3:-1].replace('""', '"').replace("%%", "%") for name in self.meta)

    def _names(self) -> str:
        """Every thread, by one step in the index each."""
        first = f"SELECT {self.thread} AS thread FROM {self.table} AS t"
        following = f"{first} WHERE {self.thread} > n.thread ORDER BY {self.thread} LIMIT 1"
        return (
            f"names AS (({first} WHERE {self.thread} IS NOT NULL ORDER BY {self.thread} LIMIT 1) UNION ALL"
            f" SELECT ({following}) FROM names n WHERE n.thread IS NOT NULL)"
        )

    def _by_one_pass(self) -> str:
        """Where no index leads to a thread: one pass over the rows, without their states."""
        each = "OVER (PARTITION BY thread)"
        rows = (
            f"SELECT {self.thread} AS thread, {self.recency} AS newest, {self.created} AS made,"
            f" {self.head_column} AS id, {self.step} AS step, {self.node} AS node, {self.status} AS status,"
            f" row_number() OVER (PARTITION BY {self.thread} ORDER BY {self._head_first()}) AS place"
            f" FROM {self.table} AS t WHERE {self.thread} IS NOT NULL"
        )
        return (
            f"SELECT * FROM (SELECT thread, count(*) {each} AS count, max(newest) {each} AS recency, made AS updated,"
            f" id, step, node, status, place FROM ({rows}) r) s WHERE place = 1"
        )

    def _row(self, more: str = "") -> str:
        meta = (
            f"CASE WHEN pg_column_size({column}) < {_META_STORED} THEN left({column}::text, {_META_TEXT}) END"
            for column in self.meta
        )
        order = (f"{column}::text" for column in self.order)
        parts = [
            self.head_column, self._parent(), self.step, self.node, self.status, self.created, "NULL", *order, *meta
        ]  # fmt: skip
        return f"SELECT {', '.join(parts)}{more} FROM {self.table} AS t"

    def _parent(self) -> str:
        if self.parent is not None:
            return f"{self.parent}::text"
        before = f"({', '.join(self._of('p'))}) < ({', '.join(self.order)})"
        order = ", ".join(f"{column} DESC" for column in self._of("p"))
        id, thread = self.head_column.replace("t.", "p.", 1), self.thread.replace("t.", "p.", 1)
        return (
            f"(SELECT {id} FROM {self.table} AS p WHERE {thread} = {self.thread} AND {before} ORDER BY {order} LIMIT 1)"
        )

    def _of(self, alias: str) -> list[str]:
        return [column.replace("t.", f"{alias}.", 1) for column in self.order]

    def _head_row(self, rows: str) -> str:
        """Of some rows the newest that is nobody's parent: most often the first that is looked at."""
        newest = f"({rows} ORDER BY {self._newest_first()} LIMIT 1)"
        if self.parent is None:
            return newest
        thread, parent = (name.replace("t.", "c.", 1) for name in (self.thread, self.parent))
        child = f"SELECT 1 FROM {self.table} AS c WHERE {thread} = {self.thread} AND {parent}::text = {self.id}::text"
        leaf = f"({rows} AND NOT EXISTS ({child}) ORDER BY {self._newest_first()} LIMIT 1)"
        return f"SELECT * FROM ({leaf} UNION ALL {newest}) AS found LIMIT 1"

    def _head_first(self) -> str:
        if self.parent is None:
            return self._newest_first()
        thread, parent = (name.replace("t.", "c.", 1) for name in (self.thread, self.parent))
        parents = f"SELECT {thread}, {parent}::text FROM {self.table} AS c WHERE {parent} IS NOT NULL"
        return f"({self.thread}, {self.id}::text) IN ({parents}), {self._newest_first()}"


def columns_of(db: Database, table: Table, parts: Mapping[str, str]) -> PostgresColumns:
    """The mapped columns of a table that has them all."""
    facts = {name: (never_null, leads) for name, never_null, leads in db.execute(_FACTS, (table.schema, table.name))}
    kinds = table.columns
    id, thread, created = parts["id"], parts["thread"], parts.get("created")
    made = None if created is None else _ordered(created, kinds[created], never_null=facts[created][0])
    place = _place(id)
    order: tuple[str, ...] = (place,)
    if kinds[id] not in _INTEGERS and made is not None:
        order = (made, place)
    named = {part: told(parts[part], kinds[parts[part]]) if part in parts else "NULL" for part in _OTHERS}
    return PostgresColumns(
        table=f"{quoted(table.schema)}.{quoted(table.name)}",
        thread=_place(thread),
        id=place,
        state=told(parts["state"], kinds[parts["state"]]),
        parent=_place(parts["parent"]) if "parent" in parts else None,
        order=order,
        recency=made or (f"{place}::text" if kinds[id] not in _INTEGERS else place),
        meta=tuple(_place(name) for name in kinds if name not in parts.values()),
        is_indexed=facts[thread][1],
        head_column=told(id, kinds[id]),
        said_thread=told(thread, kinds[thread]),
        **named,
    )


_OTHERS: Final = ("step", "node", "status", "created")


def told(column: str, kind: str) -> str:
    """A column as a `stores.table_rows.Cell`: numbers, text and bytes as they are, times by ISO 8601, else its text."""
    place = _place(column)
    if kind in _AS_IT_IS:
        return place
    return f"(to_json({place}) #>> '{{}}')" if kind in _TIMES else f"{place}::text"


def _ordered(column: str, kind: str, *, never_null: bool) -> str | None:
    """A time to sort by; None where the column says no time that the server can compare."""
    if kind not in _TIMES:
        return None
    return _place(column) if never_null else f"coalesce({_place(column)}, '-infinity')"


def _place(column: str) -> str:
    return f"t.{quoted(column)}".replace("%", "%%")
