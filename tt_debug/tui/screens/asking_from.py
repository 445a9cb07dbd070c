"""The keys that ask the whole history, on the screens that show some of it.

Owns opening the answers; whose history is asked is the screen's to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tt_debug.tui.screens.base import BaseScreen

if TYPE_CHECKING:
    from stores.model import Ref
    from tt_debug.session.metrics import Extent
    from tt_debug.tui.opening import OpenStore


class AskingFrom(BaseScreen):
    """A screen from which every state of a store, or of one line, can be asked."""

    def asked_of(self) -> tuple[OpenStore, Ref | None] | None:
        """The store, and the end of the line that is meant; no line: every thread. None: nothing is there to ask."""
        raise NotImplementedError

    def act_find_when(self) -> None:
        """Ask when a condition held."""
        self._open_question("when")

    def act_find_text(self) -> None:
        """Ask where a text stands."""
        self._open_question("text")

    def act_metrics(self) -> None:
        """Figures about the same."""
        # The Metrics screen is not part of the first paint.
        from tt_debug.tui.screens.metrics import MetricsScreen

        target = self.asked_of()
        if target is None:
            self.say("there is nothing to measure here yet")
            return
        self.app.push_screen(MetricsScreen(target[0], *self.measured()))

    def measured(self) -> tuple[Extent, str]:
        """Which part of that store is measured, and what people call it."""
        from tt_debug.session.metrics import Extent

        return Extent(), ""

    def _open_question(self, kind: Literal["when", "text"]) -> None:
        # Nor are the answers: with all that can be asked 25 ms.
        from tt_debug.tui.asking import Question
        from tt_debug.tui.screens.answers import AnswersScreen

        target = self.asked_of()
        if target is None:
            self.say("there is nothing to ask here yet")
            return
        store, ref = target
        self.app.push_screen(AnswersScreen(store, Question(kind, ref)))
