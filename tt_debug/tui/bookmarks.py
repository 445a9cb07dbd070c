"""The part of the application that knows the bookmarks of the open stores, and gives and takes them.

Owns asking for a name; screens are told by ``bookmarks_changed``. What a bookmark may be called is the session's.
"""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.message import Message

from stores.model import Ref
from tt_debug.tui.messages import Failed
from tt_debug.tui.replacing import Replacements

if TYPE_CHECKING:
    from tt_debug.session.journal import Mark
    from tt_debug.tui.dialogs.bookmark import Named
    from tt_debug.tui.opening import OpenStore

_READING: Final = "bookmarks"
_WRITING: Final = "bookmark"


class Bookmark(NamedTuple):
    """A named checkpoint of one of the open stores."""

    store: OpenStore
    mark: Mark


class BookmarksRead(Message, bubble=False):
    """Every bookmark there is."""

    def __init__(self, found: tuple[Bookmark, ...]) -> None:
        super().__init__()
        self.found = found


class BookmarkKept(Message, bubble=False):
    """A bookmark was given or taken away; ``command`` does the same."""

    def __init__(self, said: str, command: str) -> None:
        super().__init__()
        self.said = said
        self.command = command


def read_bookmarks(stores: tuple[OpenStore, ...]) -> tuple[Bookmark, ...]:
    """Those of all stores, the newest first."""
    found = [Bookmark(store, mark) for store in stores for mark in store.session.marks.all()]
    return tuple(sorted(found, key=lambda each: each.mark.at, reverse=True))


class Bookmarks(Replacements):
    """``bookmarks`` are those that were there when they were last read."""

    bookmarks: tuple[Bookmark, ...] = ()

    def note_done(
        self, words: str, command: str = "", *, wrote: bool = True, made: tuple[OpenStore, Ref] | None = None
    ) -> None:
        """Remember what was done; ``wrote``: a store is another by it; ``made``: what can be taken back."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Those of the stores that are open from the start."""
        self.read_bookmarks()

    def read_bookmarks(self) -> None:
        """Read them again: another program may have given names too."""
        self.loader.call(self, _READING, partial(read_bookmarks, self.stores), BookmarksRead)

    def bookmarks_of(self, store: OpenStore) -> dict[Ref, Mark]:
        """Those of one store."""
        return {each.mark.ref: each.mark for each in self.bookmarks if each.store is store}

    def ask_for_bookmark(self, store: OpenStore, ref: Ref, where: str) -> None:
        """Name a checkpoint, or take its name away. ``where`` says which one it is."""
        from tt_debug.tui.dialogs.bookmark import BookmarkDialog

        own = self.bookmarks_of(store)
        taken = {mark.name for mark in own.values() if mark.ref.thread == ref.thread and mark.ref != ref}
        before = own.get(ref)
        dialog = BookmarkDialog(where, before, taken)
        self.push_screen(dialog, partial(self._named, store, ref, before))

    def _named(self, store: OpenStore, ref: Ref, before: Mark | None, named: Named | None) -> None:
        if named is None or (before is None and not named.name):
            return
        marks = store.session.marks
        command = f"tt-debug mark {shlex.quote(store.url)} {shlex.quote(f'{ref.thread}@{ref.id}')}"

        def done() -> BookmarkKept:
            if not named.name:
                marks.drop(ref)
                said, words = f"the bookmark {before.name if before else ''} is gone", " --remove"
            else:
                marks.put(ref, named.name, named.note)
                note = f" --note {shlex.quote(named.note)}" if named.note else ""
                said, words = f"this checkpoint is {ref.thread}@{named.name} now", f" {shlex.quote(named.name)}{note}"
            return BookmarkKept(said, command + words)

        self.loader.write(self, _WRITING, done, lambda message: message)

    def on_bookmarks_read(self, event: BookmarksRead) -> None:
        """They have come."""
        self.bookmarks = event.found
        for screen in self._told_screens():
            screen.bookmarks_changed()

    def on_bookmark_kept(self, event: BookmarkKept) -> None:
        """Say it, remember it, and read them again: an answer that is on its way may not know of it."""
        self.note_done(event.said, event.command, wrote=False)
        for screen in self._told_screens()[-1:]:
            screen.say(event.said)
        self.read_bookmarks()

    def on_failed(self, event: Failed) -> None:
        """Our own record cannot be used: said, and the bookmarks stay as they were read before."""
        if event.kind in (_READING, _WRITING):
            event.prevent_default()
            for screen in self._told_screens()[-1:]:
                screen.say(event.told, severity="error")
