"""PostgreSQL tables of others, read as history by a mapping of column names.

Owns nothing yet but saying so.
"""

from __future__ import annotations

from typing import NoReturn

from stores.errors import Unsupported
from stores.postgres import Server
from stores.postgres_catalog import Table


def open_mapped(server: Server, tables: tuple[Table, ...], *, read_only: bool) -> NoReturn:
    """Raises Unsupported."""
    raise Unsupported(f"{server.address.shown} maps columns, which works in SQLite files only as yet")


def open_proposed(server: Server, tables: tuple[Table, ...], *, read_only: bool) -> NoReturn:
    """Raises Unsupported, naming what there is."""
    names = ", ".join(f"{table.schema}.{table.name}" for table in tables[:8]) or "none"
    raise Unsupported(
        f"no checkpoints that tt-debug knows in {server.address.shown} (tables: {names})",
        hint="Where they are in a schema of their own, name it: ?schema=…",
    )
