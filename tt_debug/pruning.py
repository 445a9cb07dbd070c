"""Which checkpoints of a thread could be freed, and why the others must stay. Pure; nothing in the product deletes any.

Owns the rules and their order: a checkpoint stays for the first reason that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from stores.model import Header, Ref, Status
from tt_debug.graph import enclosing

FREE_TO_GO: Final = frozenset({Status.DONE, Status.CANCELLED})
"""How a thread must stand for any of it to be freed: everything else goes on, or waits for somebody, by its line."""


class Why(StrEnum):
    """Why a checkpoint stays, the strongest first."""

    PROTECTED = "protected"
    STANDING = "standing"
    RECENT = "recent"
    HEAD = "head"
    TIP = "tip"
    NEWEST = "newest"
    MARKED = "bookmark"
    FORKED = "fork"
    REBUILDS = "rebuilds"
    SUBGRAPH = "subgraph"

    @property
    def words(self) -> str:
        """In a sentence."""
        return _WORDS[self]


_WORDS: Final[Mapping[Why, str]] = {
    Why.PROTECTED: "the thread is protected",
    Why.STANDING: "the thread is not done: it waits, has failed, is paused or at work, and goes on by its line",
    Why.RECENT: "the thread was written lately",
    Why.HEAD: "the runtime goes on from here",
    Why.TIP: "the end of a branch",
    Why.NEWEST: "among the newest of its line",
    Why.MARKED: "it has a name",
    Why.FORKED: "on the line of a fork that is there, or of where one goes on in another thread",
    Why.REBUILDS: "one that stays is put together from it: its delta channels, or the Sends that run next",
    Why.SUBGRAPH: "it ran below one that stays",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one thread beside its headers.

    ``whole`` is why all of it stays, None where not. ``heads`` are what the runtime loads, ``marked`` what a person has
    named, ``forked`` where forks in other threads hang. ``newest`` of each line stay. ``needed`` tells which others a
    checkpoint cannot be put together without.
    """

    heads: frozenset[Ref]
    whole: Why | None = None
    marked: frozenset[Ref] = frozenset()
    forked: frozenset[Ref] = frozenset()
    newest: int = 1
    needed: Callable[[Ref], Iterable[Ref]] = field(default=lambda ref: ())


def kept(headers: Sequence[Header], facts: Facts) -> dict[Ref, Why]:
    """The checkpoints of one thread that must stay, all namespaces. What is not here could be freed."""
    if facts.whole is not None:
        return {header.ref: facts.whole for header in headers}
    family = _Family(headers)
    found: dict[Ref, Why] = {}
    for why, refs in (
        (Why.HEAD, facts.heads),
        (Why.TIP, family.tips()),
        (Why.NEWEST, family.newest(facts.newest)),
        (Why.MARKED, facts.marked),
        (Why.FORKED, family.above(facts.forked | family.branches(facts.heads))),
    ):
        for ref in refs:
            if ref in family.headers:
                found.setdefault(ref, why)
    _with_what_ran_below(headers, found)
    for ref in list(found):
        for other in facts.needed(ref):
            if other in family.headers:
                found.setdefault(other, Why.REBUILDS)
    return found


def _with_what_ran_below(headers: Sequence[Header], found: dict[Ref, Why]) -> None:
    """Oldest first, an outer subgraph's before those inside it."""
    for header in sorted(headers, key=lambda each: each.ref.ns.count("|")):
        if header.ref.ns and enclosing(header) in found:
            found.setdefault(header.ref, Why.SUBGRAPH)


class _Family:
    """One thread's checkpoints by their parents, as far as those lie in it."""

    def __init__(self, headers: Sequence[Header]) -> None:
        self.headers = {header.ref: header for header in headers}
        self._children: dict[Ref, int] = {}
        for header in headers:
            if header.parent in self.headers and header.parent is not None:
                self._children[header.parent] = self._children.get(header.parent, 0) + 1

    def tips(self) -> list[Ref]:
        """The ends of branches. A subgraph's call is over with its task; one that keeps its state has a name alone."""
        return [ref for ref in self.headers if not self._children.get(ref) and not _is_call(ref.ns)]

    def newest(self, number: int) -> Iterator[Ref]:
        """The tips and so many up their lines."""
        for tip in self.tips():
            for place, ref in enumerate(self._upwards(tip)):
                if place >= number:
                    break
                yield ref

    def branches(self, heads: frozenset[Ref]) -> frozenset[Ref]:
        """The ends of branches that left the line of the head: they stay joined to where they left it."""
        trunk = set(self.above(heads))
        return frozenset(tip for tip in self.tips() if tip not in heads and not trunk.isdisjoint(self._upwards(tip)))

    def above(self, refs: Iterable[Ref]) -> Iterator[Ref]:
        """These and all their ancestors, each once."""
        seen: set[Ref] = set()
        for ref in refs:
            for each in self._upwards(ref):
                if each in seen:
                    break
                seen.add(each)
                yield each

    def _upwards(self, ref: Ref) -> Iterator[Ref]:
        passed: set[Ref] = set()
        here: Ref | None = ref
        while here is not None and here in self.headers and here not in passed:
            passed.add(here)
            yield here
            here = self.headers[here].parent


def _is_call(ns: str) -> bool:
    return ":" in ns.rpartition("|")[2]
