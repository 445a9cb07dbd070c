"""The log of a run, line by line as it happens; follows its end until the cursor leaves it.

Owns how many lines are kept; the words are `tt_debug.tui.rows.live`'s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from tt_debug.engine.events import Event
from tt_debug.tui.rows.live import event_line
from tt_debug.tui.rows.pieces import Line, cut, text_of
from tt_debug.tui.widgets.piece_view import PieceView

KEPT: Final = 10_000
"""Lines; older ones are dropped and counted."""


class LiveView(PieceView):
    """One row for each event."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.dropped = 0
        self._lines: deque[Line] = deque(maxlen=KEPT)

    def empty_text(self) -> str:
        """Where lines come from."""
        resume, step = self.key_of("run.continue"), self.key_of("run.step")
        return f"nothing has run from here yet: {resume} resumes, {step} runs one step"

    def add(self, events: Iterable[Event]) -> None:
        """Append events."""
        at_end = self.cursor >= self.row_count - 1
        for event in events:
            if len(self._lines) == KEPT:
                self.dropped += 1
            self._lines.append(event_line(event, self.glyphs))
        count = len(self._lines)
        self.set_rows(count, cursor=count - 1 if at_end else None)

    def search(self, text: str) -> list[int]:
        """Lines that show ``text``, whatever the case."""
        wanted = text.casefold()
        return [number for number, line in enumerate(self._lines) if wanted in text_of(line).casefold()]

    def piece_line(self, row: int, width: int) -> Line:
        """The line in ``width`` cells."""
        return cut(self._lines[row], width, self.glyphs.ellipsis)
