"""Which nodes take so much longer than the others that a crash in them costs too much. Pure.

A node is compared with the mean of the other nodes of its workflow: with itself in the mean it could never stand out
among fewer than six.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from stores.runs import StepRecord
from tt_debug.text import human_duration

TIMES: Final = 5.0
SAMPLES: Final = 3
"""So often a node, and the others together, must have been seen."""


@dataclass(frozen=True, slots=True)
class SlowNode:
    """A node that takes more than `TIMES` the others' mean; both means are in seconds."""

    workflow: str
    node: str
    mean: float
    samples: int
    others: float

    @property
    def advice(self) -> str:
        """What to do about it, with both numbers."""
        took, rest = human_duration(self.mean), human_duration(self.others)
        return (
            f"{self.node} of {self.workflow} takes {took} (mean of {self.samples}), the other nodes {rest}:"
            " keep its parts with ctx.substep, so that a crash in it costs less"
        )


def slow_nodes(steps: Iterable[StepRecord], workflow_of: Mapping[str, str]) -> tuple[SlowNode, ...]:
    """The slow ones of each workflow, the slowest first; one that keeps its parts already is none of them.

    ``workflow_of`` gives the workflow of a run's id. Waiting for a human is no time that a node takes.
    """
    took: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    parted: set[tuple[str, str]] = set()
    for step in steps:
        workflow = workflow_of.get(step.run_id, "")
        if step.substep:
            parted.add((workflow, step.node))
        elif step.status == "completed" and step.duration is not None:
            took[workflow][step.node].append(step.duration)
    found = []
    for workflow, nodes in took.items():
        for node, mine in nodes.items():
            others = [duration for name, durations in nodes.items() if name != node for duration in durations]
            if len(mine) < SAMPLES or len(others) < SAMPLES or (workflow, node) in parted:
                continue
            mean, rest = sum(mine) / len(mine), sum(others) / len(others)
            if mean > TIMES * rest:
                found.append(SlowNode(workflow, node, mean, len(mine), rest))
    return tuple(sorted(found, key=lambda slow: -slow.mean))
