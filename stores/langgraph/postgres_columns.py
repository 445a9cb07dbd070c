"""Which columns LangGraph's tables have in one schema of a PostgreSQL database, as SQL.

Owns names, looked up in the catalog and never concluded from a migration's number, which savers gave out twice.
Refuses rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from stores.errors import Unsupported
from stores.postgres import Database

TABLES: Final = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")

Found: TypeAlias = Mapping[str, frozenset[str]]
"""The columns of the tables that there are, by table."""

_CATALOG: Final = b"""
    SELECT c.relname::text, array_agg(a.attname::text) FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        AND coalesce(to_jsonb(a) ->> 'attgenerated', '') = ''
    WHERE c.relname = ANY(%s) AND c.relkind IN ('r', 'p') AND n.nspname = %s GROUP BY 1
"""
_WRITES: Final = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "blob"})
_BLOBS: Final = frozenset({"thread_id", "checkpoint_ns", "channel", "type", "blob"})


def recognises(columns: Mapping[str, Collection[str]]) -> bool:
    """Whether tables with these columns are LangGraph's: other applications have tables of these names, too."""
    own = {"thread_id", "checkpoint_ns", "checkpoint", "metadata"} <= set(columns.get("checkpoints", ()))
    return own and set(columns.get("checkpoint_blobs", ())) >= _BLOBS


@dataclass(frozen=True, slots=True)
class Columns:
    """Tables and columns as SQL; what a generation lacks is a literal. ``is_shallow`` where only heads are kept."""

    schema: str
    checkpoints: str
    blobs: str
    writes: str | None
    names: Found
    is_shallow: bool
    id: str
    parent: str
    version: str
    write_path: str

    @classmethod
    def of(cls, db: Database, schema: str) -> Columns:
        """Those of a schema. Raises Unsupported where the tables are not LangGraph's."""
        found = {name: frozenset(columns) for name, columns in db.execute(_CATALOG, (list(TABLES), schema))}
        if not recognises(found):
            raise Unsupported(
                f"no LangGraph tables in schema {schema!r}", hint="Name the schema that has them: …?schema=NAME"
            )
        own, writes = found["checkpoints"], found.get("checkpoint_writes", frozenset())
        is_shallow = "checkpoint_id" not in own
        return cls(
            schema=schema,
            checkpoints=qualified(schema, "checkpoints"),
            blobs=qualified(schema, "checkpoint_blobs"),
            writes=qualified(schema, "checkpoint_writes") if writes >= _WRITES else None,
            names=found,
            is_shallow=is_shallow,
            id="(c.checkpoint ->> 'id')" if is_shallow else "c.checkpoint_id",
            parent="c.parent_checkpoint_id" if "parent_checkpoint_id" in own else "NULL",
            version="b.version" if "version" in found["checkpoint_blobs"] else "''",
            write_path="w.task_path" if "task_path" in writes else "''",
        )

    @property
    def is_writable(self) -> bool:
        """Whether a fork can be written as the savers read it."""
        return not self.is_shallow and self.parent != "NULL" and self.version != "''" and self.writes is not None

    def others(self, table: str, *known: str) -> list[str]:
        """A table's further columns as SQL, so that one a later release adds comes along."""
        return [quoted(name) for name in sorted(self.names[table] - set(known))]


def quoted(name: str) -> str:
    """A name as SQL; a percent sign would be taken for a parameter."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


def qualified(schema: str, table: str) -> str:
    """A table as SQL."""
    return f"{quoted(schema)}.{quoted(table)}"
