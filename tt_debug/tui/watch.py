"""Watching something long being read: what there is of it is told from time to time, and it can be stopped.

Owns when to tell. It is asked on the thread that reads, and stopped on another.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 0.3
"""Seconds before a reading is spoken of, and between two times."""
GROWTH: Final = 4
"""What there is is shown again when it has grown so many times: laying out each page would cost more than reading."""


class Watch:
    """One reading."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` counts seconds."""
        self._clock = clock
        self._stop = threading.Event()
        self._told = clock()
        self._shown = 0
        self.spoken_of = False
        """Whether it takes so long that it was spoken of."""

    @property
    def stopped(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Ask it to stop; what has been read is kept."""
        self._stop.set()

    def goes_on(self, read: int, show: Callable[[], None], count: Callable[[int], None], first: int = 1) -> bool:
        """Told that so many have been read, on the thread that reads; False ends the reading.

        ``show`` is called when there are ``first`` of them, and then when there are many more; ``count`` with how many
        there are, when the reading takes long.
        """
        if self.stopped:
            return False
        if read >= max(first, self._shown * GROWTH):
            self._shown = read
            show()
        now = self._clock()
        if now - self._told >= PATIENCE:
            self._told, self.spoken_of = now, True
            count(read)
        return True
