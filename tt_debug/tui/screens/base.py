"""What every screen has: a title line, a key bar, actions by id, sizes by class, the session's errors in words.

Owns dispatch: a key, a click in the key bar, the palette and the help all come through `BaseScreen.perform`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Input, Static

from stores.errors import Unreachable
from tt_debug.tui.actions import ROWS, Action, KeyHint, Safety, bindings, find, for_screen, key_hints, shown_key
from tt_debug.tui.messages import Failed, Waiting
from tt_debug.tui.screens.store_trouble import StoreTrouble
from tt_debug.tui.widgets.banner import Banner
from tt_debug.tui.widgets.key_bar import KeyBar
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.tip import Tip
from tt_debug.tui.widgets.title_bar import TitleBar

MIN_WIDTH = 60
MIN_HEIGHT = 12
NARROW = 100
"""Cells below which there is one column, and borders are rules."""
ROOMY = 30
"""Rows from which on one is spared for a tip."""
ULTRA = 160
"""Cells from which on there are three columns."""


class BaseScreen(StoreTrouble):
    """A full screen. Subclasses set ``WHERE``, take their keys from ``bindings(WHERE)``, compose their middle in
    `compose_body`, and have a method ``act_<id>`` for each action of theirs; `refusal` says why one cannot be done."""

    WHERE: ClassVar[str] = "everywhere"
    PANES: ClassVar[tuple[str, ...]] = ()
    """Selectors of the panels that 1, 2, … go to."""

    ENTER: ClassVar[str] = "open"
    """What Enter does on a row, as the key bar says it."""

    GIVES_TIPS: ClassVar[bool] = False
    """Whether a tip stands above its keys."""

    after_reading: str = ""
    """An action to perform once the screen has read what it shows; see `perform_after_reading`."""

    raised: Collection[str] = ()
    """Ids of actions that come first in the key bar just now."""

    _had_focus: Widget | None = None
    _shown_before = False

    running: bool = False
    """Whether a run that was started on this screen is active."""

    BINDINGS = [Binding("escape", "escape", "Close", show=False)]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide"), (ULTRA, "-ultra")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-high")]
    ALLOW_IN_MAXIMIZED_VIEW = "TitleBar, Timeline, KeyBar"

    def compose(self) -> ComposeResult:
        """Title, body, keys; and the one sentence for a terminal that is too small."""
        # Textual tells the size by classes when all has been styled without them: every style would be made twice.
        width, height = self.app.size
        across = self._get_breakpoint_classes(width, self.HORIZONTAL_BREAKPOINTS)
        self.add_class(*across, *self._get_breakpoint_classes(height, self.VERTICAL_BREAKPOINTS), update=False)
        yield TitleBar(id="title")
        yield Banner(id="notices")
        yield from self.compose_body()
        yield Tip()
        yield KeyBar(id="keys")
        yield Static("", id="too-small", markup=False)

    def compose_body(self) -> ComposeResult:
        """The middle of the screen."""
        raise NotImplementedError

    def _on_unmount(self) -> None:
        self.tt.loader.leave(self)

    # --- actions

    def refusal(self, action: Action) -> str | None:
        """Why ``action`` cannot be done now, as a sentence, or None. The base knows about ``--read-only`` and stores
        that are out of reach."""
        if action.safety not in (Safety.WRITE, Safety.EXECUTE):
            return None
        if self.tt.read_only:
            return "read-only: started with --read-only"
        for store, _ in self.tt.outages_of(self.stores_written()):
            return f"offline: {store.label} cannot be reached; {self.tt.key_of('refresh')} tries again"
        return None

    def perform(self, action_id: str) -> None:
        """Do an action of the table, or say why not."""
        action = find(action_id, self.tt.actions)
        reason = self.refusal(action)
        if reason is not None:
            self.say(reason, severity="warning")
            return
        if ROWS in action.where:
            # From the key bar or the palette: the list in focus does it.
            if isinstance(self.focused, RowView):
                self.focused.action_row(action.id.removeprefix("row."))
            return
        if action_id == "refresh":
            self.tt.check([store for store, _ in self.tt.outages_of(self.stores_shown())])
            self.tt.take_as_they_are(self.tt.replaced_of(self.stores_shown()))
        getattr(self, action.method)()
        self.tt.tour_saw(action_id)

    def perform_after_reading(self) -> None:
        """Called by a screen that has read what it shows: do what it was opened for, once."""
        action_id, self.after_reading = self.after_reading, ""
        if action_id:
            self.perform(action_id)

    def action_act(self, action_id: str) -> None:
        """What every binding calls."""
        self.perform(action_id)

    def action_pane(self, number: int) -> None:
        """Focus a panel by its number."""
        if 0 < number <= len(self.PANES):
            self.set_focus(self.query_one(self.PANES[number - 1]))

    def action_escape(self) -> None:
        """Esc: close what is on top; subclasses clear their search, and so on. Here: leave the zoom, end the tour."""
        if self.maximized is not None:
            self.minimize()
        elif sum(banner.dismiss() for banner in self.query(Banner)):
            return
        elif self.tt.tour is not None:
            self.tt.take_tour(None)

    def refresh_keys(self) -> None:
        """Fit the key bar to what can be done now; while a text field has the focus, letters are letters."""
        if isinstance(self.focused, Input):
            enter = shown_key("enter", ascii_only=self.tt.glyphs.ascii)
            typing = (KeyHint(enter, "done", 2, "type.done"), KeyHint("Esc", "clear", 1, "type.clear"))
            self.query_one("#keys", KeyBar).show(typing, self._last_hint())
            return
        actions, plain = self.tt.actions, self.tt.glyphs.ascii
        disabled = [action.id for action in for_screen(self.WHERE, actions) if self.refusal(action) is not None]
        hints = key_hints(self.WHERE, disabled, self.raised, actions=actions, ascii_only=plain)
        own = {"row.open": self.ENTER, **({"back": "quit"} if self in self.app.screen_stack[:2] else {})}
        hints = tuple(hint._replace(label=own.get(hint.action, hint.label)) for hint in hints)
        self.query_one("#keys", KeyBar).show(hints, self._last_hint())

    def _last_hint(self) -> KeyHint:
        """The way to all keys; where the user has taken that key away, the way to all commands."""
        name = "help" if find("help", self.tt.actions).keys else "palette"
        return KeyHint(self.tt.key_of(name), "keys" if name == "help" else "commands", 100, name)

    # --- what the app asks and tells

    def run_words(self) -> str:
        """Which run is active here; only asked while ``running``."""
        return "A run that was started here has not ended."

    def stop_run(self) -> None:
        """Ask the active run to stop after its current step."""

    def listings_changed(self) -> None:
        """The app has read the threads of a store again; screens that show some of it override this."""

    def show_tip(self) -> None:
        """The tour's line; without one a tip, where the screen gives tips and has room."""
        tour, room = self.tt.tour, self.size
        tips = self.GIVES_TIPS and room.width >= NARROW and room.height >= ROOMY
        self.query_one(Tip).show(tour.line(self.tt.key_of) if tour is not None else self.tt.tip_for_home() * tips)

    # --- events

    @on(KeyBar.Pressed)
    def _key_pressed(self, event: KeyBar.Pressed) -> None:
        event.stop()
        if event.action == "type.clear":
            self.action_escape()
        elif event.action == "type.done":
            if isinstance(self.focused, Input):
                self.focused.post_message(Input.Submitted(self.focused, self.focused.value))
        else:
            self.perform(event.action)

    def on_descendant_focus(self) -> None:
        """The keys mean something else in a text field; what they act on is what is zoomed."""
        self._had_focus = self.focused
        if self.maximized is not None and isinstance(self.focused, RowView):
            self.maximize(self.focused)
        self.refresh_keys()

    def on_mount(self) -> None:
        """First key bar, first tip, and what there is to know of the stores that are shown."""
        self.refresh_keys()
        self.show_tip()
        self.query_one("#notices", Banner).show(self.notices())

    @on(events.ScreenResume)
    def _shown(self, event: events.ScreenResume) -> None:
        """The theme may be another by now; the first time its styles were made a moment ago."""
        event.refresh_styles, self._shown_before = self._shown_before, True

    def on_screen_resume(self) -> None:
        """What may be done can have changed meanwhile."""
        self.refresh_keys()
        if self.GIVES_TIPS:
            self.tt.next_tip()

    def on_resize(self, event: events.Resize) -> None:
        """Below the least size one sentence stands instead of the screen."""
        small = event.size.width < MIN_WIDTH or event.size.height < MIN_HEIGHT
        self.set_class(small, "-too-small")
        self.show_tip()
        if not small:
            self.call_after_refresh(self._focus_again)
        if small:
            self.query_one("#too-small", Static).update(
                f"tt-debug needs {MIN_WIDTH}×{MIN_HEIGHT}, this is {event.size.width}×{event.size.height}. "
                "Make it larger, or use: tt-debug threads STORE"
            )

    def _focus_again(self) -> None:
        """Textual takes the focus from what has no room to be shown; where there is room again it goes back."""
        if self.focused is None and self._had_focus is not None and self._had_focus.display:
            self.set_focus(self._had_focus)

    def on_waiting(self, event: Waiting) -> None:
        """The title says that a store is locked for as long as it is."""
        self.waits = self.waits - {event.kind} if event.over else self.waits | {event.kind}
        self.show_title(self.query_one(TitleBar).title)

    def on_failed(self, event: Failed) -> None:
        """The only one for all screens: Textual calls every class's own, so what differs is in `show_failure`."""
        if isinstance(event.error, Unreachable):
            self.tt.check(self.stores_shown())
        self.show_failure(event)

    def show_failure(self, event: Failed) -> None:
        """An error nobody showed in a panel becomes a toast: nothing is swallowed."""
        self.say(f"{event.kind}: {event.told}", severity="error")


__all__ = ["BaseScreen", "bindings"]
