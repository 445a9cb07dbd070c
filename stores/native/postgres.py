"""The native store in a PostgreSQL schema: the statements of the one in a file, on a server.

Owns its connections and who may write: one at a time, as in a file. A lock of the server's, held for a write
transaction, makes what is proved of the one true of the other; a transaction is a few milliseconds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from stores.errors import ReadOnly, Unreachable
from stores.model import StoreInfo
from stores.native.base import NativeBase
from stores.native.database import Database as Rows
from stores.native.history import CAPABILITIES, NativeHistory
from stores.native.postgres_schema import MIGRATIONS, check_readable, look_into, migrate, turn_of, turn_taken
from stores.native.schema import VERSION, store_id_of, version_in, version_of
from stores.native.states import States
from stores.postgres import Database, Server
from stores.postgres_writing import WriteConnection


class NativeSchema(NativeBase):
    """A native schema, open: reading connections for looking, one for writing that is made when first needed."""

    def __init__(self, server: Server, schema: str, *, read_only: bool = True) -> None:
        super().__init__()
        self._server = server
        self._schema = schema
        self._read_only = read_only
        self._writer = WriteConnection(server.address)
        self._turn = turn_of(schema)
        self._closed = False
        self._states = States(self.blob)
        try:
            self._store_id: str = server.read(self._identify)
        except BaseException:
            server.close()
            raise

    def _identify(self, db: Database) -> str:
        rows = look_into(db, self._schema)
        check_readable(version_of(rows), self._server.address, self._schema)
        return store_id_of(rows)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Rows]:
        with self._server.connection() as db:
            yield look_into(db, self._schema, self._states)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Rows]:
        self._check_writable()
        # Two questions: what others have written is seen by one that is asked once the turn has come.
        with self._writer.asking(self._turn, VERSION) as begun:
            if version_in(begun.answers[1]) != len(MIGRATIONS):
                migrate(begun.db, self._server.address, self._schema)
            yield turn_taken(begun, self._states)

    def _check_writable(self) -> None:
        where = self._server.address.shown
        if self._read_only:
            raise ReadOnly(f"{where} was opened for reading only", hint="Open it without --read-only.")
        if self._closed:
            raise Unreachable(f"{where} was closed", hint="Open the store again.")

    def interrupt(self, thread: int) -> None:
        """End the question that a thread is asking; see `stores.postgres.Server.interrupt`."""
        self._server.interrupt(thread)

    @property
    def secret_url(self) -> str:
        """What opens the store in another process, its password included: never to be shown."""
        return self._server.address.choosing(schema=self._schema).secret_url

    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""
        self._closed = True
        self._server.close()
        self._writer.close()


class NativePostgresStore(NativeHistory, NativeSchema):
    """One native schema of a database. ``read_only`` refuses every write; reading never writes either way."""

    def __init__(self, server: Server, schema: str, *, read_only: bool = True, notices: tuple[str, ...] = ()) -> None:
        """``notices`` are shown with the store's own."""
        super().__init__(server, schema, read_only=read_only)
        self._notices = notices

    @property
    def info(self) -> StoreInfo:
        """What this store is and can do."""
        return StoreInfo(
            url=self._server.address.shown,
            kind="native",
            store_id=self._store_id,
            capabilities=CAPABILITIES,
            read_only=self._read_only,
            notices=(*self._notices, *self._server.notices),
        )
