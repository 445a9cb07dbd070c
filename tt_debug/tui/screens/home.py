"""Home: the threads of the open stores, and what the one under the cursor is about.

Owns reading the listings, filter and order; a thread's history belongs to the Thread screen.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer

from stores.errors import Unreachable
from stores.model import Status
from tt_debug.session.hiding import hidden_thread
from tt_debug.text import counted, safe_text
from tt_debug.tui.actions import bindings
from tt_debug.tui.copying import Copyable, report
from tt_debug.tui.messages import Failed
from tt_debug.tui.opening import OpenStore
from tt_debug.tui.rows.home import (
    detail_lines,
    fork_lines,
    problem_lines,
    summary_line,
)
from tt_debug.tui.rows.pieces import Piece, cut, text_of
from tt_debug.tui.rows.spent import Used
from tt_debug.tui.rows.thread_order import ORDERS, forks_of, ordered
from tt_debug.tui.screens.asking_from import AskingFrom
from tt_debug.tui.screens.base import NARROW
from tt_debug.tui.screens.home_importing import ImportingThreads
from tt_debug.tui.screens.home_reading import PreviewRead, Wanted, read_preview
from tt_debug.tui.widgets.banner import Banner
from tt_debug.tui.widgets.field import Field
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.threads_view import ThreadRow, ThreadsView
from tt_debug.tui.widgets.title_bar import Title

PREVIEW: Final = "2 Last messages"

REST: Final = 0.05
"""Seconds the cursor rests before the preview follows: 300 × ``j`` took 0.6 s with it, 1.8 s without."""


class HomeScreen(ImportingThreads, AskingFrom):
    """Threads left, the preview right or below."""

    WHERE = "home"
    GIVES_TIPS = True
    PANES = ("#threads", "#messages", "#forks", "#details")
    BINDINGS = bindings("home")

    def __init__(self) -> None:
        super().__init__()
        self._filter = ""
        self._order = 0
        self._rest: Timer | None = None
        self._complete = False
        self._failure = ""
        self._previewed: tuple[int, str] | None = None
        self._wrapped = 0
        """The cells that the preview was wrapped to."""

    def compose_body(self) -> ComposeResult:
        """The list and its preview."""
        with Horizontal(id="body"):
            yield ThreadsView(id="threads")
            with Vertical(id="side"):
                yield Panel(id="messages", empty="nothing to show yet")
                yield Panel(id="forks", empty="no forks of this thread")
                yield Panel(id="details")
        yield Field(placeholder="part of a thread's name", id="filter")

    def on_mount(self) -> None:
        """Titles, and the first reading."""
        for name, title in (("#messages", PREVIEW), ("#forks", "3 Forks"), ("#details", "4 Details")):
            self.query_one(name).border_title = title
        self.query_one(ThreadsView).focus()
        self.tt.take_what_came()
        self._show()

    def on_screen_resume(self) -> None:
        """Other screens may have forked or run something."""
        self.tt.read_listings(again=self._shown_before)

    def act_refresh(self) -> None:
        """Read every listing again."""
        self.tt.read_listings()

    def secrets_changed(self) -> None:
        """The preview again."""
        super().secrets_changed()
        self._preview()

    def listings_changed(self) -> None:
        """Show them."""
        self._show()

    def show_failure(self, event: Failed) -> None:
        """A preview that could not be read says so in its panel."""
        if event.kind == "preview":
            if isinstance(event.error, Unreachable) and self._previewed == self._chosen():
                return  # what was read of it stays; the notices say that the store is out of reach
            self._failure = event.told
            self._say_in_preview(f"{event.told}  {self.tt.glyphs.dot} {self.tt.key_of('copy')} copies a report")
            return
        super().show_failure(event)

    # --- the list

    def _show(self) -> None:
        view = self.query_one(ThreadsView)
        rows = tuple(self._rows())
        shown = sum(row.info is not None for row in rows)
        # While the stores come in one after the other, the first row is the first of all, until one is chosen.
        view.show(rows, datetime.now(UTC), empty=self._empty(), keep=self._complete or not view.at_top)
        self._complete = all(listing.read for listing in self.tt.listings)
        total = sum(len(listing.threads) for listing in self.tt.listings)
        name = f"1 Threads  /{self._filter}  {shown:,} of {total:,}" if self._filter else f"1 Threads  {total:,}"
        note = self._progress() or f"sort: {ORDERS[self._order]}"
        # A narrow screen draws the rule above the list only.
        narrow = self.size.width < NARROW
        view.border_title = Content(safe_text(f"{name}   {note}" if narrow else name))
        view.border_subtitle = "" if narrow else note
        self._show_title()
        self.query_one("#notices", Banner).show(self.notices())

    def notices(self) -> list[str]:
        """What a user should know of the open stores."""
        several = len(self.tt.stores) > 1
        told = [(store.label, notice) for store in self.tt.stores for notice in store.session.info.notices]
        return [*super().notices(), *(f"{label}: {notice}" if several else notice for label, notice in told)]

    def _progress(self) -> str:
        """How far the listings have come, or where that was stopped."""
        reading = sum(listing.reading for listing in self.tt.listings)
        if reading:
            return f"reading, {reading:,} so far {self.tt.glyphs.dot} Esc stops"
        if any(listing.stopped for listing in self.tt.listings):
            return f"stopped {self.tt.glyphs.dot} {self.tt.key_of('refresh')} reads all"
        return ""

    def _rows(self) -> Iterable[ThreadRow]:
        several = len(self.tt.listings) > 1
        for number, listing in enumerate(self.tt.listings):
            if several or listing.problem:
                kind = listing.store.session.info.kind
                count = counted(len(listing.threads), "thread")
                told = f": {listing.problem}" if listing.problem else f" · {kind} · {count}"
                text = f"{listing.store.label}{told}"
                yield ThreadRow(number, text=text, problem=bool(listing.problem))
            forks = forks_of(listing.threads)
            wanted = self._filter.casefold()
            kept = [info for info in listing.threads if wanted in info.thread.casefold()]
            for info in ordered(kept, ORDERS[self._order]):
                yield ThreadRow(number, info, forks.get(info.thread, 0))

    def _empty(self) -> str:
        if any(not listing.read for listing in self.tt.listings):
            return "reading…"
        if self._filter:
            return f"no thread with “{self._filter}” in its name; Esc shows all"
        names = ", ".join(listing.store.label for listing in self.tt.listings)
        return f"No threads in {names}. Run the agent with this store, or try: tt-debug demo"

    def _show_title(self) -> None:
        threads = [info for listing in self.tt.listings for info in listing.threads]
        stores = [listing.store for listing in self.tt.listings]
        kind = f"{stores[0].session.info.kind} · " if len(stores) == 1 else ""
        known = [info.checkpoints for info in threads if info.checkpoints is not None]
        held = f" · {counted(sum(known), 'checkpoint')}" if len(known) == len(threads) else ""
        title = Title(
            crumbs=(" + ".join(store.label for store in stores),),
            note=f"{kind}{counted(len(threads), 'thread')}{held}",
            waiting=sum(info.status == Status.WAITING for info in threads),
            failed=sum(info.status == Status.FAILED for info in threads),
            stranded=sum(info.status in (Status.CRASHED, Status.HELD) for info in threads),
            read_only=self.tt.read_only,
        )
        self.raised = ("recovery",) if title.stranded else ()
        self.show_title(title)

    def copyables(self) -> list[Copyable]:
        """The thread under the cursor by its name and its head, and what could not be read of it."""
        row = self.query_one(ThreadsView).current
        if row is None:
            return []
        listing, info = self.tt.listings[row.store], row.info
        store = listing.store.session.info
        failure = listing.problem or self._failure
        place = {"store": f"{store.kind} {store.url}", "thread": info.thread if info is not None else ""}
        found = [Copyable("r", "report", lambda: report(place, failure))] if failure else []
        if info is not None:
            found.append(Copyable("t", "thread", lambda: info.thread))
            if (head := info.head) is not None:
                found.append(Copyable("i", "head's id", lambda: head.id))
        return [*found, Copyable("s", "store", lambda: store.url)]

    def act_list_order(self) -> None:
        """The next order."""
        self._order = (self._order + 1) % len(ORDERS)
        self._show()

    def act_list_filter(self) -> None:
        """Type a part of a name."""
        box = self.query_one("#filter", Field)
        box.add_class("-shown")
        # Not box.focus(), which waits for its turn: the letters are already on their way.
        self.set_focus(box)

    @on(Field.Changed, "#filter")
    def _filter_changed(self, event: Field.Changed) -> None:
        self._filter = event.value.strip()
        self._show()

    @on(Field.Submitted, "#filter")
    def _filter_done(self) -> None:
        self.query_one("#filter").remove_class("-shown")
        self.set_focus(self.query_one(ThreadsView))

    def action_escape(self) -> None:
        """Close the filter and show all, else what every screen does."""
        box = self.query_one("#filter", Field)
        if box.has_class("-shown") or self._filter:
            box.value = ""
            self._filter_done()
        elif not self.tt.stop_reading():
            super().action_escape()

    def on_resize(self, event: events.Resize) -> None:
        """The list's title holds more or less."""
        self._show()

    # --- the preview

    @on(RowView.Highlighted, "#threads")
    def _highlighted(self) -> None:
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST, self._preview)

    @on(Panel.Resized, "#messages")
    def _resized(self, event: Panel.Resized) -> None:
        if event.panel.text_width != self._wrapped:
            self._highlighted()

    def _preview(self) -> None:
        row = self.query_one(ThreadsView).current
        if row is None or row.info is None:
            return
        listing = self.tt.listings[row.store]
        forks, keys = fork_lines(row.info, listing.threads, self.tt.glyphs, datetime.now(UTC))
        self.query_one("#forks", Panel).show(forks, [(row.store, key) for key in keys])
        self._show_details(row)
        head, self._failure = row.info.head, ""
        if head is None:
            some = "its head is not known; Enter shows what there is"
            self._say_in_preview("this thread has no checkpoint" if row.info.checkpoints == 0 else some)
            return
        self._wrapped = self.query_one("#messages", Panel).text_width
        wanted = Wanted(head, self._wrapped, self.tt.glyphs, self.tt.redaction, self.tt.preferences.prices)
        load = partial(read_preview, listing.store.session, wanted)
        self.tt.loader.call(self, "preview", load, partial(PreviewRead, row.store, row.info.thread))

    @on(PreviewRead)
    def _preview_read(self, event: PreviewRead) -> None:
        row = self.query_one(ThreadsView).current
        if row is None or row.info is None or self._chosen() != (event.store, event.thread):
            return
        self._previewed = self._chosen()
        self.query_one(ThreadsView).tell_used(event.ref, event.used)
        self._show_details(row, event.used)
        panel = self.query_one("#messages", Panel)
        name = PREVIEW if event.preview.messages else "2 State"
        panel.border_title = self._preview_title(row, name)
        panel.show(event.preview.lines, at_end=True)

    def _show_details(self, row: ThreadRow, used: Used | None = None) -> None:
        if row.info is not None:
            info, store = hidden_thread(row.info, self.tt.redaction), self.tt.stores[row.store].session.info
            self.query_one("#details", Panel).show(detail_lines(info, store, used))

    def _preview_title(self, row: ThreadRow, name: str) -> Content:
        """In a narrow terminal, which has no room for the details, also where the thread stands."""
        if row.info is None or not self.has_class("-narrow"):
            return Content(name)
        summary = summary_line(row.info, row.forks, self.tt.glyphs, self.tt.key_of("inbox"))
        line = (Piece(f"{name}   "), *summary)
        return Content(text_of(cut(line, self.size.width - 4, self.tt.glyphs.ellipsis)))

    def _say_in_preview(self, problem: str) -> None:
        panel = self.query_one("#messages", Panel)
        panel.show(problem_lines(problem, panel.text_width))

    def store_in_view(self) -> OpenStore | None:
        """The store of the row under the cursor, or the only one."""
        row = self.query_one(ThreadsView).current
        if row is not None:
            return self.tt.stores[row.store]
        return self.tt.stores[0] if len(self.tt.stores) == 1 else None

    def _chosen(self) -> tuple[int, str] | None:
        """The thread under the cursor, with its store's number."""
        row = self.query_one(ThreadsView).current
        return None if row is None or row.info is None else (row.store, row.info.thread)

    @on(RowView.Opened, "#threads")
    def _opened(self) -> None:
        chosen = self._chosen()
        if chosen is not None:
            store, thread = chosen
            self.tt.show_thread(self.tt.stores[store], thread)
            self.tt.tour_saw("thread")

    @on(RowView.Opened, "#forks")
    def _fork_opened(self, event: RowView.Opened) -> None:
        key = self.query_one("#forks", Panel).key(event.row)
        if isinstance(key, tuple) and isinstance(key[1], str):
            self.tt.show_thread(self.tt.stores[key[0]], key[1])

    def act_undo(self) -> None:
        """Take back the fork under the cursor, or the last write."""
        store, row = self.store_in_view(), self.query_one(ThreadsView).current
        if store is not None:
            self.tt.ask_to_undo(store, row.info.head if row is not None and row.info is not None else None)

    def act_undo_back(self) -> None:
        """Choose a fork that was taken back."""
        store = self.store_in_view()
        if store is not None:
            self.tt.ask_what_to_bring_back(store)

    def asked_of(self) -> tuple[OpenStore, None] | None:
        """Every thread of the store that the cursor is in."""
        row = self.query_one(ThreadsView).current
        return None if row is None else (self.tt.stores[row.store], None)

    def command_line(self) -> str:
        """The same listing on the command line."""
        text = f" --filter {self._filter!r}" if self._filter else ""
        return "\n".join(f"tt-debug threads {store.url}{text}" for store in self.tt.stores)
