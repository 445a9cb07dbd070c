"""What goes on from each node of a forest in which most go on from the one before: pure, on plain numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import compress
from operator import ne


class Descent:
    """``parents`` holds each node's parent, or -1; the order of the nodes need not put it first.

    Only the ``leaps``, the nodes that do not go on from the one before, are looked at one by one: a long history has
    few."""

    def __init__(self, parents: Sequence[int], before: Descent | None = None) -> None:
        """``before`` is that of the first of these parents: they are not looked at again."""
        self.parents = parents
        start = 0 if before is None else len(before.parents)
        fresh = compress(range(start, len(parents)), map(ne, parents[start:], range(start - 1, len(parents) - 1)))
        self.leaps: Sequence[int] = [*(() if before is None else before.leaps), *fresh]

    @property
    def ascends(self) -> bool:
        """Whether each stands after its parent, so that there is no circle."""
        return all(self.parents[node] < node for node in self.leaps)

    @cached_property
    def _aside(self) -> Mapping[int, Sequence[int]]:
        """The leaps by what they go on from."""
        found: dict[int, list[int]] = {}
        for node in self.leaps:
            if self.parents[node] >= 0:
                found.setdefault(self.parents[node], []).append(node)
        return found

    @property
    def parted(self) -> Collection[int]:
        """Those that others go on from than the one after them: no other node has more than one child."""
        return self._aside.keys()

    def children(self, node: int) -> Sequence[int]:
        """Those that go on from a node, ascending."""
        below, after = self._aside.get(node, ()), node + 1
        if after < len(self.parents) and self.parents[after] == node:
            return sorted((*below, after)) if below else (after,)
        return below

    def ends(self) -> list[int]:
        """Those from which none goes on, ascending."""
        last = [len(self.parents) - 1] if self.parents else []
        return [node for node in (*(leap - 1 for leap in self.leaps if leap), *last) if node not in self._aside]
