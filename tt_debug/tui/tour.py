"""The one-line tour of the demo: which step it is at, and what ends a step.

A value: `after` gives the tour after something happened. What happened are action ids and a few words of screens.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple


class TourStep(NamedTuple):
    """One line of advice, in which ``{id}`` stands for an action's key, and the events that end it."""

    text: str
    ends: frozenset[str]


STEPS: Final = (
    TourStep(
        "press {nav.back} and {nav.fwd} to step back and forward, from any panel",
        frozenset({"nav.fwd", "nav.back", "place"}),
    ),
    TourStep("press {diff.open} to see what this step changed", frozenset({"diff.open"})),
    TourStep("type {palette}15 and Enter: at step 15 the state went wrong", frozenset({"step 15"})),
    TourStep(
        "press {edit} to mend what misled step 17; the edit becomes a fork",
        frozenset({"forked"}),
    ),
    TourStep("press {run.continue} to run the fork: it lists what will run, and asks", frozenset({"ran"})),
    TourStep(
        "press {mark.a} on one line's head and {diff.open} on the other's",
        frozenset({"diff.open"}),
    ),
)


def with_keys(text: str, key_of: Callable[[str], str]) -> str:
    """A text in which ``{id}`` stands for an action's key."""
    return re.sub(r"\{([a-z_.]+)\}", lambda found: key_of(found[1]), text)


class Tour(NamedTuple):
    """``at`` counts from 0; -1 before a thread is open."""

    at: int = -1

    def line(self, key_of: Callable[[str], str]) -> str:
        """What to show in the place of the tip. ``key_of`` gives the key of an action's id."""
        if self.at < 0:
            return "Tour: put the cursor on trip-planner and press Enter  ·  Esc ends the tour"
        text = with_keys(STEPS[self.at].text, key_of)
        return f"{self.at + 1}/{len(STEPS)}  {text}  ·  Esc ends"

    def after(self, event: str) -> Tour | None:
        """The tour after ``event``; None when that ended its last step."""
        if self.at < 0:
            return self._replace(at=0) if event == "thread" else self
        # Somebody who is ahead of the advice is not sent back.
        done = next((at for at in range(self.at, len(STEPS)) if event in STEPS[at].ends), None)
        if done is None:
            return self
        return self._replace(at=done + 1) if done + 1 < len(STEPS) else None
