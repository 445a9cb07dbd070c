"""A thread as the front ends see it: its family of forks in one graph, its line, its rows.

Owns the mapping between addresses and the layout's indices; refuses to load states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from stores.model import Header, Ref


@dataclass(frozen=True, slots=True)
class GraphRow:
    """One row of the graph, without glyphs.

    ``kind`` "checkpoint": one checkpoint. "fold": a folded branch that starts at ``ref``; ``hidden`` checkpoints
    and ``branches`` forks lie under it. ``lane`` counts from 0, the current line; ``opens`` marks the first row of
    an open branch, ``lanes`` the lanes to the left of this row that have a line passing through.
    ``title`` is the fork's name on a "fold" or ``opens`` row (its thread, or what edited it).
    """

    kind: Literal["checkpoint", "fold"]
    ref: Ref
    lane: int
    opens: bool = False
    hidden: int = 0
    branches: int = 0
    lanes: tuple[int, ...] = ()
    title: str = ""
    status: str = ""


class ThreadView:
    """The thread's family: every checkpoint of it and of the threads it was forked from or that were forked from it."""

    thread: str
    head: Ref
    headers: Mapping[Ref, Header]

    def line(self, ref: Ref | None = None) -> tuple[Ref, ...]:
        """From the root to ``ref`` (default: the head) along parents, across threads, oldest first."""
        raise NotImplementedError

    def children(self, ref: Ref) -> tuple[Ref, ...]:
        """Oldest first."""
        raise NotImplementedError

    def rows(self, unfolded: frozenset[Ref] = frozenset(), trunk: Ref | None = None) -> tuple[GraphRow, ...]:
        """Top to bottom, oldest first; ``trunk`` (default: the head) keeps lane 0, other branches are folded
        unless their first checkpoint is in ``unfolded``."""
        raise NotImplementedError

    def tips(self) -> tuple[Ref, ...]:
        """Checkpoints of the root namespace without children, oldest first."""
        raise NotImplementedError
