"""A graph of checkpoints in the formats of other programs: GraphML, Graphviz DOT, Mermaid, node-link JSON.

Owns the writing; which checkpoints there are is `tt_debug.graph`'s. No state is in any of them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from stores.model import Header, Ref, Status
from tt_debug.graph import CheckpointGraph
from tt_debug.text import safe_text

if TYPE_CHECKING:
    import networkx as nx

Facts = dict[str, str | int]
_ESCAPES: Final = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"}
_COLOURS: Final = {Status.FAILED: "#c0392b", Status.CRASHED: "#c0392b", Status.WAITING: "#b9770e"}


def graphml(graph: CheckpointGraph) -> Iterator[str]:
    """GraphML, as yEd and Gephi read it. What XML has no character for is shown as its picture."""
    import networkx as nx  # 185 ms

    yield from nx.generate_graphml(_labelled(graph, functools.partial(safe_text, newlines=True)))


def node_link(graph: CheckpointGraph) -> Iterator[str]:
    """The JSON of ``networkx.node_link_graph(…, edges="edges")`` and of D3."""
    import networkx as nx  # 185 ms

    found = nx.node_link_data(_labelled(graph, str), edges="edges")
    yield json.dumps(found, ensure_ascii=True)


def dot(graph: CheckpointGraph) -> Iterator[str]:
    """Graphviz: a cluster for each thread, a box for each checkpoint."""
    names = _names(graph)
    yield "digraph checkpoints {"
    yield '  node [shape=box, style=rounded, fontname="sans-serif"];'
    for number, (thread, refs) in enumerate(_by_thread(graph).items()):
        yield f"  subgraph cluster_{number} {{"
        yield f"    label={_dot_text(thread)};"
        for ref in refs:
            colour = _COLOURS.get(graph.headers[ref].status)
            more = f", color={_dot_text(colour)}" if colour else ""
            yield f"    {names[ref]} [label={_dot_text(_label(graph, ref))}, tooltip={_dot_text(ref.id)}{more}];"
        yield "  }"
    yield from (f"  {names[parent]} -> {names[ref]};" for parent, ref in _edges(graph))
    yield "}"


def mermaid(graph: CheckpointGraph) -> Iterator[str]:
    """A flowchart, as Markdown renderers draw it."""
    names = _names(graph)
    yield "flowchart TD"
    for number, (thread, refs) in enumerate(_by_thread(graph).items()):
        yield f'  subgraph t{number}["{_mermaid_text(thread)}"]'
        yield from (f'    {names[ref]}["{_mermaid_text(_label(graph, ref))}"]' for ref in refs)
        yield "  end"
    yield from (f"  {names[parent]} --> {names[ref]}" for parent, ref in _edges(graph))


WRITERS: Final[Mapping[str, Callable[[CheckpointGraph], Iterator[str]]]] = {
    "graphml": graphml,
    "dot": dot,
    "mermaid": mermaid,
    "node-link": node_link,
}
"""Name → what writes it, line by line."""


def _labelled(graph: CheckpointGraph, text: Callable[[str], str]) -> nx.DiGraph[str]:
    """The graph with short names for nodes and all that a header tells as their attributes."""
    import networkx as nx  # 185 ms

    names = _names(graph)
    made: nx.DiGraph[str] = nx.DiGraph()
    for ref, header in graph.headers.items():
        facts = _facts(graph, header)
        made.add_node(names[ref], **{key: text(fact) if isinstance(fact, str) else fact for key, fact in facts.items()})
    made.add_edges_from((names[parent], names[ref]) for parent, ref in _edges(graph))
    return made


def _facts(graph: CheckpointGraph, header: Header) -> Facts:
    """What is known; a fact that is not known is left out."""
    parent = graph.parent(header.ref)
    facts: dict[str, str | int | None] = {
        "label": _label(graph, header.ref),
        "thread": header.ref.thread,
        "ns": header.ref.ns,
        "checkpoint": header.ref.id,
        "step": header.step,
        "source": header.source,
        "nodes": ", ".join(header.nodes),
        "next": ", ".join(header.next),
        "status": header.status,
        "created": header.created.isoformat() if header.created else None,
        "size": header.size,
        "missing_parent": parent.id if parent is not None and parent not in graph else None,
        "problem": header.problem,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _label(graph: CheckpointGraph, ref: Ref) -> str:
    header = graph.headers[ref]
    name = ", ".join(header.nodes) or header.source
    parent = graph.parent(ref)
    lines = [name if header.step is None else f"{header.step} {name}"]
    if ref.ns:
        lines.append(ref.ns)
    if header.status != Status.DONE:
        lines.append(header.status)
    if parent is not None and parent not in graph:
        lines.append(f"its parent {parent.id} is missing")
    return "\n".join(lines)


def _names(graph: CheckpointGraph) -> dict[Ref, str]:
    return {ref: f"n{number}" for number, ref in enumerate(graph.headers)}


def _edges(graph: CheckpointGraph) -> Iterator[tuple[Ref, Ref]]:
    for ref in graph.headers:
        parent = graph.parent(ref)
        if parent is not None and parent in graph:
            yield parent, ref


def _by_thread(graph: CheckpointGraph) -> dict[str, list[Ref]]:
    found: dict[str, list[Ref]] = {}
    for ref in graph.headers:
        found.setdefault(ref.thread, []).append(ref)
    return found


def _dot_text(text: str) -> str:
    quoted = safe_text(text, newlines=True).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + quoted.replace("\n", "\\n") + '"'


def _mermaid_text(text: str) -> str:
    safe = safe_text(text, newlines=True)
    return "".join(_ESCAPES.get(character, character) for character in safe).replace("\n", "<br/>")
