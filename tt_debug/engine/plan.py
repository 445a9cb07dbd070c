"""What runs next: pure functions of a workflow and a state.

Owns the edges. Refuses effects: nothing here calls a node or touches a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stores.edges import NoMatch, first_match
from stores.model import Value

if TYPE_CHECKING:  # pydantic, 57 ms
    from tt_debug.definition.workflow import Workflow


class NoWayOn(Exception):
    """No edge of a node matches the state: the run fails there, after the node's result was kept."""


def next_node(workflow: Workflow, node_id: str, state: Mapping[str, Value]) -> str | None:
    """The node after ``node_id``, None at the end; edges are tried in order, see `stores.edges`.

    Raises NoWayOn when no edge matches, a condition cannot be evaluated, or the workflow has no such node.
    """
    node = workflow.node(node_id)
    if node is None:
        raise NoWayOn(f"{workflow.workflow_id} {workflow.version} has no node {node_id!r}")
    try:
        return first_match(((edge.when, edge.to) for edge in node.next), state)
    except NoMatch as error:
        hint = "" if node.next[-1].when is None else "; {to: null} as the last edge would end the run there"
        raise NoWayOn(f"{node_id}: {error}{hint}") from error


def merge(state: Mapping[str, Value], result: Mapping[str, Value], delete: object) -> dict[str, Value]:
    """The state after a node: its result over what was there; a key whose value is ``delete`` goes away."""
    merged = {**state, **result}
    return {key: value for key, value in merged.items() if value is not delete}
