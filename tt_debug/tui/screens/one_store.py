"""A screen over something of one store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tt_debug.tui.screens.base import BaseScreen

if TYPE_CHECKING:
    from tt_debug.tui.opening import OpenStore


class OneStore(BaseScreen):
    """Subclasses set ``store``."""

    store: OpenStore

    def stores_shown(self) -> Sequence[OpenStore]:
        """The only one."""
        return (self.store,)

    def stores_written(self) -> Sequence[OpenStore]:
        """The same."""
        return (self.store,)

    @property
    def offline(self) -> bool:
        """Whether the store is out of reach: what is shown may be out of date."""
        return bool(self.tt.outages_of(self.stores_shown()))
