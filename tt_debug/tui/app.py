"""The terminal interface as an application: which screens are open on which stores, and how it starts and ends.

Owns the loader and what is shown first; what a screen shows is the screen's, what can be done is the action table's.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from textual import events
from textual.command import CommandPalette, Provider
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widgets import Input

from tt_debug.leaving import promptly
from tt_debug.redaction import NOTHING, Redaction
from tt_debug.tui.action import Action
from tt_debug.tui.actions import ACTIONS, find, shown_key
from tt_debug.tui.advice import Advice
from tt_debug.tui.glyphs import Glyphs, choose
from tt_debug.tui.keymap import bound
from tt_debug.tui.listings import Listing
from tt_debug.tui.loader import Loader
from tt_debug.tui.memory import Memory
from tt_debug.tui.messages import Bug
from tt_debug.tui.opening import Opening, OpenStore, label_of
from tt_debug.tui.plain_signs import PlainSigns
from tt_debug.tui.preferences import Preferences, read_preferences
from tt_debug.tui.theme import own_variables, wants_no_color
from tt_debug.tui.typing_order import takes_text

if TYPE_CHECKING:
    from stores.model import Ref
    from tt_debug.session.plans import GraphTarget
    from tt_debug.tui.screens.base import BaseScreen
    from tt_debug.tui.screens.thread import ThreadScreen

__all__ = ["Listing", "OpenStore", "TtDebugApp", "label_of", "run_app"]

BETWEEN_COLLECTIONS: Final = 50_000
"""Objects made, less those that are gone, until the garbage among them is looked for: a key waits for that, 10 ms."""

CLOSING: Final = 0.3
"""Seconds that stores have to be closed."""


class Done(NamedTuple):
    """One line of the list of what was done: in words, and as the command that does the same. ``made`` is a checkpoint
    that was appended by it, which may be taken back."""

    words: str
    command: str = ""
    made: tuple[OpenStore, Ref] | None = None


def _commands() -> type[Provider]:
    from tt_debug.tui.palette import Commands  # not before the palette is opened

    return Commands


class TtDebugApp(Advice):
    """One app over one or several open stores; without any it offers those it finds (`StoresScreen`)."""

    TITLE = "tt-debug"
    CSS_PATH = ["styles.tcss", "thread.tcss"]
    COMMANDS = {_commands}
    ENABLE_COMMAND_PALETTE = True
    ESCAPE_TO_MINIMIZE = False

    def __init__(
        self,
        stores: Sequence[OpenStore] = (),
        *,
        opening: Opening | None = None,
        read_only: bool = False,
        ascii_only: bool | None = None,
        tour: bool = False,
        preferences: Preferences | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.preferences = preferences or Preferences()
        self.revealed = False
        self._colourless = wants_no_color(os.environ)
        if not self._colourless:
            # Textual takes an empty NO_COLOR for a wish, the convention does not.
            os.environ.pop("NO_COLOR", None)
        # Without native colours Textual would only turn grey, in 24-bit codes.
        super().__init__(tuple(stores), ansi_color=True if self._colourless else None, tour=tour, memory=memory)
        self.opening = opening or Opening(read_only)
        self.read_only = read_only
        self.glyphs: Glyphs = choose(ascii_only)
        self._plain_signs = (PlainSigns(),) if self.glyphs.ascii else ()
        self.loader = Loader(self, self._interrupt)
        self.done: list[Done] = []
        self.pinned: tuple[OpenStore, Ref] | None = None
        """The checkpoint that others are compared with, on every Thread screen of its store."""
        self.picking = False
        self.picked: Ref | None = None
        self.animation_level = "none"

    # --- start and end

    def get_css_variables(self) -> dict[str, str]:
        """The theme's variables and our ``$tt-*`` ones."""
        variables = super().get_css_variables()
        own = own_variables(variables)
        self.theme_variables = {**variables, **own}
        return self.theme_variables

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's, and plain signs for a terminal that has no others."""
        return [*super().get_line_filters(), *self._plain_signs]

    def on_mount(self) -> None:
        """Theme for this terminal, then Home, or the choice of a store. Read while the screen is made, threads that are
        few stand in its first frame."""
        self.read_listings()
        if self._colourless:
            self.theme = "ansi-dark"
        else:
            self.take_theme()
        if self.actions != ACTIONS:
            self.set_keymap(bound(self.actions))
        self.set_class(self.glyphs.ascii, "-ascii")
        self.push_screen(self._first_screen())

    def _first_screen(self) -> Screen[None]:
        if self.stores:
            from tt_debug.tui.screens.home import HomeScreen

            return HomeScreen()
        from tt_debug.tui.screens.stores import StoresScreen

        return StoresScreen()

    def on_unmount(self) -> None:
        """Threads that are idle end with the app; one that hangs is a daemon and is left to the system."""
        self.loader.close()

    def _interrupt(self, thread: int) -> None:
        for store in self.stores:
            store.session.interrupt(thread)

    def _fatal_error(self) -> None:
        """As Textual's own, but without the values of variables: a store's password may be among them."""
        from rich.segment import Segments
        from rich.traceback import Traceback

        self.bell()
        told = self.console.render(Traceback(show_locals=False, width=None), self.console.options)
        self._exit_renderables.append(Segments(told))
        self._close_messages_no_wait()

    def on_bug(self, event: Bug) -> None:
        """A bug in a call: raised here, so that it ends the app with its traceback and is not swallowed."""
        raise event.error

    def ask_to_quit(self) -> None:
        """Leave; own runs that are active are asked about first."""
        self._leave([screen for screen in self._own_screens() if screen.running], lambda: self.exit(0))

    def _leave(self, running: list[BaseScreen], then: Callable[[], object]) -> None:
        """Do ``then``, after asking whether what runs on these screens is to stop."""
        if not running:
            then()
            return
        from tt_debug.tui.dialogs.quit import QuitDialog

        def decided(choice: str | None) -> None:
            if choice == "stop":
                for screen in running:
                    screen.stop_run()
            if choice is not None:
                then()

        self.push_screen(QuitDialog([screen.run_words() for screen in running]), decided)

    async def action_quit(self) -> None:
        """Textual's own way out (ctrl+q, the palette) asks too."""
        self.ask_to_quit()

    def go_back(self) -> None:
        """Close the screen on top, asking about a run of its; on the first one, leave."""
        # The bottom of the stack is Textual's empty default screen.
        if len(self.screen_stack) > 2:
            running = [screen for screen in self._own_screens() if screen is self.screen and screen.running]
            self._leave(running, self.pop_screen)
        else:
            self.ask_to_quit()

    # --- what a screen may ask for

    def copy_to_clipboard(self, text: str) -> None:
        """Ask the terminal to keep ``text``; a lone surrogate, which no terminal can be sent, becomes "?"."""
        super().copy_to_clipboard(text.encode("utf-8", "replace").decode("utf-8"))

    @property
    def actions(self) -> tuple[Action, ...]:
        """The action table with the user's keys."""
        return self.preferences.actions

    def key_of(self, action_id: str) -> str:
        """The key that does it, as people write it; where it has none, what to type into the palette."""
        action = find(action_id, self.actions)
        if action.keys:
            return shown_key(action.keys[0], ascii_only=self.glyphs.ascii)
        return f"{self.key_of('palette')} {action.title.rstrip('…').lower()}"

    @property
    def redaction(self) -> Redaction:
        """Which values are not to be shown now."""
        return NOTHING if self.revealed else self.preferences.hiding

    def show_secrets(self, shown: bool) -> None:
        """Show values under names of secrets on every screen, or hide them again."""
        self.revealed = shown
        for screen in self._own_screens():
            screen.secrets_changed()

    def note_done(
        self, words: str, command: str = "", *, wrote: bool = True, made: tuple[OpenStore, Ref] | None = None
    ) -> None:
        """Remember what was done, for the list behind ``@``; where it changed a store, the listings are read again.

        ``made`` is what can be taken back of it."""
        self.done.append(Done(words, command, made))
        if wrote:
            self.read_listings()

    def show_thread(self, store: OpenStore, thread: str, ref: Ref | None = None, *, then: str = "") -> ThreadScreen:
        """Open a thread's screen on top, the cursor at ``ref`` (default: its head); ``then`` is an action it performs
        once it has read the thread."""
        # The Thread screen pulls in every panel; Home paints without it.
        from tt_debug.tui.screens.thread import ThreadScreen

        screen = ThreadScreen(store, thread, ref)
        screen.after_reading = then
        self.push_screen(screen)
        return screen

    def open_palette(self) -> None:
        """Open the command palette, once."""
        from tt_debug.tui.palette import Palette

        if not isinstance(self.screen, CommandPalette):
            self.push_screen(Palette())

    def action_command_palette(self) -> None:
        """Textual's own ways to the palette lead to ours."""
        self.open_palette()

    def on_key(self, event: events.Key) -> None:
        """A key that comes back here while a text field or the palette is open was sent before that had the focus
        (typed fast, or bundled by a slow line): it belongs there and is not a command."""
        from tt_debug.tui.palette import Palette

        field = self.focused
        if isinstance(self.screen, Palette) and field is None:
            self.screen.take(event)
        elif isinstance(field, Input) and event.key == "enter":
            # Behind the letters that were just sent on.
            field.call_later(field.action_submit)
        elif field is not None and event.is_printable and takes_text(field):
            field.post_message(events.Key(event.key, event.character))
        else:
            return
        event.stop()
        event.prevent_default()


def run_app(
    store: str | Sequence[str] | None,
    *,
    read_only: bool,
    graph: GraphTarget | None,
    workflow: Path | None,
    tour: bool = False,
    ascii_only: bool | None = None,
) -> int:
    """Open ``store`` (one, several, or None: offer those that are found) and run the interface until it is left.

    Returns the exit code. Raises StoreError when a given store cannot be opened, UsageError when the configuration
    cannot be read: nothing has been drawn then.
    """
    preferences = read_preferences()
    opening = Opening(read_only, graph, workflow)
    with promptly():
        opened = opening.open_all((store,) if isinstance(store, str) else tuple(store or ()))
    app = TtDebugApp(
        opened,
        opening=opening,
        read_only=read_only,
        ascii_only=ascii_only,
        tour=tour,
        preferences=preferences,
        memory=Memory.kept(),
    )
    gc.freeze()  # what has been imported stays: going over it before the first paint took a tenth of the start
    gc.set_threshold(BETWEEN_COLLECTIONS)
    code = app.run()
    # A call that hangs in a database may hold the session's lock: closing waits for it, as it does for one of those
    # that watch a store. The end of the process releases everything a reading connection holds.
    if not app.loader.busy:
        app.loader.finish(partial(_close, app.stores), CLOSING)
    return code if code is not None else app.return_code or 0


def _close(stores: Sequence[OpenStore]) -> None:
    for each in stores:
        each.session.close()
