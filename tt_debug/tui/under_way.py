"""Which nodes of a run are under way, and for how long each has been.

Owns what its events say about that; it is told of them in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tt_debug.engine.events import Event
from tt_debug.tui.rows.times import clock_text

SHOWN: Final = 3
"""Nodes that are named; of a wide fan-out the rest is counted."""


class UnderWay:
    """Starts with none."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock`` counts seconds."""
        self._clock = clock
        self._started: list[tuple[str, float]] = []

    def take(self, event: Event) -> None:
        """What an event changes. Of several tasks of one node the oldest is taken to end first."""
        node = str(event.fields.get("node", ""))
        if event.kind == "step_started":
            self._started.append((node, self._clock()))
        elif event.kind in ("step_finished", "step_failed", "waiting"):
            at = next((at for at, (name, _) in enumerate(self._started) if name == node), None)
            if at is not None:
                del self._started[at]
        elif event.kind == "run_ended":
            self._started.clear()

    def text(self) -> str:
        """``invoice  00:03``, each with its own time; empty while none is under way."""
        now = self._clock()
        named = [f"{node}  {clock_text(now - since)}" for node, since in self._started[:SHOWN]]
        if len(self._started) > SHOWN:
            named.append(f"{len(self._started) - SHOWN} more")
        return ", ".join(named)
