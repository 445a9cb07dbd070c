"""The part of the application that knows which stores are open and what threads they hold.

Owns reading the listings; screens are told by ``listings_changed``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from textual.app import App

from stores.model import ThreadInfo
from tt_debug.tui.loader import Loader
from tt_debug.tui.messages import Failed, ThreadsRead
from tt_debug.tui.opening import OpenStore

if TYPE_CHECKING:
    from tt_debug.tui.screens.base import BaseScreen

_LISTING = "threads of store "


@dataclass(frozen=True, slots=True)
class Listing:
    """The threads of one store as Home has read them; ``problem`` when that failed, ``read`` False before."""

    store: OpenStore
    threads: tuple[ThreadInfo, ...] = ()
    problem: str = ""
    read: bool = False


class Listings(App[int]):
    """The open stores with their threads."""

    loader: Loader

    def __init__(self, stores: tuple[OpenStore, ...], *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.stores = stores
        self.listings: tuple[Listing, ...] = tuple(Listing(store) for store in stores)

    def read_listings(self) -> None:
        """Read the threads of every store; screens are told by ``listings_changed``."""
        for number, store in enumerate(self.stores):
            self.loader.call(self, f"{_LISTING}{number}", store.session.threads, partial(ThreadsRead, number))

    def on_threads_read(self, event: ThreadsRead) -> None:
        """A listing has come."""
        if event.store < len(self.stores):
            self._set_listing(event.store, Listing(self.stores[event.store], event.threads, read=True))

    def on_failed(self, event: Failed) -> None:
        """A listing that cannot be read keeps what was read before, and says so."""
        number = int(event.kind.removeprefix(_LISTING))
        problem = event.told
        self._set_listing(number, replace(self.listings[number], problem=problem, read=True))

    def _set_listing(self, number: int, listing: Listing) -> None:
        self.listings = (*self.listings[:number], listing, *self.listings[number + 1 :])
        for screen in self._own_screens():
            screen.listings_changed()

    def _own_screens(self) -> list[BaseScreen]:
        from tt_debug.tui.screens.base import BaseScreen  # the screens import this module

        return [screen for screen in self.screen_stack if isinstance(screen, BaseScreen) and screen.is_mounted]
