"""A thread that another process is writing, followed without disturbing it: what is new since the last look.

Owns when a look is worth its cost. For a file that is when its bytes or those of its log have changed, which costs two
`stat`s; another store is asked each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stores.model import Header, Ref
from stores.protocol import Store
from stores.registry import open_store
from tt_debug.session import owners

_PAGE = 100


class Tail:
    """One thread. Not thread-safe; reads only."""

    def __init__(self, url: str, thread: str) -> None:
        """Raises what `stores.registry.open_store` does; a thread that is not there yet is waited for."""
        self._store: Store = open_store(url)
        self._thread = thread
        self._seen: set[Ref] = set()
        self._stamp: object = None

    def close(self) -> None:
        """Idempotent."""
        self._store.close()

    def last(self, count: int) -> list[Header]:
        """The newest checkpoints there are now, oldest first; only what comes after them is new then.

        Raises NotFound for a thread that is not there.
        """
        self._stamp = self._sign()
        found: list[Header] = []
        after: str | None = None
        while True:
            page = self._store.headers(self._thread, after=after, limit=_PAGE if len(found) < count else 1000)
            self._seen.update(header.ref for header in page.items)
            found += page.items[: max(0, count - len(found))]
            after = page.next
            if after is None:
                return [self._now(header) for header in reversed(found)]

    def changed(self) -> bool:
        """Whether a look may find something new; cheap where nothing was written."""
        stamp = self._sign()
        if stamp is not None and stamp == self._stamp:
            return False
        self._stamp = stamp
        return True

    def fresh(self) -> list[Header]:
        """The checkpoints that came since the last look, oldest first."""
        found = list(self._unseen())
        self._seen.update(header.ref for header in found)
        return [self._now(header) for header in reversed(found)]

    def status(self) -> str:
        """How the thread's head stands."""
        head = self._store.head(self._thread)
        newest = self._store.headers(self._thread, limit=_PAGE).items
        # The head is among the newest but for odd ids; only then its state is read with it.
        found = next((header for header in newest if header.ref == head), None)
        return self._now(found or self._store.load(head).header).status

    def _unseen(self) -> Iterator[Header]:
        after: str | None = None
        while True:
            page = self._store.headers(self._thread, after=after, limit=_PAGE)
            unseen = [header for header in page.items if header.ref not in self._seen]
            yield from unseen
            # A page of which all is known ends it: what is new comes first, but for forks of what is old.
            if not unseen or page.next is None:
                return
            after = page.next

    def _now(self, header: Header) -> Header:
        return owners.header_now(self._store, header)

    def _sign(self) -> object:
        """What changes when the file does; None for a store that is no file."""
        path = self._store.info.path
        return None if path is None else tuple(map(_stat, (Path(path), Path(f"{path}-wal"))))


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
