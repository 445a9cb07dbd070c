"""From a PostgreSQL URL to the adapter that reads what lies there, schema by schema and never two of them as one.

Owns the choice; what an adapter makes of its tables is its own business. An adapter is called with an open
`stores.postgres.Server`, which it closes, and the schema.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Protocol, cast

from stores.errors import Unsupported
from stores.postgres import Server
from stores.postgres_address import Address, address_of
from stores.postgres_catalog import Table, by_schema, tables_of
from stores.protocol import Store

_BUILT_IN: Final = {
    "native": "stores.native.postgres:NativePostgresStore",
    "langgraph": "stores.langgraph.postgres:LangGraphPostgresStore",
}
_NAMES: Final = {"native": "a native store", "langgraph": "a LangGraph store"}
_MOST: Final = 5


class PostgresAdapter(Protocol):
    """What an adapter of a schema answers to when called. ``notices`` are shown with its own."""

    def __call__(self, server: Server, schema: str, *, read_only: bool, notices: tuple[str, ...]) -> Store: ...


@dataclass(frozen=True, slots=True)
class Found:
    """A store that lies in a schema. ``is_default``: where programs look that name no schema."""

    kind: str
    schema: str
    is_default: bool = False


def open_postgres(url: str, *, read_only: bool) -> Store:
    """The store in a database. Raises Unreachable, and Unsupported for a database that holds none, or several."""
    server = Server(address_of(url))
    try:
        return _opened(server, read_only)
    except BaseException:
        server.close()
        raise


def offered(url: str) -> tuple[str, ...]:
    """URLs, with their secrets, by which the database might be opened: its stores, else tables that may be a history.

    Raises Unreachable.
    """
    from stores.table_postgres import proposed_in

    address = address_of(url)
    server = Server(address)
    try:
        tables = server.read(tables_of)
        found = [address.choosing(schema=one.schema) for one in stores_in(tables)] or proposed_in(server, tables)
    finally:
        server.close()
    return tuple(each.secret_url for each in found)


def stores_in(tables: tuple[Table, ...]) -> tuple[Found, ...]:
    """Every store that a database holds, the one that programs without a schema would find first."""
    found = ((schema, kind_of(named), named) for schema, named in by_schema(tables).items())
    return tuple(Found(kind, schema, named["checkpoints"].is_default) for schema, kind, named in found if kind)


def kind_of(tables: Mapping[str, Table]) -> str | None:
    """What the tables of one schema are, told by their columns."""
    columns = {name: frozenset(table.columns) for name, table in tables.items()}
    checkpoints = columns.get("checkpoints", frozenset())
    if {"key", "value"} <= columns.get("meta", frozenset()) and {"thread_id", "checkpoint_id", "state"} <= checkpoints:
        return "native"
    if {"thread_id", "checkpoint", "metadata"} <= checkpoints:
        return "langgraph"
    return None


def _opened(server: Server, read_only: bool) -> Store:
    address = server.address
    tables = server.read(tables_of)
    if address.mapping:
        from stores.table_postgres import open_mapped

        return open_mapped(server, tables, read_only=read_only)
    found = stores_in(tables)
    chosen = _chosen(address, found)
    if chosen is None:
        return _unknown(server, tables, read_only)
    others = tuple(other for other in found if other != chosen)
    notices = (f"This database holds more than is shown: {_offers(address, others)}",) if others else ()
    module, _, name = _BUILT_IN[chosen.kind].partition(":")
    adapter = cast(PostgresAdapter, getattr(import_module(module), name))
    return adapter(server, chosen.schema, read_only=read_only, notices=() if address.schema else notices)


def _chosen(address: Address, found: tuple[Found, ...]) -> Found | None:
    if address.schema is not None:
        return next((one for one in found if one.schema == address.schema), None)
    if len(found) > 1 and not found[0].is_default:
        raise Unsupported(f"{address.shown} holds several stores", hint=f"Choose one: {_offers(address, found)}")
    return found[0] if found else None


def _offers(address: Address, found: tuple[Found, ...]) -> str:
    return ", ".join(
        f"{_NAMES[one.kind]} at {shlex.quote(address.choosing(schema=one.schema).shown)}" for one in found[:_MOST]
    )


def _unknown(server: Server, tables: tuple[Table, ...], read_only: bool) -> Store:
    """The one table that looks like a history. Raises Unsupported, naming what there is and how to map it."""
    from stores.table_postgres import open_proposed

    return open_proposed(server, tables, read_only=read_only)
