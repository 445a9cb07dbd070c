"""A list of any length, drawn one visible row at a time: the base of every list in the interface.

Owns the cursor, scrolling, the mouse and text selection; a subclass says how many rows there are and builds
the segments of one. It holds no rows itself and knows nothing of a store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip

from tt_debug.text import safe_text
from tt_debug.tui.actions import bindings
from tt_debug.tui.widgets.inked import Inked
from tt_debug.tui.widgets.line import wrap_text


class Frame(NamedTuple):
    """What the lines of a frame share."""

    width: int
    top: int
    base: Style
    selection: Selection | None


class RowView(Inked, can_focus=True):
    """A cursor over ``row_count`` rows. Subclasses implement `build`, and call `set_rows` when the rows change."""

    HEADER: ClassVar[bool] = False
    """Whether the first line of the viewport is a fixed heading, from `build_header`."""

    COMPONENT_CLASSES = {"row--cursor", "row--cursor-blurred"}
    BINDINGS = bindings("rows")
    BINDING_GROUP_TITLE = "Rows"

    cursor: reactive[int] = reactive(0, repaint=False)
    """The row the cursor is on; 0 in an empty list."""

    class Highlighted(Message):
        """The cursor moved to ``row``, or the rows under it changed."""

        def __init__(self, view: RowView, row: int) -> None:
            super().__init__()
            self.view = view
            self.row = row

        @property
        def control(self) -> RowView:
            """The list, for ``@on(RowView.Highlighted, "#id")``."""
            return self.view

    class Opened(Message):
        """Enter on ``row``, or a second click on it."""

        def __init__(self, view: RowView, row: int) -> None:
            super().__init__()
            self.view = view
            self.row = row

        @property
        def control(self) -> RowView:
            """The list, for ``@on(RowView.Opened, "#id")``."""
            return self.view

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.row_count = 0
        self.in_trouble = False
        """Whether what an empty list says is an error: then it is drawn as one."""
        self._frame: Frame | None = None

    # --- for subclasses

    def build(self, row: int, width: int) -> Sequence[Segment]:
        """The segments of ``row``, at most ``width`` cells. Foreground styles only, from `ink`; text through `Line`.

        Its first cell is blank: the cursor's sign is drawn there."""
        raise NotImplementedError

    @property
    def marks_cursor(self) -> bool:
        """Whether the cursor's row has its sign, besides its colour: here always, for it tells what is shown beside."""
        return True

    def build_header(self, width: int) -> Sequence[Segment]:
        """The fixed heading of a list with ``HEADER``."""
        return ()

    def selectable(self, row: int) -> bool:
        """Whether the cursor may stand on ``row``; headings answer False."""
        return True

    def empty_text(self) -> str:
        """What an empty list says: what belongs here and the next key."""
        return ""

    # --- rows

    def set_rows(self, count: int, *, cursor: int | None = None) -> None:
        """There are ``count`` rows now, and their content may have changed. Keeps the cursor's row unless given one."""
        self.row_count = count
        self._take_height(count + self.HEADER)
        wanted = self.cursor if cursor is None else cursor
        before = self.cursor
        self.cursor = self._nearest(wanted, 1)
        if self.cursor == before and count:
            self.post_message(self.Highlighted(self, self.cursor))
        self.call_after_refresh(self._show_cursor)
        self.refresh()

    def _take_height(self, height: int) -> None:
        """All rows are so high. The screen is laid out again only where more changes by that than a bar's length."""
        size = Size(0, height)
        if self.virtual_size == size:
            return
        has_bar = height > self.container_size.height
        if self.display and (self.styles.auto_dimensions or has_bar != self.show_vertical_scrollbar):
            self.virtual_size = size
            return
        self.set_reactive(RowView.virtual_size, size)
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.window_virtual_size = height
        self.scroll_y = self.validate_scroll_y(self.scroll_y)

    @on(events.Resize)
    def _keep_cursor_in_view(self) -> None:
        self.call_after_refresh(self._show_cursor)

    def _show_cursor(self) -> None:
        """Where it is by then: it may have moved since."""
        self.scroll_to_row(self.cursor)

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """Textual tells the bar of a movement only while it is shown; one may have come before."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """As Textual's, but of the bar only what changes is drawn again: all of its cells take as long as the rows."""
        if self.show_vertical_scrollbar:
            bar = self.vertical_scrollbar
            before = _cells_of(bar)
            bar.set_reactive(ScrollBar.position, bar.validate_position(new_value))
            for y, (old, new) in enumerate(zip(before, _cells_of(bar), strict=True)):
                if old != new:
                    bar.refresh(Region(0, y, bar.size.width, 1))
        if round(old_value) != round(new_value):
            self.refresh(self.size.region)

    def refresh_row(self, row: int) -> None:
        """Draw one row again."""
        self.refresh(Region(0, row + self.HEADER - self.scroll_offset.y, self.size.width, 1))

    def scroll_to_row(self, row: int) -> None:
        """Bring ``row`` into view with the least movement."""
        height = self.scrollable_content_region.height - self.HEADER
        top = self.scroll_offset.y
        if height <= 0:
            return
        if row < top:
            self.scroll_to(y=row, animate=False, force=True)
        elif row >= top + height:
            self.scroll_to(y=row - height + 1, animate=False, force=True)

    def _nearest(self, row: int, direction: int) -> int:
        """The row itself or the next the cursor may stand on, first in ``direction``, then the other way."""
        if self.row_count == 0:
            return 0
        row = max(0, min(row, self.row_count - 1))
        for step in (direction, -direction):
            at = row
            while 0 <= at < self.row_count:
                if self.selectable(at):
                    return at
                at += step
        return row

    def validate_cursor(self, row: int) -> int:
        """Inside the list."""
        return max(0, min(row, self.row_count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Draw two rows, not the widget, and tell the screen."""
        self.refresh_row(old)
        self.refresh_row(new)
        self.scroll_to_row(new)
        self.post_message(self.Highlighted(self, new))

    # --- drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        """A frame: what all of its lines share is looked up once. Nobody asks where in it a text stands, as the mouse
        does of a single line; to note that took a third of the time."""
        self._frame = self._shared()
        try:
            return super().render_lines(crop)
        finally:
            self._frame = None

    def _shared(self) -> Frame:
        return Frame(self.scrollable_content_region.width, self.scroll_offset.y, self.rich_style, self.text_selection)

    def render_line(self, y: int) -> Strip:
        """One line of the viewport."""
        width, top, base, selection = self._frame or self._shared()
        row = y + top - self.HEADER
        if self.HEADER and y == 0:
            return Strip(self.build_header(width)).adjust_cell_length(width).apply_style(base)
        if row >= self.row_count:
            return self._blank(row, width, base)
        strip = Strip(self.build(row, width)).adjust_cell_length(width)
        if row == self.cursor:
            if self.marks_cursor:
                strip = Strip([Segment(self.glyphs.cursor, self.ink("accent")), *strip.crop(1)], width)
            strip = self._cursor_strip(strip)
        if selection is not None:
            strip = self._selected(strip, selection, row)
        strip = strip.apply_style(base)
        return strip if self._frame is not None else strip.apply_offsets(0, row)

    def _blank(self, row: int, width: int, base: Style) -> Strip:
        if self.row_count == 0:
            sign = f"{self.glyphs.failed} " if self.in_trouble else ""
            said = wrap_text(sign + safe_text(self.glyphs.words(self.empty_text())), width - 2)
            if 0 <= row < len(said):
                ink = self.ink("error" if self.in_trouble else "muted")
                segments = self.line(width).add(f" {said[row]}", ink).segments()
                return Strip(segments).adjust_cell_length(width).apply_style(base)
        return Strip.blank(width, base)

    def _cursor_strip(self, strip: Strip) -> Strip:
        name = "row--cursor" if self.has_focus else "row--cursor-blurred"
        style = self.get_component_rich_style(name)
        if self.has_focus:
            # The cursor's own colours win over every ink: a muted or red word must stay readable on the bar.
            return Strip([Segment(text, _weight(own) + style) for text, own, _ in strip], strip.cell_length)
        return Strip(
            [
                Segment(text, (own or Style()) + Style(bgcolor=style.bgcolor, bold=style.bold, reverse=style.reverse))
                for text, own, _ in strip
            ],
            strip.cell_length,
        )

    def _selected(self, strip: Strip, selection: Selection, row: int) -> Strip:
        span = selection.get_span(row)
        if span is None:
            return strip
        start, end = span
        if end == -1:
            end = len(strip.text)
        style = self.screen.get_component_rich_style("screen--selection")
        at, parts = 0, []
        for text, own, _ in strip:
            a, b = max(start - at, 0), max(min(end - at, len(text)), 0)
            if b > a:
                parts += [Segment(text[:a], own), Segment(text[a:b], (own or Style()) + style), Segment(text[b:], own)]
            else:
                parts.append(Segment(text, own))
            at += len(text)
        return Strip([part for part in parts if part.text], strip.cell_length)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text; only the rows inside the selection are built."""
        first = selection.start.y if selection.start is not None else 0
        last = selection.end.y if selection.end is not None else self.row_count - 1
        lines = []
        for row in range(max(first, 0), min(last, self.row_count - 1) + 1):
            span = selection.get_span(row)
            if span is not None:
                text = "".join(segment.text for segment in self.build(row, self.size.width))
                lines.append(text[span[0] : len(text) if span[1] == -1 else span[1]].rstrip())
        return "\n".join(lines), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the highlighted text."""
        self.refresh()

    def on_focus(self) -> None:
        """The cursor bar is drawn in another weight."""
        self.refresh_row(self.cursor)

    def on_blur(self) -> None:
        """The cursor bar is drawn in another weight."""
        self.refresh_row(self.cursor)

    # --- moving

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a double click opens."""
        line = event.y - self.gutter.top - self.HEADER
        row = line + self.scroll_offset.y
        if line < 0 or not 0 <= row < self.row_count or not self.selectable(row):
            return
        self.cursor = row
        if event.chain == 2:
            self.post_message(self.Opened(self, row))

    def action_row(self, to: str) -> None:
        """Move: up, down, top, end, page_up, page_down, half_up, half_down; or open."""
        page = max(self.scrollable_content_region.height - 1, 1)
        moves = {
            "up": -1,
            "down": 1,
            "page_up": -page,
            "page_down": page,
            "half_up": -max(page // 2, 1),
            "half_down": max(page // 2, 1),
            "top": -self.row_count,
            "end": self.row_count,
        }
        if to == "open":
            if self.row_count:
                self.post_message(self.Opened(self, self.cursor))
        elif to in moves:
            step = moves[to]
            direction = 1 if step > 0 else -1
            self.cursor = self._nearest(self.cursor + step, direction)


def _cells_of(bar: ScrollBar) -> Sequence[Segment]:
    """The cells of an upright bar, whatever its colours."""
    width, height = bar.size
    shown = bar.renderer.render_bar(height, bar.window_virtual_size, bar.window_size, bar.position, width)
    return shown.segments[:height]  # of a place past the end there are more


def _weight(style: Style | None) -> Style:
    """What of a style survives under the cursor bar: bold, underline, strike; no colour."""
    if style is None:
        return Style()
    return Style(bold=style.bold, italic=style.italic, underline=style.underline, strike=style.strike)
