"""What else can be asked for where a run is asked about, and what is said after a replay from the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tt_debug.session.plans import RunPlan, RunResult
from tt_debug.text import one_line
from tt_debug.tui.dialogs.base import Choice

OTHER_REPLAYS: Final[tuple[Choice[str], ...]] = (
    Choice("Verify…", "verify", "ctrl+v"),
    Choice("Live, on a new thread…", "live", "ctrl+l"),
)
"""What a replay from the record can be instead."""

CHECK_REFS: Final[Choice[str]] = Choice("Look at the web first…", "check-refs", "ctrl+e")
OTHER_WAYS: Final[Mapping[str | None, Mapping[str, Any]]] = {
    "verify": {"mode": "verify"},
    "live": {"mode": "live"},
    "check-refs": {"check_refs": True},
}
"""What of a request becomes another by such a choice."""


def other_ways(plan: RunPlan, *, read_only: bool) -> tuple[Choice[str], ...]:
    """What can be asked for instead of what a plan says; each asks again, with a plan of its own."""
    if plan.request.mode == "recorded":
        return OTHER_REPLAYS[: 1 if read_only else None]
    if (plan.runner, plan.request.action) == ("graph", "replay") and not plan.from_record:
        return OTHER_REPLAYS[:1]
    return (CHECK_REFS,) if plan.on_web and not plan.request.check_refs else ()


def replay_lines(result: RunResult) -> list[str]:
    """What it found: as recorded or not, and where its states are kept; the thread itself is as it was."""
    lines = [] if result.error is None else [result.error]
    lines += result.notes[:1]
    if result.divergence is not None:
        lines += [f"recorded  {one_line(result.divergence['recorded'], 300)}"]
        lines += [f"now  {one_line(result.divergence['replayed'], 300)}"]
    return [*lines, *result.notes[1:]]
