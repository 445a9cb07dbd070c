"""The clocks of a native store: the machine's for a file, the server's own on a server, whatever a client's says.

Owns asking them; what a lease allows is `supervision`.
"""

from __future__ import annotations

import time
from typing import Final, NamedTuple, Protocol, cast

from stores import leases
from stores.native.database import Database, FileRows

_SERVER: Final = "server"


class ServerTime(Protocol):
    """A transaction on a server, which said what time it is there, in microseconds since 1970, as it began."""

    began: int


class LeaseClock(NamedTuple):
    """A moment, in milliseconds, of the clock named ``boot``: times of two clocks cannot be compared."""

    boot: str
    at: int

    def left(self, boot: str | None, until: int | None) -> float:
        """Seconds left of a lease that ends at ``until``; 0 once it is over, or its clock is."""
        return 0.0 if until is None or boot != self.boot else max(0, until - self.at) / 1000

    def after(self, seconds: float) -> int:
        """The moment so much later."""
        return self.at + round(seconds * 1000)


def lease_clock(db: Database) -> LeaseClock:
    """The present moment of the clock that leases are measured by: for a file the machine's since boot."""
    if isinstance(db, FileRows):
        return LeaseClock(leases.boot_id(), leases.boot_clock())
    return LeaseClock(_SERVER, cast("ServerTime", db).began // 1000)


def micros_now(db: Database) -> int:
    """Microseconds since 1970: what is written down as the time of something."""
    if isinstance(db, FileRows):
        return time.time_ns() // 1000
    return cast("ServerTime", db).began
