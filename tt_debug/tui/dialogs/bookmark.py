"""Naming a checkpoint: a name that every address takes, and a note. An empty name takes the bookmark away."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from tt_debug.errors import UsageError
from tt_debug.session.marks import check_name
from tt_debug.tui.dialogs.base import Choice, Dialog
from tt_debug.tui.widgets.field import Field

if TYPE_CHECKING:
    from tt_debug.session.journal import Mark


@dataclass(frozen=True, slots=True)
class Named:
    """What was typed; no name: it is to have none."""

    name: str = ""
    note: str = ""


class BookmarkDialog(Dialog[Named]):
    """``before`` is the bookmark it has, ``taken`` are the names of others of its thread."""

    def __init__(self, where: str, before: Mark | None, taken: Collection[str]) -> None:
        choices: tuple[Choice[Named], ...] = (Choice("Keep", Named("?"), "ctrl+s", "primary"),)
        if before is not None:
            choices = (*choices, Choice("Take away", Named(), "ctrl+d", "warning"))
        super().__init__(f"Bookmark: {where}", choices)
        self._before = before
        self._taken = taken

    def compose_body(self) -> ComposeResult:
        """Two lines to type in."""
        before = self._before
        name, note = (before.name, before.note) if before is not None else ("", "")
        yield Field(name, id="mark-name", placeholder="name")
        yield Field(note, id="mark-note", placeholder="a few words to it, if you like")
        told = "Kept in our own record: the store stays as it is."
        gone = " An empty name takes it away." if before is not None else ""
        yield Static(told + gone, classes="dialog-note", markup=False)

    def first_focus(self) -> str:
        """The name."""
        return "#mark-name"

    @on(Input.Changed)
    def _changed(self) -> None:
        self.complain("")

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_choose(0)

    def result(self, value: Named) -> Named | None:
        """What was typed; None, and why in the dialog, for what is no name."""
        if not value.name:
            return value
        name = self.query_one("#mark-name", Input).value.strip()
        if not name and self._before is not None:
            return Named()
        try:
            check_name(name)
        except UsageError as error:
            self.complain(f"{error}; {error.hint}" if error.hint else str(error))
            return None
        if name in self._taken:
            self.complain("Another checkpoint of this thread has that name.")
            return None
        return Named(name, self.query_one("#mark-note", Input).value.strip())
