"""A thread as the front ends see it: its family of forks in one graph, its line, its rows.

Owns the mapping between addresses and the layout's indices; refuses to load states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, overload

from stores.model import Header, Ref
from tt_debug.graph import enclosing
from tt_debug.layout import Layout, Row, Rows, lay_out
from tt_debug.session.family import drawn_under, merged
from tt_debug.session.headers import Headers, Read, Strand


@dataclass(frozen=True, slots=True)
class GraphRow:
    """One row of the graph, without glyphs.

    ``kind`` "checkpoint": one checkpoint. "fold": a folded branch that starts at ``ref``; ``hidden`` checkpoints
    and ``branches`` lines lie under it. ``lane`` counts from 0, the current line; ``opens`` marks the first row of
    an open branch, ``lanes`` the lanes with a line passing through this row.
    ``title`` names the branch on a "fold" or ``opens`` row; ``call`` says that it is a call of a subgraph and no fork;
    ``status`` is how the branch, or the checkpoint, stands.
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
    call: bool = False


class ThreadView:
    """The thread's family: every checkpoint of it, of the threads it was forked from and of those forked from it.

    A fork to a new thread copies rows in some stores. Each checkpoint appears once: a copy stands for its
    original, and the opened thread's own rows come first. A fork on which nothing has happened yet has nothing
    but copies: its head hangs under the original then, so that it can be gone to and resumed. So does a copy that
    was edited, under the id of what it is a copy of.
    """

    def __init__(
        self,
        thread: str,
        head: Ref,
        family: Sequence[Sequence[Header] | Strand],
        copies: bool,
        *,
        complete: bool = False,
        read: Read | None = None,
    ) -> None:
        """``family`` holds each thread oldest first, the opened one first. A parent that is not in a ``complete`` one
        is missing, and its child's ``problem`` says so. ``read`` gets the headers that are not known yet."""
        self.thread = thread
        self.head = head
        strands = [each if isinstance(each, Strand) else Strand.of(each) for each in family]
        self._family = merged(strands, copies)
        self._complete = complete
        known = [header for strand in strands for header in strand.known.values()]
        self.headers = Headers(self._family, known, self._finished, read)
        """Of every checkpoint, oldest first."""
        self._refs = self._family.refs
        self._links, self._aside = drawn_under(self._family, self.headers)
        self._layouts: dict[int | None, Layout] = {}
        self._parents = self._layout(head).parents  # the same links with every cycle cut

    def _finished(self, header: Header) -> Header:
        """A header with the parent that stands here, and with the absence of one as the ``problem``."""
        above = self._family.parent(self._family.places[header.ref])
        if above != header.parent:
            header = replace(header, parent=above)
        if not self._complete or header.problem or above is None or above in self._family.places:
            return header
        missing = "its parent" if above.ns == header.ref.ns else "the step that called it"
        return replace(header, problem=f"{missing} is not in the store")

    def __contains__(self, ref: Ref) -> bool:
        return ref in self.headers

    def standing(self, ref: Ref) -> Ref | None:
        """``ref`` itself, or what stands here for the copy that it is; None when it is not of this family."""
        if ref in self.headers:
            return ref
        return next((each for each in self._refs if (each.ns, each.id) == (ref.ns, ref.id)), None)

    def line(self, ref: Ref | None = None) -> tuple[Ref, ...]:
        """From the root to ``ref`` (default: the head), across threads and into subgraphs, oldest first."""
        at = self._family.places.get(ref or self.head, -1)
        found: list[Ref] = []
        while at >= 0:
            found.append(self._refs[at])
            at = self._parents[at]
        return tuple(reversed(found))

    @cached_property
    def _children(self) -> Mapping[int, Sequence[int]]:
        found: dict[int, list[int]] = {}
        for at, parent in enumerate(self._parents):
            if parent >= 0:
                found.setdefault(parent, []).append(at)
        return found

    def children(self, ref: Ref) -> tuple[Ref, ...]:
        """Oldest first; empty for an address that is not here."""
        at = self._family.places.get(ref, -1)
        return tuple(self._refs[child] for child in self._children.get(at, ()))

    def tip(self, ref: Ref) -> Ref:
        """The newest checkpoint of its own namespace that goes on from ``ref`` along its longest continuation."""
        layout, at = self._layout(self.head), self._family.places[ref]
        while True:
            below = [c for c in self._children.get(at, ()) if self._refs[c].ns == self._refs[at].ns]
            if not below:
                return self._refs[at]
            at = max(below, key=lambda child: (layout.size[child], child))

    def tips(self) -> tuple[Ref, ...]:
        """Checkpoints of the root namespace without children there, oldest first."""
        return tuple(
            ref
            for at, ref in enumerate(self._refs)
            if not ref.ns and not any(not self._refs[child].ns for child in self._children.get(at, ()))
        )

    def rows(self, unfolded: Collection[Ref] = frozenset(), trunk: Ref | None = None) -> Sequence[GraphRow]:
        """Top to bottom, oldest first, each made when it is looked at. ``trunk`` (default: the head) keeps lane 0;
        another branch is one row unless its first checkpoint is in ``unfolded``."""
        return GraphRows(self, self.shape(unfolded, trunk), (trunk or self.head).thread)

    def shape(self, unfolded: Collection[Ref] = frozenset(), trunk: Ref | None = None) -> Rows:
        """The same in places of the family's order."""
        layout, places = self._layout(trunk or self.head), self._family.places
        opened = {places[ref] for ref in unfolded if ref in places}
        return layout.rows([node for at in layout.openings if (node := layout.order[at]) not in opened])

    def _layout(self, trunk: Ref) -> Layout:
        pinned = self._family.place(trunk)
        if pinned not in self._layouts:
            self._layouts = {pinned: lay_out(self._links, pinned, self._aside)}
        return self._layouts[pinned]

    def row(self, row: Row, line: str) -> GraphRow:
        """One row, as a person sees it who stands on ``line``, a thread."""
        ref = self._refs[row.node]
        titled = row.kind == "fold" or row.opens
        title = self.title(ref, line) if titled else ""
        kind: Literal["checkpoint", "fold"] = "fold" if row.kind == "fold" else "checkpoint"
        status = self.headers[self.tip(ref) if row.kind == "fold" else ref].status
        call = titled and row.node in self._aside
        return GraphRow(kind, ref, row.lane, row.opens, row.hidden, row.branches, row.through, title, status, call)

    def title(self, ref: Ref, line: str) -> str:
        """What a person who stands on ``line`` would call the branch that starts here; "" until that is known."""
        at = self._family.places[ref]
        if at in self._aside:
            caller = enclosing(self.headers[ref])
            return call_name(ref.ns, caller.ns if caller is not None else "")
        parent = self._family.parent(at)
        if ref.thread != line or (parent is not None and ref.thread != parent.thread):
            return ref.thread
        source = self.headers[ref].source
        return source if source not in ("loop", "step") else "branch"


class GraphRows(Sequence[GraphRow]):
    """The rows of a view."""

    def __init__(self, view: ThreadView, rows: Rows, line: str) -> None:
        self._view, self._rows, self._line = view, rows, line

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> GraphRow: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[GraphRow, ...]: ...

    def __getitem__(self, at: int | slice) -> GraphRow | tuple[GraphRow, ...]:
        if isinstance(at, slice):
            return tuple(self._view.row(row, self._line) for row in self._rows[at])
        return self._view.row(self._rows[at], self._line)


def call_name(ns: str, outer: str = "") -> str:
    """What a person calls the subgraph ``ns`` seen from ``outer``, which it lies in: the nodes it is called by, with a
    number from the second one that a task calls. Ids of tasks are left out."""
    names: list[str] = []
    for part in ns.split("|")[outer.count("|") + 1 if outer else 0 :]:
        if part.isdecimal() and names:
            names[-1] += f" #{int(part) + 1}"
        else:
            names.append(part.partition(":")[0])
    return " / ".join(names)


def parents_first(headers: Iterable[Header]) -> list[Header]:
    """In the order given, but no row before its parent, whatever its clock said."""
    wanted = list(headers)
    present = {header.ref: header for header in wanted}
    done: dict[Ref, Header] = {}
    for header in wanted:
        for found in reversed(_unlisted_line(header, present, done)):
            done[found.ref] = found
    return list(done.values())


def _unlisted_line(header: Header, present: Mapping[Ref, Header], done: Mapping[Ref, Header]) -> list[Header]:
    """The row and those ancestors of it that are still to be listed, child first; a cycle ends the walk."""
    chain: dict[Ref, Header] = {}
    row: Header | None = header
    while row is not None and row.ref not in done and row.ref not in chain:
        chain[row.ref] = row
        row = present.get(row.parent) if row.parent else None
    return list(chain.values())
