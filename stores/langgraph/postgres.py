"""LangGraph's tables in a PostgreSQL database as a store. The package langgraph is neither needed nor imported.

Owns the connections to one schema; refuses to know rows: those are `stores.langgraph.base`'s.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from stores import ids
from stores.langgraph.base import CAPABILITIES, LangGraphBase
from stores.langgraph.lineage import copies_among
from stores.langgraph.postgres_columns import Columns
from stores.langgraph.postgres_listing import families
from stores.langgraph.postgres_scanning import PostgresScanning
from stores.langgraph.postgres_survey import survey
from stores.langgraph.postgres_tables import PostgresTables
from stores.langgraph.postgres_writing import PostgresWriting
from stores.langgraph.scanning import Wanted, scan, widened
from stores.langgraph.tables import Tables, WritableTables
from stores.model import Capability, Ref, StoreInfo
from stores.postgres import Database, Server, place_id
from stores.postgres_writing import WriteConnection
from stores.scanning import Answer, Holds

T = TypeVar("T")


def roots_newest_first(tables: PostgresTables, thread: str) -> Iterator[str]:
    """The root checkpoints of a thread."""
    id, source = tables.columns.id, tables.columns.checkpoints
    question = f"SELECT {id} FROM {source} c WHERE c.thread_id = %s AND c.checkpoint_ns = '' ORDER BY 1 DESC"
    return (found for (found,) in tables.rows(question, thread))


class LangGraphPostgresStore(LangGraphBase):
    """Reads what PostgresSaver and AsyncPostgresSaver write, and appends forks and edits to it."""

    def __init__(self, server: Server, schema: str, *, read_only: bool = True, notices: tuple[str, ...] = ()) -> None:
        """Open a schema; the server is closed with the store. ``notices`` are shown with its own.

        Raises Unsupported for tables that are not LangGraph's.
        """
        super().__init__(server.address.shown, read_only=read_only)
        self._server = server
        self._schema = schema
        is_writable, found = self._ask_server(lambda tables: (tables.is_writable, survey(tables, self._key_problem)))
        self._info = StoreInfo(
            url=server.address.shown,
            kind="langgraph",
            store_id=place_id(server.address.choosing(schema=schema)),
            capabilities=CAPABILITIES if is_writable else CAPABILITIES - {Capability.FORK},
            read_only=read_only,
            notices=(*notices, *found),
        )

    @property
    def info(self) -> StoreInfo:
        """What this store is and can do."""
        return replace(self._info, notices=(*self._server.notices, *self._info.notices))

    @property
    def secret_url(self) -> str:
        """What opens the store in another process, its password included: never to be shown."""
        return self._server.address.choosing(schema=self._schema).secret_url

    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""
        self._server.close()

    def interrupt(self, thread: int) -> None:
        """End the question that a thread is asking, if any: nobody waits for its answer."""
        self._server.interrupt(thread)

    def copies(self) -> Mapping[str, Ref]:
        """As `stores.protocol.TellsCopies`."""

        def question(tables: PostgresTables) -> Mapping[str, Ref]:
            if tables.columns.is_shallow:
                return {}  # one row a thread, and no two of them alike
            found = tables.rows(families(tables.columns))
            known = (threads for first, threads in found if ids.time_of(first) is not None)
            return copies_among(known, lambda thread: roots_newest_first(tables, thread))

        return self._ask_server(question)

    def scan(
        self, refs: Sequence[Ref], holds: Holds | None = None, only: Collection[str] | None = None
    ) -> Sequence[Answer]:
        """As `stores.scanning.Scans`."""
        wanted = Wanted(widened(holds), None if only is None else frozenset(only))

        def question(db: Database) -> Sequence[Answer]:
            tables = PostgresScanning(db, Columns.of(db, self._schema), self._seal)
            told = tables.telling(refs) if wanted.holds is not None else ()
            return scan(refs, tables.whole(refs, wanted.holds), told, self._decoder, wanted)

        return self._server.read(question)

    def _ask(self, question: Callable[[Tables], T]) -> T:
        return self._ask_server(question)

    def _ask_server(self, question: Callable[[PostgresTables], T]) -> T:
        # A saver that is set up meanwhile may add a column, so they are looked up on each snapshot.
        return self._server.read(lambda db: question(PostgresTables(db, Columns.of(db, self._schema), self._seal)))

    @contextlib.contextmanager
    def _writing(self, thread: str) -> Iterator[WritableTables]:
        """A write transaction on a connection of its own, which is gone afterwards."""
        writing = WriteConnection(self._server.address)
        try:
            with writing.transaction() as db:
                tables = PostgresWriting(db, Columns.of(db, self._schema), self._seal)
                tables.lock(thread)
                yield tables
        finally:
            writing.close()
