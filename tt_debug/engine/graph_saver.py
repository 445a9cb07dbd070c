"""A thread's store in the user's interpreter: a file, or a PostgreSQL database. Stdlib only, Python 3.9.

Owns putting LangGraph's own saver on a copy of the graph, to look or to drive. Never sets tables up: a saver's
``setup()`` and journal mode would change what the application finds.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import os
import re
import socket
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, Union

from .graph_guard import Guard
from .graph_owner import Owner, fenced, fenced_async
from .graph_target import Refused

Store = Union[str, Mapping[str, str]]  # noqa: UP007 - Python 3.9
"""The path of a file; or of a database "url", for libpq and with its password, "schema" and "shown", without it."""

_JOURNAL = re.compile(r"PRAGMA\s+journal_mode\s*=\s*\w+\s*;", re.IGNORECASE)
_BUSY = 30.0  # seconds to wait for a writer of the same file
_CONNECT = 10  # seconds
_PATH = "task_path"


def shown(store: Store) -> str:
    """The store as messages name it."""
    return store if isinstance(store, str) else store["shown"]


def require_saver(store: Store) -> None:
    """Import the store's saver. Raises ImportError."""
    importlib.import_module(f"langgraph.checkpoint.{'sqlite' if isinstance(store, str) else 'postgres'}")


def package_of(store: Store) -> str:
    """What has to be installed for it."""
    return (
        "langgraph-checkpoint-sqlite" if isinstance(store, str) else "langgraph-checkpoint-postgres 'psycopg[binary]'"
    )


class SameJournal(sqlite3.Connection):
    """A connection that leaves the file's journal mode alone: the savers' set-up asks for WAL, which stays for good."""

    def executescript(self, script: str, /) -> sqlite3.Cursor:
        return super().executescript(_JOURNAL.sub("", script))


def with_saver(graph: Any, saver_class: Any, connection: Any, guard: Guard) -> Any:
    """A copy of the graph on our saver, which writes values as the graph's own one does, and reads them under guard."""
    saver = saver_class(connection, serde=getattr(graph.checkpointer, "serde", None))
    twin = copy.copy(graph)
    twin.checkpointer = guard.over(getattr(graph, "_apply_checkpointer_allowlist", lambda same: same)(saver))
    return twin


@contextlib.contextmanager
def reading(graph: Any, store: Store, guard: Guard) -> Iterator[Any]:
    """The graph over a connection that cannot write; where no log lies beside the file nothing is made there either."""
    if not isinstance(store, str):
        with _reading_postgres(graph, store, guard) as twin:
            yield twin
        return
    from langgraph.checkpoint.sqlite import SqliteSaver

    still = "" if os.path.exists(f"{store}-wal") else "&immutable=1"
    uri = f"{Path(store).absolute().as_uri()}?mode=ro{still}"
    try:
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        columns = {row[1] for row in connection.execute("PRAGMA table_info(writes)")}
    except sqlite3.Error as error:
        raise Refused("thread", f"cannot read {store}: {error}") from None
    with contextlib.closing(connection):
        twin = with_saver(graph, SqliteSaver, connection, guard)
        twin.checkpointer.is_setup = True  # the saver's own set-up would change the file
        if hasattr(twin.checkpointer, "_has_task_path"):
            twin.checkpointer._has_task_path = _PATH in columns
        yield twin


def head_of(graph: Any, store: Store, thread: str, guard: Guard) -> str:
    """The id of the thread's newest checkpoint, read anew."""
    newest = "SELECT MAX(checkpoint_id) AS newest FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
    with reading(graph, store, guard) as twin:
        return str(rows(twin.checkpointer, newest, thread)[0][0])


@contextlib.contextmanager
def writing(graph: Any, store: Store, guard: Guard, owner: Owner) -> Iterator[Any]:
    """The graph on the store itself, for as long as the run is its owner's."""
    if not isinstance(store, str):
        from langgraph.checkpoint.postgres import PostgresSaver

        with _postgres(store) as connection:
            yield with_saver(graph, fenced(PostgresSaver, owner), connection, guard)
        return
    from langgraph.checkpoint.sqlite import SqliteSaver

    connection = sqlite3.connect(store, check_same_thread=False, timeout=_BUSY, factory=SameJournal)
    with contextlib.closing(connection):
        yield with_saver(graph, fenced(SqliteSaver, owner), connection, guard)


@contextlib.asynccontextmanager
async def writing_async(graph: Any, store: Store, guard: Guard, owner: Owner | None = None) -> AsyncIterator[Any]:
    """The same where something has to be awaited; without an ``owner`` for one edit."""

    def of_ours(saver_class: type) -> type:
        return saver_class if owner is None else fenced_async(saver_class, owner)

    if not isinstance(store, str):
        import psycopg
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

        async with await psycopg.AsyncConnection.connect(**_how(store)) as connection:
            yield with_saver(graph, of_ours(AsyncPostgresSaver), connection, guard)
        return
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with aiosqlite.connect(store, timeout=_BUSY, factory=SameJournal) as file:
        if not hasattr(file, "is_alive"):  # gone in aiosqlite 0.22; savers before 3.0 still ask
            vars(file)["is_alive"] = lambda: True
        yield with_saver(graph, of_ours(AsyncSqliteSaver), file, guard)


def rows(saver: Any, question: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """What the saver's own connection answers; ``?`` stands for a parameter."""
    if isinstance(saver.conn, sqlite3.Connection):
        return saver.conn.execute(question, parameters).fetchall()
    found = saver.conn.execute(question.replace("?", "%s"), parameters).fetchall()
    return [tuple(row.values()) for row in found]


# --- PostgreSQL


@contextlib.contextmanager
def alone_in_postgres(store: Store, thread: str) -> Iterator[None]:
    """No other tt-debug, on whatever machine, runs the thread of this database meanwhile; nothing for a file."""
    if isinstance(store, str):
        yield
        return
    with _postgres(store) as connection:
        name = f"tt-debug run {store['schema']} {thread}"
        connection.execute("SELECT set_config('application_name', %s, false)", (f"tt-debug {socket.gethostname()}",))
        row = connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0)) AS taken", (name,)).fetchone()
        if not row["taken"]:
            hint = "wait for it to finish, or end it where it runs: until then the server keeps its lock"
            raise Refused("conflict", f"a tt-debug elsewhere is running thread {thread!r}", hint)
        yield


@contextlib.contextmanager
def _reading_postgres(graph: Any, store: Mapping[str, str], guard: Guard) -> Iterator[Any]:
    from langgraph.checkpoint.postgres import PostgresSaver

    with _postgres(store, "-c default_transaction_read_only=on") as connection:
        question = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('checkpoint_writes') AND attnum > 0"
        columns = {row["attname"] for row in connection.execute(question)}
        if _PATH in PostgresSaver.SELECT_SQL and _PATH not in columns:
            text = f"this release of LangGraph writes a column {_PATH} that {store['shown']} does not have"
            raise Refused("thread", text, "take the release that wrote the thread, or let its application set it up")
        yield with_saver(graph, PostgresSaver, connection, guard)


@contextlib.contextmanager
def _postgres(store: Mapping[str, str], option: str = "") -> Iterator[Any]:
    import psycopg

    try:
        connection = psycopg.connect(**_how(store, option))
    except psycopg.OperationalError as error:
        # The driver's frames hold the password, and are not shown.
        raise Refused("thread", f"cannot reach {store['shown']}: {str(error).splitlines()[0]}") from None
    with contextlib.closing(connection):
        yield connection


def _how(store: Mapping[str, str], option: str = "") -> dict[str, Any]:
    """As the savers' ``from_conn_string`` connects, with names that lead to the schema."""
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.rows import dict_row

    parts = conninfo_to_dict(store["url"])
    schema = '"{}"'.format(store["schema"].replace('"', '""')).replace("\\", "\\\\").replace(" ", "\\ ")
    options = f"{parts.get('options') or ''} -c search_path={schema} {option}".strip()
    known = {"connect_timeout": str(_CONNECT), **parts, "options": options}
    return {**known, "autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
