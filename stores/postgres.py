"""How every PostgreSQL adapter reads from a server: on one snapshot, with no way to write.

Owns reading connections, their mode and their loss; refuses to know any table. Nothing here outlives a transaction on
the server (no session settings but those of the connection itself, no prepared statements), so that a transaction
pooler between us and it loses nothing. A small pool of our own: psycopg_pool connects on threads of its own and answers
a refused login with a timeout that hides why. Writing is `stores.postgres_writing`.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stores.errors import Busy, Unreachable
from stores.postgres_address import Address, driver
from stores.postgres_connecting import WAITING, back_by, connect, connect_patiently
from stores.postgres_connecting import Database as Database
from stores.postgres_errors import Interrupted, Lost, is_gone, translated
from stores.rereading import rereading

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")


MOST: Final = 4
"""Reading connections at once: as many as the interface has threads that read."""
READ_SECONDS: Final = 60
CANCEL_SECONDS: Final = 5.0
_CHUNK: Final = 10_000

_BEGIN_READING: Final = (
    f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {WAITING}; SET LOCAL statement_timeout = '{READ_SECONDS}s'"
)


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


def many_rows(db: Database, question: str, *parameters: object) -> list[tuple[Any, ...]]:
    """The answer to a question that has a great many rows: those that came are taken in while the server sends more."""
    if not driver().capabilities.has_stream_chunked():  # of libpq since 17
        return db.execute(question.encode(), parameters).fetchall()
    with db.cursor() as cursor:
        return list(cursor.stream(question.encode(), parameters, size=_CHUNK))


def place_id(address: Address) -> str:
    """A stable name for a database that carries none itself; names what we keep about it elsewhere."""
    return hashlib.sha256(address.place.encode("utf-8", "surrogateescape")).hexdigest()[:16]
