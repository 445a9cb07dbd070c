"""A panel of ready lines: details, a request, help. It may hand back what a line stands for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.message import Message

from tt_debug.tui.rows.pieces import Line as Pieces
from tt_debug.tui.widgets.row_view import RowView


class Panel(RowView):
    """Lines of pieces. ``keys`` says what each line stands for, so that `Opened` can be answered by the screen;
    ``empty`` is what stands there while there are none."""

    class Resized(Message):
        """Lines that were wrapped to its width are to be wrapped anew."""

        def __init__(self, panel: Panel) -> None:
            super().__init__()
            self.panel = panel

        @property
        def control(self) -> Panel:
            """The panel, for ``@on(Panel.Resized, "#id")``."""
            return self.panel

    def __init__(self, *, empty: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.empty = empty
        self._lines: tuple[Pieces, ...] = ()
        self.keys: tuple[object, ...] = ()
        self._headings: frozenset[int] = frozenset()

    def on_resize(self, event: events.Resize) -> None:
        """Tell the screen, which wraps."""
        self.post_message(self.Resized(self))

    def show(
        self,
        lines: Sequence[Pieces],
        keys: Sequence[object] = (),
        headings: frozenset[int] = frozenset(),
        *,
        at_end: bool = False,
    ) -> None:
        """Show these lines; the cursor goes to the first one that is not among ``headings``, or to the last."""
        self._lines = tuple(lines)
        self.keys = tuple(keys)
        self._headings = headings
        self.set_rows(len(self._lines), cursor=len(self._lines) - 1 if at_end else 0)

    @property
    def text_width(self) -> int:
        """Cells for a line's text, inside the margins. With room for a scrollbar, there or not: otherwise whether lines
        wrap so that one is needed would depend on whether there was one before."""
        return max(self.content_region.width - self.styles.scrollbar_size_vertical - 2, 20)

    def key(self, row: int) -> object:
        """What a line stands for, None when it stands for nothing."""
        return self.keys[row] if row < len(self.keys) else None

    @property
    def marks_cursor(self) -> bool:
        """A list's cursor always; that of a text, whose lines stand for nothing, with the focus only."""
        return self.has_focus or bool(self.keys)

    def selectable(self, row: int) -> bool:
        """Headings are passed over."""
        return row not in self._headings

    def empty_text(self) -> str:
        """What belongs here."""
        return self.empty

    def build(self, row: int, width: int) -> Sequence[Segment]:
        """One line behind a margin of one cell."""
        line = self.line(width).add(" ")
        for piece in self._lines[row]:
            line.add(piece.text, self.ink(piece.ink))
        return line.segments()
