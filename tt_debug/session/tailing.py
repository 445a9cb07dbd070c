"""A thread that another process is writing, followed without disturbing it: what is new since the last look.

Owns when a look is worth its cost: a file is asked whether somebody committed once its bytes or those of its log have
changed, which costs two `stat`s; another store is asked for the thread's newest row.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

from stores.errors import NotFound
from stores.model import STUCK, Header, Ref, Status
from stores.protocol import Store, TellsAddresses, TellsVersion
from stores.registry import open_store
from tt_debug.session import owners
from tt_debug.session.thread_view import ThreadView
from tt_debug.text import safe_text

_PAGE = 100
_UNSURE: Final = 1_000_000_000
"""Nanoseconds after a write in which the file's bytes do not tell whether there was another: they stand in a log before
their commit does (an fsync lies between), and two writes within a tick of the kernel's clock have one time."""


class Pulse:
    """Whether a thread may be another than at the last look. Reads only, and asks for no more than one row."""

    def __init__(self, store: Store, thread: str) -> None:
        self._store = store
        self._thread = thread
        path = store.info.path
        self._files = () if path is None else (path, f"{path}-wal")
        self._bytes: tuple[_Bytes, ...] = ()
        self._last: object = None
        self._changed_at = 0
        self._doubted = False
        self.pause = 0.025 if self._files else 1.0
        """Seconds between two looks that cost next to nothing: two `stat`s, or one question a second."""

    def changed(self) -> bool:
        """The first look says yes."""
        found = self._looked_at()
        settled = self._doubted and not self._written_lately(found)
        if found and found == self._bytes and not _fresh(found) and not settled:
            return False
        now = self._store.version() if isinstance(self._store, TellsVersion) else self._of_newest()
        before, self._bytes, self._last = self._last, found, now
        if now != before and before is not None:
            self._changed_at = time.time_ns()
        self._doubted = self._doubted and not settled
        return settled or now != before

    def standing(self, header: Header) -> Header:
        """A head as it stands while its writer works: what a step gave is stored before the checkpoint that takes it
        in, and until then it looks given up. `changed` says yes once more when that would have come."""
        if header.problem != STUCK or not self._written_lately(self._looked_at()):
            return header
        self._doubted = True
        return replace(header, status=Status.UNFINISHED, problem=None)

    def _looked_at(self) -> tuple[_Bytes, ...]:
        return tuple(_stat(path) for path in self._files)

    def _written_lately(self, found: Collection[_Bytes]) -> bool:
        return _fresh(found) if found else time.time_ns() - self._changed_at < _UNSURE

    def _of_newest(self) -> object:
        # A mapped table may have a new row in the middle: there a page stands for the thread.
        limit = 1 if self._store.info.kind in ("native", "langgraph") else _PAGE
        try:
            newest = self._store.headers(self._thread, limit=limit).items
        except NotFound:
            return ()
        return [(header.ref, header.status, header.next) for header in newest]


class Tail:
    """One thread. Not thread-safe; reads only."""

    def __init__(self, url: str, thread: str) -> None:
        """Raises what `stores.registry.open_store` does; a thread that is not there yet is waited for."""
        self._store: Store = open_store(url)
        self._thread = thread
        self._seen: set[Ref] = set()
        self._pulse = Pulse(self._store, thread)
        self.pause = self._pulse.pause
        """Seconds to wait between two looks."""

    def close(self) -> None:
        """Idempotent."""
        self._store.close()

    def last(self, count: int) -> list[Header]:
        """The newest checkpoints there are now, oldest first; only what comes after them is new then.

        Raises NotFound for a thread that is not there.
        """
        self._pulse.changed()
        found: list[Header] = []
        after: str | None = None
        told = False
        if isinstance(self._store, TellsAddresses):
            self._seen.update(self._store.addresses(self._thread).refs)
            told = True
        while True:
            page = self._store.headers(self._thread, after=after, limit=_PAGE if len(found) < count else 1000)
            self._seen.update(header.ref for header in page.items)
            found += page.items[: max(0, count - len(found))]
            after = page.next
            if after is None or (told and len(found) >= count):
                return [self._now(header) for header in reversed(found)]

    def changed(self) -> bool:
        """Whether a look may find something new; cheap where nothing was written."""
        return self._pulse.changed()

    def fresh(self) -> list[Header]:
        """The checkpoints that came since the last look, oldest first."""
        found = list(self._unseen())
        self._seen.update(header.ref for header in found)
        return [self._now(header) for header in reversed(found)]

    def status(self) -> str:
        """How the thread's head stands."""
        while True:
            head = self._store.head(self._thread)
            newest = self._store.headers(self._thread, limit=_PAGE).items
            # The head is among the newest but for odd ids; only then its state is read with it.
            found = next((header for header in newest if header.ref == head), None)
            status = self._now(found or self._store.load(head).header).status
            # One that was overtaken meanwhile is a finished step, which says nothing about the thread.
            if self._store.head(self._thread) == head:
                return status

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
        return self._pulse.standing(owners.header_now(self._store, header))


_Bytes = tuple[int, int, int] | None


def _fresh(files: Collection[_Bytes]) -> bool:
    now = time.time_ns()
    return any(each is not None and abs(now - each[2]) < _UNSURE for each in files)


def _stat(path: str) -> _Bytes:
    try:
        found = os.stat(path)
    except OSError:  # what that means is told by whoever opens it
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Standing:
    """How a followed thread stood when it was read: its head and how that stood, how many checkpoints its family has,
    and which threads."""

    head: Ref
    step: int | None
    status: str
    count: int
    threads: frozenset[str]

    @classmethod
    def of(cls, view: ThreadView, head: Ref, pulse: Pulse) -> Standing:
        """With ``head`` as the end of the line that is followed."""
        header = pulse.standing(view.headers[head])
        return cls(head, header.step, header.status, len(view.refs), frozenset(view.newest))


def news(before: Standing, now: Standing, line: Collection[Ref]) -> tuple[str, ...]:
    """What is to be said of a reading, beside its new rows. ``line`` leads to the head as it is now."""
    said = [f"forked as {safe_text(name)}" for name in sorted(now.threads - before.threads)]
    if now.head != before.head and before.head not in line:
        known = before.step is not None and now.step is not None
        was, here = (f"step {before.step}", f"step {now.step}") if known else (before.head.id, now.head.id)
        said.append(f"the head has moved to another branch, from {was} to {here}: what it left stays in the graph")
    return tuple(said)


def came_to_rest(before: Standing, now: Standing) -> bool:
    """Whether its writer has stopped since: at the end, at a question, at an error."""
    at_rest = now.status not in (Status.RUNNING, Status.UNFINISHED, Status.PENDING)
    return at_rest and (now.head, now.status) != (before.head, before.status)
