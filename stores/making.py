"""Where a store of ours lies or would be made: a file, or a schema in a PostgreSQL database.

Owns that choice for whoever runs or imports; what is there already is opened by `stores.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from stores.errors import Unreachable
from stores.postgres_address import address_of
from stores.registry import split_url
from stores.urls import is_postgres, mask_password


@dataclass(frozen=True, slots=True)
class Place:
    """``url`` opens it, secrets included; ``shown`` names it. ``is_new``: nothing is there yet."""

    url: str = field(repr=False)
    shown: str
    is_new: bool


def place_of(url: str) -> Place:
    """The place a run or an import at ``url`` goes to.

    In a PostgreSQL database that is the schema `tt_debug` unless the URL names another: other programs' tables, also
    LangGraph's, have schemas of their own. Raises Unreachable for a folder that is not there, or a server.
    """
    if is_postgres(url) and not Path(url).exists():
        return _schema(url)
    path, mapping = split_url(url)
    if path is None or mapping or path.exists():
        return Place(url, mask_password(url), False)
    if not path.parent.is_dir():
        raise Unreachable(f"there is no folder {path.parent} to make {path.name} in", hint="make it first")
    return Place(url, str(path), True)


def create_native(url: str | Path) -> None:
    """Make an empty native store at a path or URL, or bring an older one up to date.

    Raises Unsupported where another program's tables live, Unreachable or ReadOnly where none can be made.
    """
    if isinstance(url, str) and is_postgres(url):
        from stores.native.postgres_schema import create_schema  # psycopg, 135 ms

        create_schema(url)
        return
    from stores.native.base import create_file

    path = split_url(url)[0] if isinstance(url, str) else url
    create_file(path or Path(url))


def _schema(url: str) -> Place:
    from stores.native.postgres_schema import SCHEMA
    from stores.postgres import Server
    from stores.postgres_catalog import by_schema, tables_of

    address = address_of(url)
    if address.mapping:
        return Place(url, address.shown, False)
    meant = address.choosing(schema=address.schema or SCHEMA)
    server = Server(address)
    try:
        is_new = not by_schema(server.read(tables_of)).get(meant.schema or SCHEMA)
    finally:
        server.close()
    return Place(meant.secret_url, meant.shown, is_new)
