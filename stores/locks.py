"""Advisory locks between processes: a file locked by the kernel, which lets go when its holder dies.

Owns waiting and naming the holder; what a lock protects is its caller's business.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
import weakref
from pathlib import Path
from typing import Final

from stores.errors import Busy, ReadOnly

_PAUSE: Final = 0.002  # seconds between two tries; a write transaction takes about one millisecond
_PID_WIDTH: Final = 12


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
        give_up = time.monotonic() + seconds
        while not _try(fd):
            if time.monotonic() >= give_up:
                raise Busy(
                    f"{self._path} is locked by process {self.holder() or 'unknown'}",
                    hint="Wait for it to finish, or end it.",
                )
            time.sleep(_PAUSE)
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


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _drop_in_copies(lock: FileLock) -> None:
    """A lock belongs to the open file, which a copy shares: it would stay locked until the copy has ended too."""
    known = weakref.ref(lock)

    def drop() -> None:
        found = known()
        if found is not None:
            found._drop()

    os.register_at_fork(after_in_child=drop)
