"""A thread's checkpoints by address alone: their order, their parents, their graph levels.

Owns the order of a listing; refuses contents. In columns, as a thread may have a million checkpoints: what needs an
object for each is made when it is first asked for.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from operator import ge
from typing import TYPE_CHECKING, NamedTuple

from stores.model import Addresses, Ref

if TYPE_CHECKING:
    from stores.langgraph.tables import Tables


class Key(NamedTuple):
    """A checkpoint within its thread. Sorts by id first, which is by time."""

    id: str
    ns: str


@dataclass(frozen=True)
class Column:
    """The checkpoints of one namespace: their ids, ascending, and where each is found among them. ``parents`` are
    places too, -1 for none here; ``missing`` the ids of those that are named and not here, by their child's place."""

    ns: str
    ids: Sequence[str]
    places: Mapping[str, int]
    parents: array[int]
    missing: Mapping[int, str]

    @classmethod
    def of(cls, ns: str, ids: Sequence[str], parents: Sequence[str]) -> Column:
        """From the ids of checkpoints and of their parents, "" for none, in any order."""
        if list(ids) != sorted(ids):
            pairs = sorted(zip(ids, parents, strict=True))
            ids, parents = [id for id, _ in pairs], [parent for _, parent in pairs]
        places = dict(zip(ids, range(len(ids)), strict=True))
        above = array("i", map(places.get, parents, repeat(-1)))
        missing = {at: parents[at] for at in _without(above) if parents[at]}
        return cls(ns, ids, places, above, missing)

    def parent(self, id: str) -> str | None:
        """The id of a checkpoint's parent, whether or not it is here."""
        at = self.places[id]
        above = self.parents[at]
        return self.ids[above] if above >= 0 else self.missing.get(at)

    def grown(self, rows: Sequence[tuple[str, str]]) -> Column | None:
        """With further (id, parent or "") after the last one; None where they are no mere continuation."""
        ids = [id for id, _ in rows]
        if not ids or ids[0] <= self.ids[-1] or not set(ids).isdisjoint(self.missing.values()):
            return None
        count = len(self.ids)
        places = {**self.places, **dict(zip(ids, range(count, count + len(ids)), strict=True))}
        above = array("i", (places.get(parent, -1) for _, parent in rows))
        missing = {count + at: parent for at, (_, parent) in enumerate(rows) if parent and above[at] < 0}
        return Column(self.ns, [*self.ids, *ids], places, self.parents + above, {**self.missing, **missing})

    @cached_property
    def went_on(self) -> Collection[str]:
        """The ids that others name as their parent."""
        return {self.ids[at] for at in frozenset(self.parents) if at >= 0}.union(self.missing.values())

    @property
    def sorts(self) -> bool:
        """Whether every parent has a smaller id: a clock that went back makes another order."""
        late = any(map(ge, self.parents, range(len(self.ids))))
        return not late and not any(parent >= self.ids[at] for at, parent in self.missing.items())


class Skeleton:
    """The namespaces of one thread. A child comes before its parent in ``order``, newest first otherwise.

    ``heads`` are the greatest ids of each namespace, which the runtime goes on from.
    """

    def __init__(self, columns: Iterable[Column]) -> None:
        self.columns = {column.ns: column for column in columns if column.ids}
        self.heads: Mapping[str, Key] = {ns: Key(column.ids[-1], ns) for ns, column in self.columns.items()}

    def __contains__(self, key: Key) -> bool:
        column = self.columns.get(key.ns)
        return column is not None and key.id in column.places

    def __len__(self) -> int:
        return sum(len(column.ids) for column in self.columns.values())

    def grown(self, tables: Tables, thread: str) -> Skeleton | None:
        """As it is with what was stored since, where all that is told without reading the rest of it anew."""
        if len(self.columns) != 1:
            return None
        ((ns, column),) = self.columns.items()
        longer = column.grown(tables.since(thread, self.heads[ns]))
        return None if longer is None else Skeleton([longer])

    @property
    def stamp(self) -> tuple[int, str | None]:
        """As `stores.langgraph.tables.Tables.count` tells it."""
        return len(self), max((key.id for key in self.heads.values()), default=None)

    def has_child(self, key: Key) -> bool:
        """Whether others went on from a checkpoint, whether or not its own row is there."""
        column = self.columns.get(key.ns)
        return column is not None and key.id in column.went_on

    def parent(self, key: Key) -> Key | None:
        """The parent's key, whether or not its row is there."""
        if key not in self:
            return None
        parent = self.columns[key.ns].parent(key.id)
        return None if parent is None else Key(parent, key.ns)

    def lineage(self, key: Key) -> list[Key]:
        """From ``key`` to its root, along rows that are there; ends at a repetition."""
        line: dict[Key, None] = {}
        at: Key | None = key
        while at is not None and at in self and at not in line:
            line[at] = None
            at = self.parent(at)
        return list(line)

    @property
    def order(self) -> Sequence[Key]:
        """Every checkpoint, newest first."""
        return self._ordered[0]

    @property
    def circling(self) -> frozenset[Key]:
        """Those whose ancestors lead back to them; they come last in the order."""
        return self._ordered[1]

    @cached_property
    def children(self) -> Mapping[Key, Sequence[Key]]:
        """The children of each that has any, newest first."""
        found: dict[Key, list[Key]] = {}
        for key in self.order:
            parent = self.parent(key)
            if parent is not None:
                found.setdefault(parent, []).append(key)
        return found

    @cached_property
    def newest(self) -> Mapping[str, Key]:
        """The first checkpoint of each graph level in the order."""
        found: dict[str, Key] = {}
        for key in sorted(self.heads.values(), reverse=True) if self._sorts else self.order:
            found.setdefault(level_of(key.ns), key)
        return found

    def addresses(self, thread: str) -> Addresses:
        """The same, oldest first, in what every store speaks in."""
        if len(self.columns) == 1 and self._sorts:
            ((ns, column),) = self.columns.items()
            refs = [Ref(thread, ns, id) for id in column.ids]
            absent = {at: Ref(thread, ns, parent) for at, parent in column.missing.items()}
            return Addresses(refs, column.parents, absent)
        keys = self.order[::-1]
        place = {key: at for at, key in enumerate(keys)}
        parents = [self.parent(key) for key in keys]
        above = [-1 if parent is None else place.get(parent, -1) for parent in parents]
        missing = {
            at: Ref(thread, parent.ns, parent.id) for at in _without(above) if (parent := parents[at]) is not None
        }
        return Addresses([Ref(thread, key.ns, key.id) for key in keys], above, missing)

    @cached_property
    def _sorts(self) -> bool:
        return all(column.sorts for column in self.columns.values())

    @cached_property
    def _ordered(self) -> tuple[Sequence[Key], frozenset[Key]]:
        keys = [Key(id, column.ns) for column in self.columns.values() for id in column.ids]
        keys.sort(reverse=True)
        return (keys, frozenset()) if self._sorts else _children_first(keys, self.parent)


def _without(above: Sequence[int]) -> Iterator[int]:
    """The places of those that have no parent here."""
    at = -1
    while True:
        try:
            at = above.index(-1, at + 1)
        except ValueError:
            return
        yield at


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
    found: dict[str, dict[str, str]] = {}
    for ns, id, parent in rows:
        found.setdefault(ns, {})[id] = parent or ""
    return Skeleton(Column.of(ns, list(pairs), list(pairs.values())) for ns, pairs in found.items())


def joined(spaces: Sequence[str], ids: Sequence[str], parents: Sequence[str]) -> Skeleton:
    """The skeleton of a thread as three columns; a parent of "" is none."""
    if len(set(spaces)) == 1:
        return Skeleton([Column.of(spaces[0], ids, parents)])
    return build(zip(spaces, ids, parents, strict=True))


def _children_first(order: Sequence[Key], parent_of: Callable[[Key], Key | None]) -> tuple[list[Key], frozenset[Key]]:
    """The order with every child before its parent, newest first otherwise, and what lies on a circle, which is last.

    In numbers, the places in ``order``.
    """
    place = {key: at for at, key in enumerate(order)}
    above = [-1 if (parent := parent_of(key)) is None else place.get(parent, -1) for key in order]
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
