"""What the other threads of a file tell of a graph, where a thread alone does not say what its edges lead to.

Owns which threads count as the same graph's; refuses to guess where none of them went that way.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from stores.langgraph.next import Triggers, node_of
from stores.langgraph.rows import Outline, outline
from stores.langgraph.skeleton import Key, level_of
from stores.langgraph.tables import Tables

NAMED_EDGES: Final = 3  # since this format a channel is named by the node that it wakes
_MOST: Final = 200  # newest histories that are asked


class Lore:
    """The newest checkpoint of every thread and graph level, read when first needed and again after a change."""

    def __init__(self) -> None:
        self._stamp: int | None = None
        self._known: list[tuple[str, Outline]] = []

    def edges(self, db: sqlite3.Connection, tables: Tables, level: str, at: Outline, own: Triggers) -> Triggers:
        """The nodes that the open edges of a checkpoint wake, as threads of the same graph went on from them.

        Before langgraph 0.3 an edge was a channel named by the node it comes from: until it was gone along once,
        a thread does not tell where to.
        """
        told = {channel for channels in own.values() for channel in channels}
        open_edges = {name for name in at.available if name in at.seen and node_of(name) is None} - told
        if at.v >= NAMED_EDGES or not open_edges:
            return {}
        found: Triggers = {}
        for there, other in self._outlines(db, tables):
            if there == level and _is_same_graph(at, other):
                for node, channels in other.seen.items():
                    if led := open_edges & channels.keys():
                        found.setdefault(node, set()).update(led)
        return found

    def _outlines(self, db: sqlite3.Connection, tables: Tables) -> list[tuple[str, Outline]]:
        stamp = tables.last_rowid(db)
        if stamp != self._stamp:
            newest: dict[tuple[str, str], Key] = {}
            for thread, key in tables.newest(db, _MOST):
                newest.setdefault((thread, level_of(key.ns)), key)
            stored = ((key.ns, tables.checkpoint(db, thread, key)) for (thread, _), key in newest.items())
            self._known = [(level_of(ns), outline(row)) for ns, row in stored if row is not None]
            self._stamp = stamp
        return self._known


def _is_same_graph(one: Outline, other: Outline) -> bool:
    """Whether ``other`` went as far as ``one`` at least, over the same channels and the same edges."""
    both = one.seen.keys() & other.seen.keys()
    return one.channels <= other.channels and all(one.seen[node].keys() <= other.seen[node].keys() for node in both)
