"""The interface opened to choose one checkpoint: nothing is written, and leaving without a choice is one too."""

from __future__ import annotations

from collections.abc import Sequence

from stores.model import Ref
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.opening import Opening
from tt_debug.tui.preferences import read_preferences


class PickApp(TtDebugApp):
    """``thread`` is shown at once; without one the list of threads is."""

    thread: str | None = None

    def on_mount(self) -> None:
        """Behind what every interface does when it starts."""
        if self.thread is not None:
            self.call_after_refresh(self.show_thread, self.stores[0], self.thread)


def run_pick(stores: Sequence[str], thread: str | None) -> Ref | None:
    """The checkpoint that was chosen, None for none. Raises as `tt_debug.tui.app.run_app`, and NotFound for a thread
    that is not there."""
    preferences = read_preferences()
    opening = Opening(True, None, None)
    opened = opening.open_all(tuple(stores))
    if thread is not None:
        opened[0].session.resolve(thread)
    app = PickApp(opened, opening=opening, read_only=True, preferences=preferences)
    app.picking, app.thread = True, thread
    app.run()
    if not app.loader.busy:
        for each in app.stores:
            each.session.close()
    return app.picked
