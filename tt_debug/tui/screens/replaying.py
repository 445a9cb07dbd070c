"""What is asked before a replay from the record, and said after it."""

from __future__ import annotations

from typing import Final, Literal

from tt_debug.session.plans import RunResult
from tt_debug.text import one_line
from tt_debug.tui.dialogs.base import Choice

OTHER_REPLAYS: Final[tuple[Choice[str], ...]] = (
    Choice("Verify…", "verify", "ctrl+v"),
    Choice("Live, on a new thread…", "live", "ctrl+l"),
)
"""What a replay from the record can be instead; each asks again, with a plan of its own."""

OTHER_MODES: Final[dict[str | None, Literal["verify", "live"]]] = {"verify": "verify", "live": "live"}


def replay_lines(result: RunResult) -> list[str]:
    """What it found: as recorded or not, and where its states are kept; the thread itself is as it was."""
    lines = [] if result.error is None else [result.error]
    lines += result.notes[:1]
    if result.divergence is not None:
        lines += [f"recorded  {one_line(result.divergence['recorded'], 300)}"]
        lines += [f"now  {one_line(result.divergence['replayed'], 300)}"]
    return [*lines, *result.notes[1:]]
