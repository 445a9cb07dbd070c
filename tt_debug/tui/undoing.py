"""The part of the application that takes back forks and edits: what that would do is said, and done when agreed to.

Owns asking; which writes can be taken back is the session's to say.
"""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.message import Message

from stores.errors import Conflict, NotFound
from stores.model import Ref
from tt_debug.tui.bookmarks import Bookmarks
from tt_debug.tui.messages import Failed

if TYPE_CHECKING:
    from tt_debug.session.session import Session
    from tt_debug.session.undoing import Undone, UndoPlan
    from tt_debug.tui.opening import OpenStore

_PLANNING: Final = "undo plan"
_DOING: Final = "undo"
_LISTING: Final = "undone forks"
_KEYS: Final = "123456789abcdefghijklmnop"


class UndoPlanned(Message, bubble=False):
    """What would take a write of a store back."""

    def __init__(self, store: OpenStore, plan: UndoPlan) -> None:
        super().__init__()
        self.store = store
        self.plan = plan


class UndoDone(Message, bubble=False):
    """A write was taken back."""

    def __init__(self, store: OpenStore, undone: Undone) -> None:
        super().__init__()
        self.store = store
        self.undone = undone


class HiddenRead(Message, bubble=False):
    """The forks of a store that were taken back, or the one that was brought back."""

    def __init__(self, store: OpenStore, threads: tuple[str, ...], back: str = "") -> None:
        super().__init__()
        self.store = store
        self.threads = threads
        self.back = back


def planned(session: Session, near: Ref | None) -> UndoPlan:
    """For the write at ``near`` where that is one of ours, else for the last one."""
    own = {write.ref for write in session.undoing.writes() if write.undone is None}
    return session.undoing.plan(near if near in own else None)


def taken_back(session: Session) -> tuple[str, ...]:
    """The forks that are out of sight, the newest first."""
    return tuple(each.ref.thread for each in session.undoing.writes() if each.kind == "fork" and each.undone)


class Undoing(Bookmarks):
    """``u``: asked for by a screen, answered on top of it."""

    def key_of(self, action_id: str) -> str:
        """The key that does it, as people write it."""
        raise NotImplementedError

    def ask_to_undo(self, store: OpenStore, near: Ref | None = None, *, exactly: bool = False) -> None:
        """Take back the write at ``near``, or where that is none of ours, and not ``exactly`` that is meant, the last
        one of the store."""
        session = store.session
        work = partial(session.undoing.plan, near) if exactly else partial(planned, session, near)
        self.loader.call(self, _PLANNING, work, partial(UndoPlanned, store))

    def on_undo_planned(self, event: UndoPlanned) -> None:
        """Say which of the two it is, then ask."""
        from tt_debug.tui.dialogs.base import Choice
        from tt_debug.tui.dialogs.notice import NoticeDialog

        store, plan = event.store, event.plan
        choices = (Choice(plan.verb, "undo", "ctrl+s", "primary"),)

        def decided(word: str | None) -> None:
            if word is not None:
                work = partial(store.session.undoing.do, plan)
                self.loader.write(self, _DOING, work, partial(UndoDone, store))

        self.push_screen(NoticeDialog(plan.title, plan.lines(), choices), decided)

    def on_undo_done(self, event: UndoDone) -> None:
        """Remember it, and show what is there now."""
        undone = event.undone
        thread = shlex.quote(undone.plan.write.ref.thread)
        back = "" if undone.header else f"; {self.key_of('undo.back')} in the list of threads brings it back"
        self.note_done(undone.said, f"tt-debug undo {shlex.quote(event.store.url)} {thread} --yes")
        screens = self._own_screens()
        for screen in screens:
            screen.write_undone(event.store, undone)
        screens[-1].say(undone.said + back)

    def ask_what_to_bring_back(self, store: OpenStore) -> None:
        """List the forks that were taken back; the one that is chosen is in sight again."""
        work = partial(taken_back, store.session)
        self.loader.call(self, _LISTING, work, partial(HiddenRead, store))

    def on_hidden_read(self, event: HiddenRead) -> None:
        """Choose one; or one is back."""
        from tt_debug.tui.dialogs.menu import MenuDialog

        store, screen = event.store, self._own_screens()[-1]
        if event.back:
            said = f"{event.back} is in sight again"
            self.note_done(said, f"tt-debug undo {shlex.quote(store.url)} {shlex.quote(event.back)} --back")
            screen.say(said)
            return
        if not event.threads:
            screen.say(f"no fork was taken back in {store.label}")
            return
        shown = dict(zip(_KEYS, event.threads, strict=False))

        def chosen(key: str | None) -> None:
            if key is not None:
                self.loader.write(self, _DOING, partial(_brought_back, store, shown[key]), lambda message: message)

        rows = [(key, thread, "nothing ran on it") for key, thread in shown.items()]
        self.push_screen(MenuDialog("Forks that were taken back: choose one to see it again", rows), chosen)

    def on_failed(self, event: Failed) -> None:
        """What cannot be taken back stays, and why."""
        if event.kind not in (_PLANNING, _DOING, _LISTING):
            return
        event.prevent_default()
        if isinstance(event.error, Conflict):
            from tt_debug.tui.dialogs.notice import NoticeDialog

            self.push_screen(NoticeDialog("It stays", [line for line in (event.text, event.hint) if line]))
        else:
            severity = "information" if isinstance(event.error, NotFound) else "error"
            self._own_screens()[-1].say(event.text, severity=severity)


def _brought_back(store: OpenStore, thread: str) -> HiddenRead:
    store.session.undoing.bring_back(thread)
    return HiddenRead(store, (), thread)
