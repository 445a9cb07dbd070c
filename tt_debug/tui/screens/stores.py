"""The choice of a store when none was given: those found in the folder, the configured one, and the demo.

Owns looking for them; reading them begins when one is chosen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from stores.errors import Unsupported
from stores.postgres_address import OURS, named_by
from stores.registry import mask_password, proposals
from tt_debug.text import human_size, safe_text
from tt_debug.tui.actions import bindings
from tt_debug.tui.app import Listing
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.messages import Failed
from tt_debug.tui.opening import OpenStore, only_graph
from tt_debug.tui.rows.pieces import Line, Piece
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.title_bar import Title

MOST_PROPOSED: Final = 9
"""Mappings that are offered, each with a digit."""
SUFFIXES = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry: what it is called, what is known of it, and the URL it opens; none for the demo."""

    name: str
    note: str
    url: str | None = None


class StoresOpened(Message):
    """The chosen stores, open."""

    def __init__(self, stores: tuple[OpenStore, ...], demo: bool) -> None:
        super().__init__()
        self.stores = stores
        self.demo = demo


class ProposalsRead(Message):
    """How tables of a file that could not be opened might be read as history, as URLs."""

    def __init__(self, failed: Failed, urls: tuple[str, ...]) -> None:
        super().__init__()
        self.failed = failed
        self.urls = urls


def _mapped(url: str) -> tuple[str, str]:
    """The table of a mapping, and which of its columns holds what."""
    parts = {name: value for name, value in parse_qsl(url.partition("?")[2]) if name in OURS}  # the others are secret
    return parts.pop("table", "every table"), " ".join(f"{part}={column}" for part, column in parts.items())


def choices(folder: Path, environ: Mapping[str, str]) -> list[Choice]:
    """What can be opened from ``folder``, the demo last. Looks at names and sizes only; opens nothing."""
    found = [Choice(mask_password(url), "from TT_DEBUG_STORE", url)] if (url := environ.get("TT_DEBUG_STORE")) else []
    if place := named_by(environ):
        found.append(Choice(place, "from the PG* variables", "postgresql://"))
    graph = only_graph(folder / "langgraph.json")
    serves = f", resumes with graph {graph} of langgraph.json" if graph else ""
    files = (path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES and path.is_file())
    found += [Choice(path.name, human_size(path.stat().st_size) + serves, str(path)) for path in files]
    return [*found, Choice("Demo", "two small example stores, offline, no keys")]


class StoresScreen(BaseScreen):
    """A list to choose from; the choice is opened off the screen's thread."""

    WHERE = "stores"
    BINDINGS = bindings("stores")

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        self._folder = folder or Path.cwd()
        self._choices: list[Choice] = []
        self._file: str | None = None
        self._opening = False

    def compose_body(self) -> ComposeResult:
        """One list."""
        yield Panel(id="choices", empty="nothing to open here")

    def on_mount(self) -> None:
        """What is there."""
        self.show_title(Title(crumbs=(str(self._folder),), read_only=self.tt.read_only))
        view = self.query_one("#choices", Panel)
        view.border_title = "1 Open a store"
        self._choices = choices(self._folder, os.environ)
        lines: list[Line] = [
            (Piece(f"{safe_text(choice.name):<32}", "strong"), Piece(safe_text(choice.note), "muted"))
            for choice in self._choices
        ]
        view.show(lines)
        view.focus()

    def act_refresh(self) -> None:
        """Look again."""
        self.on_mount()

    @on(RowView.Opened, "#choices")
    def _chosen(self, event: RowView.Opened) -> None:
        if self._opening or not self.is_active:
            return  # Enter was sent twice in one go
        choice = self._choices[event.row]
        opening = self.tt.opening.with_graph_of(self._folder)
        self._file = choice.url
        self._open(opening.demo if choice.url is None else partial(opening.open_all, (choice.url,)))

    def _open(self, work: Callable[[], tuple[OpenStore, ...]]) -> None:
        self._opening = True
        self.query_one("#choices").border_subtitle = "opening…"
        self.tt.loader.call(self, "opening", work, partial(StoresOpened, demo=self._file is None))

    @on(StoresOpened)
    def _opened(self, event: StoresOpened) -> None:
        from tt_debug.tui.screens.home import HomeScreen

        self.tt.stores = event.stores
        self.tt.listings = tuple(Listing(store) for store in event.stores)
        self.tt.read_listings()
        self.tt.read_bookmarks()
        self._opening = False
        self.query_one("#choices").border_subtitle = ""
        if event.demo:
            self.tt.start_tour()
        self.app.push_screen(HomeScreen())

    def show_failure(self, event: Failed) -> None:
        """Opening failed: say so, the list stays. Of a file whose tables nobody knows, those that look like a history
        are offered."""
        self._opening = False
        self.query_one("#choices").border_subtitle = ""
        if event.kind == "opening" and isinstance(event.error, Unsupported) and self._file is not None:
            self.tt.loader.call(
                self, "looking for a history", partial(proposals, self._file), partial(ProposalsRead, event)
            )
        else:
            super().show_failure(event)

    @on(ProposalsRead)
    def _proposed(self, event: ProposalsRead) -> None:
        urls = event.urls[:MOST_PROPOSED]
        if not urls:
            super().show_failure(event.failed)
            return

        def chosen(key: str | None) -> None:
            if key is not None:
                self._open(partial(self.tt.opening.open_all, (urls[int(key) - 1],)))

        rows = [(str(number), *_mapped(url)) for number, url in enumerate(urls, start=1)]
        self.app.push_screen(MenuDialog("Which table holds the history?", rows), chosen)
