"""A run of this thread that is driven elsewhere, by another program or a screen that was left: its steps as they come.

Owns when to look again; whether a run lives is the session's to say.
"""

from __future__ import annotations

from typing import Final

from stores.model import Status
from tt_debug.tui.screens.thread_running import STOPS, ThreadRunning

LOOK: Final = 1.0
"""Seconds from one reading to the next: a store has no way to tell of a new row."""


class ThreadWatching(ThreadRunning):
    """Reads again while the current line's head says that it runs."""

    watched = ""
    """The thread that runs elsewhere."""

    def thread_was_read(self) -> None:
        """Look again later, or say how it ended."""
        if self.view is None or self.trunk is None or self.running:
            return
        status = self.view.seen[self.trunk].status
        if status == Status.RUNNING:
            if self.watched != self.trunk.thread:
                self.watched = self.trunk.thread
                self.following = self.selected == self.trunk
                self._raise()
            self.set_timer(LOOK, self._look_again)
        elif self.watched:
            ended, self.watched = self.watched, ""
            self._raise()
            if ended == self.trunk.thread:
                self.say(f"{ended}: {status}")

    def _raise(self) -> None:
        self.raised = STOPS if self.watched else ()
        self.refresh_keys()

    def _look_again(self) -> None:
        if self.watched and not self.running:
            self.read(to_head=self.following)

    def cursor_moved(self) -> None:
        """As for a run of this screen."""
        super().cursor_moved()
        if self.watched:
            self.following = self.selected == self.trunk
