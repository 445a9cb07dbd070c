"""The part of the application that gives advice: the tour of the demo, and a tip on Home; and that keeps its choices.

Owns which line stands above the key bar; what a step of the tour says is `tt_debug.tui.tour`'s.
"""

from __future__ import annotations

from typing import Final

from textual.theme import Theme

from tt_debug.tui.memory import Memory
from tt_debug.tui.opening import OpenStore
from tt_debug.tui.tour import Tour, with_keys
from tt_debug.tui.undoing import Undoing

TIPS: Final = (
    "{palette} and type what you want: an action, a thread, a step such as 15, or 50%",
    "{blame} on a value tells who wrote it, newest first; {nav.change_back} goes to where it changed last",
    "{mark.a} pins A: State and Diff compare with it, and {metrics} measures what lies between",
    "{find.when} asks when a condition came true: plan.status == 'final'",
    "{find.text} searches every state, error and question of every thread",
    "{copy.cli} copies the command that shows the same without a screen",
    "{edit} changes a value: it becomes a fork, and the original stays as it is",
    "{mark.name} names a checkpoint: THREAD@NAME is an address then",
    "{pane.zoom} lets the panel in focus fill the screen",
    "{metrics} shows where time, bytes and tokens go, and what could be freed",
    "{export.test} makes a test for pytest of one step: its state, and what its node gave",
    "{log} lists what was done here, each with its command",
)


class Advice(Undoing):
    """Tour, tips and the theme."""

    def __init__(
        self,
        stores: tuple[OpenStore, ...],
        *,
        ansi_color: bool | None = None,
        tour: bool = False,
        memory: Memory | None = None,
    ) -> None:
        super().__init__(stores, ansi_color=ansi_color)
        self.memory = memory or Memory()
        self._gives_tips = memory is not None
        self._tip = -1
        self.tour: Tour | None = Tour() if tour and not self.memory.now.toured else None

    def key_of(self, action_id: str) -> str:
        """The key that does it, as people write it."""
        raise NotImplementedError

    # --- the theme

    def take_theme(self) -> None:
        """As it was chosen the last time; from now on what is chosen is remembered."""
        if self.memory.now.theme in self.available_themes:
            self.theme = self.memory.now.theme or self.theme
        self.theme_changed_signal.subscribe(self, self._keep_theme)

    def _keep_theme(self, theme: Theme) -> None:
        self.memory.theme(theme.name)

    # --- the tour

    def tour_saw(self, event: str) -> None:
        """Tell the tour what happened: an action id, "step 15", "forked", "ran"."""
        if self.tour is not None:
            self.take_tour(self.tour.after(event))

    def start_tour(self) -> None:
        """Unless it was taken, or ended, before."""
        if not self.memory.now.toured:
            self.take_tour(Tour())

    def take_tour(self, tour: Tour | None) -> None:
        """Go on with it; None ends it for good, until somebody asks for it."""
        if self.tour is not None and tour is None:
            self.memory.toured()
        self.tour = tour
        self._show_tip()

    # --- tips

    def tip_for_home(self) -> str:
        """The tip that is shown now, or none."""
        if not (self._gives_tips and self.memory.now.tips):
            return ""
        tip = with_keys(TIPS[self._tip % len(TIPS)], self.key_of)
        return f"Tip: {tip}  ·  {self.key_of('palette')}tips off hides them"

    def next_tip(self) -> None:
        """Another one, when Home is come back to."""
        self._tip += 1
        self._show_tip()

    def show_tips(self, shown: bool) -> None:
        """Show tips from now on, or none any more."""
        self._gives_tips = self._gives_tips or shown
        self.memory.tips(shown)
        self._show_tip()

    def _show_tip(self) -> None:
        for screen in self._told_screens():
            screen.show_tip()
