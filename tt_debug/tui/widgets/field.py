"""A line to type in that shows what a store holds as safely as anything else is shown."""

from __future__ import annotations

from collections.abc import Callable

from rich.highlighter import Highlighter
from rich.text import Text
from textual.widgets import Input

from tt_debug.text import signs


class Field(Input):
    """An input whose value stays as it is, with a sign shown for each character that would act on a terminal."""

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(value, placeholder, _Signs(lambda: self.value), id=id, compact=True)


class _Signs(Highlighter):
    """Draws a field's own value: rich's text has lost some of its characters, and the cursor counts them."""

    def __init__(self, value: Callable[[], str]) -> None:
        self._value = value

    def __call__(self, text: str | Text) -> Text:
        """What is drawn, a character for each."""
        return Text(signs(self._value()), no_wrap=True, overflow="ignore", end="")

    def highlight(self, text: Text) -> None:
        """Nothing is coloured."""
