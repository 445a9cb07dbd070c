"""The errors an adapter raises, and no others.

    StoreError
    ├── Unreachable    no such file, folder, server; no permission
    │   ├── NotWritten the connection to a server was lost before the write was committed
    │   └── Unclear    it was lost while the write was committed, and nobody can say whether it was
    ├── NotFound       the store is there, the thread or checkpoint is not
    ├── Corrupt        the bytes are there and cannot be read
    ├── Unsupported    the adapter does not declare this capability, or the schema is foreign
    ├── ReadOnly       a write was asked of a store opened for reading
    ├── Invalid        the content offered cannot be stored; names the path
    ├── Conflict       the target exists, the head moved, another run owns the thread
    │   └── LeaseLost  the fencing token is no longer the newest
    └── Busy           another process holds the lock past the bounded wait

Every error says what and where in its text, and what to do next in ``hint``.
"""

from __future__ import annotations


class StoreError(Exception):
    """Base of everything an adapter raises. ``hint`` is the next step, one sentence, or empty."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Unreachable(StoreError):
    """The store cannot be opened at all."""


class NotWritten(Unreachable):
    """The connection was lost, and nothing was written: the same write may be made again."""


class Unclear(Unreachable):
    """Whether a write was committed is not known: only one that tells by itself may be made again."""


class NotFound(StoreError):
    """A thread, checkpoint, run or approval that is not in the store."""


class Corrupt(StoreError):
    """Stored bytes that cannot be read."""


class Unsupported(StoreError):
    """A capability that the adapter does not declare, or a schema it does not know."""


class ReadOnly(StoreError):
    """A write on a store that was opened for reading only."""


class Invalid(StoreError):
    """Content that the store would change or refuse, found before anything was written."""


class Conflict(StoreError):
    """The write would break what is already there; nothing was written."""


class LeaseLost(Conflict):
    """The writer's fencing token was overtaken, or the store lost what it stands on: refused, and it must stop."""


class Busy(StoreError):
    """Another process kept the store locked for longer than the bounded wait."""
