"""The lock that every write of ours to a foreign thread is made under. In the user's interpreter: stdlib, Python 3.9.

Whoever takes a thread over from a run needs it too, so that no write begun before can end after. Refuses to keep the
application itself away: it knows nothing of this lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from .graph_target import Refused

_WIDTH = 12  # characters, as in stores.locks


def opened(lock: Path) -> int:
    """A descriptor of the lock's file, which is made where there is none."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


def sign(descriptor: int) -> None:
    """Leave our process id in the file of a lock that we hold."""
    os.pwrite(descriptor, str(os.getpid()).ljust(_WIDTH).encode(), 0)


def holder(descriptor: int) -> str:
    """The process that holds it, or did last."""
    return os.pread(descriptor, _WIDTH, 0).decode().strip()


@contextlib.contextmanager
def running_alone(lock: Path, thread: str) -> Iterator[None]:
    """Hold it for an edit; the kernel frees it when this process dies. Raises Refused while somebody else writes."""
    descriptor = opened(lock)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        writer = holder(descriptor)
        os.close(descriptor)
        hint = "wait for it to finish, or stop it"
        raise Refused("conflict", f"process {writer} is writing to thread {thread!r}", hint) from None
    sign(descriptor)
    try:
        yield
    finally:
        os.close(descriptor)


class WriteLock:
    """The lock for the writes of one run, of which several may be under way at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()
        self._writers = 0
        self._descriptor = -1

    @contextlib.contextmanager
    def held(self, check: Callable[[], object]) -> Iterator[None]:
        """Hold it for the block; ``check`` is called once it is ours, and whatever it raises lets go of it again."""
        with self._mutex:
            if not self._writers:
                self._take(check)
            self._writers += 1
        try:
            yield
        finally:
            with self._mutex:
                self._writers -= 1
                if not self._writers:
                    os.close(self._descriptor)

    def _take(self, check: Callable[[], object]) -> None:
        self._descriptor = opened(self._path)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            sign(self._descriptor)
            check()
        except BaseException:
            os.close(self._descriptor)
            raise
