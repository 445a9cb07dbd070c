"""What a single field cannot show of a definition: ids, edges, loops, expressions, prompts.

Pure: from nodes as they are written to problems, all of them, so that a node with a bad field still has its edges
checked. Refuses to know files and lines, and skips what the field checks already refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from stores.model import Value
from tt_debug.definition.prompts import prompt_faults
from tt_debug.definition.schemas import dangling
from tt_debug.definition.workflow import PROVIDERS, REFERENCE

Place: TypeAlias = tuple[str | int, ...]

END = object()
"""The way out of a workflow, as a vertex of its graph."""


class Problem(NamedTuple):
    """One thing wrong with a definition, and where in it."""

    place: Place
    text: str


class _Edge(NamedTuple):
    place: Place
    when: Value
    to: Value


def field_problems(top: Mapping[str, Value], nodes: Sequence[Value]) -> Iterator[Problem]:
    """Schemas, conditions, prompts and providers that cannot work."""
    yield from _schema_problems(top.get("state_schema"), ("state_schema",))
    for index, node in enumerate(nodes):
        if not isinstance(node, dict):
            continue
        place: Place = ("nodes", index)
        yield from _condition_problems(_edges(node, index))
        if isinstance(node.get("prompt"), str):
            yield from (Problem((*place, "prompt"), f"prompt {fault}") for fault in prompt_faults(node["prompt"]))
        if node.get("type") == "llm_call":
            yield from _provider_problems(node, place)
        yield from _schema_problems(node.get("response_schema"), (*place, "response_schema"))


def _edges(node: Mapping[str, Value], index: int) -> list[_Edge]:
    """The edges that can be read; an unreadable one is a field problem already."""
    place: Place = ("nodes", index, "next")
    following = node.get("next")
    if isinstance(following, list):
        return [
            _Edge((*place, position), edge.get("when"), edge["to"])
            for position, edge in enumerate(following)
            if isinstance(edge, dict) and "to" in edge
        ]
    return [_Edge(place, None, following)] if "next" in node else []


def _schema_problems(schema: Value, place: Place) -> Iterator[Problem]:
    if not isinstance(schema, dict):
        return
    from jsonschema import Draft202012Validator, SchemaError  # 90 ms, and most definitions have no schema

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        yield Problem((*place, *error.absolute_path), f"is not a JSON Schema: {error.message}")
        return
    for target in dangling(schema):
        yield Problem(place, f"refers to {target!r}, which is not in it; nothing is fetched")


def _condition_problems(edges: Sequence[_Edge]) -> Iterator[Problem]:
    import jmespath
    from jmespath.exceptions import JMESPathError

    for edge in edges:
        if edge.when is None and edge is not edges[-1]:
            yield Problem(edge.place, "has no condition, so the edges after it are never tried")
        if isinstance(edge.when, str):
            try:
                jmespath.compile(edge.when)
            except JMESPathError as error:
                why = str(error).splitlines()[0]
                yield Problem((*edge.place, "when"), f"when {edge.when!r} is not a JMESPath expression: {why}")


def _provider_problems(node: Mapping[str, Value], place: Place) -> Iterator[Problem]:
    provider = node.get("provider", "template")
    if not isinstance(provider, str):
        return
    if provider not in PROVIDERS and not re.match(REFERENCE, provider):
        known = ", ".join(PROVIDERS)
        yield Problem((*place, "provider"), f"provider {provider!r} is unknown: {known}, or module:function")
    for field, owner in (("script", "scripted"), ("choices", "seeded")):
        if provider == owner and not node.get(field):
            yield Problem((*place, "provider"), f"provider {provider} needs {field}: a list with at least one answer")
        if provider != owner and node.get(field):
            yield Problem((*place, field), f"{field} is for the provider {owner} only")


def graph_problems(nodes: Sequence[Value]) -> Iterator[Problem]:
    """Duplicate and unknown ids; with clean ids also unreachable nodes and loops without a way out."""
    places: dict[str, int] = {}
    arrows: list[tuple[str, object]] = []
    clean = True
    for index, node in enumerate(nodes):
        name = node.get("id") if isinstance(node, dict) else None
        if not isinstance(name, str):
            clean = False
            continue
        if name in places:
            clean = False
            yield Problem(("nodes", index, "id"), f"id {name!r} is taken by nodes[{places[name]}]")
        places.setdefault(name, index)
    for index, node in enumerate(nodes):
        for edge in _edges(node, index) if isinstance(node, dict) else ():
            if isinstance(edge.to, str) and edge.to not in places:
                clean = False
                yield Problem((*edge.place, "to"), f"there is no node {edge.to!r}")
            arrows.append((node.get("id"), END if edge.to is None else edge.to))
        clean = clean and isinstance(node, dict) and "next" in node
    if clean and places:
        yield from _shape_problems(places, arrows)


def _shape_problems(places: Mapping[str, int], arrows: Sequence[tuple[str, object]]) -> Iterator[Problem]:
    import networkx as nx  # 185 ms

    graph: nx.DiGraph[object] = nx.DiGraph()
    graph.add_nodes_from(places)
    graph.add_edges_from(arrows)
    start = next(iter(places))
    reached = nx.descendants(graph, start) | {start}
    for name, index in places.items():
        if name not in reached:
            yield Problem(("nodes", index), f"{name} is unreachable from {start}, the first node")
    for loop in nx.strongly_connected_components(graph):
        leaves = any(target not in loop for name in loop for target in graph.successors(name))
        if graph.subgraph(loop).number_of_edges() and not leaves:
            around = [name for name in places if name in loop]
            yield Problem(("nodes", places[around[0]], "next"), f"the loop {' → '.join(around)} has no way out")
