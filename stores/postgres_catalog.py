"""What lies in a PostgreSQL database: its tables with their columns, told by the catalog without reading any of them.

Owns one question, and which schema is meant where nobody says; refuses to know what a table is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stores.postgres import Database

# Partitions are read through the table they belong to. Types as `format_type` writes them: "character varying(20)".
_TABLES: Final = """
SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'), has_table_privilege(c.oid, 'SELECT'),
       n.nspname = ANY (current_schemas(false)),
       array_agg(a.attname::text ORDER BY a.attnum), array_agg(format_type(a.atttypid, NULL) ORDER BY a.attnum)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND has_schema_privilege(n.oid, 'USAGE')
GROUP BY n.nspname, c.oid, c.relname, c.relkind
ORDER BY array_position(current_schemas(false), n.nspname), n.nspname, c.relname
"""


@dataclass(frozen=True, slots=True)
class Table:
    """One table or view. ``columns`` are name → type, in order; ``readable``: we may SELECT from all of it.

    ``is_default``: its schema is on the search path, so that programs which name no schema find it there.
    """

    schema: str
    name: str
    columns: Mapping[str, str]
    is_view: bool = False
    readable: bool = True
    is_default: bool = False


def tables_of(db: Database) -> tuple[Table, ...]:
    """Every table in a schema that we may use, those on the search path first; one question to the catalog."""
    return tuple(
        Table(schema, name, dict(zip(columns, types, strict=True)), is_view, readable, is_default)
        for schema, name, is_view, readable, is_default, columns, types in db.execute(_TABLES)
    )


def by_schema(tables: tuple[Table, ...]) -> Mapping[str, Mapping[str, Table]]:
    """Schema → its tables by name, in the same order."""
    found: dict[str, dict[str, Table]] = {}
    for table in tables:
        found.setdefault(table.schema, {})[table.name] = table
    return found
