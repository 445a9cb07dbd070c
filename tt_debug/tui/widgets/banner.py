"""What is wrong with what is shown, in a few lines above it. Takes no row while there is nothing to say.

Owns the sign before each sentence and how many there is room for; `dismiss` takes it away until something else is
wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.widgets import Static

from tt_debug.text import safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs

SHOWN: Final = 3
"""Sentences; the rest is counted."""
LONG: Final = 400
"""Characters of one sentence."""


class Banner(Static):
    """Hidden while empty."""

    can_hide = True
    """Whether it tells how to take it away: not where moving on does that."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, classes="banner", markup=False)
        self.sentences: tuple[str, ...] = ()
        self._dismissed: tuple[str, ...] = ()

    def show(self, sentences: Sequence[str]) -> None:
        """Say these, each on a line of its own; none hides it."""
        if tuple(sentences) == self.sentences:
            return
        self.sentences = tuple(sentences)
        glyphs = getattr(self.app, "glyphs", UNICODE)
        glyphs = glyphs if isinstance(glyphs, Glyphs) else UNICODE
        lines = [f"{glyphs.problem} {safe_text(each[:LONG])}" for each in self.sentences[:SHOWN]]
        if len(self.sentences) > SHOWN:
            lines.append(f"{glyphs.ellipsis} and {len(self.sentences) - SHOWN} more: tt-debug doctor tells them")
        if lines and self.can_hide:
            lines[-1] += f"  {glyphs.dot} Esc hides this"
        self.update(Content("\n".join(lines)))
        self.set_class(bool(lines) and self.sentences != self._dismissed, "-shown")

    def dismiss(self) -> bool:
        """Take it away; False when it is not there."""
        if not self.has_class("-shown"):
            return False
        self._dismissed = self.sentences
        self.remove_class("-shown")
        return True
