"""A thread's checkpoints by address alone: their order, their parents, their graph levels.

Owns the order of a listing; refuses contents.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Key(NamedTuple):
    """A checkpoint within its thread. Sorts by id first, which is by time."""

    id: str
    ns: str


@dataclass(frozen=True, slots=True)
class Skeleton:
    """``order`` is newest first, a child always before its parent; ``newest`` the newest checkpoint of each level.

    ``children`` has an entry only where there are any; ``circling`` are those whose ancestors lead back to them;
    ``heads`` are the greatest ids of each namespace, which the runtime goes on from.
    """

    order: tuple[Key, ...]
    parents: Mapping[Key, str | None]
    children: Mapping[Key, Sequence[Key]]
    newest: Mapping[str, Key]
    circling: frozenset[Key] = frozenset()
    heads: Mapping[str, Key] = field(default_factory=dict)

    @property
    def has_child(self) -> Collection[Key]:
        """The checkpoints that others went on from, whether or not their own rows are there."""
        return self.children.keys()

    def parent(self, key: Key) -> Key | None:
        """The parent's key, whether or not its row is there."""
        parent = self.parents.get(key)
        return None if parent is None else Key(parent, key.ns)

    def lineage(self, key: Key) -> list[Key]:
        """From ``key`` to its root, along rows that are there; ends at a repetition."""
        line: dict[Key, None] = {}
        at: Key | None = key
        while at is not None and at in self.parents and at not in line:
            line[at] = None
            at = self.parent(at)
        return list(line)


def level_of(ns: str) -> str:
    """The graph a namespace belongs to: its path of nodes without the task ids."""
    return "|".join(part.partition(":")[0] for part in ns.split("|") if not part.isdigit()) if ns else ""


def enclosing(ns: str) -> tuple[str, str] | None:
    """The namespace a subgraph's namespace lies in, and the task that runs it; None where its name has no task."""
    parts = ns.split("|")
    while parts and parts[-1].isdigit():  # a task's second call of its subgraph
        parts.pop()
    task = parts[-1].partition(":")[2] if parts else ""
    return ("|".join(parts[:-1]), task) if task else None


def build(rows: Iterable[tuple[str, str, str | None]]) -> Skeleton:
    """The skeleton of (ns, id, parent id) rows."""
    parents = {Key(id, ns): parent or None for ns, id, parent in rows}
    # Sorting by id in the end would do, were it not for a machine whose clock went back.
    order = sorted(parents, reverse=True)
    heads: dict[str, Key] = {}
    for key in order:
        heads.setdefault(key.ns, key)
    circling: frozenset[Key] = frozenset()
    if any(parent is not None and parent >= key.id for key, parent in parents.items()):
        order, circling = _children_first(order, parents)
    children: dict[Key, list[Key]] = {}
    first: dict[str, Key] = {}
    for key in order:
        first.setdefault(key.ns, key)
        parent = parents[key]
        if parent is not None:
            children.setdefault(Key(parent, key.ns), []).append(key)
    newest: dict[str, Key] = {}
    for ns, key in first.items():
        newest.setdefault(level_of(ns), key)
    return Skeleton(tuple(order), parents, children, newest, circling, heads)


def _children_first(order: Sequence[Key], parents: Mapping[Key, str | None]) -> tuple[list[Key], frozenset[Key]]:
    """The order with every child before its parent, newest first otherwise, and what lies on a circle, which is last.

    In numbers, the places in ``order``: a thread may have 100,000 rows.
    """
    place = {key: at for at, key in enumerate(order)}
    above = [-1 if (parent := parents[key]) is None else place.get(Key(parent, key.ns), -1) for key in order]
    waiting = [0] * len(order)
    for at in above:
        if at >= 0:
            waiting[at] += 1
    ready = [at for at, count in enumerate(waiting) if not count]  # ascending, so a heap
    listed: list[int] = []
    while ready:
        at = heapq.heappop(ready)
        listed.append(at)
        parent_at = above[at]
        if parent_at >= 0:
            waiting[parent_at] -= 1
            if not waiting[parent_at]:
                heapq.heappush(ready, parent_at)
    # Of what has one parent each, only those on a circle wait for ever.
    circling = [order[at] for at, count in enumerate(waiting) if count]
    return [*(order[at] for at in listed), *circling], frozenset(circling)
