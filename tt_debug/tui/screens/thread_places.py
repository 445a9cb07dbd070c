"""Going to a place of the current line that was typed: a step, a part of the way, the beginning of an id.

Owns when it is looked for and what is said where there is none; reading a place is `tt_debug.tui.rows.line`'s.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from textual import on

from stores.model import Ref
from tt_debug.tui.rows.line import place
from tt_debug.tui.screens.thread_panels import ThreadPanels
from tt_debug.tui.screens.thread_parts import PlaceFound

LONG: Final = 2_000
"""Checkpoints of a line, or rows, from which on a place among them is looked for off the event loop."""


class ThreadPlaces(ThreadPanels):
    """What the palette asks of the screen."""

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)  # type: ignore[arg-type]
        self._wanted = ""

    def go_to(self, text: str) -> None:
        """A place as typed in the palette: ``15``, ``50%``, ``-1``, the beginning of an id."""
        if self.view is None:
            return
        find = partial(place, self.view, self.line, text)
        if len(self.line) > LONG:
            self.tt.loader.call(self, "place", find, partial(PlaceFound, text))
        else:
            self._go_to(text, find())

    @on(PlaceFound)
    def _place_found(self, event: PlaceFound) -> None:
        self._go_to(event.text, event.ref)

    def _go_to(self, text: str, ref: Ref | None) -> None:
        counted = text.startswith("-") or text.endswith("%")
        # A line with checkpoints of which only the addresses are known has them all.
        grows = self.reading is not None and not self.whole and not self._trunk_line.unread
        if grows and (ref is None or counted):
            self._wanted = text
            self.say(f"going to {text} as soon as the line has been read")
        elif ref is None:
            self.say(self._as_read(f"nothing called {text} on this line"), severity="warning")
        else:
            self.select_ref(ref)
            self.tt.tour_saw("place")

    def perform_after_reading(self) -> None:
        """Go where the user wanted to before that had been read, too."""
        wanted, self._wanted = self._wanted, ""
        if wanted:
            self.go_to(wanted)
        super().perform_after_reading()

    def _as_read(self, words: str) -> str:
        """What is not there, told of no more than has been read."""
        return words if self.whole else f"{words}, as far as it has been read"
