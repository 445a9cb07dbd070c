"""What a screen says and does about stores that are out of reach.

Owns the words; which stores that are, and trying them again, is the app's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tt_debug.tui.screens.copying import CopyingActions
from tt_debug.tui.widgets.banner import Banner
from tt_debug.tui.widgets.title_bar import TitleBar

if TYPE_CHECKING:
    from tt_debug.session.undoing import Undone
    from tt_debug.tui.opening import OpenStore


class StoreTrouble(CopyingActions):
    """The part of every screen that the app tells of outages, bookmarks and undone writes.

    Subclasses say which stores are theirs."""

    def stores_written(self) -> Sequence[OpenStore]:
        """The store that an action of this screen would write to just now, if any."""
        return ()

    def refresh_keys(self) -> None:
        """Fit the key bar to what can be done now."""
        raise NotImplementedError

    def outages_changed(self) -> None:
        """A store went out of reach, or is tried again, or answers: the title, the notices and the keys say so."""
        self.show_title(self.query_one(TitleBar).title)
        self.query_one("#notices", Banner).show(self.notices())
        self.refresh_keys()

    def came_back(self, store: OpenStore) -> None:
        """A store answers again; screens that show something of it read it anew."""
        if store in self.stores_shown():
            self.act_refresh()

    def bookmarks_changed(self) -> None:
        """The app has read the bookmarks again; screens that show some of them override this."""

    def write_undone(self, store: OpenStore, undone: Undone) -> None:
        """A fork or edit was taken back; screens that show its thread override this."""

    def notices(self) -> list[str]:
        """What a user should know of the stores that are shown, the worst first."""
        retry = f"{self.tt.key_of('refresh')} tries again now"
        gone = self.tt.outages_of(self.stores_shown())
        found = [f"{outage.why} What is shown was read before and may be out of date; {retry}" for _, outage in gone]
        again = f"{self.tt.key_of('refresh')} reads what is there now"
        return found + [
            f"Another file stands where {store.label} was. What is shown may be the old one's; {again}"
            for store in self.tt.replaced_of(self.stores_shown())
        ]
