"""Which rows the checkpoint graph has, without one object for each: runs of checkpoints, and what stands between.

Owns names above open branches, what would run after a tip, and gathering of many folds; how a row looks is
`tt_debug.tui.rows.graph`'s.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, Literal, NamedTuple, overload

from stores.model import Ref, Status
from tt_debug.layout import Rows
from tt_debug.session.thread_view import GraphRows, ThreadView, call_name
from tt_debug.tui.theme import LANES

STUBS: Final = 8
"""More folded forks than this at one point become one row."""
_FIRST: Final = (0,)
"""The ink of the first lane alone."""


@dataclass(frozen=True, slots=True)
class GraphItem:
    """One row. ``kind``: "checkpoint"; "fold", a branch in one row; "more", several of them; "open", the name of an
    open branch; "next", what has not been run after a tip. ``inks`` are the colours of lanes 0 to ``lane``.
    ``call`` marks a branch that is a call of a subgraph.
    """

    kind: Literal["checkpoint", "fold", "more", "open", "next"]
    ref: Ref
    lane: int
    lanes: tuple[int, ...] = ()
    inks: tuple[int, ...] = (0,)
    hidden: int = 0
    branches: int = 0
    title: str = ""
    status: str = ""
    call: bool = False


class Part(NamedTuple):
    """Neighbouring rows of one kind. ``at`` is the first one's place among the ``length`` rows of the layout that it
    stands for; only checkpoints take as many."""

    kind: Literal["checkpoint", "fold", "more", "open", "next"]
    at: int
    length: int
    lane: int
    inks: tuple[int, ...]
    ref: Ref | None = None

    @property
    def rows(self) -> int:
        """How many rows it takes."""
        return self.length if self.kind == "checkpoint" else 1


class GraphItems(Sequence[GraphItem]):
    """The rows to show, each made when it is looked at, of what is known by then."""

    def __init__(self, rows: GraphRows, parts: Sequence[Part]) -> None:
        self._view, self._shape, self._line = rows.view, rows.shape, rows.line
        self._parts = parts
        self._starts = [0]
        for part in parts:
            self._starts.append(self._starts[-1] + part.rows)
        self.deepest = max((part.lane for part in parts), default=0)
        """The highest lane."""
        self.folds = sum(part.kind in ("fold", "more") for part in parts)
        """How many rows stand for branches."""

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, row: int) -> GraphItem: ...

    @overload
    def __getitem__(self, row: slice) -> list[GraphItem]: ...

    def __getitem__(self, row: int | slice) -> GraphItem | list[GraphItem]:
        if isinstance(row, slice):
            return [self._item(each) for each in range(len(self))[row]]
        return self._item(range(len(self))[row])

    def __iter__(self) -> Iterator[GraphItem]:
        return map(self._item, range(len(self)))

    def row_of(self, ref: Ref) -> int | None:
        """The row of a checkpoint, or of the branch that is folded at it; None where it is folded away."""
        node = self._view.place(ref)
        if node is None:
            return None
        at = self._shape.place(node)
        if at is None:
            return None
        # What stands before a checkpoint at the same place, as the name of its branch, begins there too.
        number = bisect_right(self._parts, at, key=lambda part: part.at) - 1
        while number >= 0 and self._parts[number].kind in ("open", "next"):
            number -= 1
        part = self._parts[number]
        if part.kind == "more":
            return self._starts[number] if at == part.at else None
        return self._starts[number] + at - part.at

    def _item(self, row: int) -> GraphItem:
        number = bisect_right(self._starts, row) - 1
        part, shape, view = self._parts[number], self._shape, self._view
        at = part.at + (row - self._starts[number] if part.kind == "checkpoint" else 0)
        lanes = tuple(range(part.lane))
        if part.kind == "next":
            assert part.ref is not None
            return GraphItem("next", part.ref, part.lane, lanes, part.inks, status=view.seen[part.ref].status)
        node = shape.nodes[at]
        ref = view.refs[node]
        if part.kind == "checkpoint":
            return GraphItem("checkpoint", ref, part.lane, lanes, part.inks)
        title, call = view.title(ref, self._line), view.is_call(ref)
        if part.kind == "open":
            return GraphItem("open", ref, part.lane, lanes, part.inks, 0, 0, title, self._end_status(ref), call)
        if part.kind == "fold":
            size, branches = shape.layout.size(node), shape.layout.branches(node)
            status = view.seen[view.tip(ref)].status
            return GraphItem("fold", ref, part.lane, lanes, part.inks, size, branches, title, status, call)
        nodes = shape.nodes[at : at + part.length]
        calls = sum(view.is_call(view.refs[each]) for each in nodes)
        noun = "calls" if calls == part.length else "branches" if calls else "forks"
        hidden = sum(shape.layout.size(each) for each in nodes)
        return GraphItem("more", ref, part.lane, lanes, part.inks, hidden, part.length, noun)

    def _end_status(self, ref: Ref) -> str:
        """How a thread of its own, that an open branch is, stands; none of a side branch of one."""
        parent = self._view.seen[ref].parent
        is_whole = not ref.ns and (ref.thread != self._line or parent is None or parent.thread != ref.thread)
        return self._view.seen[self._view.newest[ref.thread]].status if is_whole else ""


def graph_items(rows: GraphRows, listed: Set[tuple[Ref, int]] = frozenset()) -> GraphItems:
    """The layout's own rows, a name above each open branch, and after each tip what would run next.

    ``listed`` are the runs of stubs, by their first (ref, lane), that are to be shown one by one. The tips are read
    for it where they are not known yet.
    """
    return GraphItems(rows, list(_gathered(_parts(rows), rows, listed)))


def _parts(rows: GraphRows) -> Iterator[Part]:
    view, shape = rows.view, rows.shape
    layout, nodes = shape.layout, shape.nodes
    waiting = _waiting(view, shape)
    ends = {_end(shape, at) for at in shape.openings}
    opened = frozenset(shape.openings)
    colours: dict[int, int] = {0: 0}
    forks = 0
    for at, end in pairwise(sorted({0, len(nodes), *opened, *ends, *waiting})):
        if at in waiting:
            yield from _ended(waiting[at], colours)
        node = nodes[at]
        lane = layout.lane[node]
        if at in opened:
            forks += 1
            colours[lane] = forks
        inks = _inks(colours, lane)
        if shape.is_fold(node):
            yield Part("fold", at, 1, lane, inks)
            continue
        if at in opened:
            yield Part("open", at, 1, lane, inks)
        yield Part("checkpoint", at, end - at, lane, inks)
    yield from _ended(waiting.get(len(nodes), ()), colours)


def _end(shape: Rows, at: int) -> int:
    """The place among the rows shown of the first after the branch that opens or is folded at ``at``."""
    node = shape.nodes[at]
    return at + 1 if shape.is_fold(node) else _shown(shape, shape.layout.row_of[node] + shape.layout.size(node))


def _ended(tips: Sequence[Part], colours: Mapping[int, int]) -> Iterator[Part]:
    """What would run after tips whose branches end here, the innermost first."""
    for tip in sorted(tips, key=lambda part: -part.lane):
        yield tip._replace(inks=_inks(colours, tip.lane))


def _inks(colours: Mapping[int, int], lane: int) -> tuple[int, ...]:
    return tuple([colours.get(each, 0) % LANES for each in range(lane + 1)]) if lane else _FIRST


def _waiting(view: ThreadView, shape: Rows) -> dict[int, list[Part]]:
    """What has not been run after a tip, by the place among the rows shown that it stands before."""
    layout = shape.layout
    tips = [node for node in view.ends() if (at := shape.place(node)) is not None and not shape.is_fold(node)]
    view.headers.learn([view.refs[node] for node in tips])
    found: dict[int, list[Part]] = {}
    for node in tips:
        header = view.seen[view.refs[node]]
        if header.next and header.status != Status.DONE:
            at = _shown(shape, layout.row_of[node] + layout.size(node))
            found.setdefault(at, []).append(Part("next", at, 1, layout.lane[node], (), header.ref))
    return found


def _shown(shape: Rows, row: int) -> int:
    """The place among the rows shown of the first that is not before the layout's ``row``."""
    return bisect_left(shape.nodes, row, key=shape.layout.row_of.__getitem__)


def _gathered(parts: Iterator[Part], rows: GraphRows, listed: Set[tuple[Ref, int]]) -> Iterator[Part]:
    """Long runs of folded forks at one point become one row."""
    for (kind, lane), same in groupby(parts, key=lambda part: (part.kind, part.lane)):
        run = list(same)
        first = rows.view.refs[rows.shape.nodes[run[0].at]] if kind == "fold" else None
        if first is not None and len(run) > STUBS and (first, lane) not in listed:
            yield run[0]._replace(kind="more", length=len(run))
        else:
            yield from run


class TimeItems(Sequence[GraphItem]):
    """Every checkpoint in one lane, in the order of ``view``, each with its thread's name and colour."""

    deepest = 0
    folds = 0

    def __init__(self, view: ThreadView) -> None:
        self._view = view
        self._colours = {thread: colour % LANES for colour, thread in enumerate(view.newest)}

    def __len__(self) -> int:
        return len(self._view.refs)

    @overload
    def __getitem__(self, row: int) -> GraphItem: ...

    @overload
    def __getitem__(self, row: slice) -> list[GraphItem]: ...

    def __getitem__(self, row: int | slice) -> GraphItem | list[GraphItem]:
        if isinstance(row, slice):
            return [self._item(ref) for ref in self._view.refs[row]]
        return self._item(self._view.refs[row])

    def row_of(self, ref: Ref) -> int | None:
        """Where a checkpoint stands."""
        return self._view.place(ref)

    def _item(self, ref: Ref) -> GraphItem:
        title = f"{ref.thread} / {call_name(ref.ns)}" if ref.ns else ref.thread
        return GraphItem("checkpoint", ref, 0, (), (self._colours.get(ref.thread, 0),), title=title)


class Nothing(Sequence[GraphItem]):
    """Before anything was read."""

    deepest = 0
    folds = 0

    def __len__(self) -> int:
        return 0

    @overload
    def __getitem__(self, row: int) -> GraphItem: ...

    @overload
    def __getitem__(self, row: slice) -> list[GraphItem]: ...

    def __getitem__(self, row: int | slice) -> GraphItem | list[GraphItem]:
        if isinstance(row, slice):
            return []
        raise IndexError(row)

    def row_of(self, ref: Ref) -> int | None:
        """None."""
        return None


NOTHING: Final = Nothing()
Items = GraphItems | TimeItems | Nothing
