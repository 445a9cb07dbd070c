"""What a run is run with: its orders, the store, the clock, who listens, and whether somebody asked it to stop.

Owns no decision. Cheap to import: the child listens for SIGINT before anything heavy is loaded.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from stores.leases import boot_nanos
from stores.protocol import RunStore
from tt_debug.engine.events import Event


class Clock:
    """The time and the passing of it; tests give their own.

    Asked for the time once, at the beginning: who sets this machine's clock meanwhile moves nothing.
    """

    def __init__(self, start: datetime | None = None) -> None:
        """``start`` is the present moment, by whatever clock is to count; by this machine's where it is None."""
        self._start = start or datetime.now(UTC)
        self._since = boot_nanos()

    def now(self) -> datetime:
        """In UTC."""
        return self._start + timedelta(microseconds=(boot_nanos() - self._since) // 1000)

    def sleep(self, seconds: float) -> None:
        """Block."""
        time.sleep(seconds)


class StopFlag:
    """Set by a signal: stop after the current step."""

    def __init__(self) -> None:
        self.asked = False

    def listen(self) -> None:
        """Take from now on what would end the process in the middle of a node."""
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, lambda *_: setattr(self, "asked", True))


@dataclass(frozen=True, slots=True)
class Orders:
    """Where the user wants the run to stop, if anywhere: as in `tt_debug.engine.until`, or after one step.

    ``allow`` are the classes of effects that may be called; all of them when it is empty.
    """

    until: str | None = None
    single_step: bool = False
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run is run with. ``tell`` gets every event once what it says is durable.

    ``prolong`` makes sure, before a call to the world outside, that the run stays ours for some seconds more.
    """

    store: RunStore
    tell: Callable[[Event], None]
    stop: StopFlag
    clock: Clock
    prolong: Callable[[], None] = lambda: None
