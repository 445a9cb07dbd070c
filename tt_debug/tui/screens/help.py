"""The keys of a screen, made from the action table: every action, what it does, what it may touch, its command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.widgets import Input

from tt_debug.tui.actions import ACTIONS, ROWS, Action, Safety, for_screen, shown_key
from tt_debug.tui.actions import bindings as bindings_of
from tt_debug.tui.glyphs import ASCII, UNICODE
from tt_debug.tui.panel_help import PANELS
from tt_debug.tui.rows.pieces import Line, Piece, hanging
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.tour import with_keys
from tt_debug.tui.widgets.field import Field
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.title_bar import Title

_INKS = {Safety.LOOK: "muted", Safety.NOTE: "muted", Safety.WRITE: "warning", Safety.EXECUTE: "error"}
TITLE: Final = max(len(action.title) for action in ACTIONS)
"""Cells of the column of titles."""


class HelpScreen(BaseScreen):
    """A full screen of keys; ``where`` is the screen it was asked on, ``panel`` what had the focus. ``/`` searches."""

    WHERE = "help"
    BINDINGS = bindings_of("help")

    def __init__(self, where: str, panel: str = "") -> None:
        super().__init__()
        self._where = where
        self._panel = panel

    def compose_body(self) -> ComposeResult:
        """One list and a search box."""
        yield Panel(id="help", empty="no key of that name")
        yield Field(placeholder="part of a key's description", id="filter")

    def on_mount(self) -> None:
        """Fill it."""
        self.show_title(Title(crumbs=("keys", self._where), read_only=self.tt.read_only))
        view = self.query_one("#help", Panel)
        view.border_title = "1 Keys"
        self._show("")
        view.focus()

    def _show(self, text: str) -> None:
        panel = self.query_one("#help", Panel)
        lines = self._about_panel(panel.text_width) if not text else []
        headings = set(range(len(lines)))
        for title, actions in sections(self._where, self.tt.actions):
            found = [action for action in actions if text in f"{action.title} {action.help}".casefold()]
            if not found:
                continue
            headings.update((len(lines) - 1, len(lines)))
            lines.append((Piece(title, "primary"),))
            for action in found:
                first, *rest = action_lines(action, panel.text_width, self.tt.glyphs.ascii)
                lines.append(first)
                headings.update(range(len(lines), len(lines) + len(rest)))
                lines += rest
            lines.append(())
        panel.show(lines[:-1], headings=frozenset(headings))

    def _about_panel(self, width: int) -> list[Line]:
        """What the panel shows that had the focus."""
        title, words = PANELS.get((self._where, self._panel), ("", ""))
        if not title:
            return []
        told = self.tt.glyphs.words(with_keys(words, self.tt.key_of))
        return [(Piece(f"This panel: {title}", "primary"),), *hanging((Piece("  "),), (Piece(told),), width), ()]

    def on_resize(self, event: events.Resize) -> None:
        """Wrapped lines follow the width."""
        self.call_after_refresh(self._show, self.query_one("#filter", Input).value.casefold())

    def act_list_filter(self) -> None:
        """Search the keys."""
        box = self.query_one("#filter", Input)
        box.add_class("-shown")
        self.set_focus(box)

    @on(Input.Changed, "#filter")
    def _changed(self, event: Input.Changed) -> None:
        self._show(event.value.casefold())

    @on(Input.Submitted, "#filter")
    def _submitted(self) -> None:
        self.query_one("#filter").remove_class("-shown")
        self.set_focus(self.query_one("#help"))

    def act_help(self) -> None:
        """The key that opened it closes it."""
        self.tt.go_back()

    def act_refresh(self) -> None:
        """All keys again."""
        self._show("")

    def action_escape(self) -> None:
        """Close the search, else the help."""
        box = self.query_one("#filter", Input)
        if box.has_class("-shown") or box.value:
            box.value = ""
            self._submitted()
        else:
            self.tt.go_back()


def sections(where: str, actions: Sequence[Action] = ACTIONS) -> list[tuple[str, tuple[Action, ...]]]:
    """The actions of a screen under headings: its own, every screen's, the lists'."""
    own = tuple(action for action in for_screen(where, actions) if where in action.where)
    everywhere = tuple(action for action in for_screen(where, actions) if where not in action.where)
    lists = for_screen(ROWS, actions)
    parts = [(f"On this screen ({where})", own), ("Everywhere", everywhere), ("In every list", lists)]
    return [part for part in parts if part[1]]


def action_lines(action: Action, width: int, ascii_only: bool = False) -> list[Line]:
    """One action: keys, title, help with its command, wrapped beside them; and what it may touch beyond looking."""
    keys = _keys_of(action, ascii_only)
    title = (ASCII if ascii_only else UNICODE).words(action.title)
    label = (Piece(f"  {keys:<{KEYS[ascii_only]}} ", "accent"), Piece(f"{title:<{TITLE}} ", "strong"))
    safety = "" if action.safety is Safety.LOOK else f"{action.safety.value}: "
    told = (Piece(safety, _INKS[action.safety]), Piece(action.help), Piece(f" {action.cli}".rstrip(), "muted"))
    return hanging(label, told, width)


def _keys_of(action: Action, ascii_only: bool) -> str:
    if len(action.keys) > 2 and all(key.isdigit() for key in action.keys):
        return f"{action.keys[0]}-{action.keys[-1]}"
    return " ".join(shown_key(key, ascii_only=ascii_only) for key in action.keys) or "(no key)"


KEYS: Final = {only: max(cell_len(_keys_of(action, only)) for action in ACTIONS) for only in (False, True)}
"""Cells of the column of keys, in Unicode and in ASCII; a user's own may be longer."""
