"""How long the steps of a history took, by node, as far as two times tell; a person's time is no node's.

Pure: what was measured is given to it.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from stores.model import Header, Ref

SLOWEST: Final = 5
"""Steps of each node that are remembered as its slowest."""

BY_HAND: Final = frozenset({"input", "update", "edit", "fork", "answer"})
"""Sources a person writes: the time before and after one is a person's, not a step's."""


def step_seconds(header: Header, headers: Mapping[Ref, Header]) -> float | None:
    """Seconds between a checkpoint and its parent; None where they are not one step's."""
    parent = headers.get(header.parent) if header.parent else None
    if parent is None or header.created is None or parent.created is None or header.source in BY_HAND:
        return None
    if not (header.read and parent.read):
        return None  # it may be a person's time
    if parent.source in BY_HAND and parent.source != "input":
        return None
    if parent.ref.thread != header.ref.thread:
        # A fork's first row: between the two lies the time until somebody forked.
        return None
    return (header.created - parent.created).total_seconds()


@dataclass(frozen=True, slots=True)
class Step:
    """Nodes that ran together, and how long. ``waited``: a person was asked in it, so that its time is theirs.

    ``at`` is when it ended, ``ref`` the checkpoint that it ended at."""

    nodes: tuple[str, ...]
    seconds: float
    waited: bool = False
    at: datetime | None = None
    ref: Ref | None = None


@dataclass(slots=True)
class NodeTimes:
    """One node. ``seconds`` of each time that it ran; ``waited`` in seconds for a person, ``waits`` times.

    ``errors`` are attempts that failed. ``shared`` of the runs were in one step with other nodes: theirs is the time
    of the step. ``slowest`` are the longest ones, with the checkpoint that each ended at.
    """

    node: str
    seconds: array[float] = field(default_factory=lambda: array("d"))
    errors: int = 0
    waits: int = 0
    waited: float = 0.0
    shared: int = 0
    slowest: list[tuple[float, Ref]] = field(default_factory=list)
    _sorted: array[float] | None = None

    def ran(self, step: Step) -> None:
        """One more run."""
        self.seconds.append(step.seconds)
        self.shared += len(step.nodes) > 1
        self._sorted = None
        if step.ref is not None:
            self.slowest = heapq.nlargest(SLOWEST, [*self.slowest, (step.seconds, step.ref)])

    @property
    def total(self) -> float:
        """Seconds of all its runs."""
        return sum(self.seconds)

    def at(self, part: float) -> float | None:
        """The seconds within which that part of its runs ended (0.5: the median); None where none is known."""
        if not self.seconds:
            return None
        if self._sorted is None:
            self._sorted = array("d", sorted(self.seconds))
        # The nearest rank: a number that was really measured.
        return self._sorted[max(0, math.ceil(part * len(self._sorted)) - 1)]


class Timetable:
    """The nodes of a history, the one that took longest in sum first."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeTimes] = {}
        self.course: array[float] = array("d")
        """When each step ended, in seconds since 1970, and how long it took, one after the other."""

    def __getitem__(self, node: str) -> NodeTimes:
        return self._nodes.setdefault(node, NodeTimes(node))

    def rows(self) -> list[NodeTimes]:
        """Those that ran, failed or waited."""
        return sorted(self._nodes.values(), key=lambda each: (-each.total, -each.waited, each.node))

    def every(self) -> NodeTimes:
        """All steps as if they were one node's; a step of several nodes counts once."""
        return NodeTimes("", self.course[1::2])

    def total(self) -> float:
        """Seconds of all nodes."""
        return sum(each.total for each in self._nodes.values())

    def put(self, step: Step) -> None:
        """One step; the runtime's own nodes do not count."""
        names = tuple(name for name in step.nodes if not (name.startswith("__") and name.endswith("__")))
        if step.at is not None and names and not step.waited:
            self.course.extend((step.at.timestamp(), step.seconds))
        for name in names:
            if step.waited:
                self[name].waits += 1
                self[name].waited += step.seconds
            else:
                self[name].ran(replace(step, nodes=names))
