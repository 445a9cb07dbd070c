"""Bookmarks on the Thread screen: the checkpoint under the cursor is named, and the names are seen.

Owns nothing of the bookmarks: they are the app's, as every screen over the same stores shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from textual import events, on

from stores.model import Ref
from tt_debug.tui.rows.graph import GraphFacts
from tt_debug.tui.screens.thread_breaking import ThreadBreaking


class ThreadMarking(ThreadBreaking):
    """``m``."""

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
        """With the named ones."""
        return {**super().marked(), "bookmark": set(self._names)}

    def act_mark_name(self) -> None:
        """Name the checkpoint under the cursor."""
        header = self.header()
        if header is not None:
            self.tt.ask_for_bookmark(self.store, header.ref, f"{header.ref.thread}, {self._where(header)}")
