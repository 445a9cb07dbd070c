"""How every PostgreSQL adapter writes to a server: in one short transaction that is whole or not there.

Owns the write connection and what becomes of a write whose connection is lost; refuses to know any table. Nothing here
outlives a transaction on the server but statements that are prepared on a session of our own, so that a transaction
pooler between us and it loses nothing.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stores.errors import NotWritten, StoreError, Unclear, Unreachable, Unsupported
from stores.points import point
from stores.postgres_address import Address, driver
from stores.postgres_connecting import PAUSE, WAITING, Database, back_by, connect, connect_patiently
from stores.postgres_errors import is_gone, translated

if TYPE_CHECKING:
    import psycopg

OLDEST: Final = 130000
"""The first server that says what became of a transaction by its 64-bit id."""
WRITE_SECONDS: Final = 30
PREPARED_AFTER: Final = 5
"""So many times a statement is executed before it is prepared, on a session that has been our own all that time."""

_BEGIN_WRITING: Final = (
    f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {WAITING}; SET LOCAL statement_timeout = '{WRITE_SECONDS}s';"
    f" SET LOCAL idle_in_transaction_session_timeout = '{WRITE_SECONDS}s'"
)
_SESSION: Final = "SELECT pg_backend_pid()"
_LIFE: Final = "SELECT stats_reset::text FROM pg_stat_bgwriter"
"""Changes when a server crashes, which throws its figures away, and where another is promoted in its place."""
_STALE: Final = frozenset({"0A000", "26000"})
"""Of a prepared statement: its tables were changed so that it gives other types; somebody threw it away."""


class Begun(NamedTuple):
    """A write transaction as it begins. ``answers`` are those to what was asked with its beginning, a row each."""

    db: Database
    answers: list[Any]


class WriteConnection:
    """Write transactions on one database: one at a time on a connection of their own, made by the first.

    A write is never repeated. Where the connection is lost while it is committed, the server is asked whether it was.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.RLock()
        self._db: Database | None = None
        self._was_there = False
        self._is_fresh = True  # no transaction was committed on the connection
        self._life: str | None = None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Database]:
        """A connection in a READ COMMITTED transaction; the block's end commits, an exception leaves all as it was.

        No user code and no waiting inside: the server ends a transaction that is idle for half a minute. Raises Busy
        after five seconds of another session's lock, NotWritten for a connection lost before the end, for a prepared
        statement that is no more, and while a server that was there cannot be reached; Unclear where nobody knows.
        """
        with self.asking() as begun:
            yield begun.db

    @contextlib.contextmanager
    def asking(self, *questions: str) -> Iterator[Begun]:
        """As `transaction`, with questions that are asked on the way that begins it; they change nothing."""
        with self._lock, translated(self._address, writing=True):
            begun = self._begun("; ".join((_BEGIN_WRITING, _SESSION, *questions)))
            db = begun.db
            try:
                with self._nothing_written(db):
                    point("postgres.begun")
                    yield begun
                    row = db.execute("SELECT pg_current_xact_id_if_assigned()::text").fetchone()
                    point("postgres.written")
                self._commit(db, row[0] if row else None)
                self._is_fresh = False
            finally:
                self._leave(db)
            point("postgres.committed")

    def close(self) -> None:
        """Idempotent."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _begun(self, text: str) -> Begun:
        """Nothing has been written yet: a connection that was lost since the last transaction is simply made again."""
        if (db := self._db) is not None:
            try:
                return self._begin(db, text)
            except driver().Error as error:
                if not is_gone(error, db):
                    raise
                self.close()
        db = self._db = self._connected()
        version = db.info.server_version
        if version < OLDEST:
            self.close()
            raise Unsupported(
                f"{self._address.shown} is PostgreSQL {version // 10000}; writing needs {OLDEST // 10000}",
                hint="Looking works; fork and edit in a newer server.",
            )
        db.prepare_threshold = PREPARED_AFTER
        with self._nothing_written(db):
            return self._begin(db, text)

    def _begin(self, db: Database, text: str) -> Begun:
        try:
            (session,), *answers = _answers(db.execute(text.encode(), prepare=False))
        except driver().Error:
            self._leave(db)
            raise
        if session != db.info.backend_pid:
            db.prepare_threshold = None  # a pooler's: what is prepared on it may not be there the next time
        return Begun(db, answers)

    def _connected(self) -> Database:
        try:
            db = connect(self._address, reading=False)
        except Unreachable as error:
            if self._was_there:
                raise NotWritten(str(error), hint=error.hint) from None
            raise
        self._was_there = self._is_fresh = True
        with self._nothing_written(db):
            self._life = _life_of(db)
        return db

    @contextlib.contextmanager
    def _nothing_written(self, db: Database) -> Iterator[None]:
        try:
            yield
        except driver().Error as error:
            where = self._address.shown
            if is_gone(error, db):
                raise NotWritten(
                    f"the connection to {where} was lost: nothing was written", hint="Do it again."
                ) from error
            if error.sqlstate in _STALE and not self._is_fresh:
                self.close()  # a new one has nothing prepared
                raise NotWritten(f"{where} was changed: nothing was written: {error}", hint="Do it again.") from error
            raise

    def _commit(self, db: Database, commit: str | None) -> None:
        try:
            db.execute("COMMIT", prepare=False)
        except driver().Error as error:
            if commit is None or not is_gone(error, db):
                raise
            self._ask_for(commit)

    def _ask_for(self, commit: str) -> None:
        """Come back if the transaction of that id was committed. Raises NotWritten if it was not, else Unclear.

        A server that crashed gives the ids of transactions which it had not on its disk once more: then one that was
        committed may be somebody else's.
        """
        where, give_up = self._address.shown, back_by()
        while (status := self._status_of(commit)) == "in progress" and time.monotonic() < give_up:
            time.sleep(PAUSE)
        if status == "aborted":
            raise NotWritten(f"the connection to {where} was lost: nothing was written", hint="Do it again.")
        if status != "committed":
            raise Unclear(
                f"the connection to {where} was lost while the write was committed; whether it was is not known",
                hint="Look at the thread before you do it again.",
            )

    def _status_of(self, commit: str) -> str | None:
        try:
            with contextlib.closing(connect_patiently(self._address, back_by(), reading=False)) as db:
                row = db.execute("SELECT pg_xact_status(%s::text::xid8)", (commit,)).fetchone()
                if row == ("committed",) and (self._life is None or _life_of(db) != self._life):
                    return None
        except (StoreError, driver().Error):
            return None
        return row[0] if row else None

    def _leave(self, db: Database) -> None:
        if db.closed:
            self._db = None
        elif db.info.transaction_status != driver().pq.TransactionStatus.IDLE:
            with contextlib.suppress(driver().Error):
                db.execute("ROLLBACK")


def _life_of(db: Database) -> str | None:
    """What is the same as long as a server has not crashed, None where it is not told."""
    errors = driver().errors
    try:
        row = db.execute(_LIFE).fetchone()
    except (errors.UndefinedTable, errors.InsufficientPrivilege, errors.FeatureNotSupported):
        return None
    return row[0] if row else None


def _answers(cursor: psycopg.Cursor[tuple[Any, ...]]) -> Iterator[Any]:
    """The first row of what each question of several gave, None for one that gave none."""
    more: bool | None = True
    while more:
        if cursor.description is not None:
            yield cursor.fetchone()
        more = cursor.nextset()
