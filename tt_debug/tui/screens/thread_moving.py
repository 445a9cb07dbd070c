"""Moving through the history: along the line, over events, into forks; folding, pinning, searching.

Owns what a move means; where the cursor then is, the panels follow by themselves.
"""

from __future__ import annotations

from typing import Final

from textual import on
from textual.widgets import Input

from stores.blobs import Blob
from stores.model import Opaque, Path
from stores.paths import format_path
from tt_debug.redaction import Hidden
from tt_debug.tui.copying import hex_text
from tt_debug.tui.rows.diff import LIMIT
from tt_debug.tui.rows.graph_items import GraphItem
from tt_debug.tui.rows.line import next_event
from tt_debug.tui.rows.pieces import VALUE_CELLS
from tt_debug.tui.screens.pager import PagerScreen
from tt_debug.tui.screens.thread_reading import MOST
from tt_debug.tui.screens.thread_searching import ThreadSearching
from tt_debug.tui.widgets.diff_view import DiffView
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.state_view import StateView

PAGED: Final = 50_000
"""Characters of a message from which on it is shown by pages, not in the conversation."""
HEXED: Final = 1_000_000
"""Bytes that are shown in hex."""


class ThreadMoving(ThreadSearching):
    """The keys that only look."""

    # --- along the line

    def act_nav_back(self) -> None:
        """The checkpoint before."""
        self._along(-1)

    def act_nav_fwd(self) -> None:
        """The checkpoint after."""
        self._along(1)

    def _along(self, by: int) -> None:
        if self.selected is None or not self.line:
            return
        at = self.places.get(self.selected, 0) + by
        if at < 0:
            first = "this is the first checkpoint of the line"
            self.say(first if self.whole else "this is the first checkpoint that has been read")
        elif at >= len(self.line):
            self.say("this is the end of the line")
        else:
            self.select_ref(self.line[at])

    def act_nav_event_back(self) -> None:
        """The event before."""
        self._to_event(-1)

    def act_nav_event_fwd(self) -> None:
        """The event after."""
        self._to_event(1)

    def _to_event(self, direction: int) -> None:
        if self.selected is None:
            return
        at = next_event(self.moments, self.places.get(self.selected, 0), direction)
        if at is None:
            way = "before" if direction < 0 else "after"
            self.say(self._as_read(f"no error, wait, fork, edit or mark {way} this on the line"))
        else:
            self.select_ref(self.line[at])

    def act_nav_head(self) -> None:
        """The end of the line; there, the line becomes the trunk of the graph, and a subgraph is left for the trunk."""
        if not self.line:
            return
        head = self.line[-1]
        if self.selected == head and head.ns and self.trunk is not None:
            self.select_ref(self.trunk)
        elif self.selected == head and head != self.trunk:
            self.lay_out(trunk=head, select=head)
        else:
            self.select_ref(head)

    # --- folding and opening

    def act_row_fold(self) -> None:
        """Fold what the cursor is in."""
        panel = self.panel()
        if isinstance(panel, (StateView, DiffView)):
            panel.fold()
        elif panel is self.graph:
            self._fold_branch()

    def act_row_unfold(self) -> None:
        """Unfold what the cursor is on."""
        panel = self.panel()
        item = self.graph.item()
        if isinstance(panel, (StateView, DiffView)):
            panel.unfold()
        elif panel is self.graph and item is not None and item.kind in ("fold", "more"):
            self._open_item(item)

    def _fold_branch(self) -> None:
        """Fold the branch the cursor is in; the cursor stands on its stub then."""
        row = self.graph.cursor
        item = self.graph.item(row)
        while item is not None and row >= 0 and not (item.kind == "open" and item.lane <= self._lane()):
            row -= 1
            item = self.graph.item(row) if row >= 0 else None
        if item is None:
            self._along(-1)
            return
        self.unfolded -= {item.ref}
        self.lay_out(select=item.ref)

    def _lane(self) -> int:
        item = self.graph.item()
        return item.lane if item is not None else 0

    @on(RowView.Opened, "#graph")
    def _graph_opened(self, event: RowView.Opened) -> None:
        event.stop()
        item = self.graph.item(event.row)
        if item is not None:
            self._open_item(item)

    def _open_item(self, item: GraphItem) -> None:
        if item.kind == "fold":
            self.unfolded |= {item.ref}
            self.lay_out(select=item.ref)
        elif item.kind == "more":
            self.listed |= {(item.ref, item.lane)}
            self.lay_out(select=item.ref)
        elif item.kind == "open":
            self.unfolded -= {item.ref}
            self.lay_out(select=item.ref)
        elif self.line and item.ref == self.line[-1] and item.ref != self.trunk and not item.ref.ns:
            self.lay_out(trunk=item.ref, select=item.ref)
        else:
            self.set_focus(self.views.named(self.tab))

    @on(RowView.Opened, "#state")
    @on(RowView.Opened, "#meta")
    def _value_opened(self, event: RowView.Opened) -> None:
        event.stop()
        view = event.view
        node = view.current() if isinstance(view, StateView) and not view.toggle() else None
        if node is None:
            return
        if isinstance(node.value, Hidden):
            self.say(f"a secret: {self.tt.key_of('secrets')} shows secrets")
        elif isinstance(node.value, Blob):
            self.say(f"{node.value.size:,} bytes, kept apart in the store; SHA-256 {node.value.digest}")
        elif isinstance(node.value, Opaque):
            self._open_text(hex_text(node.value.data[:HEXED]), node.path)
        elif isinstance(node.value, str) and (len(node.value) > VALUE_CELLS or "\n" in node.value):
            self._open_text(node.value, node.path)
        else:
            self.say(f"nothing more to unfold here; {self.tt.key_of('edit')} edits this value")

    def _open_text(self, text: str, path: Path) -> None:
        """A text that a row only shows the beginning of."""
        header = self.header()
        where = self._where(header) if header is not None else ""
        self.app.push_screen(PagerScreen(text, (self.thread, where, format_path(path) or "state")))

    @on(RowView.Opened, "#diff")
    def _change_opened(self, event: RowView.Opened) -> None:
        """Write a text out in full; for any other value go to its place in the state."""
        event.stop()
        diff = self.views.diff
        row = diff.current()
        if row is None or row.kind == "rest":
            return
        if row.kind == "more":
            self._show_more()
            return
        if not diff.toggle():
            self._to_state(row.path)

    def _show_more(self) -> None:
        """More changes of a long diff, or the diff of a large state."""
        details = self.details
        if details is not None and details.huge and details.ref not in self.asked_for:
            self.asked_for.add(details.ref)
        else:
            self.diff_rows += LIMIT
        self.follow_later()

    @on(RowView.Opened, "#messages")
    def _message_opened(self, event: RowView.Opened) -> None:
        event.stop()
        messages = self.views.messages
        path = messages.current()
        text = messages.current_text()
        if path is not None and len(text) > PAGED:
            self._open_text(text, path)
        elif not messages.toggle() and path is not None:
            self._to_state(path)

    def _to_state(self, path: tuple[str | int, ...]) -> None:
        self.action_tab("state")
        self.views.state.go_to(path)

    # --- pinning

    def act_mark_a(self) -> None:
        """Pin A here, or unpin it."""
        if self.selected is None or self.view is None:
            return
        self.pin = None if self.pin == self.selected else self.selected
        self.swapped = False
        self.graph.pin_at(self.pin)
        self.show_line(force=True)
        self.follow_later()
        self.say("A is pinned here: State and Diff compare with it" if self.pin else "A is unpinned")

    def act_diff_swap(self) -> None:
        """The other way round."""
        self.swapped = not self.swapped
        self.follow_later()

    def action_escape(self) -> None:
        """Close the search, then forget it, then what every screen does."""
        if self.query_one("#search", Input).has_class("-shown"):
            self._close_search()
        elif self.reading is not None and self.read_so_far:
            self.reading.stop()
        elif self.maximized is not None or not self.forget():
            super().action_escape()

    def secrets_changed(self) -> None:
        """The panels and what rows tell of questions."""
        super().secrets_changed()
        self.act_refresh()

    def act_refresh(self) -> None:
        """Read the thread and the panels again, and more of a line that was not read to its beginning."""
        if not self.whole and self.reading is None:
            self.most += MOST
        self.facts = type(self.facts)({}, {})
        self._asked.clear()
        self.read(select=self.selected)

    def act_order(self) -> None:
        """Branch order, or plain time order over all forks."""
        self.by_time = not self.by_time
        self.lay_out(select=self.selected)
        self.say("in the order of time, over all forks" if self.by_time else "in branch order")
