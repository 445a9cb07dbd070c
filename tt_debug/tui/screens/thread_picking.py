"""The Thread screen as a way to name a checkpoint: Enter on one ends the interface with it."""

from __future__ import annotations

from tt_debug.tui.rows.graph_items import GraphItem
from tt_debug.tui.screens.thread_log_points import ThreadLogPoints


class ThreadPicking(ThreadLogPoints):
    """As it is, unless the interface was opened to pick."""

    def on_mount(self) -> None:
        """Say what Enter does."""
        if self.tt.picking:
            self.say("Enter on a checkpoint picks it")

    def _open_item(self, item: GraphItem) -> None:
        if self.tt.picking and item.kind == "checkpoint":
            self.tt.picked = item.ref
            self.tt.ask_to_quit()
        else:
            super()._open_item(item)
