"""A store that another process keeps busy is waited for, a bounded while, before a transition is given up.

Owns how long. Nothing is lost either way: what was not written did not happen, and the run can be taken up again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from stores.errors import Busy

if TYPE_CHECKING:
    from tt_debug.engine.surroundings import Clock

T = TypeVar("T")

PATIENCE: Final = 60.0  # seconds, beside those that each try waits in the store itself
_PAUSES: Final = (0.05, 0.2, 1.0, 2.0, 5.0)


def patiently(clock: Clock, write: Callable[[], T]) -> T:
    """What ``write`` gives, called again while the store is busy. Raises Busy when that lasts too long.

    For writes that may be repeated: a transaction that was refused as busy has written nothing.
    """
    waited = 0.0
    tries = 0
    while True:
        try:
            return write()
        except Busy as error:
            pause = _PAUSES[min(tries, len(_PAUSES) - 1)]
            if waited + pause > PATIENCE:
                raise Busy(
                    f"the store was busy for {PATIENCE:.0f} seconds: {error}",
                    hint="the run stands where it was last durable; resume it, or leave it to a worker",
                ) from error
            clock.sleep(pause)
            waited += pause
            tries += 1
