"""Rows and lanes of a tree of checkpoints: pure, iterative, on plain arrays, no glyphs but in `picture`.

Order by heavy path: at a branching the light children come first, each one lane to the right, and the heaviest (or
the one on the pinned line) goes on in the same lane. Every subtree is then one slice of the rows, a row needs to
know its lane only, and n nodes take at most ⌊log₂ n⌋ + 2 lanes however late or early they forked.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from operator import lt, ne
from typing import Literal, NamedTuple, overload

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
    """Where each node stands. ``order`` is the node of each row, ``row_of`` its inverse; a node's subtree fills the
    rows from its own to the one before ``after[n]``, to the last where that is 0.

    ``openings`` are the rows at which a branch opens, ascending. ``cut`` are nodes whose parent was ignored because
    following it came back to the node.
    """

    parents: Sequence[int]
    order: array[int]
    row_of: array[int]
    lane: array[int]
    after: array[int]
    openings: array[int]
    cut: tuple[int, ...] = ()

    def rows(self, folded: Collection[int] | None = ()) -> Rows:
        """Every row, top to bottom; a branch whose first node is in ``folded`` is one row, with None every branch is.
        A node that starts no branch cannot be folded and is shown."""
        return Rows(self, folded)

    def size(self, node: int) -> int:
        """How many nodes its subtree has, with itself."""
        return (self.after[node] or len(self.order)) - self.row_of[node]

    def opens(self, node: int) -> bool:
        """Whether the node starts a branch."""
        above = self.parents[node]
        return above >= 0 and self.lane[node] > self.lane[above]

    def branches(self, node: int) -> int:
        """How many branches open in the node's subtree, itself included."""
        at = self.row_of[node]
        return bisect_left(self.openings, at + self.size(node)) - bisect_left(self.openings, at)

    def subtree(self, node: int) -> Sequence[int]:
        """The node and everything below it, in the order of the rows."""
        return self.order[self.row_of[node] : self.row_of[node] + self.size(node)]


class Rows(Sequence[Row]):
    """The rows that are shown. Only their nodes are kept: a row is made when it is looked at."""

    def __init__(self, layout: Layout, folded: Collection[int] | None) -> None:
        self.layout = layout
        self._folds = frozenset(layout.order[at] for at in layout.openings)
        if folded is not None:
            self._folds &= frozenset(folded)
        self.nodes = array("i")
        """The node of each."""
        self.openings: list[int] = []
        """The places among them at which a branch opens or is folded, ascending."""
        at = 0
        for opening in layout.openings:
            if opening < at:
                continue  # within a folded branch
            self.openings.append(len(self.nodes) + opening - at)
            if layout.order[opening] in self._folds:
                self.nodes.extend(layout.order[at : opening + 1])
                at = opening + layout.size(layout.order[opening])
        self.nodes.extend(layout.order[at:])

    def place(self, node: int) -> int | None:
        """Where a node stands among them; None where it is folded away."""
        row_of = self.layout.row_of
        at = bisect_left(self.nodes, row_of[node], key=row_of.__getitem__)
        return at if at < len(self.nodes) and self.nodes[at] == node else None

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...

    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(at, slice):
            return tuple(map(self._row, self.nodes[at]))
        return self._row(self.nodes[at])

    def is_fold(self, node: int) -> bool:
        """Whether a branch is folded at this node."""
        return node in self._folds

    def _row(self, node: int) -> Row:
        layout = self.layout
        lane = layout.lane[node]
        through = tuple(range(lane))
        if node in self._folds:
            return Row(node, lane, "fold", True, layout.size(node), layout.branches(node), through)
        return Row(node, lane, "node", layout.opens(node), 0, 0, through)


def lay_out(parents: Sequence[int], pinned: int | None = None, aside: Collection[int] = ()) -> Layout:
    """Lay out a forest. ``parents`` holds each node's parent or -1, siblings are drawn in the order of their numbers.

    The line from its root to ``pinned`` keeps lane 0. A node of ``aside`` (a subgraph's first) starts a branch even
    where it is its parent's only child; each level of those may take one lane more. A cycle is cut at its lowest node
    and reported in ``Layout.cut``. Raises ValueError for a parent or a pinned node that does not exist.
    """
    count = len(parents)
    if pinned is not None and not 0 <= pinned < count:
        raise ValueError(f"there is no node {pinned} to pin among {count}")
    links = array("i", parents)
    starts = _starts(links, aside)
    lengths = [end - start for start, end in pairwise((*starts, count))]
    at_end = {start + length - 1: run for run, (start, length) in enumerate(zip(starts, lengths, strict=True))}
    above, walk, cut = _parents_first([at_end.get(links[start], ROOT) for start in starts])
    size = _sizes(above, walk, lengths)
    aside_runs = {bisect_left(starts, node) for node in aside}
    heavy = _heavy_children(above, size, None if pinned is None else bisect_right(starts, pinned) - 1, aside_runs)
    rows, lanes, openings = _places(above, walk, heavy, size, lengths)
    for run in cut:
        links[starts[run]] = ROOT
    order, row_of, lane, after = (array("i", bytes(links.itemsize * count)) for _ in range(4))
    up = array("i", range(count))
    for start, length, row, column, below in zip(starts, lengths, rows, lanes, size, strict=True):
        if length == 1:  # of many branches, most
            order[row], row_of[start], lane[start], after[start] = start, row, column, (row + below) % count
            continue
        order[row : row + length] = up[start : start + length]
        row_of[start : start + length] = up[row : row + length]
        lane[start : start + length] = array("i", (column,)) * length
        after[start : start + length] = array("i", ((row + below) % count,)) * length
    return Layout(links, order, row_of, lane, after, array("i", openings), tuple(starts[run] for run in cut))


def extended(layout: Layout, parents: Sequence[int]) -> Layout | None:
    """The same with further ``parents``, the last of them pinned; None where these do not go on, one from the other,
    from the last row of the first lane. No other place changes."""
    count, more = len(layout.order), len(parents) - len(layout.order)
    last = layout.order[-1] if count else ROOT
    links = array("i", parents[count:])
    if layout.cut or last < 0 or layout.lane[last] or links != array("i", (last, *range(count, count + more)))[:more]:
        return None
    fresh, zeros = array("i", range(count, count + more)), array("i", (0,)) * more
    order, row_of = layout.order + fresh, layout.row_of + fresh
    return replace(
        layout,
        parents=array("i", layout.parents) + links,
        order=order,
        row_of=row_of,
        lane=layout.lane + zeros,
        after=layout.after + zeros,
    )


def _starts(links: array[int], aside: Collection[int]) -> list[int]:
    """The first nodes of runs: in one, each node is the only child of the node before it, so that all are drawn as one
    straight line. Long histories have few. Any number below 0 becomes `ROOT`; raises ValueError for one too large."""
    count = len(links)
    leaps = list(compress(range(count), map(ne, links, range(ROOT, count - 1))))
    for node in leaps:
        links[node] = max(links[node], ROOT)
        if links[node] >= count:
            raise ValueError(f"there is no node {links[node]} to be a parent among {count}")
    return sorted({0, *leaps, *(links[node] + 1 for node in leaps), *aside} - {count})


def _places(
    links: Sequence[int], walk: Sequence[int], heavy: Sequence[int], size: Sequence[int], lengths: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """The first row of each run, its lane, and the rows at which branches open."""
    rows, lanes, free = [0] * len(links), [0] * len(links), [0] * len(links)
    openings: list[int] = []
    top = 0
    for run in walk:
        above = links[run]
        if above < 0:
            row = top
            top += size[run]
        elif heavy[above] == run:
            row = rows[above] + size[above] - size[run]
            lanes[run] = lanes[above]
        else:
            row = free[above]
            free[above] = row + size[run]
            lanes[run] = lanes[above] + 1
            openings.append(row)
        rows[run], free[run] = row, row + lengths[run]
    return rows, lanes, sorted(openings)


def _parents_first(parents: Sequence[int]) -> tuple[list[int], Sequence[int], tuple[int, ...]]:
    """The links without cycles, an order in which a parent comes before its children, siblings by number, and
    the nodes whose link was cut."""
    links = list(parents)
    if all(map(lt, links, range(len(links)))):
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


def _sizes(links: Sequence[int], walk: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """How many nodes are in the subtree of each run."""
    size = list(lengths)
    for node in reversed(walk):
        above = links[node]
        if above >= 0:
            size[above] += size[node]
    return size


def _heavy_children(links: Sequence[int], size: Sequence[int], pinned: int | None, aside: Collection[int]) -> list[int]:
    """The child of each node that goes on in its lane: the newest of the largest, or the one on the pinned line."""
    heavy = [ROOT] * len(links)
    for node, above in enumerate(links):
        if above >= 0 and not (aside and node in aside):
            so_far = heavy[above]
            if so_far < 0 or size[node] >= size[so_far]:
                heavy[above] = node
    while pinned is not None and links[pinned] >= 0:
        if pinned not in aside:
            heavy[links[pinned]] = pinned
        pinned = links[pinned]
    return heavy


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
