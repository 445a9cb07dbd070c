"""A store that is busy, or a server that went away, is waited for a bounded while before a transition is given up.

Owns how long. Nothing is lost either way: what was not written did not happen, and the run can be taken up again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from stores.errors import Busy, NotWritten, Unclear

if TYPE_CHECKING:
    from tt_debug.engine.surroundings import Clock

T = TypeVar("T")

PATIENCE: Final = 60.0  # seconds
_PAUSES: Final = (0.05, 0.2, 1.0, 2.0, 5.0)


def patiently(clock: Clock, write: Callable[[], T], *, tells: bool = False) -> T:
    """What ``write`` gives, called again while the store cannot be written. Raises Busy when that lasts too long.

    A transaction that was refused as busy, or lost with its connection, has written nothing. Where nobody can say
    whether it has, it is made again only if it ``tells`` by itself, by its commit id.
    """
    again = (Busy, NotWritten, Unclear) if tells else (Busy, NotWritten)
    end: datetime | None = None
    tries = 0
    while True:
        try:
            return write()
        except again as error:
            end = end or clock.now() + timedelta(seconds=PATIENCE)
            pause = _PAUSES[min(tries, len(_PAUSES) - 1)]
            if clock.now() + timedelta(seconds=pause) > end:
                raise Busy(
                    f"the store was busy for {PATIENCE:.0f} seconds: {error}",
                    hint="the run stands where it was last durable; resume it",
                ) from error
            clock.sleep(pause)
            tries += 1
