"""What of a user's graph decides how a thread goes on. In the user's interpreter: stdlib only, Python 3.9.

Nodes, edges, channels with their reducers by name, breakpoints, of the graph and its subgraphs: plain data that can be
kept and compared. Refuses to look at source text: a node that only does its work otherwise is the same node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_OWN = ("__", "branch:", "join:", "start:")  # channels that follow from nodes and edges


def fingerprint(graph: Any) -> dict[str, Any]:
    """The graph as plain data. Parts that a release does not tell are left out."""
    builder = getattr(graph, "builder", None)
    found = {
        "nodes": sorted(name for name in graph.nodes if not name.startswith("__")),
        "edges": sorted(_edges(graph) if builder is None else _built(builder)),
        "channels": {
            name: _channel(channel)
            for name, channel in sorted(graph.channels.items())
            # Before langgraph 0.4 an edge is a channel named like the node it comes from.
            if not name.startswith(_OWN) and name not in graph.nodes
        },
        "breakpoints": {
            when: sorted(names) if not isinstance(names, str) else names
            for when, names in (("before", graph.interrupt_before_nodes), ("after", graph.interrupt_after_nodes))
            if names
        },
    }
    inner = {name: fingerprint(below) for name, below in graph.get_subgraphs()}
    return {**found, "subgraphs": inner} if inner else found


def _built(builder: Any) -> Iterator[str]:
    for source, target in getattr(builder, "edges", ()):
        yield f"{source} → {target}"
    for sources, target in getattr(builder, "waiting_edges", ()):
        yield f"{' + '.join(sources)} → {target}"
    for source, branches in getattr(builder, "branches", {}).items():
        for name, branch in branches.items():
            ends = getattr(branch, "ends", None)
            leads = ", ".join(sorted(map(str, ends.values()))) if ends else "anywhere"
            yield f"{source} → {leads} by {name}"
    for name, node in getattr(builder, "nodes", {}).items():
        ends = getattr(node, "ends", None)
        if ends:
            yield f"{name} → {', '.join(sorted(map(str, ends)))} by Command"


def _edges(graph: Any) -> Iterator[str]:
    """Of a graph that no builder made: what wakes each node."""
    for name, node in graph.nodes.items():
        for trigger in getattr(node, "triggers", ()):
            yield f"{trigger} → {name}"


def _channel(channel: Any) -> str:
    """Its class, its type and its reducer, each by name."""
    kind, of = type(channel).__name__, _name(getattr(channel, "typ", None))
    reducer = getattr(channel, "operator", None) or getattr(channel, "reducer", None)
    return f"{kind} of {of}" + (f" through {_name(reducer)}" if reducer is not None else "")


def _name(thing: Any) -> str:
    if hasattr(thing, "__metadata__"):  # Annotated: its reducer is told apart
        thing = thing.__origin__
    thing = getattr(thing, "func", thing)  # of a partial
    name = getattr(thing, "__qualname__", None)
    if name is None or hasattr(thing, "__args__"):
        return _ADDRESS.sub("", repr(thing))
    module = getattr(thing, "__module__", "")
    return name if module in ("builtins", "__main__", "") else f"{module}.{name}"


def differences(before: Mapping[str, Any], now: Mapping[str, Any], where: str = "") -> list[str]:
    """What changed between two fingerprints, one sentence each; empty when they are the same."""
    told = []
    for part, word in (("nodes", "node"), ("edges", "edge")):
        old, new = set(before.get(part) or ()), set(now.get(part) or ())
        told += [f"{word} {name} is gone" for name in sorted(old - new)]
        told += [f"{word} {name} is new" for name in sorted(new - old)]
    for part, word in (("channels", "channel"), ("breakpoints", "breakpoints")):
        told += _changed(before.get(part) or {}, now.get(part) or {}, word)
    found = [f"{where}{text}" for text in told]
    inner, outer = before.get("subgraphs") or {}, now.get("subgraphs") or {}
    found += [f"{where}subgraph {name} is gone" for name in sorted(set(inner) - set(outer))]
    found += [f"{where}subgraph {name} is new" for name in sorted(set(outer) - set(inner))]
    for name in sorted(set(inner) & set(outer)):
        found += differences(inner[name], outer[name], f"{where}{name}: ")
    return found


def _changed(before: Mapping[str, Any], now: Mapping[str, Any], word: str) -> Iterator[str]:
    for name in sorted({*before, *now}):
        if name not in now:
            yield f"{word} {name} is gone"
        elif name not in before:
            yield f"{word} {name} is new: {now[name]}"
        elif before[name] != now[name]:
            yield f"{word} {name}: {before[name]} before, {now[name]} now"
