"""What the rows of a thread take in PostgreSQL, as they are stored: compressed where the server compresses them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Protocol

from stores.keeping import Room
from stores.langgraph.postgres_columns import Columns
from stores.langgraph.skeleton import Key

_KEPT: Final = "kept AS (SELECT * FROM unnest(%s::text[], %s::text[]) AS k(ns, id))"


class _Tables(Protocol):
    columns: Columns

    def rows(self, question: str, *parameters: object) -> list[tuple[Any, ...]]: ...


def room(self: _Tables, thread: str, kept: Collection[Key]) -> Room:
    """As `stores.langgraph.tables.Tables.room`, whose method it is; a value that is stored apart is needed by every
    kept checkpoint that has its version."""
    rows, columns = self.rows, self.columns
    names = [key.ns for key in kept], [key.id for key in kept]
    is_kept = f"EXISTS (SELECT 1 FROM kept WHERE kept.ns = c.checkpoint_ns AND kept.id = {columns.id})"
    sizes = _sums("pg_column_size(c.checkpoint) + pg_column_size(c.metadata)", is_kept)
    found = rows(f"WITH {_KEPT} SELECT {sizes} FROM {columns.checkpoints} c WHERE c.thread_id = %s", *names, thread)
    if columns.writes is not None:
        is_kept = "EXISTS (SELECT 1 FROM kept WHERE kept.ns = w.checkpoint_ns AND kept.id = w.checkpoint_id)"
        sizes = _sums("pg_column_size(w.blob)", is_kept)
        found += rows(f"WITH {_KEPT} SELECT {sizes} FROM {columns.writes} w WHERE w.thread_id = %s", *names, thread)
    if not columns.is_shallow:
        is_kept = (
            "EXISTS (SELECT 1 FROM used WHERE used.ns = b.checkpoint_ns AND used.key = b.channel "
            f"AND used.value = {columns.version})"
        )
        sizes = _sums("pg_column_size(b.blob)", is_kept)
        used = f"used AS ({_used(columns)})"
        question = f"WITH {_KEPT}, {used} SELECT {sizes} FROM {columns.blobs} b WHERE b.thread_id = %s"
        found += rows(question, *names, thread, thread)
    return Room(sum(total or 0 for total, _ in found), sum(free or 0 for _, free in found))


def _sums(size: str, is_kept: str) -> str:
    return f"sum({size})::bigint, (sum({size}) FILTER (WHERE NOT {is_kept}))::bigint"


def _used(columns: Columns) -> str:
    """Which values the kept checkpoints have, by their versions."""
    versions = "c.checkpoint -> 'channel_versions'"
    return (
        f"SELECT DISTINCT c.checkpoint_ns AS ns, v.key, v.value FROM {columns.checkpoints} c JOIN kept "
        f"ON kept.ns = c.checkpoint_ns AND kept.id = {columns.id} CROSS JOIN LATERAL jsonb_each_text("
        f"CASE jsonb_typeof({versions}) WHEN 'object' THEN {versions} ELSE '{{}}'::jsonb END) v WHERE c.thread_id = %s"
    )
