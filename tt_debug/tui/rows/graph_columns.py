"""Which columns the checkpoint graph has in a given width, and the order in which they go when it is narrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stores.model import Header, Ref
from tt_debug.tui.rows.graph_items import GraphItem, GraphItems, Nothing, TimeItems


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; 0 means that it is left out."""

    width: int
    lanes: int
    step: int
    node: int
    badge: int = 0
    value: int = 0
    changed: int = 0
    delta: int = 0
    size: int = 0


VALUE: Final = 28
"""The most cells of a watched value, and the least that changed keys leave it and keep"""
LEAST: Final = 12
"""cells."""
SOME: Final = 60
"""Rows at either end whose steps and names tell how wide theirs are."""
HEAD: Final = 6
"""Cells of the word at the head and the space before it."""
SPARE: Final = 2
"""Cells of an empty badge's column that the word at the head may take; one stays between it and what follows."""


def columns_for(
    width: int, items: Sequence[GraphItem], headers: Mapping[Ref, Header], *, watched: bool = False
) -> Columns:
    """The columns that fit in ``width`` cells; size goes first, then changed keys, then time, then the badge.

    A ``watched`` value shares the room of the changed keys, or has it alone, or that of the time."""
    if isinstance(items, GraphItems | TimeItems | Nothing):
        deepest = items.deepest
    else:
        deepest = max((item.lane for item in items), default=0)
    some = [headers[item.ref] for item in (*items[:SOME], *items[-SOME:])]
    steps = [header.step for header in some if header.step is not None]
    step = max(4, len(str(max(steps, default=0))), len(str(min(steps, default=0))))
    lanes = min(2 * (deepest + 1), max(2, width // 3))
    left = width - lanes - step - 1
    node = min(_node_cells(some), max(6, left))
    left -= node
    badge = 3 if left >= 3 else 0
    delta = 8 if left - badge >= 8 else 0
    changed = left - badge - delta if left - badge - delta >= 10 else 0
    size = 7 if changed >= (24 + LEAST if watched else 24) else 0
    changed -= size
    value, changed, delta = _shared(changed, delta) if watched else (0, changed, delta)
    air = min(max(0, changed - 30) // 2, 12)
    node, changed = node + air, changed - air
    if not changed:
        node = width - lanes - step - 1 - badge - value - delta
    return Columns(width, lanes, step, node, badge, value, changed, delta, size)


def _shared(changed: int, delta: int) -> tuple[int, int, int]:
    """Cells of the watched value, of the changed keys, of the time."""
    if changed >= 2 * LEAST:
        value = min(VALUE, changed - LEAST)
        return value, changed - value, delta
    return (changed, 0, delta) if changed else (delta, 0, 0)


def _node_cells(some: Sequence[Header]) -> int:
    """Room for most nodes' names, from 12 to 20 cells; for the last one's with the word at the head, but for what
    that takes of the badge's column."""
    longest = max((len(node) for header in some for node in header.nodes), default=0)
    last = max((len(node) for header in some[-1:] for node in header.nodes), default=0)
    return max(12, min(max(longest + 1, last + HEAD - SPARE), 20))
