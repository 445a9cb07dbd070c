"""A thread as the front ends see it: its family of forks in one graph, its line, its rows.

Owns the mapping between addresses and the layout's indices; refuses to load states.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

from stores.model import Header, Ref
from stores.refs import Refs, at_places, begin_with
from tt_debug.descent import Descent
from tt_debug.graph import enclosing
from tt_debug.session.family import Merged, drawn_under, merged
from tt_debug.session.headers import Headers, Read, Seen, Strand

if TYPE_CHECKING:
    from tt_debug.layout import Layout, Row, Rows


class GraphRow(NamedTuple):
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
        known = [header for strand in strands for header in strand.known.values()]
        self._told = complete, bool(known)
        # No method of its own: in a circle with its headers, a view that was left would stay until the collector runs.
        self.headers = Headers(self._family, known, partial(_finished, self._family, complete), read)
        """Of every checkpoint, oldest first, each read when it is asked for."""
        self.seen: Mapping[Ref, Header] = Seen(self.headers)
        """The same as far as they were read."""
        self.refs = self._family.refs
        self._links, self._aside = drawn_under(self._family, self.headers)
        self._layouts: dict[int | None, Layout] = {}

    def is_call(self, ref: Ref) -> bool:
        """Whether a checkpoint begins a call of a subgraph, drawn under what called it."""
        return self._family.place(ref) in self._aside

    def place(self, ref: Ref) -> int | None:
        """Where a checkpoint stands among `refs`."""
        return self._family.place(ref)

    @cached_property
    def newest(self) -> Mapping[str, Ref]:
        """The newest checkpoint of each thread's root, or of any namespace where it has none; oldest thread first."""
        if isinstance(self.refs, Refs):
            return {self.refs.thread: self.refs[-1]}
        found: dict[str, Ref] = {}
        for ref in self.refs:
            if not ref.ns or ref.thread not in found or found[ref.thread].ns:
                found[ref.thread] = ref
        return found

    def ends(self) -> Sequence[int]:
        """The places of those after which their own thread and namespace have nothing."""
        refs, parents = self.refs, self._family.parents
        if isinstance(refs, Refs) and self._links is parents:
            return self._descent.ends()
        goes_on = bytearray(len(refs))
        for at, above in enumerate(parents):
            if above >= 0 and refs[above][:2] == refs[at][:2]:
                goes_on[above] = 1
        return [at for at, later in enumerate(goes_on) if not later]

    def __contains__(self, ref: Ref) -> bool:
        return ref in self.headers

    def standing(self, ref: Ref) -> Ref | None:
        """``ref`` itself, or what stands here for the copy that it is; None when it is not of this family."""
        if ref in self.headers:
            return ref
        return next((each for each in self.refs if (each.ns, each.id) == (ref.ns, ref.id)), None)

    def line(self, ref: Ref | None = None, known: Container[Ref] = (), newest: int | None = None) -> tuple[Ref, ...]:
        """From the root, or from the nearest one ``known``, to ``ref`` (default: the head), across threads and into
        subgraphs, oldest first; of these the ``newest`` only."""
        at = self._family.place(ref or self.head)
        refs, parents, found = self.refs, self._parents, array("i")
        while at is not None and at >= 0 and len(found) != newest:
            found.append(at)
            at = -1 if known and refs[at] in known else parents[at]
        found.reverse()
        return tuple(at_places(refs, found))

    @property
    def ascends(self) -> bool:
        """Whether each of `refs` comes after its parent."""
        parents = self._family.parents
        return (self._descent if self._links is parents else Descent(parents)).ascends

    @cached_property
    def _descent(self) -> Descent:
        return Descent(self._links)

    @cached_property
    def _parents(self) -> Sequence[int]:
        """The links with every cycle cut. Where each comes after its parent there is none, and no layout is needed."""
        return self._links if self._descent.ascends else self._layout(self.head).parents

    @cached_property
    def _below(self) -> Descent:
        """Who goes on from whom, cycles cut."""
        return self._descent if self._parents is self._links else Descent(self._parents)

    def parent(self, ref: Ref) -> Ref | None:
        """What a checkpoint of this family goes on from, whether or not that is here."""
        return self._family.parent(self._at(ref))

    def children(self, ref: Ref) -> tuple[Ref, ...]:
        """Oldest first; empty for an address that is not here."""
        at = self._family.place(ref)
        return () if at is None else tuple(self.refs[child] for child in self._below.children(at))

    def _at(self, ref: Ref) -> int:
        at = self._family.place(ref)
        if at is None:
            raise KeyError(ref)
        return at

    @cached_property
    def parted(self) -> Set[Ref]:
        """All of which more than one may go on are among these."""
        return frozenset(at_places(self.refs, self._below.parted))

    def goes_on(self, ref: Ref) -> int:
        """How many of its own namespace have it as their parent."""
        refs = self.refs
        return sum(refs[child].ns == ref.ns for child in self._below.children(self._at(ref)))

    def continues(self, before: ThreadView) -> bool:
        """Whether it is ``before`` with further checkpoints after the last, perhaps none, and all else as it was. Not
        where headers were read with it, of which any may be another."""
        if self is before:
            return True
        count = len(before.refs)
        return (
            self._told == before._told == (before._told[0], False)
            and begin_with(self.refs, before.refs)
            and self._links[:count] == before._links
            and {at: ref for at, ref in self._family.missing.items() if at < count} == before._family.missing
        )

    def recall(self, before: ThreadView) -> None:
        """Know what was known of the same family earlier where it cannot have changed: of what was, and is, no end."""
        if self.continues(before):
            self._descent = Descent(self._links, before._descent)
            self._take_layout(before)
            self.headers.go_on_from(before.headers, before._ends)
        else:
            left = {*before._ends, *self._ends}
            known = before.headers.known()
            self.headers.recall(header for header in known if header.ref in self and header.ref not in left)

    def _take_layout(self, before: ThreadView) -> None:
        """Where only the end of the line that it was pinned to has gone on, it is as good for that."""
        for pinned, layout in before._layouts.items():
            from tt_debug.layout import extended

            longer = extended(layout, self._links) if pinned is not None and pinned == layout.order[-1] else None
            if longer is not None:
                self._layouts = {longer.order[-1]: longer}

    def touched(self, before: ThreadView) -> list[Ref]:
        """What may be another in this view, which continues ``before``: its ends, and what more goes on from now."""
        above = {self._links[at] for at in range(len(before.refs), len(self.refs))} - {-1}
        return [*before._ends, *at_places(self.refs, above)]

    @cached_property
    def _ends(self) -> Sequence[Ref]:
        return at_places(self.refs, self.ends())

    def tip(self, ref: Ref) -> Ref:
        """The newest checkpoint of its own namespace that goes on from ``ref`` along its longest continuation."""
        layout, at = self._layout(self.head), self._at(ref)
        while True:
            below = [c for c in self._below.children(at) if self.refs[c].ns == self.refs[at].ns]
            if not below:
                return self.refs[at]
            at = max(below, key=lambda child: (layout.size(child), child))

    def tips(self) -> tuple[Ref, ...]:
        """Checkpoints of the root namespace without children there, oldest first."""
        return tuple(
            ref
            for at, ref in enumerate(self.refs)
            if not ref.ns and not any(not self.refs[child].ns for child in self._below.children(at))
        )

    def rows(self, unfolded: Collection[Ref] | None = frozenset(), trunk: Ref | None = None) -> GraphRows:
        """Top to bottom, oldest first, each made when it is looked at. ``trunk`` (default: the head) keeps lane 0;
        another branch is one row unless its first checkpoint is in ``unfolded``; with None none is folded."""
        layout = self._layout(trunk or self.head)
        folded: Collection[int] = ()
        if unfolded is not None:
            opened = {self._family.place(ref) for ref in unfolded}
            folded = [node for at in layout.openings if (node := layout.order[at]) not in opened]
        return GraphRows(self, layout.rows(folded), (trunk or self.head).thread)

    def _layout(self, trunk: Ref) -> Layout:
        pinned = self._family.place(trunk)
        if pinned not in self._layouts:
            from tt_debug.layout import lay_out  # a list draws none

            self._layouts = {pinned: lay_out(self._links, pinned, self._aside)}
        return self._layouts[pinned]

    def row(self, row: Row, line: str) -> GraphRow:
        """One row, as a person sees it who stands on ``line``, a thread."""
        ref = self.refs[row.node]
        titled = row.kind == "fold" or row.opens
        status = self.headers[self.tip(ref) if row.kind == "fold" else ref].status
        if titled:
            self.headers.learn((ref,))
        title = self.title(ref, line) if titled else ""
        kind: Literal["checkpoint", "fold"] = "fold" if row.kind == "fold" else "checkpoint"
        call = titled and row.node in self._aside
        return GraphRow(kind, ref, row.lane, row.opens, row.hidden, row.branches, row.through, title, status, call)

    def title(self, ref: Ref, line: str) -> str:
        """What a person who stands on ``line`` would call the branch that starts here; "" until that is known."""
        header = self.seen[ref]
        if self.is_call(ref):
            caller = enclosing(header)
            return call_name(ref.ns, caller.ns if caller is not None else "")
        if ref.thread != line or (header.parent is not None and ref.thread != header.parent.thread):
            return ref.thread
        return header.source if header.source not in ("loop", "step") else "branch"


def _finished(family: Merged, complete: bool, header: Header) -> Header:
    """A header with the parent that stands here, and with the absence of one as the ``problem``."""
    at = family.place(header.ref)
    above = header.parent if at is None else family.parent(at)
    if above != header.parent:
        header = replace(header, parent=above)
    if not complete or header.problem or above is None:
        return header
    is_here = family.place(above) is not None if at is None else family.parents[at] >= 0
    if is_here:
        return header
    missing = "its parent" if above.ns == header.ref.ns else "the step that called it"
    return replace(header, problem=f"{missing} is not in the store")


class GraphRows(Sequence[GraphRow]):
    """The rows of a view. ``shape`` are the same in places of its order, ``line`` the thread they are seen from."""

    def __init__(self, view: ThreadView, shape: Rows, line: str) -> None:
        self.view, self.shape, self.line = view, shape, line

    def __len__(self) -> int:
        return len(self.shape)

    @overload
    def __getitem__(self, at: int) -> GraphRow: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[GraphRow, ...]: ...

    def __getitem__(self, at: int | slice) -> GraphRow | tuple[GraphRow, ...]:
        if isinstance(at, slice):
            return tuple(self.view.row(row, self.line) for row in self.shape[at])
        return self.view.row(self.shape[at], self.line)


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


def parents_first(refs: Iterable[Ref], parent: Callable[[Ref], Ref | None]) -> list[Ref]:
    """In the order given, but none before its parent, whatever its clock said."""
    wanted = dict.fromkeys(refs)
    done: dict[Ref, None] = {}
    for ref in wanted:
        line: dict[Ref, None] = {}
        at: Ref | None = ref
        while at is not None and at in wanted and at not in done and at not in line:  # a circle ends the walk
            line[at] = None
            at = parent(at)
        done.update(dict.fromkeys(reversed(line)))
    return list(done)
