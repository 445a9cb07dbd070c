"""The current line of history as one or two lines of cells; a click or drag goes there.

Owns the mouse and the drawing; which moments there are is told by the screen.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.pieces import Line
from tt_debug.tui.rows.timeline import Chart, Moments, bar_line, chart, mark_line, moment_of
from tt_debug.tui.theme import ink_style


class Timeline(Widget):
    """Bars, the position and, when two lines high, the marks."""

    MARKED = ("accent", "removed")
    """Inks that are bold here, where a mark is one cell."""
    DEFAULT_CSS = """
    Timeline {
        height: 1;
        background: $panel;
        color: $foreground;
    }
    """
    ALLOW_SELECT = False

    class Moved(Message):
        """Moment ``index`` of the line was pointed at."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._moments = Moments()
        self._position = 0
        self._label = ""
        self._chart: Chart | None = None
        self._dragging = False
        self._inks: dict[str, Style] = {}

    def show(self, moments: Moments, position: int, label: str) -> None:
        """Show these moments; ``label`` stands at the right, as "12/14 +4.8s". Drawn again only when they differ."""
        if moments is not self._moments:
            self._chart = None
        elif (position, label) == (self._position, self._label):
            return
        self._moments, self._position, self._label = moments, position, label
        self.refresh()

    @property
    def bar_width(self) -> int:
        """Cells of the bars; the label at the right keeps its place whatever it says."""
        return max(8, self.size.width - max(2 * len(str(len(self._moments))) + 10, 12) - 1)

    def _laid(self) -> Chart:
        """Laid out once for a line and a width: 20,000 moments take 15 ms."""
        if self._chart is None or self._chart.width != self.bar_width:
            self._chart = chart(self._moments, self.bar_width)
        return self._chart

    def render_line(self, y: int) -> Strip:
        """The bars, then the marks."""
        width = self.size.width
        if y == 0:
            line = bar_line(self._laid(), self._position, self._glyphs())
            shown = Strip([Segment(" "), *self._segments(line)]).adjust_cell_length(width - cell_len(self._label) - 1)
            strip = Strip([*shown, Segment(f"{self._label} ")])
        elif y == 1:
            line = mark_line(self._laid(), self._position, self._glyphs())
            strip = Strip([Segment(" "), *self._segments(line)])
        else:
            strip = Strip([])
        return strip.adjust_cell_length(width).apply_style(self.rich_style)

    def _segments(self, line: Line) -> list[Segment]:
        return [Segment(piece.text, self._ink(piece.ink)) for piece in line]

    def _ink(self, name: str) -> Style:
        style = self._inks.get(name)
        if style is None:
            style = ink_style(name, self.app.theme_variables, self.background_colors[1])
            style = self._inks[name] = style + Style(bold=name in self.MARKED or None)
        return style

    def notify_style_update(self) -> None:
        """The theme or a class changed: the inks are looked up again."""
        self._inks.clear()
        super().notify_style_update()

    def _glyphs(self) -> Glyphs:
        table = getattr(self.app, "glyphs", UNICODE)
        return table if isinstance(table, Glyphs) else UNICODE

    def _point(self, x: int) -> None:
        if self._moments:
            self.post_message(self.Moved(moment_of(max(0, x - 1), len(self._moments), self.bar_width)))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go there, and follow the mouse until it is let go."""
        self._dragging = True
        self.capture_mouse()
        self._point(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """A drag."""
        if self._dragging:
            self._point(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """The end of a drag."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()
