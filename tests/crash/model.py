"""What every run of the random machine's workflow does, in memory: threads as lists of rows, runs as a word.

Knows no store, no process and no crash: a run's way is a sequence of durable places, and a crash leaves one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

NODES: Final = [
    {"id": "A", "type": "python", "run": "tests.crash.machine_nodes:act", "next": "B"},
    {
        "id": "B", "type": "python", "run": "tests.crash.machine_nodes:walk",
        "next": [{"when": "length(trail) < `4`", "to": "A"}, {"to": "ask"}],
    },
    {"id": "ask", "type": "human_task", "next": "C"},
    {"id": "C", "type": "python", "run": "tests.crash.machine_nodes:end", "next": None},
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One checkpoint."""

    source: str
    node: str | None
    next: str | None
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Something durable: the rows of a thread so far, and its newest run's status."""

    rows: tuple[Row, ...]
    status: str


@dataclass
class Thread:
    """A thread, and what is known of its newest run. ``root`` is whose effects it shares."""

    root: str
    place: Place
    run: str
    claims: int = 0  # those from pending and paused: not the recoveries
    before: int = 0  # A's visits on the line that it was forked from

    @property
    def visits(self) -> int:
        return self.before + sum(row.node == "A" and row.source == "step" for row in self.place.rows)


def way(place: Place, breaks: frozenset[str], single: bool, *, first: bool) -> list[Place]:
    """The durable places that a run passes from its claim on, the last one where it ends or stops.

    ``first``: it never stopped on purpose before, so that it stops before its very first node too.
    """
    places = [replace(place, status="running")]
    head = places[0].rows[-1]
    if head.next is None:
        return [*places, replace(places[0], status="completed")]
    if head.source == "input" and first and head.next in breaks:
        return [*places, replace(places[0], status="paused")]
    while places[-1].status == "running":
        places.append(_after(places[-1], breaks, single))
    return places


def _after(place: Place, breaks: frozenset[str], single: bool) -> Place:
    head = place.rows[-1]
    state, node = head.state, head.next
    assert node is not None
    if node == "ask":
        return Place((*place.rows, Row("suspend", "ask", "ask", state)), "waiting_human")
    if node == "C" and state.get("bad"):
        return replace(place, status="failed")
    state, following = _ran(node, state)
    status = "completed" if following is None else "paused" if single or following in breaks else "running"
    return Place((*place.rows, Row("step", node, following, state)), status)


def _ran(node: str, state: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    trail = list(state.get("trail", []))
    if node == "C":
        return {**state, "done": True}, None
    trail.append(node)
    if node == "A":
        return {**state, "trail": trail, "sent": "sent"}, "B"
    return {**state, "trail": trail}, "A" if len(trail) < 4 else "ask"
