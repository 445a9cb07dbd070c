"""What a run would do, before it is agreed to: which nodes as far as that is known, what they call, what is not done.

Pure functions of a workflow and a state; refuses to read a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stores.model import Value
from stores.supervision import Breakpoint

if TYPE_CHECKING:  # pydantic, 57 ms
    from tt_debug.definition.workflow import Node, Workflow


def upcoming(workflow: Workflow, state: Mapping[str, Value], next: Sequence[str]) -> tuple[str, ...]:
    """The nodes that run first, as far as that is known before they ran.

    It ends at a human task, before a node that would run again, and at a node with conditions: which of its
    edges is taken depends on what it returns.
    """
    known: list[str] = []
    name: str | None = next[0] if next else None
    while name is not None and name not in known:
        node = workflow.node(name)
        if node is None:
            break
        known.append(name)
        if node.type == "human_task" or len(node.next) > 1 or node.next[0].when is not None:
            break
        name = node.next[0].to
    return tuple(known)


def ends(workflow: Workflow, nodes: Sequence[str]) -> str:
    """Where `upcoming` stopped, in words."""
    if not nodes:
        return "at once: nothing is left to run"
    last = workflow.node(nodes[-1])
    if last is None:
        return f"{nodes[-1]}, which the workflow does not have"
    if last.type == "human_task":
        return f"{last.id} waits for a human"
    if len(last.next) > 1 or last.next[0].when is not None:
        targets = dict.fromkeys("the end" if edge.to is None else edge.to for edge in last.next)
        return f"then {' or '.join(targets)}, as {last.id} decides"
    return "the end" if last.next[0].to is None else f"{last.next[0].to} again"


def calls(workflow: Workflow, nodes: Sequence[str]) -> tuple[str, ...]:
    """What the nodes do to the world outside, one line each."""
    return tuple(_call(node) for node in map(workflow.node, nodes) if node is not None)


def _call(node: Node) -> str:
    if node.type == "python":
        return f"{node.id}: your function {node.run}"
    if node.type == "human_task":
        return f"{node.id}: asks a human; the run stops until it is answered"
    if ":" in node.provider:
        return f"{node.id}: model call by your function {node.provider}"
    if node.provider == "recorded":
        return f"{node.id}: the recorded answer to the same prompt (nothing is called)"
    return f"{node.id}: model call, {node.provider} (no network)"


def limits(workflow: Workflow) -> tuple[str, ...]:
    """What the definition asks for and this version does not do yet, one sentence each."""
    found: list[str] = []
    for node in workflow.nodes:
        if node.on_complete is not None:
            found.append(f"{node.id}: {node.on_complete.run} is not started at the end")
        if node.type == "human_task" and node.due is not None and node.on_timeout != "wait":
            found.append(
                f"{node.id}: on_timeout {node.on_timeout} after {node.due} takes a worker or a sweep to notice"
            )
    return tuple(found)


def breakpoint_words(each: Breakpoint) -> str:
    """Where it stops, in words."""
    node = each.node or "every node"
    if each.place == "effect":
        return f"before {f'the effect {each.name}' if each.name else 'every effect'}" + (
            f" of {each.node}" if each.node else ""
        )
    return f"on an error of {node}" if each.place == "error" else f"{each.place} {node}"
