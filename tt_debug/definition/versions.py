"""Whether what was begun under one definition may go on under another. Pure.

Owns the rule: a migration that the new one brings, or its word that it is compatible, with the nodes to show for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tt_debug.definition.workflow import HumanNode, Migration, ModelNode, Node, Workflow


class NoWay(Exception):
    """The new definition does not take over from the old one; the text says why not."""


@dataclass(frozen=True, slots=True)
class Way:
    """How the new definition takes over: by a ``migration`` of the state, or with the state as it is."""

    migration: Migration | None = None

    def said(self, old: Workflow, new: Workflow) -> str:
        """In words."""
        how = f"migrated by {self.migration.run}" if self.migration else f"compatible with {old.version}, as it says"
        return f"goes on with {new.workflow_id} {new.version}, {how}"


def way(old: Workflow, new: Workflow, names: Iterable[str]) -> Way:
    """From ``old`` to ``new`` at a place where ``names`` are completed or come next. Raises NoWay."""
    if new.workflow_id != old.workflow_id:
        raise NoWay(f"{new.workflow_id} is another workflow than {old.workflow_id}")
    if new.version == old.version:
        raise NoWay(f"{new.workflow_id} {new.version} has another body under the same version")
    migration = next((found for found in new.migrations if found.from_version == old.version), None)
    if migration is not None:
        return Way(migration)
    if old.version not in new.compatible_with:
        raise NoWay(f"{new.version} has no migration from {old.version}, and does not say it is compatible with it")
    for name in names:
        before, after = old.node(name), new.node(name)
        if before is not None and _shape(before) != (_shape(after) if after is not None else None):
            what = "is gone" if after is None else "has another type or answer"
            raise NoWay(f"{new.version} says it is compatible with {old.version}, but its node {name} {what}")
    return Way()


def _shape(node: Node) -> tuple[object, ...]:
    """What the rest of a workflow knows a node by: its type, and where and how its result stands in the state."""
    if isinstance(node, HumanNode):
        return node.type, node.response_schema
    return node.type, node.output_key if isinstance(node, ModelNode) else None
