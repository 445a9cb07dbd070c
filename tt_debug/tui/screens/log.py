"""What the interface did since it started, each with the command that does the same."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult

from tt_debug.text import safe_text
from tt_debug.tui.actions import bindings
from tt_debug.tui.rows.pieces import Line, Piece
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title


class LogScreen(BaseScreen):
    """The newest first; Enter copies the command."""

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
        done = list(reversed(self.tt.done))
        lines: list[Line] = [
            (Piece(f"{safe_text(each.words)}  "), Piece(safe_text(each.command), "muted")) for each in done
        ]
        view.show(lines, [each.command for each in done])
        view.focus()

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
