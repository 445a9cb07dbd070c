"""Taking back a fork or edit from the Thread screen, and what is shown of the thread then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tt_debug.tui.screens.thread_story import ThreadStory

if TYPE_CHECKING:
    from tt_debug.session.undoing import Undone
    from tt_debug.tui.opening import OpenStore


class ThreadUndoing(ThreadStory):
    """``u``."""

    def act_undo(self) -> None:
        """Take back the write under the cursor, or the last one."""
        self.tt.ask_to_undo(self.store, self.selected)

    def write_undone(self, store: OpenStore, undone: Undone) -> None:
        """To the checkpoint that puts the thread back; from a fork that is out of sight to what it was made from."""
        write, base = undone.plan.write, undone.plan.base.ref
        if store is not self.store or self.view is None:
            return
        if undone.header is not None:
            if write.ref in self.view:
                self.read(select=undone.header.ref, trunk=write.ref.thread)
        elif write.ref.thread == self.thread:
            self.thread = base.thread
            self.read(select=base, trunk=base.thread)
        elif self.view.standing(write.ref) is not None:
            self.read(select=base, trunk=base.thread)
