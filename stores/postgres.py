"""How every PostgreSQL adapter speaks to a server: reading that cannot write, writing in one short transaction.

Owns connections, their modes and their loss; refuses to know any table. Nothing here outlives a transaction on the
server but statements that a write connection prepares on a session that is its own, so that a transaction pooler
between us and it loses nothing. A small pool of our own: psycopg_pool connects on threads of its own and answers a
refused login with a timeout that hides why.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from stores.errors import Busy, NotWritten, StoreError, Unclear, Unreachable, Unsupported
from stores.points import point
from stores.postgres_address import Address, driver
from stores.postgres_connecting import PAUSE, back_by, connect, connect_patiently
from stores.postgres_connecting import Database as Database
from stores.postgres_errors import Interrupted, Lost, is_gone, translated
from stores.rereading import rereading

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")


MOST: Final = 4
"""Reading connections at once: as many as the interface has threads that read."""
OLDEST: Final = 130000
"""The first server that says what became of a transaction by its 64-bit id."""
LOCK_SECONDS: Final = 5.0
READ_SECONDS: Final = 60
WRITE_SECONDS: Final = 30
CANCEL_SECONDS: Final = 5.0
PREPARED_AFTER: Final = 5
"""So many times a statement is executed before it is prepared, on a session that has been our own all that time."""
_CHUNK: Final = 10_000

_LIMITS: Final = f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'; SET LOCAL statement_timeout"
_BEGIN_READING: Final = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_LIMITS} = '{READ_SECONDS}s'"
_BEGIN_WRITING: Final = (
    f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {_LIMITS} = '{WRITE_SECONDS}s';"
    f" SET LOCAL idle_in_transaction_session_timeout = '{WRITE_SECONDS}s'"
)
_SESSION: Final = "SELECT pg_backend_pid()"


class Server:
    """Questions to one database, each on one consistent read-only snapshot; safe to use from any thread."""

    def __init__(self, address: Address) -> None:
        """Connects, so that what cannot be reached fails at opening. Raises Unreachable, Busy."""
        self.address = address
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(MOST)
        self._idle: list[Database] = []
        self._asking: dict[int, Database] = {}
        self._unwanted: set[int] = set()
        self._lost_at: datetime | None = None
        self._back_by = 0.0
        self._closed = False
        self._idle.append(connect(address, reading=True))

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should see once: that the connection was lost, and that it is there again."""
        if self._lost_at is None:
            return ()
        return (f"The connection was lost at {self._lost_at:%H:%M:%S} UTC and made again; nothing was changed by it.",)

    @contextlib.contextmanager
    def connection(self) -> Iterator[Database]:
        """One consistent snapshot for the length of the block, the same one within a block of the same thread.

        Raises Lost when the connection breaks in the block, Interrupted after `interrupt`, Busy after a bounded wait.
        """
        thread = threading.get_ident()
        held = self._asking.get(thread)
        if held is not None:
            yield held
            return
        with translated(self.address):
            if not self._slots.acquire(timeout=READ_SECONDS):
                raise Busy(f"{self.address.shown} answers too slowly", hint="Try again.")
            try:
                db = self._begun()
                with self._lock:
                    self._asking[thread] = db
                try:
                    yield db
                    db.execute("COMMIT")
                except driver().Error as error:
                    self._explain(db, error, thread)
                    raise
                finally:
                    self._put_back(db, thread)
            finally:
                self._slots.release()

    @rereading
    def read(self, question: Callable[[Database], T]) -> T:
        """The answer to ``question`` on one snapshot, asked once more when the connection was lost meanwhile."""
        with self.connection() as db:
            return question(db)

    def interrupt(self, thread: int) -> None:
        """End the question that a thread (`threading.get_ident`) is asking, if any: it raises Interrupted there.

        May be called from any other thread; waits for the server a few seconds at most.
        """
        with self._lock:
            db = self._asking.get(thread)
            if db is None:
                return
            self._unwanted.add(thread)
        with contextlib.suppress(driver().Error):
            db.cancel_safe(timeout=CANCEL_SECONDS)

    def close(self) -> None:
        """Idempotent; later uses raise Unreachable. Questions still being asked are ended."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            asking = list(self._asking)
        for db in idle:
            db.close()
        for thread in asking:
            if thread != threading.get_ident():
                self.interrupt(thread)

    def _begun(self) -> Database:
        """A connection in its transaction. One that was lost while nobody used it costs a notice, no question."""
        while True:
            with self._lock:
                if self._closed:
                    raise Unreachable(f"{self.address.shown} was closed", hint="Open the store again.")
                idle = self._idle.pop() if self._idle else None
            db = idle or self._connected()
            try:
                db.execute(_BEGIN_READING)
            except driver().Error as error:
                if idle is None or not is_gone(error, db):
                    db.close()
                    raise
                self._note_loss(db)
            else:
                return db

    def _connected(self) -> Database:
        if self._lost_at is None:
            return connect(self.address, reading=True)
        return connect_patiently(self.address, self._back_by, reading=True)

    def _explain(self, db: Database, error: psycopg.Error, thread: int) -> None:
        """Raises what only this layer can tell: a question that nobody wants any more, and a lost connection."""
        if thread in self._unwanted:
            raise Interrupted("the question was ended: its answer is not needed any more") from error
        if is_gone(error, db):
            self._note_loss(db)
            raise Lost(
                f"the connection to {self.address.shown} was lost", hint="Look at the server, then try again."
            ) from error

    def _note_loss(self, db: Database) -> None:
        """All that were opened before are most likely lost with it."""
        db.close()
        with self._lock:
            self._lost_at, self._back_by = datetime.now(UTC), back_by()
            idle, self._idle = self._idle, []
        for other in idle:
            other.close()

    def _put_back(self, db: Database, thread: int) -> None:
        if not db.closed and db.info.transaction_status != driver().pq.TransactionStatus.IDLE:
            with contextlib.suppress(driver().Error):
                db.execute("ROLLBACK")
        with self._lock:
            del self._asking[thread]
            self._unwanted.discard(thread)
            if not self._closed and not db.closed:
                self._idle.append(db)
                return
        db.close()


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

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Database]:
        """A connection in a READ COMMITTED transaction; the block's end commits, an exception leaves all as it was.

        No user code and no waiting inside: the server ends a transaction that is idle for half a minute. Raises Busy
        after five seconds of another session's lock, NotWritten for a connection lost before the end, and while a
        server that was there cannot be reached; Unclear where nobody knows.
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
                with self._nothing_written_if_lost(db):
                    point("postgres.begun")
                    yield begun
                    row = db.execute("SELECT pg_current_xact_id_if_assigned()::text").fetchone()
                    point("postgres.written")
                self._commit(db, row[0] if row else None)
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
        with self._nothing_written_if_lost(db):
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
        self._was_there = True
        return db

    @contextlib.contextmanager
    def _nothing_written_if_lost(self, db: Database) -> Iterator[None]:
        try:
            yield
        except driver().Error as error:
            if not is_gone(error, db):
                raise
            raise NotWritten(
                f"the connection to {self._address.shown} was lost: nothing was written", hint="Do it again."
            ) from error

    def _commit(self, db: Database, commit: str | None) -> None:
        try:
            db.execute("COMMIT", prepare=False)
        except driver().Error as error:
            if commit is None or not is_gone(error, db):
                raise
            self._ask_for(commit)

    def _ask_for(self, commit: str) -> None:
        """Come back if the transaction of that id was committed. Raises NotWritten if it was not, else Unclear."""
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
        except (StoreError, driver().Error):
            return None
        return row[0] if row else None

    def _leave(self, db: Database) -> None:
        if db.closed:
            self._db = None
        elif db.info.transaction_status != driver().pq.TransactionStatus.IDLE:
            with contextlib.suppress(driver().Error):
                db.execute("ROLLBACK")


def _answers(cursor: psycopg.Cursor[tuple[Any, ...]]) -> Iterator[Any]:
    """The first row of what each question of several gave, None for one that gave none."""
    more: bool | None = True
    while more:
        if cursor.description is not None:
            yield cursor.fetchone()
        more = cursor.nextset()


def many_rows(db: Database, question: str, *parameters: object) -> list[tuple[Any, ...]]:
    """The answer to a question that has a great many rows: those that came are taken in while the server sends more."""
    if not driver().capabilities.has_stream_chunked():  # of libpq since 17
        return db.execute(question.encode(), parameters).fetchall()
    with db.cursor() as cursor:
        return list(cursor.stream(question.encode(), parameters, size=_CHUNK))


def place_id(address: Address) -> str:
    """A stable name for a database that carries none itself; names what we keep about it elsewhere."""
    return hashlib.sha256(address.place.encode("utf-8", "surrogateescape")).hexdigest()[:16]
