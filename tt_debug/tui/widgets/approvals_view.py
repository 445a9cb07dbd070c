"""The inbox: one row a question, oldest first. Holds values; answering belongs to the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.cells import cell_len
from rich.segment import Segment

from stores.runs import Approval
from tt_debug.text import human_age
from tt_debug.tui.rows.values import question_line
from tt_debug.tui.widgets.row_view import RowView


@dataclass(frozen=True, slots=True)
class Waiting:
    """A question of the store number ``store``."""

    store: int
    question: Approval


class ApprovalsView(RowView):
    """Rows given by `show`; ages are reckoned from ``now`` at that time."""

    HEADER = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: tuple[Waiting, ...] = ()
        self._now = datetime.now().astimezone()
        self._empty = ""
        self._longest = 8, 8

    def show(self, rows: Sequence[Waiting], now: datetime, *, empty: str) -> None:
        """Show these questions; the cursor stays on its question when that is still open."""
        before = self.current
        self._rows, self._now, self._empty = tuple(rows), now, empty
        at = self._rows.index(before) if before in self._rows else None
        asked = [row.question for row in self._rows]
        name = max((cell_len(question.thread) for question in asked), default=8)
        self._longest = name, max((cell_len(question.node) for question in asked), default=8)
        self.set_rows(len(self._rows), cursor=at)

    @property
    def current(self) -> Waiting | None:
        """The question under the cursor."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    def empty_text(self) -> str:
        """Why there is nothing."""
        return self._empty

    def build_header(self, width: int) -> Sequence[Segment]:
        """The names of the columns."""
        name, node = _columns(width, *self._longest)
        muted = self.ink("muted")
        line = self.line(width).add("    ").field("thread", name, muted).add("  ")
        line.field("asked by", node, muted).field("age", 6, muted, right=True)
        return line.add("  question", muted).segments()

    def build(self, row: int, width: int) -> Sequence[Segment]:
        """One question."""
        question = self._rows[row].question
        name, node = _columns(width, *self._longest)
        line = self.line(width).add("  ").add(f"{self.glyphs.waiting} ", self.ink("warning"))
        line.field(question.thread, name, self.ink("strong")).add("  ").field(question.node, node)
        age = human_age(question.since, self._now) if question.since is not None else ""
        line.field(age, 6, self.ink("muted"), right=True).add("  ")
        for piece in question_line(question.prompt, self.glyphs):
            line.add(piece.text, self.ink(piece.ink))
        return line.segments()


def _columns(width: int, name: int, node: int) -> tuple[int, int]:
    """Cells of the thread's name and of the node's: what the longest needs, and the question has the rest."""
    return max(min(name, 28, width // 3), 8), max(min(node, 20, width // 4), 8)
