"""One line of advice above the key bar: the tour's step, or a tip. Takes no row when there is nothing to say."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class Tip(Static):
    """Hidden while empty."""

    def __init__(self) -> None:
        super().__init__("", id="tip", markup=False)
        self.text = ""

    def show(self, text: str) -> None:
        """Say this; empty hides the line."""
        if text != self.text:
            self.text = text
            self.update(Content(text))
        self.set_class(bool(text), "-shown")
