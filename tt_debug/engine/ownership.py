"""Who runs a run: the lease in the store, the kernel lock of its process, and the thread that prolongs the lease.

Owns taking a run and giving it back. The kernel frees the lock at its holder's death, so that nobody on its machine
waits for a clock; the lease is for an owner that lives and no longer works, or that is on another machine.
"""

from __future__ import annotations

import hashlib
import os
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from stores.errors import LeaseLost, StoreError, Unreachable
from stores.leases import BEAT_SECONDS, LEASE_SECONDS, boot_clock, boot_id
from stores.locks import RunLock, is_locked
from stores.places import state_folder
from stores.protocol import RunStore
from stores.run_status import RunStatus

if TYPE_CHECKING:
    from stores.runs import Run

_BEATS: Final = 6  # beats in a lease: some may fail on a store that is busy


def lock_path(store: RunStore, run_id: str, owner: str | None) -> Path:
    """The lock file of one owner of a run: beside the store, or, where that is on a server, in our own folder.

    Hashed: a run's id may hold anything. Each owner has its own: one that was taken over while it was stopped keeps
    its lock for as long as it lives.
    """
    info = store.info
    folder = Path(f"{info.path}.locks") if info.path else state_folder() / "locks" / info.store_id
    name = hashlib.sha256(f"{owner}:{run_id}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return folder / name


def _new_owner(store: RunStore) -> str:
    """A name that nobody else has; of a store on a server it says, too, from where the lock can be looked at."""
    name = uuid.uuid4().hex
    if store.info.path:
        return name
    with suppress(OSError):  # the lock, which is made next, says why it cannot be
        state_folder().mkdir(parents=True, exist_ok=True)
    return f"{name}@{_here()}"


def _here() -> str:
    """Names what sees the locks in our own folder: this boot of the machine, and files as this process sees them.

    Containers on one machine share its boot and not their folders. Empty where that cannot be told.
    """
    try:
        folder, seen = state_folder().stat(), os.readlink("/proc/self/ns/mnt")
    except OSError:
        return ""
    place = f"{boot_id()} {seen} {folder.st_dev} {folder.st_ino}"
    return hashlib.sha256(place.encode()).hexdigest()[:16]


def _sees_lock_of(store: RunStore, run: Run) -> bool:
    if store.info.path:
        return True
    here = _here()
    return bool(here) and (run.owner or "").endswith(f"@{here}")


def why_ownerless(store: RunStore, run: Run) -> str | None:
    """The evidence that a run whose row says running may be taken over; None when its owner is at work.

    Creates nothing. Of an owner on another machine, which only a server has, the lease alone tells.
    """
    if store.info.path and run.boot_id and run.boot_id != boot_id():
        return "the machine was started anew since"
    if _sees_lock_of(store, run) and not is_locked(lock_path(store, run.run_id, run.owner)):
        return f"its process {run.owner_pid} is gone"
    if not run.lease_left:
        since = f" since {run.beat:%Y-%m-%d %H:%M:%S} UTC" if run.beat else ""
        return f"its process {run.owner_pid} has given no sign of life{since}: its lease is over"
    return None


def is_alive(store: RunStore, run: Run) -> bool:
    """Whether somebody runs it now."""
    return run.status == RunStatus.RUNNING and why_ownerless(store, run) is None


@contextmanager
def claimed(
    store: RunStore,
    run: Run,
    *,
    lease: float = LEASE_SECONDS,
    evidence: str | None = None,
    on_conflict: str | None = None,
) -> Iterator[Run]:
    """Own the run for the length of the block; its lease is not prolonged, see `Heartbeat`.

    ``run`` is the row as it was seen. Who gets it is decided by the store alone; the lock is what tells others
    afterwards that its process lives. Raises Conflict when somebody else runs it and no ``evidence`` says that it may
    be taken from them. ``on_conflict`` as in the store's ``claim``.
    """
    from stores.supervision import Takeover  # whether an owner lives is asked by whoever looks

    owner = _new_owner(store)
    with RunLock(lock_path(store, run.run_id, owner)) as lock:
        if not lock.acquire():
            raise Unreachable(f"cannot lock run {run.run_id}", hint="try again")
        over = evidence if run.status != RunStatus.RUNNING else evidence or why_ownerless(store, run)
        takeover = None if over is None else Takeover(run.token, over)
        yield store.claim(run.run_id, owner, os.getpid(), on_conflict, lease=lease, takeover=takeover, seen=run)


class Heartbeat:
    """Prolongs the lease of a run from a thread of its own, also while a node takes long."""

    def __init__(self, store: RunStore, run: Run, lease: float = LEASE_SECONDS) -> None:
        self._store = store
        self._run = run
        self._lease = lease
        self._last = boot_clock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="lease", daemon=True)

    def prolong(self) -> None:
        """Before a call to the world outside: it must not begin shortly before somebody else may take the run.

        Raises LeaseLost when somebody has."""
        if (boot_clock() - self._last) / 1000 > self._lease - min(BEAT_SECONDS, self._lease / 2):
            self._beat()

    def _beat(self) -> None:
        at = boot_clock()
        self._store.beat(self._run.run_id, self._run.token, self._lease)
        self._last = at

    def _go_on(self) -> None:
        while not self._end.wait(min(BEAT_SECONDS, self._lease / _BEATS)):
            try:
                self._beat()
            except LeaseLost:
                return  # the next write of the run is refused in the same way, and says so
            except StoreError:
                continue  # busy, or a full disk: the lease lasts for some more beats

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
