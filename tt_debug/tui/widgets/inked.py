"""What the rows of a list are written with: the terminal's signs, the user's keys, the theme's inks.

Owns looking them up and keeping them; what is written is the list's.
"""

from __future__ import annotations

from rich.style import Style
from textual.content import Content
from textual.scroll_view import ScrollView

from tt_debug.tui.actions import find, shown_key
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.theme import ink_style
from tt_debug.tui.widgets.line import Line


class Inked(ScrollView):
    """The base of every list."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inks: dict[str, Style] = {}

    @property
    def _border_title(self) -> Content | None:
        """Textual leaves air around a title beside corners only: on a bare rule it would touch the line."""
        title = self._title
        return title if title is None or self.styles.border_left[0] else title.pad(1, 1)

    @_border_title.setter
    def _border_title(self, title: Content | None) -> None:
        self._title = title

    @property
    def glyphs(self) -> Glyphs:
        """The app's table of signs."""
        table = getattr(self.app, "glyphs", UNICODE)
        return table if isinstance(table, Glyphs) else UNICODE

    def key_of(self, action_id: str) -> str:
        """The key that does it, as people write it."""
        ask = getattr(self.app, "key_of", None)
        return str(ask(action_id)) if callable(ask) else shown_key(find(action_id).keys[0])

    def ink(self, name: str) -> Style:
        """The foreground style called ``name`` in `tt_debug.tui.theme`, in the present theme."""
        style = self._inks.get(name)
        if style is None:
            style = self._inks[name] = ink_style(name, self.app.theme_variables, self.background_colors[1])
        return style

    def line(self, width: int) -> Line:
        """An empty `Line` in this terminal's signs."""
        return Line(width, ellipsis=self.glyphs.ellipsis)

    def notify_style_update(self) -> None:
        """The theme or a class changed: the inks are looked up again."""
        self._inks.clear()
        super().notify_style_update()
