"""A thread's checkpoints by address alone: their order, their parents, their graph levels.

Owns the order of a listing; refuses contents. In columns, as a thread may have a million checkpoints: what needs an
object for each is made when it is first asked for.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, islice
from operator import lt, ne
from typing import TYPE_CHECKING, NamedTuple

from stores.model import Addresses, Ref
from stores.refs import Refs

if TYPE_CHECKING:
    from stores.langgraph.tables import Tables


class Key(NamedTuple):
    """A checkpoint within its thread. Sorts by id first, which is by time."""

    id: str
    ns: str


@dataclass(frozen=True)
class Column:
    """The checkpoints of one namespace: their ids, ascending. ``parents`` are places among them, -1 for none here;
    ``missing`` the ids of those that are named and not here, by their child's place. ``sorts`` tells whether every
    parent has a smaller id: a clock that went back makes another order."""

    ns: str
    ids: Sequence[str]
    parents: array[int]
    missing: Mapping[int, str]
    sorts: bool = True

    @classmethod
    def of(cls, ns: str, ids: Sequence[str], parents: Sequence[str]) -> Column:
        """From the ids of checkpoints and of their parents, "" for none, in any order. Of one that is there twice, as
        it may be in a table without a key, the last is told."""
        if not is_ascending(ids):
            above = dict(zip(ids, parents, strict=True))
            ids = sorted(above)
            parents = [above[id] for id in ids]
        return cls(ns, (), array("i"), {}).followed_by(ids, parents)

    def followed_by(self, ids: Sequence[str], parents: Sequence[str]) -> Column:
        """With further ones, ascending, all after the last."""
        count = len(self.ids)
        every = [*self.ids, *ids]
        # Most go on from the one before; only the others have to be looked up.
        above = self.parents + array("i", range(count - 1, len(every) - 1))
        others = compress(range(len(ids)), map(ne, parents, chain(self.ids[-1:] or ("",), ids)))
        named = {**self.missing, **{count + at: parents[at] for at in others}}
        missing, sorts = {}, self.sorts
        for at, parent in named.items():
            found = place(every, parent)
            above[at] = -1 if found is None else found
            if found is None and parent:
                missing[at] = parent
            sorts = sorts and parent < every[at]
        return Column(self.ns, every, above, missing, sorts)

    def place(self, id: str) -> int | None:
        """Where a checkpoint stands; None where it is not here."""
        return place(self.ids, id)

    def parent(self, at: int) -> str | None:
        """The id of the parent of the checkpoint at a place, whether or not it is here."""
        above = self.parents[at]
        return self.ids[above] if above >= 0 else self.missing.get(at)

    def line(self, at: int) -> list[int]:
        """From a place to its root, along rows that are here; ends at a repetition."""
        found: dict[int, None] = {}
        while at >= 0 and at not in found:
            found[at] = None
            at = self.parents[at]
        return list(found)

    def grown(self, rows: Sequence[tuple[str, str]]) -> Column | None:
        """With further (id, parent or "") after the last one; None where they are no mere continuation."""
        ids, parents = [id for id, _ in rows], [parent for _, parent in rows]
        return self.followed_by(ids, parents) if ids and is_ascending([self.ids[-1], *ids]) else None

    def goes_on(self, id: str) -> bool:
        """Whether others name it as their parent."""
        at = self.place(id)
        return id in self.missing.values() if at is None else bool(self._went_on[at])

    @cached_property
    def _went_on(self) -> bytearray:
        marks = bytearray(len(self.ids) + 1)  # one more, for those without a parent: it is -1
        for above in self.parents:
            marks[above] = 1
        return marks


class Skeleton:
    """The namespaces of one thread. A child comes before its parent in ``order``, newest first otherwise.

    ``heads`` are the greatest ids of each namespace, which the runtime goes on from.
    """

    def __init__(self, columns: Iterable[Column]) -> None:
        self.columns = {column.ns: column for column in columns if column.ids}
        self.heads: Mapping[str, Key] = {ns: Key(column.ids[-1], ns) for ns, column in self.columns.items()}

    def __contains__(self, key: Key) -> bool:
        column = self.columns.get(key.ns)
        return column is not None and column.place(key.id) is not None

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
        return column is not None and column.goes_on(key.id)

    def parent(self, key: Key) -> Key | None:
        """The parent's key, whether or not its row is there."""
        column = self.columns.get(key.ns)
        at = None if column is None else column.place(key.id)
        parent = None if column is None or at is None else column.parent(at)
        return None if parent is None else Key(parent, key.ns)

    def lineage(self, key: Key) -> list[Key]:
        """From ``key`` to its root, along rows that are there; ends at a repetition."""
        column = self.columns.get(key.ns)
        start = None if column is None else column.place(key.id)
        return [] if column is None or start is None else [Key(column.ids[at], key.ns) for at in column.line(start)]

    @property
    def order(self) -> Sequence[Key]:
        """Every checkpoint, newest first."""
        return self._ordered[0]

    @property
    def circling(self) -> frozenset[Key]:
        """Those whose ancestors lead back to them; they come last in the order."""
        # Where every parent has a smaller id there is none, and nothing has to be put in order to see it.
        return frozenset() if self._sorts else self._ordered[1]

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
            absent = {at: Ref(thread, ns, parent) for at, parent in column.missing.items()}
            return Addresses(Refs(thread, ns, column.ids), column.parents, absent)
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


def is_ascending(ids: Sequence[str]) -> bool:
    """Whether each is greater than the one before it: a table without a key, or one that takes a letter in either case
    for the same, has them otherwise."""
    return all(map(lt, ids, islice(ids, 1, None)))


def place(ids: Sequence[str], id: str) -> int | None:
    """Where an id stands among others, ascending; None where it does not."""
    at = bisect_left(ids, id)
    return at if at < len(ids) and ids[at] == id else None


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
