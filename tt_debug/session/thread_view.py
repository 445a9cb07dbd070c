"""A thread as the front ends see it: its family of forks in one graph, its line, its rows.

Owns the mapping between addresses and the layout's indices; refuses to load states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stores.model import Header, Ref
from tt_debug.graph import enclosing
from tt_debug.layout import Layout, Row, lay_out


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
        self, thread: str, head: Ref, family: Sequence[Sequence[Header]], copies: bool, *, complete: bool = False
    ) -> None:
        """``family`` holds each thread's headers oldest first, the opened thread's first. A parent that is not in a
        ``complete`` one is missing, and its child's ``problem`` says so."""
        self.thread = thread
        self.head = head
        merged = _merge(family, copies)
        self.headers: Mapping[Ref, Header] = _orphans_told(merged) if complete else merged
        self._refs = tuple(self.headers)
        self._index = {ref: at for at, ref in enumerate(self._refs)}
        above = _callers(self.headers)
        self._links = [self._index.get(ref, -1) if ref else -1 for ref in above]
        self._aside = frozenset(at for at, ref in enumerate(above) if ref and ref.ns != self._refs[at].ns)
        self._layouts: dict[int, Layout] = {}
        self._parents = self._layout(head).parents  # the same links with every cycle cut
        self._children: list[list[int]] = [[] for _ in self._refs]
        for at, parent in enumerate(self._parents):
            if parent >= 0:
                self._children[parent].append(at)

    def __contains__(self, ref: Ref) -> bool:
        return ref in self._index

    def standing(self, ref: Ref) -> Ref | None:
        """``ref`` itself, or what stands here for the copy that it is; None when it is not of this family."""
        if ref in self._index:
            return ref
        return next((each for each in self._refs if (each.ns, each.id) == (ref.ns, ref.id)), None)

    def line(self, ref: Ref | None = None) -> tuple[Ref, ...]:
        """From the root to ``ref`` (default: the head), across threads and into subgraphs, oldest first."""
        at = self._index.get(ref or self.head, -1)
        found: list[Ref] = []
        while at >= 0:
            found.append(self._refs[at])
            at = self._parents[at]
        return tuple(reversed(found))

    def children(self, ref: Ref) -> tuple[Ref, ...]:
        """Oldest first; empty for an address that is not here."""
        at = self._index.get(ref)
        return () if at is None else tuple(self._refs[child] for child in self._children[at])

    def tip(self, ref: Ref) -> Ref:
        """The newest checkpoint of its own namespace that goes on from ``ref`` along its longest continuation."""
        layout, at = self._layout(self.head), self._index[ref]
        while True:
            below = [c for c in self._children[at] if self._refs[c].ns == self._refs[at].ns]
            if not below:
                return self._refs[at]
            at = max(below, key=lambda child: (layout.size[child], child))

    def tips(self) -> tuple[Ref, ...]:
        """Checkpoints of the root namespace without children there, oldest first."""
        return tuple(
            ref
            for at, ref in enumerate(self._refs)
            if not ref.ns and not any(not self._refs[child].ns for child in self._children[at])
        )

    def rows(self, unfolded: frozenset[Ref] = frozenset(), trunk: Ref | None = None) -> tuple[GraphRow, ...]:
        """Top to bottom, oldest first. ``trunk`` (default: the head) keeps lane 0; another branch is one row
        unless its first checkpoint is in ``unfolded``."""
        layout = self._layout(trunk or self.head)
        branches = {at for at in range(len(self._refs)) if layout.opens(at)}
        folded = branches - {self._index[ref] for ref in unfolded if ref in self._index}
        line = (trunk or self.head).thread
        return tuple(self._row(row, line) for row in layout.rows(folded))

    def _layout(self, trunk: Ref) -> Layout:
        pinned = self._index.get(trunk, -1)
        if pinned not in self._layouts:
            self._layouts = {pinned: lay_out(self._links, pinned if pinned >= 0 else None, self._aside)}
        return self._layouts[pinned]

    def _row(self, row: Row, line: str) -> GraphRow:
        ref = self._refs[row.node]
        header = self.headers[ref]
        titled = row.kind == "fold" or row.opens
        status = self.headers[self.tip(ref)].status if row.kind == "fold" else header.status
        title = self._title(header, line) if titled else ""
        kind: Literal["checkpoint", "fold"] = "fold" if row.kind == "fold" else "checkpoint"
        call = titled and row.node in self._aside
        return GraphRow(kind, ref, row.lane, row.opens, row.hidden, row.branches, row.through, title, status, call)

    def _title(self, header: Header, line: str) -> str:
        """What a person who stands on ``line``, a thread, would call the branch that starts here."""
        ref, parent = header.ref, header.parent
        if self._index[ref] in self._aside:
            caller = enclosing(header)
            return call_name(ref.ns, caller.ns if caller is not None else "")
        if ref.thread != line or (parent is not None and ref.thread != parent.thread):
            return ref.thread
        return header.source if header.source not in ("loop", "step") else "branch"


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


def _callers(headers: Mapping[Ref, Header]) -> list[Ref | None]:
    """What each checkpoint is drawn under: its parent, or what called the subgraph whose call it begins."""
    # A caller that a fork copied stands under its original's address.
    stands = {(ref.ns, ref.id): ref for ref in headers} if any(ref.ns for ref in headers) else {}

    def caller_of(header: Header) -> Ref | None:
        noted = enclosing(header) if header.ref.ns else None
        return noted if noted is None or noted in headers else stands.get((noted.ns, noted.id))

    above: list[Ref | None] = []
    for header in headers.values():
        parent = headers.get(header.parent) if header.parent else None
        caller = caller_of(header)
        # The next call of a subgraph that keeps its state has the last row of the call before as its parent.
        goes_on = parent is not None and parent.ref.ns == header.ref.ns and caller_of(parent) in (caller, None)
        above.append(header.parent if goes_on or caller is None else caller)
    return above


def _merge(family: Sequence[Sequence[Header]], copies: bool) -> dict[Ref, Header]:
    """Every checkpoint once, parents pointing at the one that stands, oldest first."""
    originals: dict[tuple[str, str], Header] = {}
    kept: list[Header] = []
    for headers in family:
        newest = next((header.ref for header in reversed(headers) if not header.ref.ns), None)
        for header in headers:
            original = originals.setdefault((header.ref.ns, header.ref.id), header)
            if original is header or not copies:
                kept.append(header)
            elif header.ref == newest or header.created != original.created:
                kept.append(replace(header, parent=original.ref))
    stands = {key: header.ref for key, header in originals.items()}
    present = {header.ref for header in kept}
    linked = [_linked(header, stands if copies else {}, present) for header in kept]
    return {header.ref: header for header in _by_age(linked)}


def _linked(header: Header, stands: Mapping[tuple[str, str], Ref], present: set[Ref]) -> Header:
    """The header with its parent resolved: through copies, and from a subgraph's first row to what enclosed it."""
    parent = header.parent or enclosing(header)
    if parent is not None:
        if parent not in present:
            parent = stands.get((parent.ns, parent.id), parent)
        if parent != header.parent:
            return replace(header, parent=parent)
    return header


def _orphans_told(headers: Mapping[Ref, Header]) -> dict[Ref, Header]:
    """With the absence of a parent as the ``problem``, where there is no other."""

    def told(header: Header) -> Header:
        above = header.parent
        if header.problem or above is None or above in headers:
            return header
        missing = "its parent" if above.ns == header.ref.ns else "the step that called it"
        return replace(header, problem=f"{missing} is not in the store")

    return {ref: told(header) for ref, header in headers.items()}


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


def _by_age(headers: Iterable[Header]) -> list[Header]:
    """Oldest first; rows of one thread with equal or unknown times keep their order."""
    return sorted(headers, key=lambda header: (header.created is None, header.created and header.created.timestamp()))
