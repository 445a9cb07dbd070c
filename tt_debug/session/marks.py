"""Bookmarks: names and notes that a person gave to checkpoints. They lie in our own record, never in the store."""

from __future__ import annotations

from collections.abc import Mapping

from stores.model import Ref
from tt_debug.errors import UsageError
from tt_debug.session.journal import Journal, Mark

LONGEST = 80
"""Characters of a name."""


class Marks:
    """The bookmarks of one store. Reading makes no file."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def all(self, thread: str | None = None) -> tuple[Mark, ...]:
        """Those of a thread, or of all; the oldest first."""
        found = self._journal.marks()
        return found if thread is None else tuple(mark for mark in found if mark.ref.thread == thread)

    def named(self, thread: str) -> Mapping[str, Ref]:
        """Name → checkpoint of a thread."""
        return {mark.name: mark.ref for mark in self.all(thread)}

    def put(self, ref: Ref, name: str, note: str = "") -> Mark:
        """Name a checkpoint, in place of the name it has. Raises Conflict where another of its thread has that name,
        UsageError for a name that no REF could hold."""
        check_name(name)
        return self._journal.put_mark(ref, name, note)

    def drop(self, ref: Ref) -> bool:
        """Take a checkpoint's name away; whether it had one."""
        return self._journal.drop_mark(ref)


def check_name(name: str) -> None:
    """Raises UsageError for a name that no REF could hold."""
    if not name.strip() or name != name.strip() or len(name) > LONGEST:
        raise UsageError(f"a bookmark is called by 1 to {LONGEST} characters, without spaces around them")
    if "@" in name:
        raise UsageError(f"a bookmark {name!r} could not be told from a thread", hint="leave the @ out")
