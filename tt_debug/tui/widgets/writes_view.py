"""What the step wrote, and what stands open from the checkpoint on."""

from __future__ import annotations

from collections.abc import Sequence

from stores.model import Checkpoint
from stores.runs import StepRecord
from tt_debug.tui.rows.pieces import Line, cut, text_of
from tt_debug.tui.rows.writes import WriteRow, write_rows
from tt_debug.tui.widgets.piece_view import PieceView


class WritesView(PieceView):
    """Sections of tasks and attempts with their writes."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[WriteRow] = []
        self._read = False
        self._problem = ""

    def empty_text(self) -> str:
        """Only before the first checkpoint: `write_rows` always says something."""
        return self._problem or ("no writes" if self._read else "reading…")

    def show_problem(self, text: str) -> None:
        """There is nothing to show, and why."""
        self._problem, self.rows = text, []
        self.set_rows(0)

    def show(self, here: Checkpoint, parent: Checkpoint | None, steps: Sequence[StepRecord]) -> None:
        """Show the step between two checkpoints."""
        self._read, self._problem = True, ""
        self.rows = write_rows(here, parent, steps, self.glyphs)
        self.set_rows(len(self.rows), cursor=0)

    def selectable(self, row: int) -> bool:
        """Headings are passed over."""
        return not self.rows[row].heading

    def search(self, text: str) -> list[int]:
        """Rows that show ``text``, whatever the case."""
        wanted = text.casefold()
        return [number for number, row in enumerate(self.rows) if wanted in text_of(row.line).casefold()]

    def piece_line(self, row: int, width: int) -> Line:
        """The row in ``width`` cells."""
        return cut(self.rows[row].line, width, self.glyphs.ellipsis)
