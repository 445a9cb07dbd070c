"""Following the cursor of the Thread screen: the line through it at once, what the panels show unless it goes on.

Owns what is asked for and when; how it is drawn is the panels'.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from textual import on

from stores.model import Ref, Status
from tt_debug.tui.rows.graph_items import GraphItem
from tt_debug.tui.rows.line import line_of, with_marks
from tt_debug.tui.screens.thread_base import ThreadBase
from tt_debug.tui.screens.thread_details import RowFacts, Wanted, read_details, read_row_facts
from tt_debug.tui.screens.thread_parts import DetailsRead, FactsRead, HeadersRead
from tt_debug.tui.widgets.messages_view import MessagesView

REST: Final = 0.05
"""Seconds after a step within which another makes the panels wait: 300 × ``j`` took 0.6 s with it, 1.8 s without."""
SLOW: Final = 0.2
"""Seconds after which a reading shows a sign of life."""


class ThreadFollowing(ThreadBase):
    """What is read of the checkpoint under the cursor, and of the rows in view."""

    def on_mount(self) -> None:
        """The line and title are drawn in one frame with the cursor; by a message they would be a frame late."""
        self.watch(self.graph, "cursor", self._moved, init=False)

    def _moved(self) -> None:
        if not self.taking:
            self.follow()

    def follow(self, *, force: bool = False) -> None:
        """The line and title at once; the panels as soon as may be."""
        item = self.graph.item()
        if item is None or self.view is None:
            return
        changed = item.ref != self.selected
        self.selected = item.ref
        if changed and not force:
            self.cursor_moved()
        self.show_line(force=force)
        if changed or force or self.behind:
            self.follow_later()

    @property
    def behind(self) -> bool:
        """Whether the panels show another checkpoint than the cursor's, or none."""
        return self.details is None or self.details.ref != self.selected

    @on(MessagesView.Unwrapped)
    def _unwrapped(self) -> None:
        self.follow_later()

    def follow_later(self) -> None:
        """Have the panels follow: at once where the cursor stood still, else, dim, when it has rested again."""
        moving = self._rest is not None
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST, partial(self._rested, read=moving))
        if moving:
            self.mark_stale(self.behind)
        else:
            # The cursor is drawn before, and is not to wait for a thread that computes.
            self.call_after_refresh(self.read_details)

    def _rested(self, *, read: bool) -> None:
        """Tell of the rows in view what is not known, and of the panels that what they are to show is not there yet."""
        self._rest = None
        if read:
            self.read_details()
        if self.reading_details:
            self.mark_stale(self.behind)
            self.show_pending()
            self._slow = self.set_timer(SLOW, partial(self.show_pending, slow=True))
        self._read_headers()
        self._read_facts()

    def show_line(self, *, force: bool = False) -> None:
        """The timeline and title for the line through the cursor."""
        if self.view is None or self.selected is None or self.trunk is None:
            return
        if force or self.selected not in self.places:
            on_trunk = self.selected in self._trunk_line.places
            found = self._trunk_line if on_trunk else line_of(self.view, self.view.tip(self.selected), self._trunk_line)
            self.line, self.places = found.refs, found.places
            self.moments = with_marks(found, self.marked())
        self.show_place()

    def marked(self) -> dict[str, set[Ref]]:
        """What is marked on the timeline beside what happened: the pin; the parts have more."""
        return {"A": {self.pin} if self.pin is not None else set()}

    def read_details(self) -> None:
        """Ask for what the panels show."""
        if self.selected is None or self.view is None:
            return
        step = self.view.seen[self.selected].step
        self.tt.tour_saw(f"step {step}")
        messages = self.views.messages
        wanted = Wanted(
            self.selected,
            self.pin if self.pin != self.selected else None,
            self.views.state.folds,
            messages.text_width if messages.display else None,
            messages.opened,
            self.tt.glyphs,
            self.tt.redaction,
            self.swapped,
            self.selected in self.asked_for,
            self.diff_rows,
            self.remembered,
        )
        self.tt.loader.call(self, "details", partial(read_details, self.session, wanted), DetailsRead)
        self.reading_details = True
        if self._slow is not None:
            self._slow.stop()

    @on(DetailsRead)
    def _details_read(self, event: DetailsRead) -> None:
        details = event.details
        if details.ref != self.selected:
            return
        self.details, self.reading_details = details, False
        self._learn(RowFacts({details.ref: details.changed}, {}))
        self.show_details(details)
        self._say_news()

    def _in_view(self) -> list[GraphItem]:
        top = self.graph.scroll_offset.y
        return self.graph.items[top : top + self.graph.scrollable_content_region.height]

    def _read_headers(self) -> None:
        """Of the rows in view, where only their addresses are known; of a branch also its end's."""
        view = self.view
        if view is None:
            return
        folds = (view.tip(item.ref) for item in self._in_view() if item.kind == "fold")
        unread = [ref for ref in (*(item.ref for item in self._in_view()), *folds) if not view.headers.knows(ref)]
        if unread:
            work = partial(view.headers.learn, unread)
            self.tt.loader.call(self, "headers", work, lambda _: HeadersRead(), prefetch=True)

    @on(HeadersRead)
    def _headers_read(self) -> None:
        self.graph.show_facts(self.graph.facts)
        self.show_place()

    def _read_facts(self) -> None:
        rows = self._in_view()
        stopped = (Status.FAILED, Status.WAITING)
        wanted = [(item.kind, item.ref) for item in rows if item.kind == "checkpoint" or item.status in stopped]
        fresh = [each for each in wanted if each not in self._asked and each[0] in ("checkpoint", "next")]
        self._asked.update(fresh)
        refs = [ref for kind, ref in fresh if kind == "checkpoint" and ref not in self.facts.changed]
        ends = [ref for kind, ref in fresh if kind == "next"]
        if refs or ends:
            work = partial(read_row_facts, self.session, refs, ends, self.tt.redaction)
            self.tt.loader.call(self, "rows", work, FactsRead, prefetch=True)

    @on(FactsRead)
    def _facts_read(self, event: FactsRead) -> None:
        self._learn(event.facts)

    def _learn(self, facts: RowFacts) -> None:
        known = self.facts
        fresh = {
            ref
            for before, now in ((known.changed, facts.changed), (known.notes, facts.notes))
            for ref, text in now.items()
            if before.get(ref) != text
        }
        if fresh:
            self.facts = RowFacts({**known.changed, **facts.changed}, {**known.notes, **facts.notes})
            shown = replace(self.graph.facts, changed=self.facts.changed, notes=self.facts.notes)
            self.graph.show_facts(shown, fresh)
