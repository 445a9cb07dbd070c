"""What the interface did since it started, each with the command that does the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from tt_debug.text import safe_text
from tt_debug.tui.actions import bindings
from tt_debug.tui.rows.pieces import Line, Piece
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title

if TYPE_CHECKING:
    from stores.model import Ref
    from tt_debug.session.undoing import Undone
    from tt_debug.tui.app import Done
    from tt_debug.tui.opening import OpenStore


class LogScreen(BaseScreen):
    """The newest first; Enter copies the command, and what can be is taken back from here."""

    WHERE = "log"
    BINDINGS = bindings("log")

    def compose_body(self) -> ComposeResult:
        """One list."""
        yield Panel(id="done", empty="Nothing was written or run yet. Forks, edits, answers and runs appear here.")

    def on_mount(self) -> None:
        """Fill it."""
        self.show_title(Title(crumbs=("what was done",), read_only=self.tt.read_only))
        view = self.query_one("#done", Panel)
        view.border_title = "1 Done"
        done = self._newest_first()
        lines: list[Line] = [
            (Piece(f"{safe_text(each.words)}  "), Piece(safe_text(each.command), "muted")) for each in done
        ]
        view.show(lines, [each.command for each in done])
        view.focus()

    def _newest_first(self) -> list[Done]:
        return list(reversed(self.tt.done))

    def stores_written(self) -> Sequence[OpenStore]:
        """That of the write under the cursor."""
        made = self._made()
        return () if made is None else (made[0],)

    def _made(self) -> tuple[OpenStore, Ref] | None:
        done, row = self._newest_first(), self.query_one("#done", Panel).cursor
        return done[row].made if 0 <= row < len(done) else None

    def act_undo(self) -> None:
        """Take back the write under the cursor."""
        made = self._made()
        if made is None:
            self.say("only forks and edits can be taken back, and only while nothing ran on them")
        else:
            self.tt.ask_to_undo(*made, exactly=True)

    def write_undone(self, store: OpenStore, undone: Undone) -> None:
        """It is on the list now."""
        self.on_mount()

    def act_refresh(self) -> None:
        """Fill it again."""
        self.on_mount()

    def command_line(self) -> str:
        """The command under the cursor."""
        view = self.query_one("#done", Panel)
        return str(view.key(view.cursor) or "")

    def action_escape(self) -> None:
        """Close."""
        self.tt.go_back()

    @on(RowView.Opened, "#done")
    def _opened(self) -> None:
        self.act_copy_cli()
