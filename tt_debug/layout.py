"""Rows and lanes of a tree of checkpoints: pure, iterative, on plain arrays, no glyphs but in `picture`.

Order by heavy path: at a branching the light children come first, each one lane to the right, and the heaviest (or
the one on the pinned line) goes on in the same lane. Every subtree is then one slice of the rows, a row needs to
know its lane only, and n nodes take at most ⌊log₂ n⌋ + 2 lanes however late or early they forked.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

ROOT = -1


class Row(NamedTuple):
    """One line of the drawing.

    ``kind`` "fold" stands for a whole branch that starts at ``node``: ``hidden`` nodes in ``branches`` lines, itself
    included. ``opens`` marks the first row of a branch, one lane right of the line it leaves; ``through`` are the
    lanes left of this row that go on below it.
    """

    node: int
    lane: int
    kind: Literal["node", "fold"]
    opens: bool
    hidden: int
    branches: int
    through: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each node stands. ``order`` is the node of each row, ``row_of`` its inverse; ``size`` counts a node's
    subtree with itself, so that it fills the rows ``row_of[n] … row_of[n] + size[n] - 1``.

    ``lines[r]`` counts the branches that open in the rows before ``r``. ``cut`` are nodes whose parent was ignored
    because following it came back to the node.
    """

    parents: Sequence[int]
    order: array[int]
    row_of: array[int]
    lane: array[int]
    size: array[int]
    lines: array[int]
    cut: tuple[int, ...] = ()

    def rows(self, folded: Collection[int] = ()) -> tuple[Row, ...]:
        """Every row, top to bottom; a branch whose first node is in ``folded`` is one row. A node that starts no
        branch cannot be folded and is shown."""
        found: list[Row] = []
        folds = folded if isinstance(folded, set | frozenset) else frozenset(folded)
        through = [tuple(range(lane)) for lane in range(max(self.lane, default=0) + 1)]
        at, end = 0, len(self.order)
        while at < end:
            node = self.order[at]
            lane, opens = self.lane[node], self.opens(node)
            if opens and node in folds:
                size = self.size[node]
                branches = self.lines[at + size] - self.lines[at]
                found.append(Row(node, lane, "fold", True, size, branches, through[lane]))
                at += size
            else:
                found.append(Row(node, lane, "node", opens, 0, 0, through[lane]))
                at += 1
        return tuple(found)

    def opens(self, node: int) -> bool:
        """Whether the node starts a branch."""
        above = self.parents[node]
        return above >= 0 and self.lane[node] > self.lane[above]

    def subtree(self, node: int) -> Sequence[int]:
        """The node and everything below it, in the order of the rows."""
        return self.order[self.row_of[node] : self.row_of[node] + self.size[node]]


def lay_out(parents: Sequence[int], pinned: int | None = None, aside: Collection[int] = ()) -> Layout:
    """Lay out a forest. ``parents`` holds each node's parent or -1, siblings are drawn in the order of their numbers.

    The line from its root to ``pinned`` keeps lane 0. A node of ``aside`` (a subgraph's first) starts a branch even
    where it is its parent's only child; each level of those may take one lane more. A cycle is cut at its lowest node
    and reported in ``Layout.cut``. Raises ValueError for a parent or a pinned node that does not exist.
    """
    count = len(parents)
    if pinned is not None and not 0 <= pinned < count:
        raise ValueError(f"there is no node {pinned} to pin among {count}")
    if count and max(parents) >= count:
        raise ValueError(f"there is no node {max(parents)} to be a parent among {count}")
    links, walk, cut = _parents_first(parents)
    size = _sizes(links, walk)
    heavy = _heavy_children(links, size, pinned, aside)
    row_of, lane = array("i", bytes(4 * count)), array("i", bytes(4 * count))
    free = array("i", bytes(4 * count))  # the next row for a light child
    top = 0
    for node in walk:
        above = links[node]
        if above < 0:
            row, here = top, 0
            top += size[node]
        elif heavy[above] == node:
            row, here = row_of[above] + size[above] - size[node], lane[above]
        else:
            row, here = free[above], lane[above] + 1
            free[above] += size[node]
        row_of[node], lane[node], free[node] = row, here, row + 1
    order = array("i", bytes(4 * count))
    for node, row in enumerate(row_of):
        order[row] = node
    return Layout(links, order, row_of, lane, size, _opened(links, order, lane), cut)


def _parents_first(parents: Sequence[int]) -> tuple[array[int], Sequence[int], tuple[int, ...]]:
    """The links without cycles, an order in which a parent comes before its children, siblings by number, and
    the nodes whose link was cut."""
    links = array("i", [parent if parent >= 0 else ROOT for parent in parents])
    if all(parent < node for node, parent in enumerate(links)):
        return links, range(len(links)), ()
    children: list[list[int] | None] = [None] * len(links)
    walk = [node for node, parent in enumerate(links) if parent < 0]
    for node, parent in enumerate(links):
        if parent >= 0:
            below = children[parent]
            if below is None:
                children[parent] = [node]
            else:
                below.append(node)
    seen = bytearray(len(links))
    cut: list[int] = []
    _descend(walk, 0, children, seen)
    for node in range(len(links)):
        # Whatever no root leads to hangs on a cycle; its lowest node on the cycle itself becomes a root.
        if not seen[node]:
            lowest = _lowest_on_cycle(links, node)
            cut.append(lowest)
            links[lowest] = ROOT
            walk.append(lowest)
            _descend(walk, len(walk) - 1, children, seen)
    return links, walk, tuple(sorted(cut))


def _descend(walk: list[int], at: int, children: list[list[int] | None], seen: bytearray) -> None:
    """Append to ``walk`` everything below its nodes from position ``at`` on."""
    for node in walk[at:]:
        seen[node] = 1
    while at < len(walk):
        for child in children[walk[at]] or ():
            if not seen[child]:
                seen[child] = 1
                walk.append(child)
        at += 1


def _lowest_on_cycle(links: Sequence[int], node: int) -> int:
    passed: dict[int, None] = {}
    while node not in passed:
        passed[node] = None
        node = links[node]
    cycle = [node]
    while (above := links[cycle[-1]]) != node:
        cycle.append(above)
    return min(cycle)


def _sizes(links: Sequence[int], walk: Sequence[int]) -> array[int]:
    size = array("i", [1]) * len(links)
    for node in reversed(walk):
        above = links[node]
        if above >= 0:
            size[above] += size[node]
    return size


def _heavy_children(
    links: Sequence[int], size: Sequence[int], pinned: int | None, aside: Collection[int]
) -> array[int]:
    """The child of each node that goes on in its lane: the newest of the largest, or the one on the pinned line."""
    heavy = array("i", [ROOT]) * len(links)
    for node, above in enumerate(links):
        if above >= 0 and node not in aside:
            so_far = heavy[above]
            if so_far < 0 or size[node] >= size[so_far]:
                heavy[above] = node
    while pinned is not None and links[pinned] >= 0:
        if pinned not in aside:
            heavy[links[pinned]] = pinned
        pinned = links[pinned]
    return heavy


def _opened(links: Sequence[int], order: Sequence[int], lane: Sequence[int]) -> array[int]:
    total = 0
    opened = array("i", [0])
    for node in order:
        above = links[node]
        total += above >= 0 and lane[node] > lane[above]
        opened.append(total)
    return opened


def picture(layout: Layout, labels: Sequence[str], folded: Collection[int] = ()) -> str:
    """The rows as text, one line each: for tests, bug reports and a terminal without our screen."""
    lines = []
    for row in layout.rows(folded):
        if row.kind == "fold":
            label = f"{row.hidden} checkpoint{'s' * (row.hidden > 1)}"
            label += f" · {row.branches} branches" if row.branches > 1 else ""
        else:
            label = labels[row.node]
        mark = "▸" if row.kind == "fold" else "●"
        lines.append(f"{gutter(row.lane, row.opens)}{mark} {label}".rstrip())
    return "\n".join(lines)


def gutter(lane: int, opens: bool) -> str:
    """What stands left of a row's mark: the lanes that pass, and the joint where a branch leaves its line."""
    return "│ " * (lane - 1) + "├─" if opens else "│ " * lane
