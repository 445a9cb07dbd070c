"""How every SQLite adapter opens a file: reading that leaves no trace, writing in one locked transaction.

Owns connections, their modes and the translation of sqlite3's errors; refuses to know any table.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar
from urllib.parse import quote

from stores.errors import Busy, Corrupt, ReadOnly, StoreError, Unreachable
from stores.locks import FileLock
from stores.places import state_folder
from stores.points import point
from stores.rereading import Again, rereading
from stores.sqlite_errors import NOT_A_STORE, primary_code, translated

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

T = TypeVar("T")

BUSY_SECONDS: Final = 5.0

Stamp = tuple[int, int, int, int]


class Torn(Again, Busy):
    """The file was rewritten while an unlocked connection read it: the result may mix two states."""

    attempts = 5


class _Beside(NamedTuple):
    """What lies on the disk: the file and its companions, each by device, inode, size and time of change."""

    main: Stamp | None
    wal: Stamp | None
    shm: Stamp | None
    journal: Stamp | None


def file_id(path: Path) -> str:
    """A stable name for a file that carries none itself; names what we keep about it elsewhere."""
    return hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]


def foreign_lock(path: Path) -> Path:
    """The lock file for writing to a store that is not ours: in our own state folder, never beside it."""
    return state_folder() / "locks" / f"{file_id(path)}.wlock"


def open_reading(path: Path) -> Reader:
    """Open for looking. Raises Unreachable for a path that holds no file (and makes none), Corrupt for no database."""
    return Reader(path)


def open_writing(path: Path, lock: Path, *, create: bool = False) -> WriteConnection:
    """Open for writing, under the lock file ``lock``. Nothing is opened before the first transaction."""
    return WriteConnection(path, lock, create=create)


class Reader:
    """A read-only view of one file that sees what other processes commit; safe to use from any thread.

    A file in rollback mode, or one whose WAL is in use, is read under SQLite's own locks. A WAL file that was
    closed cleanly is read as immutable, because a plain read-only connection would leave `-shm` and `-wal`
    behind; a WAL that was left without its `-shm`, or a journal to be rolled back, is read from a private copy.
    Both kinds are checked against the disk around every use, and opened anew after a change.
    """

    def __init__(self, path: Path) -> None:
        # SQLite follows a symbolic link, and keeps the companions beside the file it leads to.
        self._path = path.resolve()
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._copy: TemporaryDirectory[str] | None = None
        self._locking = False
        self._seen = _Beside(None, None, None, None)
        self._closed = False
        with self._lock, translated(path):
            self._open()

    @contextlib.contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """One consistent snapshot for the length of the block. Raises Busy when the file was rewritten meanwhile."""
        with self._lock, translated(self._path):
            # Within a question, the file is not looked at: to open it anew would close what the question reads from.
            if self._db is not None and self._db.in_transaction:
                yield self._db
                return
            db = self._current()
            db.execute("BEGIN")
            try:
                yield db
            except sqlite3.Error:
                self._check_untorn()
                raise
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
            self._check_untorn()

    @rereading
    def read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """The answer to ``question`` on one snapshot, asked again when the file was rewritten meanwhile."""
        with self.connection() as db:
            return question(db)

    def version(self) -> object:
        """Another one as soon as a question would see what somebody else has committed since. Takes 10 µs."""
        with self._lock, translated(self._path):
            db = self._current()
            return self._seen, db.execute("PRAGMA data_version").fetchone()[0]

    def close(self) -> None:
        """Idempotent; later uses raise Unreachable."""
        with self._lock:
            self._closed = True
            self._drop()

    def _current(self) -> sqlite3.Connection:
        if self._closed:
            raise Unreachable(f"{self._path} was closed", hint="Open the store again.")
        if self._db is None or self._changed():
            self._open()
        assert self._db is not None
        return self._db

    def _changed(self) -> bool:
        now = _look(self._path)
        if self._locking:
            return _inode(now.main) != _inode(self._seen.main)
        return now != self._seen

    def _check_untorn(self) -> None:
        if not self._locking and _look(self._path).main != self._seen.main:
            raise Torn(f"{self._path} was rewritten while it was read", hint="Try again.")

    def _open(self) -> None:
        self._drop()
        check_file(self._path)
        self._seen = found = _look(self._path)
        if found.wal is not None and found.wal[2] > 0:
            if found.shm is None:
                self._open_copy()
            else:
                self._open_locking()
        elif found.journal is None and _is_wal(self._path):
            self._locking = False
            self._db = connect(self._path, "mode=ro&immutable=1")
        else:
            self._open_locking()
        self._first_look()

    def _first_look(self) -> None:
        """Make SQLite read the file now, so that what cannot be read fails at opening."""
        assert self._db is not None
        try:
            self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            # A journal to be rolled back, or a WAL index that may not be written here.
            if not self._locking or primary_code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            self._drop()
            self._open_copy()
            self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def _open_locking(self) -> None:
        self._locking = True
        self._db = connect(self._path, "mode=ro")

    def _open_copy(self) -> None:
        """Nobody writes to such a file: a writer would have its `-shm`, or hold the journal's lock."""
        import shutil  # with every form of archive, and most files are read where they are
        from tempfile import TemporaryDirectory

        self._locking = False
        self._copy = TemporaryDirectory(prefix="tt-debug-")
        target = Path(self._copy.name) / "copy.sqlite"
        for suffix in ("", "-wal", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(f"{self._path}{suffix}", f"{target}{suffix}")
        self._db = connect(target, "mode=rw")

    def _drop(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None


class WriteConnection:
    """Write transactions on one file: immediate, durable, one at a time between all processes of ours.

    The lock file keeps two of our connections from committing at once, which SQLite before 3.51.3 can answer
    with a damaged WAL. Opened by the first transaction; usable from any thread.
    """

    def __init__(self, path: Path, lock: Path, *, create: bool = False) -> None:
        self._path = path.resolve()
        self._create = create
        self._lock = threading.RLock()
        self._file_lock = FileLock(lock)
        self._db: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection inside BEGIN IMMEDIATE; the block's end commits, an exception leaves everything as it was.

        No user code and no waiting inside. Raises Busy after five seconds of another process's lock.
        """
        self._check_there()
        with self._lock, self._locked(), translated(self._path):
            db = self._current()
            db.execute("BEGIN IMMEDIATE")
            try:
                point("sqlite.begun")
                yield db
                point("sqlite.written")
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
            point("sqlite.committed")

    def close(self) -> None:
        """Idempotent. The last connection to a WAL file writes the log back and removes it."""
        with self._lock:
            if self._db is not None:
                # A lock that cannot be had is no reason to keep the file open.
                with contextlib.suppress(StoreError):
                    self._file_lock.take(BUSY_SECONDS)
                self._db.close()
                self._db = None
            self._file_lock.close()

    def _check_there(self) -> None:
        """Before the lock file is made: nothing is to appear beside a store that is not there."""
        found = _stamp(str(self._path))
        if found is not None and not os.access(self._path, os.W_OK):
            raise ReadOnly(f"{self._path} may only be read", hint="Make the file writable, or copy it.")
        if found is not None and found[2] and self._db is not None and _inode(found) == self._inode:
            return
        if not self._create:
            check_file(self._path)
        elif not self._path.parent.is_dir():
            raise Unreachable(f"{self._path.parent} does not exist", hint="Make the folder first.")

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._file_lock.take(BUSY_SECONDS)
        try:
            yield
        finally:
            self._file_lock.free()

    def _current(self) -> sqlite3.Connection:
        if self._db is not None and _inode(_stamp(str(self._path))) != self._inode:
            self._db.close()  # another file stands under this name now
            self._db = None
        if self._db is None:
            db = connect(self._path, "mode=rwc" if self._create else "mode=rw")
            db.execute("PRAGMA foreign_keys = ON")
            # In WAL mode the same as FULL. In rollback mode FULL leaves a moment in which a power cut undoes a commit:
            # the deleted journal may come back.
            db.execute("PRAGMA synchronous = EXTRA")
            if self._create:
                db.execute("PRAGMA journal_mode = WAL")
            self._db, self._inode = db, _inode(_stamp(str(self._path)))
        return self._db


def check_file(path: Path) -> None:
    """Raises Unreachable or Corrupt, in one sentence with a hint, for a path that cannot hold a database."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise Unreachable(f"{path} does not exist", hint=NOT_A_STORE) from None
    except OSError as error:
        raise Unreachable(f"{path} cannot be reached: {error.strerror}", hint=NOT_A_STORE) from error
    if not path.is_file():
        raise Unreachable(f"{path} is a {'folder' if path.is_dir() else 'special file'}", hint=NOT_A_STORE)
    if not os.access(path, os.R_OK):
        raise Unreachable(f"{path} may not be read by you", hint="Ask its owner for permission to read it.")
    if size == 0:
        raise Corrupt(f"{path} is an empty file", hint=NOT_A_STORE)


def connect(path: Path, query: str) -> sqlite3.Connection:
    """A connection in the mode that the URI's ``query`` asks for."""
    db = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?{query}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    # One text that is no UTF-8 would fail every row read with it; its bytes stay known as half surrogates.
    db.text_factory = text_of
    if "mode=ro" in query:
        db.execute("PRAGMA query_only = ON")
    return db


def text_of(stored: bytes) -> str:
    """A text column as stored; what is no UTF-8 in it stays known as half surrogates."""
    return stored.decode("utf-8", "surrogateescape")


def _is_wal(path: Path) -> bool:
    """Whether the file's header says WAL, asked of SQLite itself: a plain read and close would drop our own locks.

    A read-only connection that wants an exclusive lock is refused a WAL file before anything is made beside it.
    """
    with contextlib.closing(connect(path, "mode=ro")) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            if primary_code(error) == sqlite3.SQLITE_BUSY:
                raise  # it was waited for, and would be again
            return getattr(error, "sqlite_errorname", "") == "SQLITE_IOERR_LOCK"
    return False


def _look(path: Path) -> _Beside:
    return _Beside(*(_stamp(f"{path}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")))


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _inode(stamp: Stamp | None) -> tuple[int, int] | None:
    return None if stamp is None else stamp[:2]
