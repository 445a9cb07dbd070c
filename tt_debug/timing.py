"""How long the steps of a history took, by node, as far as two times tell; a person's time is no node's.

Pure: what was measured is given to it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from stores.model import Header, Ref

BY_HAND: Final = frozenset({"input", "update", "edit", "fork", "answer"})
"""Sources a person writes: the time before and after one is a person's, not a step's."""


def step_seconds(header: Header, headers: Mapping[Ref, Header]) -> float | None:
    """Seconds between a checkpoint and its parent; None where they are not one step's."""
    parent = headers.get(header.parent) if header.parent else None
    if parent is None or header.created is None or parent.created is None or header.source in BY_HAND:
        return None
    if parent.source in BY_HAND and parent.source != "input":
        return None
    if parent.ref.thread != header.ref.thread:
        # A fork's first row: between the two lies the time until somebody forked.
        return None
    return (header.created - parent.created).total_seconds()


@dataclass(slots=True)
class NodeTimes:
    """One node. ``seconds`` of each time that it ran; ``waited`` in seconds for a person, ``waits`` times.

    ``errors`` are attempts that failed. ``shared`` of the runs were in one step with other nodes: theirs is the time
    of the step.
    """

    node: str
    seconds: array[float] = field(default_factory=lambda: array("d"))
    errors: int = 0
    waits: int = 0
    waited: float = 0.0
    shared: int = 0
    _sorted: array[float] | None = None

    def ran(self, seconds: float, *, shared: bool = False) -> None:
        """One more run."""
        self.seconds.append(seconds)
        self.shared += shared
        self._sorted = None

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

    def __getitem__(self, node: str) -> NodeTimes:
        return self._nodes.setdefault(node, NodeTimes(node))

    def rows(self) -> list[NodeTimes]:
        """Those that ran, failed or waited."""
        return sorted(self._nodes.values(), key=lambda each: (-each.total, -each.waited, each.node))

    def total(self) -> float:
        """Seconds of all nodes."""
        return sum(each.total for each in self._nodes.values())

    def step(self, nodes: Iterable[str], seconds: float, *, waited: bool) -> None:
        """One step of these nodes; ``waited``: a person was asked in it, so that its time is theirs."""
        names = [name for name in nodes if not (name.startswith("__") and name.endswith("__"))]
        for name in names:
            if waited:
                self[name].waits += 1
                self[name].waited += seconds
            else:
                self[name].ran(seconds, shared=len(names) > 1)
