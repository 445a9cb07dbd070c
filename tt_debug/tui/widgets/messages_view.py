"""The conversation of a state as a wrapped transcript.

Owns when it must be wrapped anew; a conversation too long for the event loop is wrapped by whoever hears `Unwrapped`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from textual import events
from textual.message import Message

from stores.model import Path
from tt_debug.conversation import Turn
from tt_debug.tui.rows.pieces import Line, text_of
from tt_debug.tui.rows.transcript import LONG, TranscriptRow, transcript_rows
from tt_debug.tui.widgets.piece_view import PieceView

SMALL: Final = 40_000
"""Characters that are wrapped at once: about 8 ms."""


class MessagesView(PieceView):
    """One row for each wrapped line."""

    class Unwrapped(Message):
        """The lines are missing, or for another width: the conversation is to be shown again with its rows."""

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
        if self._problem:
            return self._problem
        return "reading…" if self.turns or not self._read else "no messages in this state"

    def show_problem(self, text: str) -> None:
        """There is no conversation to show, and why."""
        self._problem, self.turns, self.rows = text, (), []
        self.set_rows(0)

    def show(self, turns: Sequence[Turn], rows: list[TranscriptRow] | None, width: int = 0) -> None:
        """Show a conversation; ``rows`` when it was wrapped to ``width``. The cursor stays on its message, else it
        goes to the newest one."""
        here = self.current()
        self.turns, self._read, self._problem = turns, True, ""
        if rows is not None and width == self.text_width:
            self._take(rows, here)
        else:
            self._wrap_or_ask(here)

    @property
    def text_width(self) -> int:
        """The cells a transcript is wrapped to."""
        return max(24, self.scrollable_content_region.width - 2)

    def _wrap_or_ask(self, here: Path | None) -> None:
        if not self.display or self.size.width == 0:
            self.rows, self._wrapped = [], 0
            self.set_rows(0)
        elif all(length <= SMALL for length in accumulate(len(turn.message.text) for turn in self.turns)):
            self._take(transcript_rows(self.turns, self.text_width, self.opened, self.glyphs), here)
        else:
            self.post_message(self.Unwrapped())

    def _take(self, rows: list[TranscriptRow], here: Path | None) -> None:
        self.rows, self._wrapped = rows, self.text_width
        last = next((at for at in range(len(rows) - 1, -1, -1) if rows[at].first), 0)
        # From the end, where it mostly stands: there may be a hundred thousand.
        firsts = (at for at in range(len(rows) - 1, -1, -1) if rows[at].first and rows[at].path == here)
        cursor = next(firsts, last) if here is not None else last
        self.set_rows(len(rows), cursor=cursor)

    def current(self) -> Path | None:
        """The path of the message under the cursor."""
        return self.rows[self.cursor].path if 0 <= self.cursor < len(self.rows) else None

    def go_to(self, path: Path) -> None:
        """Put the cursor on the message that ``path`` lies in."""
        for at, row in enumerate(self.rows):
            if row.first and row.path == path[: len(row.path)]:
                self.cursor = at

    def current_text(self) -> str:
        """The text of the message under the cursor, empty where there is none."""
        path = self.current()
        return next((turn.message.text for turn in self.turns if turn.path == path), "")

    def toggle(self) -> bool:
        """Show the message under the cursor in full, or cut again; False for one that is never cut."""
        path = self.current()
        turn = next((turn for turn in self.turns if turn.path == path), None)
        if path is None or turn is None or len(turn.message.text) <= LONG:
            return False
        self.opened ^= {path}
        self._wrap_or_ask(path)
        return True

    def on_show(self, event: events.Show) -> None:
        """Wrapped when it is looked at for the first time."""
        if self._read and self.text_width != self._wrapped:
            self._wrap_or_ask(self.current())

    def on_resize(self, event: events.Resize) -> None:
        """Wrapped again when the width changed."""
        if self._read and self.text_width != self._wrapped:
            self._wrap_or_ask(self.current())

    def search(self, text: str) -> list[int]:
        """Lines that show ``text``, whatever the case."""
        wanted = text.casefold()
        return [number for number, row in enumerate(self.rows) if wanted in text_of(row.line).casefold()]

    def piece_line(self, row: int, width: int) -> Line:
        """The line."""
        return self.rows[row].line
