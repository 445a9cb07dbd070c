"""The last line of a screen: the keys that matter here, as many as fit, always ending in ``? keys``.

Textual's Footer scrolls invisibly and paints over itself at 80 columns; this one drops the least important first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tt_debug.tui.actions import KeyHint

LAST: Final = KeyHint("?", "keys", 100, "help")


def fit(hints: Sequence[KeyHint], width: int, last: KeyHint = LAST) -> tuple[KeyHint, ...]:
    """The hints that fit into ``width`` cells beside the last one, highest rank first, in their own order."""
    room = width - 2 - _cells(last)
    kept: set[int] = set()
    # Equal ranks: the earlier in the table wins.
    for index in sorted(range(len(hints)), key=lambda at: (-hints[at].rank, at)):
        needs = _cells(hints[index]) + 2
        if needs <= room:
            room -= needs
            kept.add(index)
    return tuple(hint for index, hint in enumerate(hints) if index in kept)


def _cells(hint: KeyHint) -> int:
    return cell_len(f"{hint.keys} {hint.label}")


class KeyBar(Widget):
    """One line over the screen's actions; a click does what the key does."""

    COMPONENT_CLASSES = {"key-bar--key", "key-bar--label", "key-bar--off"}
    ALLOW_SELECT = False

    class Pressed(Message):
        """A hint was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints: tuple[KeyHint, ...] = ()
        self._last = LAST

    def show(self, hints: Sequence[KeyHint], last: KeyHint = LAST) -> None:
        """Offer these, and ``last`` at the right edge; drawn again only when they differ."""
        if (tuple(hints), last) != (self._hints, self._last):
            self._hints, self._last = tuple(hints), last
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line, exactly as wide as the widget."""
        if y:
            return Strip.blank(self.size.width, self.rich_style)
        return self.line(self.size.width)

    def line(self, width: int) -> Strip:
        """The bar in ``width`` cells."""
        shown = fit(self._hints, width, self._last)
        parts: list[Segment] = [Segment(" ")]
        for number, hint in enumerate(shown):
            parts += [Segment("  ")] if number else []
            parts += self._hint(hint)
        last = self._hint(self._last)
        used = sum(cell_len(part.text) for part in (*parts, *last))
        parts.append(Segment(" " * max(width - used - 1, 0)))
        strip = Strip([*parts, *last, Segment(" ")])
        return strip.adjust_cell_length(width).apply_style(self.rich_style)

    def _hint(self, hint: KeyHint) -> list[Segment]:
        key = self._ink("key-bar--key" if hint.enabled else "key-bar--off")
        label = self._ink("key-bar--label" if hint.enabled else "key-bar--off")
        meta = Style(meta={"hint": hint.action})
        return [Segment(hint.keys, key + meta), Segment(f" {hint.label}", label + meta)]

    def _ink(self, name: str) -> Style:
        full = self.get_component_rich_style(name)
        return Style(color=full.color, bold=full.bold, dim=full.dim)

    def on_click(self, event: events.Click) -> None:
        """Tell the screen which hint it was."""
        action = event.style.meta.get("hint")
        if isinstance(action, str):
            self.post_message(self.Pressed(action))
