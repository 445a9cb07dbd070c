"""What a checkpoint is: addresses, times, metadata, the runtime's own values; folded like a state."""

from __future__ import annotations

from collections.abc import Mapping

from stores.model import Checkpoint
from tt_debug.tui.rows.meta import meta_facts
from tt_debug.tui.widgets.state_view import StateView


class MetaView(StateView):
    """A `StateView` over `meta_facts`."""

    EMPTY = "nothing is known about this checkpoint"

    def show_checkpoint(self, checkpoint: Checkpoint, children: int, completed: Mapping[str, int] | None) -> None:
        """Show the facts of a checkpoint."""
        self.show(meta_facts(checkpoint, children, completed))
