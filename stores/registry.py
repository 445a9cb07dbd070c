"""From a path or URL to the adapter that reads it, by what lies in the file and not by its name.

Owns URLs, probing and masking; adapters are imported when their store is opened (an import costs up to 170 ms).
"""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import parse_qsl, quote, unquote

from stores.errors import Corrupt, Unreachable, Unsupported
from stores.protocol import Store
from stores.salvaging import SalvagingReader
from stores.urls import is_postgres
from stores.urls import mask_password as mask_password

if TYPE_CHECKING:
    from stores.probing import Proposal

ENTRY_POINTS: Final = "tt_debug.stores"
_BUILT_IN: Final = {
    "native": "stores.native.sqlite:NativeStore",
    "langgraph": "stores.langgraph.sqlite:LangGraphStore",
    "table": "stores.table:TableStore",
    "langgraph-server": "stores.langgraph_server.store:ServerStore",
}
_SERVERS: Final = ("langgraph+http", "langgraph+https")
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*)://(.*)", re.IGNORECASE | re.DOTALL)
_MAPPED: Final = frozenset({"table", "thread", "id", "parent", "state", "step", "node", "status", "created"})
_NEEDED: Final = ("table", "thread", "id", "state")
_MOST_PROPOSED: Final = 3

Tables = Mapping[str, frozenset[str]]


def open_store(url: str, *, read_only: bool = True) -> Store:
    """The store at a path, ``sqlite:///path``, or ``sqlite:///path?table=…&thread=…&id=…&parent=…&state=…``.

    Or in a database: ``postgresql://…`` or libpq's ``service=…``, with ``?schema=…`` where it holds several.

    Looking writes nothing either way; ``read_only`` also refuses every write. Raises Unreachable for what is not
    there (nothing is made), Corrupt for no database, Unsupported for tables that no adapter knows.
    """
    path, mapping = split_url(url)
    if path is None and is_postgres(url):
        from stores.postgres_stores import open_postgres

        return open_postgres(url, read_only=read_only)
    if path is None:
        return _foreign_url(url, read_only)
    if mapping:
        from stores.table import TableMapping, TableStore

        return TableStore(path, TableMapping(**mapping), read_only=read_only)
    try:
        tables = _tables_of(path)
    except (Corrupt, Unreachable):
        # No SQLite file of ours to open: a folder, or a file of another format.
        store = _from_others(str(path), read_only)[0] if path.exists() else None
        if store is None:
            raise
        return store
    kind = _kind_of(path, tables)
    if kind is not None:
        return _adapter(kind)(path, read_only=read_only)
    return _unknown(path, tables, read_only)


def split_url(url: str) -> tuple[Path | None, dict[str, str]]:
    """The absolute path and the column mapping of an SQLite URL or plain path; no path for another kind of URL.

    ``sqlite:///`` is followed by a relative path, ``sqlite:////`` by an absolute one; ``?`` and ``%`` in a URL's
    path are written %3F and %25, in a plain path they stand for themselves. Raises Unsupported for a bad mapping.
    """
    found = _SCHEME.fullmatch(url)
    if is_postgres(url) and not Path(url).exists():
        return None, {}
    if found is None or Path(url).exists():
        return _absolute(url), {}
    if found[1].lower() != "sqlite":
        return None, {}
    place, _, query = found[2].partition("?")
    if not place.startswith("/") or place == "/":
        raise Unsupported(f"{url} names no file", hint="Write sqlite:///relative.db or sqlite:////absolute/path.db.")
    return _absolute(unquote(place[1:])), _mapping(url, query)


def _absolute(path: str) -> Path:
    place = Path(path)
    # Resolved, so that a store has one name, and one set of locks, whatever link it was opened by.
    return (place.expanduser() if path.startswith("~") and not place.exists() else place).resolve()


def _mapping(url: str, query: str) -> dict[str, str]:
    given = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=False))
    unknown = sorted(set(given) - _MAPPED)
    missing = [name for name in _NEEDED if given and not given.get(name)]
    if unknown or missing:
        wrong = f"does not know {', '.join(unknown)}" if unknown else f"lacks {', '.join(missing)}"
        raise Unsupported(
            f"the column mapping in {url} {wrong}",
            hint="Write ?table=…&thread=…&id=…&parent=…&state=…, each a name in the file.",
        )
    return {name: value for name, value in given.items() if value}


def _tables_of(path: Path) -> Tables:
    reader = SalvagingReader(path)
    try:
        return reader.read(_columns)
    finally:
        reader.close()


def _columns(db: sqlite3.Connection) -> Tables:
    listed = db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")
    names = [row[0] for row in listed]
    found = {}
    for name in names:
        columns = db.execute("SELECT name FROM pragma_table_info(?)", (name,))
        found[name] = frozenset(row[0] for row in columns)
    return found


def _kind_of(path: Path, tables: Tables) -> str | None:
    checkpoints = tables.get("checkpoints", frozenset())
    if tables.get("meta") == frozenset(("key", "value")) and {"thread_id", "checkpoint_id", "state"} <= checkpoints:
        return "native"
    if {"thread_id", "checkpoint"} <= checkpoints and checkpoints & {"checkpoint_id", "thread_ts"}:
        return "langgraph"
    return None


class _Adapter:
    """What every class of the registry answers to when called."""

    def __call__(self, path: Path, *, read_only: bool) -> Store:
        raise NotImplementedError


def _adapter(kind: str) -> _Adapter:
    module, _, name = _BUILT_IN[kind].partition(":")
    return cast(_Adapter, getattr(import_module(module), name))


def _unknown(path: Path, tables: Tables, read_only: bool) -> Store:
    """Somebody else's adapter, or the one table that looks like a history."""
    from stores.table import TableStore

    store, broken = _from_others(str(path), read_only)
    if store is not None:
        return store
    proposed = _proposals(path, tables)
    if len(proposed) == 1 and proposed[0].sure:
        return TableStore(path, proposed[0].mapping, read_only=read_only, proposed=True)
    names = ", ".join(sorted(tables)) or "none"
    raise Unsupported(
        f"no checkpoints that tt-debug knows in {path} (tables: {names})",
        hint=_how_to_map(path, proposed) + broken,
    )


def proposals(path: str | Path) -> tuple[str, ...]:
    """URLs by which tables of the file might be read as history, the likeliest first. Raises Unreachable, Corrupt.

    Of a database, also the schemas that hold stores; such a URL has the password in it.
    """
    if is_postgres(str(path)) and not Path(path).exists():
        from stores.postgres_stores import offered

        return offered(str(path))
    place = _absolute(str(path))
    return tuple(proposal.mapping.url(place) for proposal in _proposals(place, _tables_of(place)))


def _proposals(path: Path, tables: Tables) -> tuple[Proposal, ...]:
    from stores.probing import propose, sample_of

    reader = SalvagingReader(path)
    try:
        return reader.read(lambda db: propose(tables, lambda name: sample_of(db, name)))
    finally:
        reader.close()


def _how_to_map(path: Path, proposed: tuple[Proposal, ...]) -> str:
    urls = [shlex.quote(proposal.mapping.url(path)) for proposal in proposed[:_MOST_PROPOSED]]
    if urls:
        return f"If one of them holds a history, open it as {' or '.join(urls)}"
    url = f"sqlite:///{quote(str(path))}?table=…&thread=…&id=…&parent=…&state=…"
    return f"Say which columns hold them: {shlex.quote(url)}"


def _foreign_url(url: str, read_only: bool) -> Store:
    if url.partition("://")[0].lower() in _SERVERS:
        from stores.langgraph_server.store import open_url

        server = open_url(url, read_only=read_only)
        if server is not None:
            return server
    store, broken = _from_others(url, read_only)
    if store is not None:
        return store
    raise Unsupported(
        f"no adapter for {mask_password(url)}",
        hint=f"Give a path, sqlite:///path, postgresql://… or langgraph+http://host:port.{broken}",
    )


def _from_others(url: str, read_only: bool) -> tuple[Store | None, str]:
    """The first store that an installed adapter's ``open_url(url, read_only=…)`` answers with; without one, sentences
    about those adapters that could not be asked."""
    from importlib.metadata import entry_points  # reads the metadata of all installed packages, 20 ms

    broken = ""
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name in _BUILT_IN:
            continue
        try:
            adapter = entry.load()
        except (ImportError, AttributeError) as error:
            broken += f" The adapter {entry.name} cannot be loaded: {error}."
            continue
        store = adapter.open_url(url, read_only=read_only)
        if store is not None:
            return store, ""
    return None, broken
