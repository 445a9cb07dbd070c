"""Searching the panel that has the focus, on the Thread screen.

Owns what is looked for and to which hits is gone; which rows are hits is the panel's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from textual import on
from textual.widgets import Input

from tt_debug.tui.messages import Failed
from tt_debug.tui.screens.thread_parts import HitFound
from tt_debug.tui.screens.thread_places import LONG, ThreadPlaces
from tt_debug.tui.widgets.row_view import RowView


@runtime_checkable
class Searched(Protocol):
    """A list that can be searched."""

    def search(self, text: str) -> Sequence[int]: ...


def _is_ahead(way: int, direction: int, here: bool) -> bool:
    return way * direction > 0 or (here and way == 0)


class ThreadSearching(ThreadPlaces):
    """What is looked for, and the keys that go to it."""

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)
        self.looked_for = ""
        self._ways: list[int] = []
        """Forward or back: to which hits of a long graph is still to be gone. The first is being looked for."""

    def act_search_open(self) -> None:
        """Ask what to look for."""
        box = self.query_one("#search", Input)
        self._searched = self.panel()
        box.add_class("-shown")
        box.value = ""
        self.set_focus(box)

    @on(Input.Submitted, "#search")
    def _search_done(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value
        self._close_search()
        self._look_for(text)
        if text:
            # The focus comes back only after this message.
            self._to_hit(self._searched, 1, here=True)

    def _close_search(self) -> None:
        self.query_one("#search", Input).remove_class("-shown")
        self.set_focus(self._searched)

    _searched: RowView

    def act_search_next(self) -> None:
        """The next hit."""
        self._to_hit(self.panel(), 1)

    def act_search_back(self) -> None:
        """The hit before."""
        self._to_hit(self.panel(), -1)

    def _to_hit(self, panel: RowView, direction: int, *, here: bool = False) -> None:
        if not self.looked_for:
            self.say(f"nothing is searched for yet: {self.tt.key_of('search.open')} asks for a text")
            return
        if panel is self.graph and panel.row_count > LONG:
            self._ways.append(direction)
            if len(self._ways) == 1:
                self._find_hit(here)
            return
        hits = panel.search(self.looked_for) if isinstance(panel, Searched) else ()
        ahead = [row for row in hits if _is_ahead(row - panel.cursor, direction, here)] or hits
        self._go_to_hit(panel, (ahead[0] if direction > 0 else ahead[-1]) if ahead else None, direction, here)

    def _find_hit(self, here: bool) -> None:
        find = self.graph.search_ahead(self.looked_for, self._ways[0], here=here)
        self.tt.loader.call(self, "search", find, partial(HitFound, self._ways, here))

    @on(HitFound)
    def _hit_found(self, event: HitFound) -> None:
        if event.ways is not self._ways:
            return
        row = self.graph.same_row(event.item) if event.item is not None else None
        if event.item is not None and row is None:
            self._find_hit(event.here)  # it has been folded away meanwhile
            return
        self._go_to_hit(self.graph, row, self._ways.pop(0), event.here)
        if self._ways:
            self._find_hit(here=False)

    def _go_to_hit(self, panel: RowView, row: int | None, direction: int, here: bool) -> None:
        if row is None:
            none = f"no row of this panel has “{self.looked_for}”"
            self.say(self._as_read(none) if panel is self.graph else none, severity="warning")
            return
        if not _is_ahead(row - panel.cursor, direction, here):
            self.say("from the top again" if direction > 0 else "from the end again")
        panel.cursor = row

    def forget(self) -> bool:
        """Forget what was looked for; whether there was anything."""
        forgotten = bool(self.looked_for)
        self._look_for("")
        return forgotten

    def _look_for(self, text: str) -> None:
        """What was looked for before is not gone to any more."""
        self.looked_for, self._ways = text, []

    def show_failure(self, event: Failed) -> None:
        """A search that failed is not gone on with."""
        if event.kind == "search":
            self._ways = []
        super().show_failure(event)
