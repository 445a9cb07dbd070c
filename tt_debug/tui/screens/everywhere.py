"""The actions that mean the same on every screen, and saying something in a toast.

Owns what they do; which keys they have is the action table's.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.screen import Screen

from tt_debug.text import safe_text
from tt_debug.tui.replacing import REPLACED
from tt_debug.tui.widgets.title_bar import Title, TitleBar

if TYPE_CHECKING:
    from tt_debug.tui.app import TtDebugApp
    from tt_debug.tui.opening import OpenStore


class EverywhereActions(Screen[None]):
    """The part of every screen that answers to the table's "everywhere", and to what several screens share."""

    WHERE: ClassVar[str] = "everywhere"

    waits: frozenset[str] = frozenset()
    """What is being asked of a store that another process keeps locked."""

    @property
    def tt(self) -> TtDebugApp:
        """The app, typed."""
        from tt_debug.tui.app import TtDebugApp  # the app imports the screens

        assert isinstance(self.app, TtDebugApp)
        return self.app

    def say(self, text: str, *, severity: str = "information") -> None:
        """A toast, the text made safe and never read as markup; one that is shown already is not shown twice."""
        level = severity if severity in ("information", "warning", "error") else "information"
        shown = self.tt.glyphs.words(safe_text(text))
        if all(toast.message != shown for toast in self.app._notifications):
            self.notify(shown, severity=level, markup=False)  # type: ignore[arg-type]

    def show_title(self, title: Title) -> None:
        """Say where this is; that secrets are shown, or a store is locked or gone, is said on every screen."""
        now = time.monotonic()
        alert = next((gone.words(now) for _, gone in self.tt.outages_of(self.stores_shown())), "")
        alert = alert or (REPLACED if self.tt.replaced_of(self.stores_shown()) else "")
        self.query_one(TitleBar).show(title._replace(revealed=self.tt.revealed, busy=bool(self.waits), alert=alert))

    def stores_shown(self) -> Sequence[OpenStore]:
        """The stores that this screen shows something of."""
        return self.tt.stores

    def secrets_changed(self) -> None:
        """Secrets are shown or hidden from now on; screens that show values override this."""
        self.show_title(self.query_one(TitleBar).title)

    def command_line(self) -> str:
        """The command that shows what this screen shows, or empty."""
        return ""

    def act_copy_cli(self) -> None:
        """Copy `command_line`."""
        command = self.command_line()
        if not command:
            self.say("there is no command for this")
            return
        self.app.copy_to_clipboard(command)
        self.say(f"sent to the terminal's clipboard: {command}")

    def act_refresh(self) -> None:
        """Read again; screens that show a store override it."""
        self.say("nothing to read again here")

    def act_pane_zoom(self) -> None:
        """The panel in focus fills the screen, or goes back."""
        if self.maximized is not None:
            self.minimize()
        elif self.focused is not None:
            self.maximize(self.focused)

    def act_pane_focus(self) -> None:
        """From the palette, where no number was pressed: the next panel."""
        self.focus_next()

    def act_help(self) -> None:
        """Show what the panel in focus is, and the keys of this screen."""
        from tt_debug.tui.screens.help import HelpScreen

        panel = self.focused.id if self.focused is not None else None
        self.app.push_screen(HelpScreen(self.WHERE, panel or ""))

    def act_log(self) -> None:
        """Show what was done."""
        from tt_debug.tui.screens.log import LogScreen

        self.app.push_screen(LogScreen())

    def act_inbox(self) -> None:
        """Open the approvals of every open store."""
        from tt_debug.tui.screens.approvals import ApprovalsScreen

        self.app.push_screen(ApprovalsScreen())

    def act_mark_list(self) -> None:
        """List the bookmarks of every open store."""
        from tt_debug.tui.screens.bookmarks import BookmarksScreen

        self.app.push_screen(BookmarksScreen())

    def act_recovery(self) -> None:
        """Open what nobody works on, in every open store."""
        from tt_debug.tui.screens.recovery import RecoveryScreen

        self.app.push_screen(RecoveryScreen())

    def act_threads(self) -> None:
        """Pick a thread by name."""
        from tt_debug.tui.palette import Palette, ThreadCommands

        self.app.push_screen(Palette([ThreadCommands], placeholder="thread…"))

    def act_palette(self) -> None:
        """Open the command palette."""
        self.tt.open_palette()

    def act_secrets(self) -> None:
        """Show values under names of secrets, or hide them again."""
        self.tt.show_secrets(not self.tt.revealed)
        key = self.tt.key_of("secrets")
        self.say(f"secrets are shown: {key} hides them again" if self.tt.revealed else "secrets are hidden")

    def act_back(self) -> None:
        """Back to the screen before; from the first one, leave."""
        self.tt.go_back()

    def act_quit(self) -> None:
        """Leave."""
        self.tt.ask_to_quit()
