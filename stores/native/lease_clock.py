"""The clock that leases are measured by: the machine's since boot for a file, the server's own on a server.

Owns asking it; what a lease allows is `supervision`.
"""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

from stores import leases
from stores.native.database import Database

_SERVER: Final = "server"
_SERVER_CLOCK: Final = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)"


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
    """The present moment."""
    if isinstance(db, sqlite3.Connection):
        return LeaseClock(leases.boot_id(), leases.boot_clock())
    return LeaseClock(_SERVER, int(db.execute(_SERVER_CLOCK).fetchone()[0]))
