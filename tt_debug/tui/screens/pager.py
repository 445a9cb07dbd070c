"""A long text in full, page by page, with a search: where a row of a panel only shows its beginning."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from tt_debug.text import human_size
from tt_debug.tui.actions import bindings
from tt_debug.tui.copying import Copyable
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.widgets.field import Field
from tt_debug.tui.widgets.pages_view import PagesView
from tt_debug.tui.widgets.title_bar import Title


class PagerScreen(BaseScreen):
    """``crumbs`` say whose text it is."""

    WHERE = "pager"
    PANES = ("#text",)
    BINDINGS = bindings("pager")

    def __init__(self, text: str, crumbs: tuple[str, ...]) -> None:
        super().__init__()
        self._text = text
        self._crumbs = crumbs
        self._view = PagesView(text, id="text")
        self._looked_for = ""

    def compose_body(self) -> ComposeResult:
        """The text and a line to search with."""
        yield self._view
        yield Field(placeholder="text to look for", id="search")

    def on_mount(self) -> None:
        """The first page."""
        self._view.focus()
        self._show_place()

    @on(PagesView.Turned)
    def _show_place(self) -> None:
        size = human_size(len(self._text.encode("utf-8", "surrogatepass")))
        view = self._view
        self.show_title(
            Title(self._crumbs, size, f"page {view.page + 1:,}/{view.pages:,}", read_only=self.tt.read_only)
        )
        view.border_title = "1 Text"

    def act_page_next(self) -> None:
        """The next page."""
        if not self._view.turn(self._view.page + 1):
            self.say("this is the last page")

    def act_page_back(self) -> None:
        """The page before."""
        if not self._view.turn(self._view.page - 1):
            self.say("this is the first page")

    def copyables(self) -> list[Copyable]:
        """The whole text."""
        return [Copyable("v", "text", lambda: self._text)]

    # --- searching

    def act_search_open(self) -> None:
        """Ask what to look for."""
        box = self.query_one("#search", Input)
        box.add_class("-shown")
        box.value = ""
        self.set_focus(box)

    @on(Input.Submitted, "#search")
    def _search_done(self, event: Input.Submitted) -> None:
        event.stop()
        self._close_search()
        self._looked_for = event.value
        self._to_hit(here=True)

    def act_search_next(self) -> None:
        """The next hit."""
        self._to_hit()

    def act_search_back(self) -> None:
        """The hit before, on this page."""
        hits = (
            [row for row in self._view.search(self._looked_for) if row < self._view.cursor] if self._looked_for else []
        )
        if hits:
            self._view.cursor = hits[-1]
        else:
            self.say("no hit before this on the page")

    def _to_hit(self, *, here: bool = False) -> None:
        if not self._looked_for:
            self.say(f"nothing is searched for yet: {self.tt.key_of('search.open')} asks for a text")
            return
        view = self._view
        ahead = [row for row in view.search(self._looked_for) if row > view.cursor or (here and row == view.cursor)]
        if ahead:
            view.cursor = ahead[0]
            return
        page = view.find(self._looked_for, view.page + 1)
        if page is None:
            self.say(f"“{self._looked_for}” is not in this text", severity="warning")
            return
        view.turn(page)
        view.cursor = next(iter(view.search(self._looked_for)), 0)

    def _close_search(self) -> None:
        self.query_one("#search", Input).remove_class("-shown")
        self.set_focus(self._view)

    def action_escape(self) -> None:
        """Close the search, else the text."""
        if self.query_one("#search", Input).has_class("-shown"):
            self._close_search()
        else:
            self.tt.go_back()
