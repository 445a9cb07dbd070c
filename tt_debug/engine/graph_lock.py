"""One run at a time on a thread, among those that tt-debug starts. In the user's interpreter: stdlib only, Python 3.9.

Refuses to keep the application itself away: it knows nothing of this lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from .graph_target import Refused

_WIDTH = 12  # characters, as in stores.locks


@contextlib.contextmanager
def running_alone(lock: Path, thread: str) -> Iterator[None]:
    """Hold the thread's run lock; the kernel frees it when this process dies. The file has our process id."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, _WIDTH, 0).decode().strip()
        os.close(descriptor)
        hint = "wait for it to finish, or stop it"
        raise Refused("conflict", f"process {holder} is running thread {thread!r}", hint) from None
    os.pwrite(descriptor, str(os.getpid()).ljust(_WIDTH).encode(), 0)
    try:
        yield
    finally:
        os.close(descriptor)
