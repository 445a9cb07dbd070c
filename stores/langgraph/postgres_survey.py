"""What a user should know of a PostgreSQL store before believing what it shows: sentences, found by few questions.

Owns their finding and their cost; refuses to judge single rows: that is their headers' to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stores.codec.aes import is_sealed
from stores.langgraph.notices import checkpoints, sealed_notice
from stores.langgraph.postgres_tables import PostgresTables

# Above this size, in bytes, the questions that visit every row of a table are not asked.
_MANY: Final = 64 * 1024 * 1024
_SOME: Final = 200


def survey(tables: PostgresTables, key_problem: str | None) -> tuple[str, ...]:
    """The sentences. ``key_problem`` is why the key that was given cannot be used."""
    found = [*_by_columns(tables), *_encryption(tables, key_problem)]
    if not tables.rows(f"SELECT 1 FROM {tables.columns.checkpoints} LIMIT 1"):
        found.append("There are no checkpoints in it.")
    elif _size(tables) <= _MANY and not tables.columns.is_shallow:
        found += _by_rows(tables)
    return tuple(found)


def _by_columns(tables: PostgresTables) -> Iterator[str]:
    columns = tables.columns
    if columns.is_shallow:
        yield (
            "ShallowPostgresSaver wrote these tables: of every thread there is only its newest checkpoint, no history, "
            "and nothing can be forked."
        )
    elif columns.writes is None:
        yield (
            "The table checkpoint_writes is missing, as after a migration that did not finish: tasks, errors and "
            "questions are unknown, and nothing can be forked; LangGraph's setup() would finish it."
        )
    elif not tables.is_writable:
        yield "The tables lack columns of LangGraph's: they can be looked at, not forked."


def _encryption(tables: PostgresTables, key_problem: str | None) -> Iterator[str]:
    kinds = tables.rows(f"SELECT b.type FROM {tables.columns.blobs} b LIMIT {_SOME}")
    if any(is_sealed(kind) for (kind,) in kinds):
        told = tables.rows(f"SELECT 1 FROM {tables.columns.checkpoints} c WHERE c.metadata ? 'writes' LIMIT 1")
        yield sealed_notice(tables.seal, key_problem, told=bool(told))
        yield "Texts, numbers and true or false that stand in the rows themselves are not encrypted."


def _size(tables: PostgresTables) -> int:
    names = [name.replace("%%", "%") for name in (tables.columns.checkpoints, tables.columns.writes) if name]
    return sum(tables.rows("SELECT pg_catalog.pg_relation_size(%s::regclass)", name)[0][0] or 0 for name in names)


def _by_rows(tables: PostgresTables) -> Iterator[str]:
    columns = tables.columns
    same = "one.thread_id = c.thread_id AND one.checkpoint_ns = c.checkpoint_ns"
    orphans = tables.rows(
        f"SELECT count(*) FROM {columns.checkpoints} c WHERE {columns.parent} <> '' AND NOT EXISTS (SELECT 1 FROM "
        f"{columns.checkpoints} one WHERE {same} AND one.checkpoint_id = {columns.parent})"
    )[0][0]
    if orphans:
        yield f"{checkpoints(orphans, 'names', 'name')} a parent that is not in the store."
    if columns.writes is None:
        return
    late = tables.rows(
        f"SELECT count(*) FROM (SELECT DISTINCT thread_id, checkpoint_ns, checkpoint_id FROM {columns.writes}) c WHERE "
        f"NOT EXISTS (SELECT 1 FROM {columns.checkpoints} one WHERE {same} AND one.checkpoint_id = c.checkpoint_id)"
    )[0][0]
    if late:
        which = checkpoints(late, "that is", "that are")
        yield f"There are writes for {which} not in the store: deleted, or yet to be saved."
