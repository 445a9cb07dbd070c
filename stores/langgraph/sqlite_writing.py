"""What is written into LangGraph's SQLite tables, inside the caller's transaction.

Owns the inserts; refuses to change or delete a row.
"""

from __future__ import annotations

from stores.langgraph.copying import CopyPlan
from stores.langgraph.rows import CheckpointRow
from stores.langgraph.sqlite_tables import SqliteTables, columns_of


class SqliteWriting(SqliteTables):
    """`WritableTables` of one file."""

    __slots__ = ()

    def exists(self, thread: str) -> bool:
        """Whether anything is stored under this name; writes may be there before their checkpoint."""
        tables = ("checkpoints", "writes") if self.has_writes else ("checkpoints",)
        return any(
            self.db.execute(f"SELECT 1 FROM {name} WHERE thread_id = ? LIMIT 1", (thread,)).fetchone()
            for name in tables
        )

    def highest_count(self, thread: str) -> int:
        """0: a row holds its values itself."""
        return 0

    def insert(self, thread: str, row: CheckpointRow) -> None:
        """Append one checkpoint, encrypted if it was. A row of the same id is sqlite3's IntegrityError."""
        kind, blob = row.type, row.blob
        if row.sealed and self.seal is not None and kind is not None and blob is not None:
            kind, blob = self.seal.close(kind, blob)
        named = {
            "thread_id": thread,
            self.ns: row.ns,
            self.id: row.id,
            self.parent: row.parent,
            self.type: kind,
            "checkpoint": blob,
            "metadata": row.metadata,
        }
        # What langgraph 0.1 had no column for is a literal here.
        columns = {name: value for name, value in named.items() if not name.startswith("'")}
        marks = ", ".join("?" * len(columns))
        self.db.execute(f"INSERT INTO checkpoints ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))

    def copy(self, thread: str, to: str, plan: CopyPlan) -> None:
        """As `WritableTables.copy`."""
        copied = self._copying("checkpoints")
        for key in plan.rows:
            self.db.execute(copied, (to, thread, key.ns, key.id))
        if not self.has_writes:
            return
        copied = self._copying("writes")
        for key in plan.checkpoints:
            without = plan.left_out.get(key, frozenset())
            if without is not None:
                more = f" AND task_id NOT IN ({', '.join('?' * len(without))})" if without else ""
                self.db.execute(f"{copied}{more}", (to, thread, key.ns, key.id, *without))

    def _copying(self, table: str) -> str:
        # Every column there is, so that one a later release adds comes along.
        names = ", ".join(f'"{name}"' for name in sorted(columns_of(self.db, table)) if name != "thread_id")
        return (
            f"INSERT INTO {table} (thread_id, {names}) SELECT ?, {names} FROM {table} "
            f"WHERE thread_id = ? AND {self.ns} = ? AND {self.id} = ?"
        )
