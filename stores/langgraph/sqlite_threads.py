"""The threads of a LangGraph file by their addresses: in the order of their listing, and which are copies of others.

Owns putting them together; the questions are `stores.langgraph.sqlite_listing`'s.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stores import ids
from stores.langgraph import sqlite_listing
from stores.langgraph.lineage import copies_among
from stores.langgraph.skeleton import Key
from stores.langgraph.sqlite_listing import Listed, is_text
from stores.langgraph.tables import Place, ThreadRow
from stores.model import Ref

if TYPE_CHECKING:
    from stores.langgraph.sqlite_tables import SqliteTables


def threads(tables: SqliteTables, after: Place | None, limit: int) -> list[ThreadRow]:
    """As `stores.langgraph.tables.Tables.threads`."""
    rows = _kept(tables).rows
    start = bisect_left(rows, True, key=lambda row: row.place < after) if after is not None else 0
    return [row._replace(checkpoints=tables.count(row.thread)[0]) for row in rows[start : start + limit]]


def threads_at(tables: SqliteTables) -> Sequence[ThreadRow]:
    """As `stores.langgraph.tables.Tables.threads_at`: to count what a large file holds is to read its whole index."""
    rows = _kept(tables).rows
    if tables.progress() >= ids.STEPS:
        return rows
    question = f"SELECT thread_id, count(*) FROM checkpoints WHERE {tables.addressed} GROUP BY 1"
    counted: dict[str, int] = dict(tables.db.execute(question))
    return [row._replace(checkpoints=counted[row.thread]) for row in rows]


def copies(tables: SqliteTables) -> dict[str, Ref]:
    """As `stores.langgraph.lineage.copies_among`."""

    def stored(thread: str, first: str) -> int:
        question = f"SELECT rowid FROM checkpoints WHERE thread_id = ? AND {tables.ns} = '' AND {tables.id} = ?"
        row: int = tables.db.execute(question, (thread, first)).fetchone()[0]
        return row

    families = (
        sorted(family, key=lambda thread: stored(thread, first))
        for first, family in _kept(tables).beginning.items()
        if len(family) > 1 and ids.time_of(first) is not None
    )
    return copies_among(families, lambda thread: tables.newest_first(thread, ""))


def _kept(tables: SqliteTables) -> Listed:
    return tables.listing.at(tables.moment(), lambda: _listed(tables))


def _listed(tables: SqliteTables) -> Listed:
    found: dict[str, ThreadRow] = {}
    beginning: dict[str, list[str]] = {}
    last_space = ""
    for thread, newest, written, first, space in tables.db.execute(sqlite_listing.threads(tables.ns, tables.id)):
        if newest is not None and is_text((thread, newest)):
            found[thread] = ThreadRow(thread, None, Key(newest, ""), newest, written, newest)
            beginning.setdefault(first, []).append(thread)
        last_space = max(last_space, space or "")
    inner = tables.db.execute(sqlite_listing.subgraphs(tables.ns, tables.id)) if last_space else ()
    for thread, ns, newest, written in filter(is_text, inner):
        row = found.get(thread) or ThreadRow(thread, None, Key(newest, ns), None, written, newest)
        found[thread] = row._replace(
            newest=max(row.newest, Key(newest, ns)),
            written=max(row.written, written),
            latest=max(row.latest, newest),
        )
    rows = sorted(found.values(), key=lambda row: (row.written, row.newest.id, row.thread), reverse=True)
    return Listed(rows, beginning)
