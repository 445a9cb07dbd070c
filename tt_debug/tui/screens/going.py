"""From a list of checkpoints to one of them: on the screen below when that shows it, else on a screen of its own."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from stores.model import Path, Ref

if TYPE_CHECKING:
    from tt_debug.tui.opening import OpenStore
    from tt_debug.tui.screens.base import BaseScreen


@runtime_checkable
class Shows(Protocol):
    """A screen that can go to a checkpoint of its own."""

    def shows(self, store: OpenStore, ref: Ref) -> bool: ...

    def select_ref(self, ref: Ref) -> None: ...


@runtime_checkable
class MarksHits(Protocol):
    """A screen that marks the answers of a question on its line."""

    def show_hits(self, hits: Collection[Ref], question: str) -> None: ...


@runtime_checkable
class ShowsMessages(Protocol):
    """A screen that shows the conversation of a checkpoint."""

    def show_message(self, path: Path) -> None: ...


def go_to_checkpoint(screen: BaseScreen, store: OpenStore, ref: Ref) -> Shows:
    """Leave ``screen``, which is on top, for the one below where that shows the checkpoint, or open its thread on
    top. Returns the screen that shows it."""
    below = screen.app.screen_stack[-2]
    if isinstance(below, Shows) and below.shows(store, ref):
        screen.tt.go_back()
        below.select_ref(ref)
        return below
    return screen.tt.show_thread(store, ref.thread, ref)
