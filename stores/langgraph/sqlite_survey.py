"""What is odd about a LangGraph file as a whole, in sentences that a user should see once.

Owns the questions asked at opening and their cost; refuses to judge single rows: that is their headers' to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stores.codec.aes import is_sealed
from stores.langgraph.notices import checkpoints, sealed_notice
from stores.langgraph.rows import as_bytes, read_metadata
from stores.langgraph.sqlite_tables import SqliteTables

# Rows of a table that are looked at, the newest: of a file that has more, the sentences say "at least".
_LOOKED_AT: Final = 500
_WRITES: Final = 4 * _LOOKED_AT  # a checkpoint has several
_NEWEST: Final = 50


def survey(tables: SqliteTables, key_problem: str | None) -> tuple[str, ...]:
    """The sentences. ``key_problem`` is why the key that was given cannot be used."""
    found = [*_by_columns(tables), *_encryption(tables, key_problem)]
    if tables.progress() == 0:
        found.append("There are no checkpoints in it.")
    return (*found, *_by_rows(tables))


def _by_columns(tables: SqliteTables) -> Iterator[str]:
    if not tables.has_writes:
        yield "The file has no table of writes: tasks, errors and questions are unknown."
    if tables.metadata == "NULL":
        yield (
            "The table of checkpoints has no metadata: who wrote a checkpoint and why is unknown, steps are those of "
            "the ids, and nothing can be forked."
        )
    elif not tables.is_writable:
        yield "The table of checkpoints lacks columns of LangGraph's: it can be looked at, not forked."


def _encryption(tables: SqliteTables, key_problem: str | None) -> Iterator[str]:
    question = f"SELECT {tables.type}, rowid FROM checkpoints ORDER BY rowid DESC LIMIT {_NEWEST}"
    sealed = [row for kind, row in tables.db.execute(question) if isinstance(kind, str) and is_sealed(kind)]
    if not sealed:
        return
    # Metadata lies behind the state: not to be read where nothing is encrypted.
    metadata = f"SELECT {tables.metadata} FROM checkpoints WHERE rowid = ?"
    stored = (tables.db.execute(metadata, (row,)).fetchone()[0] for row in sealed)
    told = any(read_metadata(as_bytes(one))[0].get("writes") for one in stored)
    yield sealed_notice(tables.seal, key_problem, told=told)


def _by_rows(tables: SqliteTables) -> Iterator[str]:
    """One walk over the rows for all that each of them tells alone."""
    closed = (
        f"typeof(checkpoint) = 'null' OR {tables.type} IS NULL OR "
        f"({tables.type} NOT IN ('msgpack', 'json') AND {tables.type} NOT LIKE '%+%')"
    )
    orphaned = (
        f"{tables.parent} <> '' AND NOT EXISTS (SELECT 1 FROM checkpoints AS one WHERE "
        f"one.thread_id = child.thread_id AND {_same(tables, 'one', 'child')} "
        f"AND one.{tables.id} = child.{tables.parent})"
    )
    counts = ", ".join(f"sum({what})" for what in (f"NOT ({tables.addressed})", f"({closed})", f"({orphaned})"))
    question = f"SELECT {counts} FROM checkpoints AS child WHERE {_newest('checkpoints')}"
    nameless, unread, orphans = (count or 0 for count in tables.db.execute(question).fetchone())
    least = "At least " if tables.progress() > _LOOKED_AT else ""
    if nameless:
        yield f"{least}{checkpoints(nameless, 'has', 'have')} no text for an address and cannot be shown."
    if unread:
        yield f"{least}{checkpoints(unread, 'is', 'are')} stored in a way that cannot be read."
    if orphans:
        yield f"{least}{checkpoints(orphans, 'names', 'name')} a parent that is not in the file."
    circling = sum(_circling(tables))
    if circling:
        yield f"The parents of {circling} checkpoint{'' if circling == 1 else 's'} go round in a circle."
    if late := _late(tables):
        which = least.lower() + checkpoints(late, "that is", "that are")
        yield f"There are writes for {which} not in the file: deleted, or yet to be saved."


def _newest(table: str, count: int = _LOOKED_AT) -> str:
    return f"rowid > (SELECT max(rowid) FROM {table}) - {count}"


def _circling(tables: SqliteTables) -> Iterator[int]:
    """How many checkpoints of each thread lie on a circle; every circle goes up by id somewhere."""
    question = (
        f"SELECT thread_id FROM checkpoints WHERE {_newest('checkpoints')} AND {tables.parent} >= {tables.id} "
        f"AND {tables.addressed}"
    )
    for thread in {thread for (thread,) in tables.db.execute(question)}:
        yield len(tables.skeleton(thread).circling)


def _late(tables: SqliteTables) -> int:
    if not tables.has_writes:
        return 0
    question = (
        f"SELECT count(*) FROM (SELECT DISTINCT thread_id, {tables.ns}, {tables.id} FROM writes AS late "
        f"WHERE {_newest('writes', _WRITES)} AND NOT EXISTS (SELECT 1 FROM checkpoints AS one WHERE one.thread_id = "
        f"late.thread_id AND {_same(tables, 'one', 'late')} AND one.{tables.id} = late.{tables.id}))"
    )
    found: int = tables.db.execute(question).fetchone()[0]
    return found


def _same(tables: SqliteTables, one: str, other: str) -> str:
    return f"{one}.{tables.ns} = {other}.{tables.ns}" if not tables.ns.startswith("'") else "1"
