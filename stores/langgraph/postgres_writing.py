"""What is written into LangGraph's PostgreSQL tables, inside the caller's transaction.

Owns the inserts; refuses to change or delete a row: values are shared by every checkpoint with their version.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from stores.langgraph.copying import CopyPlan
from stores.langgraph.postgres_tables import PostgresTables, versions_of
from stores.langgraph.rows import CheckpointRow
from stores.langgraph.skeleton import Key

_ADDRESS: Final = ("thread_id", "checkpoint_ns", "checkpoint_id")
_VALUE: Final = ("thread_id", "checkpoint_ns", "channel", "version")


class PostgresWriting(PostgresTables):
    """`WritableTables` of one schema."""

    def lock(self, thread: str) -> None:
        """Wait for other transactions of ours that write to this thread; ends with the transaction."""
        name = f"tt-debug {self.columns.schema} {thread}"
        self.rows("SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(%s, 0))", name)

    def exists(self, thread: str) -> bool:
        """As `WritableTables.exists`."""
        tables = filter(None, (self.columns.checkpoints, self.columns.blobs, self.columns.writes))
        return any(self.rows(f"SELECT 1 FROM {table} WHERE thread_id = %s LIMIT 1", thread) for table in tables)

    def highest_count(self, thread: str) -> int:
        """As `WritableTables.highest_count`: LangGraph JS counts versions, and on every branch from the same number."""
        question = (
            f"SELECT max(b.version::bigint) FROM {self.columns.blobs} b WHERE b.thread_id = %s "
            f"AND b.version ~ '^[0-9]{{1,18}}$'"
        )
        return self.rows(question, thread)[0][0] or 0

    def insert(self, thread: str, row: CheckpointRow) -> None:
        """Append one checkpoint, and those of its values that are stored apart and new."""
        metadata = row.metadata.decode() if isinstance(row.metadata, bytes) else row.metadata
        self.rows_of(
            f"INSERT INTO {self.columns.checkpoints} (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, "
            f"checkpoint, metadata) VALUES (%s, %s, %s, %s, %s::jsonb, %s::jsonb)",
            (thread, row.ns, row.id, row.parent, (row.blob or b"").decode(), metadata),
        )
        for channel, blob in row.blobs.items():
            kind, data = blob.type, blob.data
            if blob.sealed and self.seal is not None and data is not None:
                kind, data = self.seal.close(kind, data)
            self.rows_of(
                f"INSERT INTO {self.columns.blobs} (thread_id, checkpoint_ns, channel, version, type, blob) "
                f"VALUES (%s, %s, %s, %s, %s, %s)",
                (thread, row.ns, channel, blob.version, kind, data),
            )

    def copy(self, thread: str, to: str, plan: CopyPlan) -> None:
        """As `WritableTables.copy`."""
        self._copy_rows("checkpoints", thread, to, plan.rows)
        whole = [key for key in plan.checkpoints if key not in plan.left_out]
        self._copy_rows("checkpoint_writes", thread, to, whole)
        for key, tasks in plan.left_out.items():
            if tasks is not None and key in plan.checkpoints:
                self._copy_rows("checkpoint_writes", thread, to, [key], without=tasks)
        self._copy_blobs(thread, to, plan.checkpoints)

    def _copy_rows(self, table: str, thread: str, to: str, keys: Sequence[Key], without: Collection[str] = ()) -> None:
        source = self.columns.checkpoints if table == "checkpoints" else self.columns.writes
        names = self.columns.others(table, *_ADDRESS)
        left_out = " AND NOT r.task_id = ANY(%s)" if without else ""
        self.rows_of(
            f"INSERT INTO {source} (thread_id, checkpoint_ns, checkpoint_id, {', '.join(names)}) "
            f"SELECT %s, r.checkpoint_ns, r.checkpoint_id, {', '.join(f'r.{name}' for name in names)} "
            f"FROM unnest(%s::text[], %s::text[]) AS k(ns, id) JOIN {source} r ON r.thread_id = %s "
            f"AND r.checkpoint_ns = k.ns AND r.checkpoint_id = k.id{left_out}",
            (to, [key.ns for key in keys], [key.id for key in keys], thread, *([list(without)] if without else [])),
        )

    def _copy_blobs(self, thread: str, to: str, checkpoints: Sequence[Key]) -> None:
        """The values that the checkpoints hold by reference."""
        own = self.rows(
            f"SELECT c.checkpoint_ns, jsonb_build_object('channel_versions', c.checkpoint -> 'channel_versions')::text "
            f"FROM unnest(%s::text[], %s::text[]) AS k(ns, id) JOIN {self.columns.checkpoints} c "
            f"ON c.thread_id = %s AND c.checkpoint_ns = k.ns AND c.checkpoint_id = k.id",
            [key.ns for key in checkpoints],
            [key.id for key in checkpoints],
            thread,
        )
        keys = sorted({(ns, *pair) for ns, versions in own for pair in versions_of(versions).items()})
        names = self.columns.others("checkpoint_blobs", *_VALUE)
        self.rows_of(
            f"INSERT INTO {self.columns.blobs} (thread_id, checkpoint_ns, channel, version, {', '.join(names)}) "
            f"SELECT %s, k.ns, k.channel, k.version, {', '.join(f'r.{name}' for name in names)} "
            f"FROM unnest(%s::text[], %s::text[], %s::text[]) AS k(ns, channel, version) JOIN {self.columns.blobs} r "
            f"ON r.thread_id = %s AND r.checkpoint_ns = k.ns AND r.channel = k.channel AND r.version = k.version",
            (to, *([key[part] for key in keys] for part in range(3)), thread),
        )

    def rows_of(self, statement: str, parameters: Sequence[object]) -> None:
        """One statement without an answer."""
        self.db.execute(statement.encode(), parameters)
