"""The first line of a screen: where you are, which step, and what waits, runs or is forbidden.

Owns the order in which its parts give way when the line is narrow: the crumbs are cut in the middle, the step stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from tt_debug.text import safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.widgets.line import cut


class Title(NamedTuple):
    """What the line says. ``crumbs`` from the file to the line of history; ``note`` is muted text beside them.

    ``step`` is "step 12/14"; ``running`` what an own run is at, as "00:42"; ``alert`` a word such as "OFFLINE 12s";
    ``stranded`` counts runs that crashed or are held; ``revealed`` says that secrets are shown, ``busy`` that another
    process keeps the store locked.
    """

    crumbs: tuple[str, ...] = ()
    note: str = ""
    step: str = ""
    running: str = ""
    waiting: int = 0
    failed: int = 0
    stranded: int = 0
    read_only: bool = False
    revealed: bool = False
    busy: bool = False
    alert: str = ""


class TitleBar(Widget):
    """One line, redrawn when `show` gets another `Title`."""

    COMPONENT_CLASSES = {
        "title-bar--name",
        "title-bar--crumb",
        "title-bar--here",
        "title-bar--note",
        "title-bar--badge",
        "title-bar--warn",
        "title-bar--bad",
        "title-bar--run",
    }
    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.title = Title()

    def show(self, title: Title) -> None:
        """Say this; drawn again only when it differs."""
        if title != self.title:
            self.title = title
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line, exactly as wide as the widget."""
        if y:
            return Strip.blank(self.size.width, self.rich_style)
        return self.line(self.size.width)

    def line(self, width: int) -> Strip:
        """The title in ``width`` cells."""
        right = self._fit_right(width // 2)
        room = width - sum(cell_len(text) for text, _ in right)
        left = self._left(room)
        used = sum(cell_len(part.text) for part in left)
        blank = [Segment(" " * max(room - used, 0))]
        segments = [*left, *blank, *(Segment(text, style) for text, style in right)]
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    def _left(self, room: int) -> list[Segment]:
        glyphs = self._glyphs()
        name = " tt "
        crumbs = [safe_text(crumb) for crumb in self.title.crumbs]
        between = f" {glyphs.crumb} "
        space = room - len(name) - 2
        crumbs = _shorten(crumbs, space - len(between) * max(len(crumbs) - 1, 0), glyphs.ellipsis)
        parts = [Segment(name, self._style("title-bar--name")), Segment(" ")]
        for number, crumb in enumerate(crumbs):
            if number:
                parts.append(Segment(between, self._style("title-bar--note")))
            last = number == len(crumbs) - 1
            parts.append(Segment(crumb, self._style("title-bar--here" if last else "title-bar--crumb")))
        left = space - sum(cell_len(part.text) for part in parts) + len(name) - 2
        if self.title.note and left > 8:
            parts.append(
                Segment("  " + cut(safe_text(self.title.note), left, glyphs.ellipsis), self._style("title-bar--note"))
            )
        return parts

    def _fit_right(self, room: int) -> list[tuple[str, Style]]:
        """The parts at the right edge, in words where they fit, in signs where not; the last ones give way first."""
        for wide in (True, False):
            parts = self._right(wide)
            if sum(cell_len(text) for text, _ in parts) <= room:
                return parts
        while parts and sum(cell_len(text) for text, _ in parts) > room:
            parts.pop()
        return parts

    def _right(self, wide: bool) -> list[tuple[str, Style]]:
        title, glyphs = self.title, self._glyphs()
        parts: list[tuple[str, Style]] = []
        if title.busy:
            words = "another process is writing, retrying" if wide else "BUSY, retrying"
            parts.append((f" {words} ", self._style("title-bar--warn")))
        if title.alert:
            parts.append((f" {safe_text(title.alert)} ", self._style("title-bar--bad")))
        if title.step:
            parts.append((f" {safe_text(title.step)} ", self._style("title-bar--here")))
        if title.running:
            word = "running " if wide else ""
            parts.append((f" {glyphs.running} {word}{title.running} ", self._style("title-bar--run")))
        if title.revealed:
            parts.append((" SECRETS SHOWN " if wide else " SECRETS ", self._style("title-bar--bad")))
        if title.read_only:
            parts.append((" READ-ONLY " if wide else " RO ", self._style("title-bar--badge")))
        if title.waiting:
            word = " waiting" if wide else ""
            parts.append((f" {glyphs.waiting} {title.waiting}{word} ", self._style("title-bar--warn")))
        if title.stranded:
            word = " to recover" if wide else ""
            parts.append((f" {glyphs.problem} {title.stranded}{word} ", self._style("title-bar--bad")))
        if title.failed:
            word = " failed" if wide else ""
            parts.append((f" {glyphs.failed} {title.failed}{word} ", self._style("title-bar--bad")))
        return parts

    def _style(self, name: str) -> Style:
        full = self.get_component_rich_style(name)
        plain = name in {"title-bar--crumb", "title-bar--here", "title-bar--note"}
        bgcolor = None if plain else full.bgcolor
        return Style(color=full.color, bgcolor=bgcolor, bold=full.bold, dim=full.dim, reverse=full.reverse)

    def _glyphs(self) -> Glyphs:
        table = getattr(self.app, "glyphs", UNICODE)
        return table if isinstance(table, Glyphs) else UNICODE


def _shorten(crumbs: Sequence[str], room: int, ellipsis: str) -> list[str]:
    """The crumbs in ``room`` cells: the first ones are cut before the last, which says where you are."""
    shown = list(crumbs)
    for index in range(len(shown)):
        over = sum(cell_len(crumb) for crumb in shown) - room
        if over <= 0:
            break
        least = 6 if index < len(shown) - 1 else 1
        shown[index] = cut(shown[index], max(cell_len(shown[index]) - over, least), ellipsis)
    return shown
