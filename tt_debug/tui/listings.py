"""The part of the application that knows which stores are open and what threads they hold.

Owns reading the listings; screens are told by ``listings_changed``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from stores.model import ThreadInfo
from tt_debug.tui.loader import Loader
from tt_debug.tui.messages import Failed, ThreadsRead, Waiting
from tt_debug.tui.opening import OpenStore
from tt_debug.tui.typing_order import TypingOrder
from tt_debug.tui.watch import Watch

if TYPE_CHECKING:
    from tt_debug.session.session import Session
    from tt_debug.tui.screens.base import BaseScreen

_LISTING = "threads of store "
LOCKED: Final = "another process is writing, retrying"
FIRST: Final = 500
"""Threads that are shown before the rest has been read."""


class Listing(NamedTuple):
    """The threads of one store as Home has read them; ``problem`` when that failed, ``read`` False before.

    ``reading`` is how many have been read of a listing that is not complete, ``stopped`` that the rest was not wanted.
    """

    store: OpenStore
    threads: tuple[ThreadInfo, ...] = ()
    problem: str = ""
    read: bool = False
    reading: int = 0
    stopped: bool = False


def read_listing(
    session: Session, watch: Watch, part: Callable[[tuple[ThreadInfo, ...], int], None]
) -> tuple[ThreadInfo, ...]:
    """The threads of a store, newest write first; ``part`` is given all of them as far as their addresses tell, then
    with the first ones read, and how many that are."""
    found: list[ThreadInfo] = []
    given = brief = session.threads(brief=True) if session.has_brief else ()
    if brief:
        part(given, 0)

    def show() -> None:
        nonlocal given
        read = {info.thread for info in found}
        given = (*found, *(info for info in brief if info.thread not in read))
        part(given, len(found))

    def on_thread(info: ThreadInfo) -> bool:
        found.append(info)
        return watch.goes_on(len(found), show, lambda count: part(given, count), FIRST)

    return session.threads(on_thread=on_thread)


class Listings(TypingOrder):
    """The open stores with their threads."""

    loader: Loader

    def __init__(self, stores: tuple[OpenStore, ...], *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.stores = stores
        self.listings: tuple[Listing, ...] = tuple(Listing(store) for store in stores)
        self._watches: dict[int, Watch] = {}
        self._come: dict[int, ThreadsRead] = {}
        """What was read last of a store, until its message is taken."""

    def read_listings(self, *, again: bool = True) -> None:
        """Read the threads of every store; screens are told by ``listings_changed``. Not ``again``: of those only that
        nobody has asked yet."""
        for number, store in enumerate(self.stores):
            if not again and (number in self._watches or self.listings[number].read):
                continue
            if number in self._watches:
                self._watches[number].stop()  # its answer would no longer be taken
            watch = self._watches[number] = Watch()
            part = partial(self._tell_part, number, watch)
            work = partial(read_listing, store.session, watch, part)
            self.loader.call(self, f"{_LISTING}{number}", work, partial(self._came, number, watch))

    def _tell_part(self, store: int, watch: Watch, threads: tuple[ThreadInfo, ...], read: int) -> None:
        """From the loader's thread."""
        self.loader.post(self, self._came(store, watch, threads, read))

    def _came(self, store: int, watch: Watch, threads: tuple[ThreadInfo, ...], read: int | None = None) -> ThreadsRead:
        """From the loader's thread."""
        message = self._come[store] = ThreadsRead(store, watch, threads, read)
        return message

    def take_what_came(self) -> None:
        """Take the threads that have been read by now: at the start their message would be taken behind the first
        frame, and another be drawn for them."""
        for message in tuple(self._come.values()):
            self.on_threads_read(message)

    def stop_reading(self) -> bool:
        """Stop reading the listings, and keep what there is; False where none is being read for long."""
        long = [watch for watch in self._watches.values() if watch.spoken_of]
        for watch in long:
            watch.stop()
        return bool(long)

    def listed(self, store: OpenStore, thread: str) -> ThreadInfo | None:
        """What the listing says of a thread, as far as it was read."""
        found = (listing.threads for listing in self.listings if listing.store is store)
        return next((info for threads in found for info in threads if info.thread == thread), None)

    def on_threads_read(self, event: ThreadsRead) -> None:
        """A listing has come, or a part of it: that is shown only where there is nothing better."""
        self._come.pop(event.store, None)
        if event.store >= len(self.stores) or event.watch is not self._watches.get(event.store):
            return
        before, store = self.listings[event.store], self.stores[event.store]
        if event.read is None:
            stopped = event.watch.stopped
            del self._watches[event.store]
            self._set_listing(event.store, Listing(store, event.threads, read=True, stopped=stopped))
        elif not before.read or before.stopped:
            self._set_listing(event.store, Listing(store, event.threads, reading=event.read))
        else:
            self._set_listing(event.store, before._replace(reading=event.read))

    def listing_of(self, kind: str) -> int:
        """Which store's threads a call of this kind asks for, as its number; -1 where it asks for something else."""
        return int(kind.removeprefix(_LISTING)) if kind.startswith(_LISTING) else -1

    def on_waiting(self, event: Waiting) -> None:
        """A store is locked by another process: its heading says so until its threads come."""
        number = self.listing_of(event.kind)
        if number < 0:
            return
        self._set_listing(number, self.listings[number]._replace(problem="" if event.over else LOCKED))

    def on_failed(self, event: Failed) -> None:
        """A listing that cannot be read keeps what was read before, and says so."""
        number = self.listing_of(event.kind)
        if number < 0:
            return
        problem = event.told
        self._set_listing(number, self.listings[number]._replace(problem=problem, read=True))

    def _set_listing(self, number: int, listing: Listing) -> None:
        self.listings = (*self.listings[:number], listing, *self.listings[number + 1 :])
        for screen in self._told_screens():
            screen.listings_changed()

    def _told_screens(self) -> list[BaseScreen]:
        """Those that can show what has come: none while the application closes and takes away what they hold."""
        return self._own_screens() if self.is_running else []

    def _own_screens(self) -> list[BaseScreen]:
        from tt_debug.tui.screens.base import BaseScreen  # the screens import this module

        return [screen for screen in self.screen_stack if isinstance(screen, BaseScreen) and screen.is_mounted]
