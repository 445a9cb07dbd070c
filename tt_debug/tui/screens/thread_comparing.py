"""From the Thread screen to two lines side by side: A is the pinned checkpoint, or the line that a fork left.

Owns which two are meant; a pin counts on the screens of other threads of the same store, too.
"""

from __future__ import annotations

from stores.model import Ref
from tt_debug.tui.screens.comparing import CompareScreen
from tt_debug.tui.screens.thread_picking import ThreadPicking


class ThreadComparing(ThreadPicking):
    """``D``."""

    def act_mark_a(self) -> None:
        """Pin A here, for the other threads as well."""
        super().act_mark_a()
        self.tt.pinned = None if self.pin is None else (self.store, self.pin)

    def act_diff_lines(self) -> None:
        """The line that ends at A beside the one that the cursor is on."""
        sides = self._sides()
        if sides is None:
            pin = self.tt.key_of("mark.a")
            self.say(f"nothing to compare with: {pin} pins A, then go to a fork or to another thread")
        else:
            self.app.push_screen(CompareScreen(self.store, *sides))

    def _sides(self) -> tuple[Ref, Ref] | None:
        """What is pinned here or in another thread, and the cursor; else the trunk, and the fork's end."""
        pinned = self.pin
        if pinned is None and self.tt.pinned is not None and self.tt.pinned[0] is self.store:
            pinned = self.tt.pinned[1]
        if pinned is not None and self.selected is not None and pinned != self.selected:
            return pinned, self.selected
        if self.trunk is not None and self.line and self.trunk not in self.places:
            return self.trunk, self.line[-1]
        return None
