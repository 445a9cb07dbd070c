"""Every bookmark of the open stores, the newest first; Enter goes to the checkpoint."""

from __future__ import annotations

import shlex

from textual import on
from textual.app import ComposeResult

from tt_debug.text import safe_text
from tt_debug.tui.actions import bindings
from tt_debug.tui.bookmarks import Bookmark
from tt_debug.tui.copying import Copyable
from tt_debug.tui.rows.pieces import Line, Piece, pad
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.screens.going import go_to_checkpoint
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title

NAME = 20
"""Cells for a bookmark's name."""
THREAD = 24
"""Cells for its thread's."""


class BookmarksScreen(BaseScreen):
    """One list."""

    WHERE = "marks"
    PANES = ("#marks",)
    BINDINGS = bindings("marks")

    def compose_body(self) -> ComposeResult:
        """The list."""
        yield Panel(id="marks")

    def on_mount(self) -> None:
        """What is known is there at once; it is read anew."""
        self.show_title(Title(crumbs=("bookmarks",), read_only=self.tt.read_only))
        panel = self.query_one("#marks", Panel)
        panel.empty = f"No checkpoint has a name yet. {self.tt.key_of('mark.name')} names the one under the cursor."
        self.bookmarks_changed()
        panel.focus()
        self.tt.read_bookmarks()

    def bookmarks_changed(self) -> None:
        """Fill the list; the cursor stays where it was."""
        panel, found = self.query_one("#marks", Panel), self.tt.bookmarks
        cursor, several = panel.cursor, len(self.tt.stores) > 1
        panel.show([self._line(each, several=several) for each in found], found)
        panel.cursor = cursor
        panel.border_title = f"1 Bookmarks  {len(found):,}"

    def _line(self, each: Bookmark, *, several: bool) -> Line:
        glyphs, mark = self.tt.glyphs, each.mark
        store = (Piece(f"{safe_text(each.store.label)}  ", "muted"),) if several else ()
        return (
            Piece(f"{glyphs.bookmark} ", "accent"),
            *pad((Piece(safe_text(mark.name), "strong"),), NAME, glyphs.ellipsis),
            Piece("  "),
            *pad((Piece(safe_text(mark.ref.thread)),), THREAD, glyphs.ellipsis),
            Piece(f"  {mark.at.astimezone():%Y-%m-%d %H:%M}  ", "muted"),
            *store,
            Piece(safe_text(mark.note)),
        )

    def _current(self) -> Bookmark | None:
        panel = self.query_one("#marks", Panel)
        found = panel.key(panel.cursor)
        return found if isinstance(found, Bookmark) else None

    @on(RowView.Opened, "#marks")
    def _opened(self) -> None:
        each = self._current()
        if each is not None:
            go_to_checkpoint(self, each.store, each.mark.ref)

    def act_mark_name(self) -> None:
        """Another name or note, or none any more."""
        each = self._current()
        if each is None:
            self.say("there is no bookmark here")
        else:
            self.tt.ask_for_bookmark(each.store, each.mark.ref, each.mark.ref.thread)

    def act_refresh(self) -> None:
        """Read them again."""
        self.tt.read_bookmarks()

    def action_escape(self) -> None:
        """Close."""
        self.tt.go_back()

    def copyables(self) -> list[Copyable]:
        """Its address, by name and by id."""
        each = self._current()
        if each is None:
            return []
        mark = each.mark
        return [
            Copyable("a", "address", lambda: f"{mark.ref.thread}@{mark.name}"),
            Copyable("i", "id", lambda: f"{mark.ref.thread}@{mark.ref.id}"),
        ]

    def command_line(self) -> str:
        """The command that gives the same name."""
        each = self._current()
        if each is None:
            return ""
        mark = each.mark
        words = ["tt-debug", "mark", each.store.url, f"{mark.ref.thread}@{mark.ref.id}", mark.name]
        return shlex.join([*words, *(["--note", mark.note] if mark.note else [])])
