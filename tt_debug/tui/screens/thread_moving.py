"""Moving through the history: along the line, over events, into forks; folding, pinning, searching.

Owns what a move means; where the cursor then is, the panels follow by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Protocol, runtime_checkable

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
from tt_debug.tui.screens.thread_parts import HitFound
from tt_debug.tui.screens.thread_places import LONG, ThreadPlaces
from tt_debug.tui.screens.thread_reading import MOST
from tt_debug.tui.widgets.diff_view import DiffView
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.state_view import StateView

PAGED: Final = 50_000
"""Characters of a message from which on it is shown by pages, not in the conversation."""
HEXED: Final = 1_000_000
"""Bytes that are shown in hex."""


@runtime_checkable
class Searched(Protocol):
    """A list that can be searched."""

    def search(self, text: str) -> Sequence[int]: ...


def _is_ahead(way: int, direction: int, here: bool) -> bool:
    return way * direction > 0 or (here and way == 0)


class ThreadMoving(ThreadPlaces):
    """The keys that only look."""

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)
        self.looked_for = ""

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

    # --- searching

    def act_search_open(self) -> None:
        """Ask what to look for."""
        box = self.query_one("#search", Input)
        self._searched = self.panel()
        box.add_class("-shown")
        box.value = ""
        self.set_focus(box)

    @on(Input.Submitted, "#search")
    def _search_done(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value
        self._close_search()
        self.looked_for = text
        if text:
            # The focus comes back only after this message.
            self._to_hit(self._searched, 1, here=True)

    def _close_search(self) -> None:
        self.query_one("#search", Input).remove_class("-shown")
        self.set_focus(self._searched)

    _searched: RowView

    def act_search_next(self) -> None:
        """The next hit."""
        self._to_hit(self.panel(), 1)

    def act_search_back(self) -> None:
        """The hit before."""
        self._to_hit(self.panel(), -1)

    def _to_hit(self, panel: RowView, direction: int, *, here: bool = False) -> None:
        if not self.looked_for:
            self.say(f"nothing is searched for yet: {self.tt.key_of('search.open')} asks for a text")
            return
        if panel is self.graph and panel.row_count > LONG:
            find = partial(self.graph.nearest, self.looked_for, direction, here=here)
            self.tt.loader.call(self, "search", find, partial(HitFound, direction, here))
            return
        hits = panel.search(self.looked_for) if isinstance(panel, Searched) else ()
        ahead = [row for row in hits if _is_ahead(row - panel.cursor, direction, here)] or hits
        self._go_to_hit(panel, (ahead[0] if direction > 0 else ahead[-1]) if ahead else None, direction, here)

    @on(HitFound)
    def _hit_found(self, event: HitFound) -> None:
        self._go_to_hit(self.graph, event.row, event.direction, event.here)

    def _go_to_hit(self, panel: RowView, row: int | None, direction: int, here: bool) -> None:
        if row is None:
            none = f"no row of this panel has “{self.looked_for}”"
            self.say(self._as_read(none) if panel is self.graph else none, severity="warning")
            return
        if not _is_ahead(row - panel.cursor, direction, here):
            self.say("from the top again" if direction > 0 else "from the end again")
        panel.cursor = row

    def action_escape(self) -> None:
        """Close the search, then forget it, then what every screen does."""
        if self.query_one("#search", Input).has_class("-shown"):
            self._close_search()
        elif self.reading is not None and self.read_so_far:
            self.reading.stop()
        elif self.maximized is not None or not self.forget():
            super().action_escape()

    def forget(self) -> bool:
        """Forget what was looked for; whether there was anything."""
        forgotten, self.looked_for = bool(self.looked_for), ""
        return forgotten

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
