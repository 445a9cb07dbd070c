"""The conversation of a state as a wrapped transcript.

Owns wrapping to the width; a conversation too long for the event loop is wrapped elsewhere and handed in.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from stores.model import Path
from tt_debug.tui.rows.pieces import Line, text_of
from tt_debug.tui.rows.transcript import TranscriptRow, Turn, transcript_rows
from tt_debug.tui.widgets.piece_view import PieceView


class MessagesView(PieceView):
    """One row for each wrapped line."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[TranscriptRow] = []
        self.turns: Sequence[Turn] = ()
        self.opened: frozenset[Path] = frozenset()
        self._wrapped = 0
        self._read = False
        self._problem = ""

    def empty_text(self) -> str:
        """A state without a conversation says so."""
        return self._problem or ("no messages in this state" if self._read else "reading…")

    def show_problem(self, text: str) -> None:
        """There is no conversation to show, and why."""
        self._problem, self.turns, self.rows = text, (), []
        self.set_rows(0)

    def show(self, turns: Sequence[Turn], rows: list[TranscriptRow] | None = None) -> None:
        """Show a conversation, its newest message in view; ``rows`` when they were wrapped elsewhere."""
        self.turns, self._read, self._problem = turns, True, ""
        self._lay_out(rows, end=True)

    @property
    def text_width(self) -> int:
        """The cells a transcript is wrapped to."""
        return max(24, self.scrollable_content_region.width - 2)

    def _lay_out(self, rows: list[TranscriptRow] | None = None, *, end: bool = False) -> None:
        here = self.rows[self.cursor].path if 0 <= self.cursor < len(self.rows) else None
        self._wrapped = self.text_width
        self.rows = transcript_rows(self.turns, self._wrapped, self.opened, self.glyphs) if rows is None else rows
        if end:
            cursor = max(0, len(self.rows) - 1)
        else:
            cursor = next((at for at, row in enumerate(self.rows) if row.path == here), 0)
        self.set_rows(len(self.rows), cursor=cursor)

    def current(self) -> Path | None:
        """The path of the message under the cursor."""
        return self.rows[self.cursor].path if 0 <= self.cursor < len(self.rows) else None

    def toggle(self) -> bool:
        """Show the message under the cursor in full, or cut again."""
        path = self.current()
        if path is None:
            return False
        self.opened ^= {path}
        before = len(self.rows)
        self._lay_out()
        return len(self.rows) != before

    def on_resize(self, event: events.Resize) -> None:
        """Wrapped again when the width changed."""
        if self._read and self.text_width != self._wrapped:
            self._lay_out()

    def search(self, text: str) -> list[int]:
        """Lines that show ``text``, whatever the case."""
        wanted = text.casefold()
        return [number for number, row in enumerate(self.rows) if wanted in text_of(row.line).casefold()]

    def piece_line(self, row: int, width: int) -> Line:
        """The line."""
        return self.rows[row].line
