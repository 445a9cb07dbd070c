"""Checkpoints as a graph: who comes from whom, across threads and namespaces.

Walks along parents are plain loops that end on any input; the questions of a whole graph (cycles, components, the
forms to export) are networkx's, built when first asked for and off the first paint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from stores.model import Header, Ref

if TYPE_CHECKING:
    import networkx as nx

    Graph: TypeAlias = "nx.DiGraph[Ref]"


class Orphan(NamedTuple):
    """A checkpoint whose parent is named but not here; ``below`` counts what hangs on it, itself included."""

    ref: Ref
    missing: Ref
    below: int


class CheckpointGraph:
    """The checkpoints of one or more threads. An address is there once; the first header of it counts."""

    def __init__(self, headers: Iterable[Header]) -> None:
        self.headers: dict[Ref, Header] = {}
        for header in headers:
            self.headers.setdefault(header.ref, header)
        self._parents = {ref: _parent(header) for ref, header in self.headers.items()}
        self._children: dict[Ref, list[Ref]] = {}
        for ref, parent in self._parents.items():
            if parent in self.headers and parent is not None:
                self._children.setdefault(parent, []).append(ref)

    def __contains__(self, ref: Ref) -> bool:
        return ref in self.headers

    def __len__(self) -> int:
        return len(self.headers)

    def parent(self, ref: Ref) -> Ref | None:
        """Its parent, or for a subgraph's first checkpoint the one that ran the subgraph; it may be missing here."""
        return self._parents[ref]

    def children(self, ref: Ref) -> tuple[Ref, ...]:
        """Those that name ``ref`` as their parent, in the order they were given."""
        return tuple(self._children.get(ref, ()))

    def lineage(self, ref: Ref) -> tuple[Ref, ...]:
        """From the root to ``ref``, through forks and out of subgraphs. Ends at a missing parent, and where a cycle
        closes. Raises KeyError for an unknown ``ref``."""
        return tuple(reversed(list(self._upwards(ref))))

    def _upwards(self, ref: Ref) -> Iterator[Ref]:
        if ref not in self.headers:
            raise KeyError(ref)
        passed: set[Ref] = set()
        here: Ref | None = ref
        while here is not None and here in self.headers and here not in passed:
            passed.add(here)
            yield here
            here = self._parents[here]

    def common_ancestor(self, a: Ref, b: Ref) -> Ref | None:
        """The newest checkpoint that both descend from, or are; None when there is none."""
        above = set(self._upwards(a))
        return next((ref for ref in self._upwards(b) if ref in above), None)

    def roots(self) -> tuple[Ref, ...]:
        """Those that have no parent at all."""
        return tuple(ref for ref, parent in self._parents.items() if parent is None)

    def heads(self) -> tuple[Ref, ...]:
        """Those without a child in their own namespace: the tips a thread can go on from. A fork in another thread
        does not take a tip away."""
        return tuple(ref for ref in self.headers if not any(_goes_on(ref, child) for child in self.children(ref)))

    def orphans(self) -> tuple[Orphan, ...]:
        """Those whose parent is not here, each with the size of what hangs on it."""
        found = []
        for ref, parent in self._parents.items():
            if parent is not None and parent not in self.headers:
                found.append(Orphan(ref, parent, len(self.descendants(ref)) + 1))
        return tuple(found)

    def descendants(self, ref: Ref) -> frozenset[Ref]:
        """Everything below ``ref``, without itself."""
        import networkx as nx  # 185 ms

        return frozenset(nx.descendants(self.digraph, ref))

    def cycles(self) -> tuple[tuple[Ref, ...], ...]:
        """The circles of parents, each from its first checkpoint downwards; in a sound store there are none."""
        import networkx as nx  # 185 ms

        place = {ref: at for at, ref in enumerate(self.headers)}
        found = []
        for component in nx.strongly_connected_components(self.digraph):
            first = min(component, key=place.__getitem__)
            if len(component) > 1 or self._parents[first] == first:
                above = [*self._upwards(first)][1:]
                found.append((first, *reversed(above)))
        return tuple(sorted(found, key=lambda cycle: place[cycle[0]]))

    @cached_property
    def digraph(self) -> Graph:
        """The graph as networkx has it: an edge leads from a parent to its child."""
        import networkx as nx  # 185 ms

        graph: Graph = nx.DiGraph()
        graph.add_nodes_from(self.headers)
        graph.add_edges_from((parent, ref) for parent, below in self._children.items() for ref in below)
        return graph


def _parent(header: Header) -> Ref | None:
    return header.parent or enclosing(header)


def enclosing(header: Header) -> Ref | None:
    """The checkpoint whose step called the subgraph this one belongs to; None for the root's own, or where none is
    noted.

    LangGraph notes in a subgraph's checkpoints the one of each outer graph. A subgraph that keeps its state is called
    ``outer|mid`` where the one around it is called ``outer:task``; a second one that a task calls, ``node:task|1``.
    """
    if header.owner is not None:
        return header.owner
    noted = header.meta.get("parents")
    if not header.ref.ns or not isinstance(noted, Mapping):
        return None
    own = _nodes(header.ref.ns)
    around = [ns for ns in noted if isinstance(ns, str) and isinstance(noted[ns], str)]
    found = [ns for ns in around if len(_nodes(ns)) < len(own) and _nodes(ns) == own[: len(_nodes(ns))]]
    if not found:
        return None
    ns = max(found, key=lambda each: len(_nodes(each)))
    return Ref(header.ref.thread, ns, noted[ns])


def _nodes(ns: str) -> list[str]:
    """The nodes that a namespace leads through, without the ids of their tasks."""
    return [part.partition(":")[0] for part in ns.split("|")] if ns else []


def _goes_on(ref: Ref, child: Ref) -> bool:
    return (ref.thread, ref.ns) == (child.thread, child.ns)
