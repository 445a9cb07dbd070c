"""The part of the application that knows which stores cannot be reached just now, and tries them again.

Owns when they are tried; screens are told by ``outages_changed``, and by ``came_back`` when a store answers again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from textual.message import Message
from textual.timer import Timer

from stores.errors import Unreachable
from tt_debug.session.session import Session
from tt_debug.tui.listings import Listings
from tt_debug.tui.messages import Failed
from tt_debug.tui.opening import OpenStore

RETRIES: Final = (2, 4, 8, 15, 30)
"""Seconds from one try to the next; the last one stays."""
_REACH = "reach store "


class Reached(Message, bubble=False):
    """The store number ``store`` answers."""

    def __init__(self, store: int) -> None:
        super().__init__()
        self.store = store


@dataclass(slots=True)
class Outage:
    """A store that does not answer: since when, why, how often it was tried, and when it is tried again."""

    why: str
    since: float
    again: float
    tries: int = 0
    asked: bool = False

    def words(self, now: float) -> str:
        """``OFFLINE 12s · retry 4s``"""
        gone, left = int(now - self.since), math.ceil(self.again - now)
        shown = f"{gone}s" if gone < 100 else f"{gone // 60}m"
        return f"OFFLINE {shown} · " + (f"retry {left}s" if left > 0 else "trying")


class Outages(Listings):
    """The open stores that are out of reach, by their number."""

    def __init__(self, stores: tuple[OpenStore, ...], *, ansi_color: bool | None = None) -> None:
        super().__init__(stores, ansi_color=ansi_color)
        self.outages: dict[int, Outage] = {}
        self._retrying: Timer | None = None

    def outages_of(self, stores: Collection[OpenStore]) -> list[tuple[OpenStore, Outage]]:
        """Those of the given stores that are out of reach."""
        return [(self.stores[number], gone) for number, gone in self.outages.items() if self.stores[number] in stores]

    def check(self, stores: Sequence[OpenStore]) -> None:
        """Ask whether these stores answer: something that was asked of them failed, or the user wants to know."""
        for number, store in enumerate(self.stores):
            outage = self.outages.get(number)
            if store in stores and not (outage is not None and outage.asked):
                if outage is not None:
                    outage.asked = True
                self.loader.call(
                    self, f"{_REACH}{number}", partial(_reach, number, store.session), Reached, patient=False
                )

    def on_reached(self, event: Reached) -> None:
        """It answers: everything is read again."""
        if self.outages.pop(event.store, None) is not None:
            self._tell()
            self.read_listings()
            for screen in self._told_screens():
                screen.came_back(self.stores[event.store])

    def on_failed(self, event: Failed) -> None:
        """A store that could not be asked, or one whose threads could not be read."""
        if event.kind.startswith(_REACH):
            number = int(event.kind.removeprefix(_REACH))
            if isinstance(event.error, Unreachable):
                self._lost(number, event.told)
            else:
                # It answers, whatever it says.
                self.on_reached(Reached(number))
        elif isinstance(event.error, Unreachable):
            self.check([self.stores[self.listing_of(event.kind)]])

    def _lost(self, number: int, why: str) -> None:
        now = time.monotonic()
        outage = self.outages.setdefault(number, Outage(why, now, now))
        outage.why, outage.asked = why, False
        outage.again = now + RETRIES[min(outage.tries, len(RETRIES) - 1)]
        outage.tries += 1
        if self._retrying is None:
            self._retrying = self.set_interval(1, self._tick)
        self._tell()

    def _tick(self) -> None:
        now = time.monotonic()
        self.check([self.stores[number] for number, gone in self.outages.items() if gone.again <= now])
        self._tell()

    def _tell(self) -> None:
        if not self.outages and self._retrying is not None:
            self._retrying.stop()
            self._retrying = None
        for screen in self._told_screens():
            screen.outages_changed()


def _reach(number: int, session: Session) -> int:
    session.threads(limit=1)
    return number
