"""What the other threads of a store tell of a graph, where a thread alone does not say what its edges lead to.

Owns which threads count as the same graph's; refuses to guess where none of them went that way.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from stores.langgraph.next import Triggers, learn, node_of
from stores.langgraph.outline import Outline, outline_of
from stores.langgraph.skeleton import Key, level_of
from stores.langgraph.tables import Tables
from stores.model import Ref

NAMED_EDGES: Final = 3  # since this format a channel is named by the node that it wakes
_MOST: Final = 200  # newest histories that are asked
_GRAPHS: Final = 256  # outlines that tell of different edges, before what they told is forgotten


class History(NamedTuple):
    """The newest checkpoint of a thread on one level."""

    thread: str
    key: Key
    outline: Outline

    def is_same_graph(self, level: str, one: Outline) -> bool:
        """Whether this one went as far as ``one`` at least, over the same channels and the same edges."""
        other = self.outline
        both = one.seen.keys() & other.seen.keys()
        return (
            level_of(self.key.ns) == level
            and one.channels <= other.channels
            and all(one.seen[node].keys() <= other.seen[node].keys() for node in both)
        )


def untold(at: Outline, known: Triggers) -> set[str]:
    """The nodes that a checkpoint's open edges come from, where ``known`` does not say whom they wake, if anybody."""
    if at.v >= NAMED_EDGES:
        return set()
    told = {channel for channels in known.values() for channel in channels}
    return {name for name in at.available if name in at.seen and node_of(name) is None} - told


class Edges:
    """What outlines alone tell of which channels wake which nodes: the threads of one graph all tell the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Triggers] = {}

    def of(self, outline: Outline) -> Triggers:
        """What `learn` makes of one outline. Not to be changed."""
        told = (outline.channels, *((node, *channels) for node, channels in outline.seen.items()))
        found = self._known.get(told)
        if found is None:
            if len(self._known) >= _GRAPHS:
                self._known.clear()
            found = self._known[told] = learn((outline,))
        return found


class Lore:
    """The newest checkpoint of every thread and graph level, read when first needed and again after a change."""

    def __init__(self) -> None:
        self._stamp: int | None = None
        self._known: list[History] = []

    def edges(self, tables: Tables, level: str, at: Outline, own: Triggers) -> Triggers:
        """The nodes that the open edges of a checkpoint wake, as threads of the same graph went on from them.

        Before langgraph 0.3 an edge was a channel named by the node it comes from: until it was gone along once,
        a thread does not tell where to.
        """
        open_edges = untold(at, own)
        if not open_edges:
            return {}
        found: Triggers = {}
        for history in self.histories(tables):
            if history.is_same_graph(level, at):
                for node, channels in history.outline.seen.items():
                    if led := open_edges & channels.keys():
                        found.setdefault(node, set()).update(led)
        return found

    def histories(self, tables: Tables) -> list[History]:
        """The newest threads of the store, newest write first."""
        stamp = tables.progress()
        if stamp != self._stamp:
            newest: dict[tuple[str, str], Key] = {}
            for thread, key in tables.newest(_MOST):
                newest.setdefault((thread, level_of(key.ns)), key)
            refs = [Ref(thread, key.ns, key.id) for (thread, _), key in newest.items()]
            told = {ref: outline_of(row) for ref, _, row in tables.read_many(refs, lambda _: None)}
            for ref in refs:
                # What a page asked for before is at hand.
                if ref not in told and (row := tables.outlined(ref.thread, Key(ref.id, ref.ns))) is not None:
                    told[ref] = outline_of(row)
            self._known = [History(ref.thread, Key(ref.id, ref.ns), told[ref]) for ref in refs if ref in told]
            self._stamp = stamp
        return self._known
