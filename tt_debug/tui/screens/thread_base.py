"""What the parts of the Thread screen share: the open thread, the current line, where the cursor is.

Owns reading the thread and its details; moving, panels, editing and running are the parts' own.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.timer import Timer

from stores.errors import Unreachable
from stores.model import Header, Ref
from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView
from tt_debug.tui.app import OpenStore
from tt_debug.tui.messages import Failed
from tt_debug.tui.rows.diff import LIMIT
from tt_debug.tui.rows.graph import GraphFacts
from tt_debug.tui.rows.line import HistoryLine
from tt_debug.tui.rows.timeline import Moments
from tt_debug.tui.screens.one_store import OneStore
from tt_debug.tui.screens.thread_details import Details, Remembered, RowFacts
from tt_debug.tui.screens.thread_parts import LaidOut, PartRead, TabViews, ThreadRead
from tt_debug.tui.screens.thread_reading import MOST, Asked, Reading, Shape, read_thread, shaped
from tt_debug.tui.watch import Watch
from tt_debug.tui.widgets.banner import Banner
from tt_debug.tui.widgets.field import Field
from tt_debug.tui.widgets.graph_view import GraphView
from tt_debug.tui.widgets.timeline import Timeline

LARGE: Final = 2000
"""Checkpoints from which on Python's collector would be felt."""


class ThreadBase(OneStore):
    """State and reading. The parts call `read`, `select_ref` and `show_line`."""

    taking = False
    """While rows are taken in: where the cursor comes to stand then, nobody has moved it to."""

    def __init__(self, store: OpenStore, thread: str, ref: Ref | None = None) -> None:
        super().__init__()
        self.store = store
        self.thread = thread
        # Kept at hand: looking them up by a selector costs more than a move of the cursor.
        self.graph = GraphView(id="graph")
        self.views = TabViews()
        self.trouble = Banner(id="trouble")
        self.trouble.can_hide = False
        self.timeline = Timeline(id="timeline")
        self.view: ThreadView | None = None
        self.trunk: Ref | None = None
        self.unfolded: frozenset[Ref] = frozenset()
        self.listed: frozenset[tuple[Ref, int]] = frozenset()
        self.selected: Ref | None = ref
        self.pin: Ref | None = None
        self.swapped = False
        self.asked_for: set[Ref] = set()
        """Checkpoints whose large states are to be compared all the same."""
        self.diff_rows = LIMIT
        self.remembered = Remembered()
        self.by_time = False
        self.details: Details | None = None
        self.reading_details = False
        self.failures: dict[str, str] = {}
        """What could not be read, by the id of the panel it is said in."""
        self.facts = RowFacts({}, {})
        self.line: tuple[Ref, ...] = ()
        self.places: Mapping[Ref, int] = {}
        self.moments = Moments()
        self.reading: Watch | None = None
        self.read_so_far = 0
        self.whole = True
        self.most = MOST
        """How much of the line is read though nobody looks at it."""
        self._opened: Reading | None = None
        self._rest: Timer | None = None
        self._slow: Timer | None = None
        self._asked: set[tuple[str, Ref]] = set()
        self._known_notices = frozenset(store.session.info.notices)

    @property
    def session(self) -> Session:
        """The store's session."""
        return self.store.session

    def compose_body(self) -> ComposeResult:
        """The graph, one of the tabs or two, the timeline, the search line."""
        with Container(id="thread-body"):
            yield self.graph
            with Container(id="thread-side"):
                yield self.trouble
                yield from self.views
        yield self.timeline
        yield Field(placeholder="text to look for", id="search")

    # --- the thread

    @property
    def _trunk_line(self) -> HistoryLine:
        """The line to the trunk, which the graph's first lane is of."""
        return self._opened.line if self._opened is not None else HistoryLine()

    def read(self, select: Ref | None = None, trunk: str | None = None, *, to_head: bool = False) -> None:
        """Read the thread again, with ``trunk`` (a thread's name, default: as before) as the current line.

        The cursor stays where it is, or goes to ``select``, or to the line's head if nobody moves it meanwhile."""
        wanted = trunk or (self.trunk.thread if self.trunk is not None else self.thread)
        if self.reading is not None:
            self.reading.stop()  # its answer would no longer be taken
        watch = self.reading = Watch()
        loader = self.tt.loader  # a reading may outlive this screen, which then knows no app

        def tell(read: int, reading: Reading | None = None) -> None:
            loader.post(self, PartRead(watch, read, reading))

        def part(reading: Reading) -> None:
            tell(len(reading.view.refs), reading)

        asked = Asked(self.thread, self._shape(wanted), watch, part, tell, loader.give_way, self.most, self._opened)
        work = partial(read_thread, self.session, asked)
        left = self.selected if to_head else None
        loader.call(self, "thread", work, lambda read: ThreadRead(read, select, left))

    def _say_news(self) -> None:
        """What has come up about the store since the screen was opened, such as a connection that was lost."""
        for notice in self.session.info.notices:
            if notice not in self._known_notices:
                self.say(notice, severity="warning")
        self._known_notices = frozenset(self.session.info.notices)

    def on_unmount(self) -> None:
        """Nobody waits for the rest."""
        if self.reading is not None:
            self.reading.stop()

    @on(PartRead)
    def _part_read(self, event: PartRead) -> None:
        """A part of what is being read: shown where nothing is shown yet, else only counted."""
        if event.watch is not self.reading:
            return
        if event.reading is None:
            self.read_so_far = event.read
        elif self.view is None or not self.whole:
            self._take(event.reading, None)
        self.show_counts()

    def _shape(self, trunk: str) -> Shape:
        return Shape(trunk, self.unfolded, self.listed, self.by_time)

    def lay_out(self, trunk: Ref | None = None, select: Ref | None = None) -> None:
        """Make the rows of the thread anew, after folding or with another line as the trunk."""
        if self._opened is None:
            return
        wanted = trunk or self._opened.trunk
        work = partial(shaped, self._opened, wanted, self._shape(wanted.thread))
        self.tt.loader.call(self, "layout", work, lambda read: LaidOut(read, select))

    @on(LaidOut)
    def _laid_out(self, event: LaidOut) -> None:
        if event.reading.view is not self.view:
            # More has been read meanwhile.
            self.lay_out(event.reading.trunk, event.select)
            return
        self._take(replace(event.reading, whole=self.whole), event.select)
        self.thread_was_read()

    @on(ThreadRead)
    def _thread_read(self, event: ThreadRead) -> None:
        self.reading, self.read_so_far = None, 0
        stayed = event.left is not None and event.left == self.selected
        self._take(event.reading, event.reading.trunk if stayed else event.select)
        self.thread_was_read()
        self._say_news()
        self.perform_after_reading()

    def _take(self, reading: Reading, select: Ref | None) -> None:
        first = self.view is None
        grown = self.view is not None and len(reading.view.refs) != len(self.view.refs)
        self._opened, self.view, self.trunk = reading, reading.view, reading.trunk
        self.whole = reading.whole
        if grown:
            # A checkpoint that stood at the end has been answered, retried or gone on from.
            self._asked.clear()
        if len(reading.view.refs) > LARGE:
            # A full collection walks every header: 200 ms for 20,000, in the middle of a key. They are in no cycle.
            gc.freeze()
        select = select or (self.selected if first else None)
        if first and select is None:
            select = reading.view.head
        self.taking = True
        self.graph.show(reading.items, self.graph_facts(), None if select is None else reading.items.row_of(select))
        self.taking = False
        self.show_counts()
        self.follow(force=True)

    def graph_facts(self) -> GraphFacts:
        """What the graph's rows show beside their headers."""
        headers = self.view.seen if self.view is not None else {}
        return GraphFacts(
            headers=headers,
            head=self.trunk,
            changed=self.facts.changed,
            notes=self.facts.notes,
            now=datetime.now(UTC),
            live=self.graph.facts.live,
            glyphs=self.tt.glyphs,
        )

    def select_ref(self, ref: Ref) -> None:
        """Put the graph's cursor on a checkpoint, unfolding the branch it lies in."""
        row = self.graph.row_of(ref)
        item = self.graph.item(row) if row is not None else None
        if row is not None and item is not None and item.kind == "checkpoint":
            self.graph.cursor = row
        elif self.view is not None:
            self.unfolded |= frozenset(self.view.line(ref))
            self.lay_out(select=ref)

    def header(self) -> Header | None:
        """The header of the checkpoint under the cursor."""
        return self.view.seen.get(self.selected) if self.view is not None and self.selected is not None else None

    def show_failure(self, event: Failed) -> None:
        """What failed is said in the panel it was for."""
        if event.kind == "details":
            self.reading_details = False
            if self._slow is not None:
                self._slow.stop()
        if event.kind in ("details", "thread", "layout"):
            if isinstance(event.error, Unreachable) and self.details is not None:
                # What was read before stays, dimmed.
                self.show_unreachable()
                return
            self.show_problem(event.kind, event.told)
        else:
            super().show_failure(event)

    # --- what the parts do

    def thread_was_read(self) -> None:
        """Its rows and line are shown."""

    def cursor_moved(self) -> None:
        """The user put the cursor on another checkpoint."""

    def follow(self, *, force: bool = False) -> None:
        """The cursor may stand on another checkpoint."""
        raise NotImplementedError

    def follow_later(self) -> None:
        """Read what the panels show, once the cursor rests."""
        raise NotImplementedError

    def show_counts(self) -> None:
        """The graph's counts."""
        raise NotImplementedError

    def show_place(self) -> None:
        """Title and timeline."""
        raise NotImplementedError

    def mark_stale(self, stale: bool) -> None:
        """Dim what belongs to another checkpoint than the cursor's."""
        raise NotImplementedError

    def show_pending(self, *, slow: bool = False) -> None:
        """Say which checkpoint is being read."""
        raise NotImplementedError

    def show_details(self, details: Details) -> None:
        """Fill the panels."""
        raise NotImplementedError

    def show_problem(self, kind: str, text: str) -> None:
        """Say in the panels why there is nothing."""
        raise NotImplementedError

    def show_unreachable(self) -> None:
        """What was read before stays; say that the checkpoint under the cursor could not be."""
        raise NotImplementedError
