"""Asking for a file: its path as typed, checked before the dialog ends."""

from __future__ import annotations

import contextlib
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from tt_debug.text import safe_text
from tt_debug.tui.dialogs.base import Choice, Dialog
from tt_debug.tui.widgets.field import Field


class FileDialog(Dialog[Path]):
    """Ends with the path of a file that is there. ``lines`` say what will be done with it, ``verb`` does it."""

    def __init__(self, title: str, lines: tuple[str, ...], verb: str) -> None:
        super().__init__(title, (Choice(verb, Path(), "ctrl+s", "primary"),))
        self._lines = lines

    def compose_body(self) -> ComposeResult:
        """The path, and what will be done."""
        yield Field(id="path", placeholder="path of the file")
        for line in self._lines:
            yield Static(Content(safe_text(line)), classes="dialog-note", markup=False)

    def first_focus(self) -> str:
        """The path."""
        return "#path"

    @on(Input.Changed, "#path")
    def _changed(self) -> None:
        self.complain("")

    @on(Input.Submitted, "#path")
    def _submitted(self) -> None:
        self.action_choose(0)

    def result(self, value: Path) -> Path | None:
        """The path that was typed; None, and why in the dialog, where there is no such file."""
        typed = self.query_one("#path", Input).value.strip()
        if not typed:
            self.complain("Type the path of a file.")
            return None
        path = Path(typed)
        if typed.startswith("~") and not path.exists():
            # Nobody's home: then it is said that there is no such file.
            with contextlib.suppress(RuntimeError):
                path = path.expanduser()
        if not path.is_file():
            self.complain(f"{path} is no file.")
            return None
        return path
