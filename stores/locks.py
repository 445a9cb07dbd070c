"""Advisory locks between processes: a file locked by the kernel, which lets go when its holder dies.

Owns waiting and naming the holder; what a lock protects is its caller's business.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from stores.errors import Busy, ReadOnly, Unreachable

if TYPE_CHECKING:
    from concurrent.futures import Future

_PAUSE: Final = 0.002  # seconds between two tries; a write transaction takes about one millisecond
TRYING: Final = 0.25
"""Seconds for which a lock is tried for. Tries are cheap, and let who has just had it go on, its pages in memory: turns
taken strictly halve what many writers get done. But they may fail for ever: after so long the kernel's queue is joined.
"""
_PID_WIDTH: Final = 12
_MOMENT: Final = 0.2  # seconds for which somebody who tidies up may have a lock


class FileLock:
    """An exclusive `flock` on a file of its own, which is made when first needed and stays.

    Not to be shared by two threads at once. The file holds the process id of whoever locked it last. A copy of this
    process (`os.fork`, as user code may call it) neither keeps the lock nor can let it go.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def take(self, seconds: float) -> None:
        """Lock, waiting at most so long (0: one try). Raises Busy naming the holder, ReadOnly where no file can be."""
        fd = self._open()
        if not _tried(fd, min(seconds, TRYING)) and not self._queued(fd, seconds - TRYING):
            raise Busy(
                f"{self._path} is locked by process {self.holder() or 'unknown'}",
                hint="Wait for it to finish, or end it.",
            )
        os.pwrite(fd, str(os.getpid()).ljust(_PID_WIDTH).encode(), 0)

    def free(self) -> None:
        """Unlock; harmless when nothing is locked."""
        if self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def holder(self) -> int | None:
        """The process that locked it last, whether or not it still does."""
        with contextlib.suppress(OSError, ValueError):
            return int(self._path.read_text())
        return None

    def close(self) -> None:
        """Unlock and let go of the file."""
        self.free()
        self._drop()

    def _queued(self, fd: int, seconds: float) -> bool:
        """Whether the lock came in time by the order of coming.

        No system call leaves the kernel's queue after a while, so a thread stands in it.
        """
        if seconds <= 0:
            return False
        from concurrent.futures import Future, wait  # 5 ms, and hardly ever is it needed

        place: Future[None] = Future()
        came = False
        try:
            threading.Thread(target=_stand, args=(fd, place), name="lock", daemon=True).start()
            came = bool(wait((place,), seconds).done)
        finally:
            if place.cancel():
                self._fd = None  # the thread's, which closes it
            elif not came:  # but it has come since
                self.free()
        return came

    def _drop(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _open(self) -> int:
        if self._fd is None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                _drop_in_copies(self)
            except OSError as error:
                raise ReadOnly(
                    f"cannot make the lock file {self._path}: {error.strerror}",
                    hint="Make the folder writable, or copy the store to one that is.",
                ) from error
        return self._fd


class RunLock:
    """The kernel lock that the process of one owner holds while it runs a run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def acquire(self) -> bool:
        """Take it; False when a living process has it. Raises Unreachable in a read-only folder."""
        give_up = time.monotonic() + _MOMENT
        while True:
            fd = self._opened()
            if not _try(fd):
                os.close(fd)
                if time.monotonic() >= give_up:
                    return False
                time.sleep(_PAUSE)
                continue
            if self._still_there(fd):
                self._fd = fd
                # A process that user code forks would keep the lock beyond our death.
                os.register_at_fork(after_in_child=self._forget)
                return True
            os.close(fd)  # its last owner removed the file between our open and our lock

    def release(self) -> None:
        """Give it back and leave nothing behind. Without effect when it is not held."""
        if self._fd is None:
            return
        self._path.unlink(missing_ok=True)
        self._forget()
        _tidy(self._path.parent)

    def _opened(self) -> int:
        while True:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except FileNotFoundError:
                continue  # the folder was removed as empty in between
            except OSError as error:
                raise Unreachable(
                    f"cannot keep the run's lock in {self._path.parent}: {error.strerror}",
                    hint="a run needs a folder that can be written to; TT_DEBUG_HOME moves ours",
                ) from error

    def _still_there(self, fd: int) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), self._path.stat())
        except FileNotFoundError:
            return False

    def _forget(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_locked(path: Path) -> bool:
    """Whether a living process has it. Makes nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _tidy(folder: Path) -> None:
    """Take away the locks of processes that died, and the folder with the last."""
    with contextlib.suppress(OSError):  # another process tidies too, or has just made a lock
        for path in folder.iterdir():
            if not is_locked(path):
                path.unlink()
        folder.rmdir()


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _tried(fd: int, seconds: float) -> bool:
    """Whether one of the tries of so long got it."""
    give_up = time.monotonic() + seconds
    while not _try(fd):
        if time.monotonic() >= give_up:
            return False
        time.sleep(_PAUSE)
    return True


def _stand(fd: int, place: Future[None]) -> None:
    """Lock, and say so; where nobody waits any more let go of it and of the file."""
    fcntl.flock(fd, fcntl.LOCK_EX)
    if place.set_running_or_notify_cancel():
        place.set_result(None)
    else:
        fcntl.flock(fd, fcntl.LOCK_UN)  # a copy of this process may have the file open still
        os.close(fd)


def _drop_in_copies(lock: FileLock) -> None:
    """A lock belongs to the open file, which a copy shares: it would stay locked until the copy has ended too."""
    known = weakref.ref(lock)

    def drop() -> None:
        found = known()
        if found is not None:
            found._drop()

    os.register_at_fork(after_in_child=drop)
