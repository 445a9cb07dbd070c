"""A text of any length, one page at a time: only the page that is looked at is made safe, wrapped and held.

Owns where a page begins and ends; moving past its last line leads to the next page.
"""

from __future__ import annotations

from typing import Final

from textual import events
from textual.message import Message

from tt_debug.text import safe_text
from tt_debug.tui.rows.pieces import Line, Piece, text_of, wrap
from tt_debug.tui.widgets.piece_view import PieceView

PAGE: Final = 20_000
"""Characters of a page: about 10 ms to wrap."""


class PagesView(PieceView):
    """The lines of one page."""

    class Turned(Message):
        """Another page is shown."""

        def __init__(self, view: PagesView) -> None:
            super().__init__()
            self.view = view

    def __init__(self, text: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = text
        self._starts = page_starts(text)
        self._lines: list[Line] = []
        self._width = 0
        self.page = 0

    @property
    def pages(self) -> int:
        """How many there are."""
        return len(self._starts)

    def empty_text(self) -> str:
        """An empty text says so."""
        return "this text is empty"

    def turn(self, to: int, *, at_end: bool = False) -> bool:
        """Show another page, its first line under the cursor or its last; False when there is no such page."""
        if not 0 <= to < self.pages:
            return False
        self.page = to
        self._lay_out(-1 if at_end else 0)
        self.post_message(self.Turned(self))
        return True

    def find(self, text: str, start: int) -> int | None:
        """The first page from ``start`` on, once around, that has ``text``, whatever the case."""
        wanted = text.casefold()
        for step in range(self.pages):
            page = (start + step) % self.pages
            # A word may lie across the end of a page.
            if wanted in self._part(page, extra=len(text)).casefold():
                return page
        return None

    def _part(self, page: int, extra: int = 0) -> str:
        end = self._starts[page + 1] if page + 1 < self.pages else len(self._text)
        return self._text[self._starts[page] : end + extra]

    def _lay_out(self, cursor: int | None) -> None:
        self._width = max(20, self.scrollable_content_region.width - 2)
        shown = safe_text(self._part(self.page).expandtabs(4), newlines=True)
        self._lines = wrap((Piece(shown),), self._width) if shown else []
        self.set_rows(len(self._lines), cursor=len(self._lines) - 1 if cursor == -1 else cursor)

    def on_resize(self, event: events.Resize) -> None:
        """Wrapped again when the width changed."""
        if self.scrollable_content_region.width - 2 != self._width:
            self._lay_out(0 if not self._lines else None)

    def action_row(self, to: str) -> None:
        """Moving past the page's end turns it."""
        forward = to in ("down", "page_down", "half_down") and self.cursor >= self.row_count - 1
        backward = to in ("up", "page_up", "half_up") and self.cursor <= 0
        if forward and self.turn(self.page + 1):
            return
        if backward and self.turn(self.page - 1, at_end=True):
            return
        super().action_row(to)

    def search(self, text: str) -> list[int]:
        """Lines of this page that show ``text``, whatever the case."""
        wanted = text.casefold()
        return [number for number, line in enumerate(self._lines) if wanted in text_of(line).casefold()]

    def piece_line(self, row: int, width: int) -> Line:
        """One line."""
        return self._lines[row]


def page_starts(text: str) -> list[int]:
    """Where each page begins: after a line's end where there is one in the last tenth of a page, else anywhere."""
    starts = [0]
    while starts[-1] + PAGE < len(text):
        end = starts[-1] + PAGE
        newline = text.rfind("\n", end - PAGE // 10, end)
        starts.append(end if newline < 0 else newline + 1)
    return starts
