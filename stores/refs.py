"""The addresses of one namespace of a thread as a sequence: each is made when it is looked at.

A thread may have a million; kept as objects they take more time and room than all else that a graph needs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import overload

from stores.model import Ref


class Refs(Sequence[Ref]):
    """Ascending by id. No id is there twice."""

    def __init__(self, thread: str, ns: str, ids: Sequence[str]) -> None:
        self.thread = thread
        self.ns = ns
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Ref]:
        thread, ns = self.thread, self.ns
        return (Ref(thread, ns, id) for id in self.ids)

    @overload
    def __getitem__(self, at: int) -> Ref: ...

    @overload
    def __getitem__(self, at: slice) -> list[Ref]: ...

    def __getitem__(self, at: int | slice) -> Ref | list[Ref]:
        if isinstance(at, slice):
            return [Ref(self.thread, self.ns, id) for id in self.ids[at]]
        return Ref(self.thread, self.ns, self.ids[at])

    def __contains__(self, ref: object) -> bool:
        return isinstance(ref, Ref) and self.place(ref) is not None

    def place(self, ref: Ref) -> int | None:
        """Where one stands; None where it does not."""
        if (ref.thread, ref.ns) != (self.thread, self.ns):
            return None
        at = bisect_left(self.ids, ref.id)
        return at if at < len(self.ids) and self.ids[at] == ref.id else None


def at_places(refs: Sequence[Ref], places: Iterable[int]) -> list[Ref]:
    """Those at these places, in their order."""
    if not isinstance(refs, Refs):
        return [refs[at] for at in places]
    parts = zip(repeat(refs.thread), repeat(refs.ns), map(refs.ids.__getitem__, places), strict=False)
    # Past the named tuple's own constructor, which is written in Python and takes longer than all else here.
    return list(map(tuple.__new__, repeat(Ref), parts))


def begin_with(refs: Sequence[Ref], others: Sequence[Ref]) -> bool:
    """Whether those are the first of these."""
    if not isinstance(refs, Refs) or not isinstance(others, Refs):
        return refs[: len(others)] == others
    same = (refs.thread, refs.ns) == (others.thread, others.ns)
    return same and refs.ids[: len(others)] == others.ids


def of_subgraphs(refs: Sequence[Ref]) -> list[Ref]:
    """Those that are not of a root graph."""
    return [] if isinstance(refs, Refs) and not refs.ns else [ref for ref in refs if ref.ns]
