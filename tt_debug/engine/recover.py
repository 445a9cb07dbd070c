"""Who runs a run, and what to do with the step that was found running when its owner died.

Owns the kernel lock of a run: the kernel frees it at the owner's death, so that nobody waits for a clock.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

from stores.errors import Conflict, Unreachable
from stores.protocol import RunStore
from stores.runs import Run, RunStatus, StepRecord


def lock_path(store_path: str, run_id: str) -> Path:
    """The lock file of a run, beside the store. Hashed: a run's id may hold anything."""
    return Path(f"{store_path}.locks") / hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class RunLock:
    """The kernel lock that exactly one living process holds while it runs a run."""

    def __init__(self, store_path: str, run_id: str) -> None:
        self._path = lock_path(store_path, run_id)
        self._fd: int | None = None

    def acquire(self) -> bool:
        """Take it without waiting; False when a living process has it. Raises Unreachable in a read-only folder."""
        while True:
            fd = self._opened()
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(fd)
                return False
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
        with suppress(OSError):  # other runs have their locks there
            self._path.parent.rmdir()

    def _opened(self) -> int:
        while True:
            try:
                self._path.parent.mkdir(exist_ok=True)
                return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except FileNotFoundError:
                if not self._path.parent.parent.is_dir():
                    raise Unreachable(f"no folder {self._path.parent.parent} to keep the run's lock in") from None
                continue  # the folder was removed as empty in between
            except OSError as error:
                raise Unreachable(
                    f"cannot keep the run's lock in {self._path.parent}: {error.strerror}",
                    hint="a run needs a folder that can be written to",
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


def is_alive(store_path: str, run: Run) -> bool:
    """Whether a living process runs it now. Creates nothing."""
    try:
        fd = os.open(lock_path(store_path, run.run_id), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def stop(store: RunStore, store_path: str, run_id: str, what: str) -> Run:
    """Ask a run to "pause" or "cancel" at its next step; at once when no living process runs it."""
    run = store.request(run_id, what)
    if run.status != RunStatus.RUNNING or is_alive(store_path, run):
        return run
    with RunLock(store_path, run_id) as lock:
        if not lock.acquire():
            return store.run(run_id)
        # Whoever held the lock since we looked may have ended the run; then there is nothing to take over.
        with suppress(Conflict):
            taken = store.claim(run_id, f"stop-{os.getpid()}", os.getpid())
            return store.finish(run_id, taken.token, RunStatus.CANCELLED if what == "cancel" else RunStatus.PAUSED)
        return store.run(run_id)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the step log of a run stands: what the next attempt is.

    ``failed`` counts the failures of the present series of attempts; a series ends with the failure that failed
    the run. ``interrupted`` is the attempt that was running when its process died.
    """

    ordinal: int = 0
    attempt: int = 1
    failed: int = 0
    wait_until: datetime | None = None
    interrupted: StepRecord | None = None


def standing(log: Sequence[StepRecord]) -> Standing:
    """Read the log of one run, oldest first. A part that is done does not make its node done."""
    log = [record for record in log if not record.substep]
    done = [record.ordinal for record in log if record.status in ("completed", "skipped")]
    ordinal = max(done) + 1 if done else 0
    attempts = sorted((record for record in log if record.ordinal == ordinal), key=lambda record: record.attempt)
    if not attempts:
        return Standing(ordinal)
    last = attempts[-1]
    failed = 0
    for record in reversed(attempts):
        if record.status == "failed" and record.next_attempt_at is None:
            break
        failed += record.status == "failed"
    return Standing(
        ordinal,
        last.attempt + 1,
        failed,
        last.next_attempt_at if last.status == "failed" else None,
        last if last.status == "running" else None,
    )
