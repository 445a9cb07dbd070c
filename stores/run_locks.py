"""Who runs a run, where the store itself can tell: locks that its server frees when their holder dies.

Owns the shapes; a store that is a file needs none of it, the kernel keeps the locks of files.
"""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable


class RunLock(Protocol):
    """What exactly one living process holds while it runs a run."""

    def acquire(self) -> bool:
        """Take it without waiting; False when a living process has it. Raises Unreachable, ReadOnly."""
        ...

    def release(self) -> None:
        """Give it back. Without effect when it is not held."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


@runtime_checkable
class KeepsLocks(Protocol):
    """A store on a server, which is opened again by its ``secret_url``, with its password: never to be shown."""

    @property
    def secret_url(self) -> str: ...

    def run_lock(self, run_id: str) -> RunLock:
        """The lock of a run, not taken yet."""
        ...

    def is_run_locked(self, run_id: str) -> bool:
        """Whether a living process has it. Writes and takes nothing."""
        ...
