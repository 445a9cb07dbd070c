"""Marks on the Thread screen: bookmarks, given to the checkpoint under the cursor, and the answers of a question.

Owns the answers, until they are forgotten; the bookmarks are the app's: every screen over the same stores shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from textual import events, on

from stores.model import Ref
from tt_debug.text import clip, counted
from tt_debug.tui.rows.graph import GraphFacts
from tt_debug.tui.rows.line import next_event
from tt_debug.tui.screens.thread_breaking import ThreadBreaking

QUESTION: Final = 80
"""Cells of a question that is said again: one for a whole message is a page."""


class ThreadMarking(ThreadBreaking):
    """``m``; ``n`` and ``N`` among answers."""

    _hits: frozenset[Ref] = frozenset()
    _names: Mapping[Ref, str] = {}

    def on_mount(self) -> None:
        """Those that are known are marked from the first row on."""
        self._names = self._named()

    @on(events.ScreenResume)
    def _resumed(self) -> None:
        """Another program may have given names."""
        self.tt.read_bookmarks()

    def bookmarks_changed(self) -> None:
        """Mark them in the graph and on the timeline."""
        names = self._named()
        if names != self._names:
            self._names = names
            self.graph.show_facts(replace(self.graph.facts, names=names))
            self.show_line(force=True)

    def _named(self) -> dict[Ref, str]:
        return {ref: mark.name for ref, mark in self.tt.bookmarks_of(self.store).items()}

    def graph_facts(self) -> GraphFacts:
        """With the names."""
        return replace(super().graph_facts(), names=self._names)

    def marked(self) -> dict[str, set[Ref]]:
        """With the named ones, and those that answer the question that was asked last."""
        return {**super().marked(), "bookmark": set(self._names), "hit": set(self._hits)}

    def show_hits(self, hits: Collection[Ref], question: str) -> None:
        """Mark the answers of a question on the timeline until they are forgotten."""
        self._hits = frozenset(hits)
        self.show_line(force=True)
        ahead, back = self.tt.key_of("nav.event_fwd"), self.tt.key_of("nav.event_back")
        asked, found = clip(question, QUESTION), counted(len(self._hits), "answer")
        self.say(f"{asked}: {found}; {back} {ahead} stop there too, Esc forgets them")

    def forget(self) -> bool:
        """What was looked for last first."""
        if super().forget():
            return True
        forgotten, self._hits = bool(self._hits), frozenset()
        if forgotten:
            self.show_line(force=True)
            self.say("the answers are not marked any more")
        return forgotten

    def act_search_next(self) -> None:
        """The next hit of the search, or answer of a question where nothing is searched for."""
        if self._hits and not self.looked_for:
            self._to_answer(1)
        else:
            super().act_search_next()

    def act_search_back(self) -> None:
        """The one before."""
        if self._hits and not self.looked_for:
            self._to_answer(-1)
        else:
            super().act_search_back()

    def _to_answer(self, direction: int) -> None:
        here = self.places.get(self.selected, 0) if self.selected is not None else 0
        at = next_event(self.moments, here, direction, "hit")
        if at is None:
            self.say("no answer " + ("before" if direction < 0 else "after") + " this on the line")
        else:
            self.select_ref(self.line[at])

    def act_mark_name(self) -> None:
        """Name the checkpoint under the cursor."""
        header = self.header()
        if header is not None:
            self.tt.ask_for_bookmark(self.store, header.ref, f"{header.ref.thread}, {self._where(header)}")
