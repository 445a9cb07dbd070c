"""Watches in the graph of the Thread screen: one of them as a column, and going to where any of them changed.

Owns the column's values, those of the rows in view first; the answers are asked and kept by the watches.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Final

from textual import on
from textual.content import Content

from stores.model import Ref
from tt_debug.session import watches
from tt_debug.text import clip, safe_text
from tt_debug.tui.rows.graph import GraphFacts
from tt_debug.tui.rows.pieces import Line, Piece
from tt_debug.tui.screens.thread_watches import PointsRead, ThreadWatches, WatchesRead, read_points, read_watches

TITLE: Final = 40
"""Cells for what the column is."""


class ThreadLogPoints(ThreadWatches):
    """``L``, and ``{`` ``}`` in the graph."""

    column = ""
    """The watch that has a column."""
    _values: dict[Ref, Line]

    def on_mount(self) -> None:
        """Nothing is known yet."""
        self._values = {}

    # --- the column

    def act_watch_column(self) -> None:
        """The watch under the cursor gets the column, or loses it; elsewhere the next one gets it, at last none."""
        current = self.views.watches.current()
        if not self.expressions:
            self.say(f"nothing is watched yet: {self.tt.key_of('watch')} watches a value or an expression")
        elif self.panel() is self.views.watches and current is not None:
            self._show_column(lambda column: "" if current == column else current)
        else:
            ring = ("", *self.expressions, "")
            self._show_column(lambda column: ring[ring.index(column) + 1] if column in ring else ring[1])

    def _show_column(self, choose: Callable[[str], str]) -> None:
        """What has the column by then decides: the key may be pressed again before it was moved."""
        session, thread, words = self.session, self.thread, ["tt-debug", "log", self.store.url, self.thread]

        def shown() -> WatchesRead:
            expression = choose(session.watches.column(thread) or "")
            session.watches.show(thread, expression or None)
            said = f"{expression} has a column of the graph" if expression else "no watch has a column any more"
            option = ["--watch", expression] if expression else []
            return read_watches(session, thread, said, shlex.join([*words, *option]))

        self.tt.loader.write(self, "watch", shown, lambda message: message)

    @on(WatchesRead)
    def _column_read(self, event: WatchesRead) -> None:
        if event.column != self.column:
            self.column = event.column
            self._values = {}
            self._learn_values(self._known_points())
            self.show_counts()
            self._read_facts()

    def _known_points(self) -> list[Ref]:
        return [ref for text, ref in self._known if text == self.column]

    def graph_facts(self) -> GraphFacts:
        """With the column."""
        return replace(super().graph_facts(), watched=self.column, values=self._values)

    def show_counts(self) -> None:
        """The graph's title says what the column is."""
        super().show_counts()
        if self.column:
            words = f"   {self._counted()}" if self.narrow else ""
            self.graph.border_title = Content(clip(safe_text(f"1 Graph   w {self.column}"), TITLE) + words)

    def _read_facts(self) -> None:
        """The watched value of the rows in view, too: they may lie on other lines."""
        super()._read_facts()
        top = self.graph.scroll_offset.y
        rows = self.graph.items[top : top + self.graph.scrollable_content_region.height]
        refs = [item.ref for item in rows if item.kind == "checkpoint" and (self.column, item.ref) not in self._known]
        if self.column and refs:
            asked = (self.column,)
            work = partial(read_points, self.session, refs, asked, self.tt.redaction, self.tt.glyphs)
            self.tt.loader.call(self, "watched rows", work, PointsRead, prefetch=True)

    @on(PointsRead)
    def _points_learnt(self, event: PointsRead) -> None:
        # A class's own handler comes before that of what it is made from, which learns the same.
        self._known.update(event.points)
        self._learn_values(ref for text, ref in event.points if text == self.column)

    def _learn_values(self, refs: Iterable[Ref]) -> None:
        for ref in refs:
            self._values[ref] = self._value(ref)
            # Whether a value is another than before is only known once both are.
            for child in self.view.children(ref) if self.view is not None else ():
                if (self.column, child) in self._known:
                    self._values[child] = self._value(child)
        self.graph.show_facts(replace(self.graph.facts, watched=self.column, values=self._values))

    def _value(self, ref: Ref) -> Line:
        header = self.view.seen.get(ref) if self.view is not None else None
        here = self._known[self.column, ref]
        before = self._known.get((self.column, header.parent)) if header is not None and header.parent else None
        changed = before is not None and here.digest is not None and before.digest not in (None, here.digest)
        return (Piece("~ ", "changed"), *here.line) if changed else (Piece("  "), *here.line)

    def secrets_changed(self) -> None:
        """What is known was hidden, or shown."""
        self._values = {}
        super().secrets_changed()

    def act_refresh(self) -> None:
        """A checkpoint that could not answer may be able to now."""
        self._values = {}
        super().act_refresh()

    # --- where any of them changed

    def act_nav_change_back(self) -> None:
        """In the graph, to where any watch changed before."""
        if self._asks_of_watches() and self.selected is not None and self.selected in self.places:
            upto = self.line[: self.places[self.selected] + 1]
            look = partial(watches.changed_before, self.session, upto, self.expressions)
            self.walk(look, "no watch changes before this on the line")
        else:
            super().act_nav_change_back()

    def act_nav_change_fwd(self) -> None:
        """In the graph, to where any watch changes next."""
        if self._asks_of_watches() and self.selected is not None and self.selected in self.places:
            rest = self.line[self.places[self.selected] :]
            look = partial(watches.changed_after, self.session, rest, self.expressions)
            self.walk(look, "no watch changes after this on the line")
        else:
            super().act_nav_change_fwd()

    def _asks_of_watches(self) -> bool:
        return bool(self.expressions) and self.panel() in (self.graph, self.views.watches)
