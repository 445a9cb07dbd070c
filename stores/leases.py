"""How long an owner may keep a run without a sign of life, and the clock that measures it on one machine.

Owns the clock and the boot it belongs to; who owns a run, and what its owner may do, is `stores.supervision`.
"""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Final

LEASE_SECONDS: Final = 30.0
"""An owner that has not prolonged its lease for so long may be taken over, even while its process lives."""

BEAT_SECONDS: Final = 5.0
"""How often an owner prolongs it."""

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@functools.cache
def boot_id() -> str:
    """The present boot of this machine; empty where the system does not name it."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def boot_clock() -> int:
    """Milliseconds since boot, time asleep included: no change of the wall clock moves it."""
    return boot_nanos() // 1_000_000


def boot_nanos() -> int:
    """The same in nanoseconds."""
    return time.clock_gettime_ns(_CLOCK)
