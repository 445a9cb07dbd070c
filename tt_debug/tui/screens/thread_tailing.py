"""Following a thread that any other process writes: its new checkpoints as they come, and what they do to the line.

Owns when to look again, and what is said; whether it is worth reading is the session's to tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final

from textual import on
from textual.message import Message

from stores.errors import Unreachable
from tt_debug.session.tailing import Pulse, Standing, came_to_rest, news
from tt_debug.tui.messages import Failed
from tt_debug.tui.screens.thread_watching import ThreadWatching

LATER: Final = 0.1
"""Seconds until a thread is read that cannot be just now."""
SHARE: Final = 4
"""A long thread takes its time to be read: for so many times as long it is left alone."""
RETRY: Final = 5.0
"""Seconds after which a look that failed is made again."""
_LOOKING: Final = "tail"


class Looked(Message):
    """The thread may be another; ``pulse`` is the following it belongs to."""

    def __init__(self, pulse: Pulse) -> None:
        super().__init__()
        self.pulse = pulse


class ThreadTailing(ThreadWatching):
    """``F`` where nothing of ours runs."""

    tailed = ""
    """The thread that is followed."""
    _pulse: Pulse | None = None
    _stood: Standing | None = None
    _look_away: Callable[[], None] | None = None
    _asked_at = 0.0
    _came = 0

    def act_follow(self) -> None:
        """Follow the thread that the current line ends in, or let it go."""
        if self.running or self.watched or self.trunk is None or self.view is None:
            super().act_follow()
        elif self.tailed:
            self._let_go()
            self.say("not followed any more")
        else:
            self.tailed, self._came, self.following = self.trunk.thread, 0, True
            self._pulse = self.session.pulse(self.tailed)
            self._stood = Standing.of(self.view, self.trunk, self._pulse)
            self.select_ref(self.trunk)
            key = self.tt.key_of("follow")
            self.say(f"{self.tailed} is followed: what another program writes to it appears; {key} lets go")
            self.show_counts()
            self._feel()

    def _let_go(self) -> None:
        self.tailed, self._pulse = "", None
        self._stop_looking()
        self.show_counts()

    def on_unmount(self) -> None:
        """Nobody follows any more."""
        self._stop_looking()

    def _feel(self) -> None:
        self._stop_looking()
        pulse = self._pulse
        if pulse is not None:
            looked = partial(Looked, pulse)
            self._look_away = self.tt.loader.watch(self, _LOOKING, pulse.changed, looked, pulse.pause)

    def _stop_looking(self) -> None:
        if self._look_away is not None:
            self._look_away()
            self._look_away = None

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        if event.pulse is not self._pulse:
            return
        if self.reading is None and not self.running:
            self._asked_at = time.monotonic()
            on_it = self.trunk is not None and self.trunk.thread == self.tailed
            self.read(to_head=self.following and on_it)
        else:
            self.set_timer(LATER, partial(self._looked, event))

    def thread_was_read(self) -> None:
        """Say what is new, and look again: the later, the longer it took to read."""
        told = self.watched  # a run of ours elsewhere: how it ended is said of that
        super().thread_was_read()
        if self._pulse is None:
            return
        self._tell_news(how_it_stands=told != self.tailed)
        if self._asked_at:
            took, self._asked_at = time.monotonic() - self._asked_at, 0.0
            self.set_timer(SHARE * took, self._feel)

    def _tell_news(self, *, how_it_stands: bool) -> None:
        """On another line than the one that is followed the new rows are seen, no more."""
        before, self._stood = self._stood, None
        if self.view is None or self._pulse is None or self.trunk is None or self.trunk.thread != self.tailed:
            return
        self._stood = Standing.of(self.view, self.trunk, self._pulse)
        if before is not None:
            self._came += max(0, self._stood.count - before.count)
            for words in news(before, self._stood, self._trunk_line.places):
                self.say(f"{self.tailed}: {words}")
            if how_it_stands and came_to_rest(before, self._stood):
                self.say(f"{self.tailed}: {self._stood.status}")
        self.show_counts()

    def cursor_moved(self) -> None:
        """Whoever goes elsewhere wants to look there; from the head the newest is gone to again."""
        super().cursor_moved()
        if self.tailed:
            self.following = self.selected == self.trunk

    def _counted(self) -> str:
        """With how many came since it is followed."""
        words = super()._counted()
        if not self.tailed:
            return words
        return f"followed, {self._came:,} new {self.tt.glyphs.dot} {words}"

    def show_failure(self, event: Failed) -> None:
        """A look that failed is made again; that a store cannot be reached is said in the notices."""
        if event.kind != _LOOKING:
            super().show_failure(event)
        elif self._pulse is not None:
            self.set_timer(RETRY, self._feel)
            if not isinstance(event.error, Unreachable):
                self.say(f"it cannot be followed just now: {event.told}", severity="warning")
