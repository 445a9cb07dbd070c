"""What runs next from a checkpoint, and under which task ids, without the graph's code.

Owns the runtime's own rules (langgraph 1.2 pregel/_algo.py, ``prepare_next_tasks``) as far as stored rows tell
them; refuses to know what a task has done: that is `stores.langgraph.tasks`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import xxhash

from stores.langgraph.rows import END, PREVIOUS, START, Outline
from stores.model import Value

PULL: Final = "__pregel_pull"
PUSH: Final = "__pregel_push"
_FUNCTIONAL: Final = frozenset({START, END, PREVIOUS})

Triggers = dict[str, set[str]]
"""Node → the channels that wake it."""


@dataclass(frozen=True, slots=True)
class Due:
    """A task of the superstep that starts at a checkpoint. ``path`` as the saver writes it."""

    id: str
    node: str
    path: str


@dataclass(frozen=True, slots=True)
class Place:
    """What a checkpoint's task ids are made of, beside the task. ``step`` is the checkpoint's own."""

    ns: str
    id: str
    step: int
    v: int = 4

    def task_id(self, node: str, *parts: str) -> str:
        """The id the runtime gives a task of ``node``; empty when the checkpoint's id is no UUID."""
        try:
            space = bytes.fromhex(self.id.replace("-", ""))
        except ValueError:
            return ""
        where = f"{self.ns}|{node}" if self.ns else node
        text = space + "".join((where, str(self.step + 1), node, *parts)).encode("utf-8", "surrogatepass")
        # Checkpoints of version 1 (langgraph before 0.3) hash by SHA-1.
        digest = (
            xxhash.xxh3_128_hexdigest(text) if self.v > 1 else hashlib.sha1(text, usedforsecurity=False).hexdigest()
        )
        return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"


def learn(outlines: Iterable[Outline]) -> Triggers:
    """Which channels wake which nodes, from the names of channels and from what nodes have seen."""
    triggers: Triggers = {}
    for outline in outlines:
        for channel in outline.channels:
            node = _woken_by(channel)
            if node is not None:
                triggers.setdefault(node, set()).add(channel)
        for node, channels in outline.seen.items():
            triggers.setdefault(node, set()).update(channels)
    if _is_functional(triggers):
        triggers.pop(START, None)
    return triggers


def _is_functional(triggers: Triggers) -> bool:
    """Whether the thread is a workflow of the functional API: its one node waits for the input itself."""
    return any(node != START and START in channels for node, channels in triggers.items())


def _woken_by(channel: str) -> str | None:
    """The node a control channel's name tells of."""
    if channel == START:
        return START
    kind, _, rest = channel.partition(":")
    if kind == "join":
        return rest.partition(":")[2] or None
    if channel.startswith("branch:to:"):
        return channel.removeprefix("branch:to:")
    if kind == "start":
        return rest or None
    return rest.rpartition(":")[2] or None if kind == "branch" else None


def due_tasks(place: Place, outline: Outline, triggers: Triggers) -> tuple[Due, ...]:
    """The tasks that the runtime would prepare: Sends in their order, then nodes by name."""
    pushed = [
        Due(place.task_id(node, PUSH, str(index)), node, f"~{PUSH}, {index:010d}, {0:010d}")
        for index, node in enumerate(outline.sends)
    ]
    pulled = [
        Due(place.task_id(node, PULL, *sorted(channels)), node, f"~{PULL}, {node}")
        for node, channels in sorted(triggers.items())
        if _is_woken(outline.available, outline.seen.get(node), channels)
    ]
    return (*pushed, *pulled)


def _is_woken(available: Mapping[str, Value], seen: Mapping[str, Value] | None, channels: Iterable[str]) -> bool:
    waiting = [channel for channel in channels if channel in available]
    if seen is None:
        return bool(waiting)
    return any(_is_newer(available[channel], seen.get(channel)) for channel in waiting)


def _is_newer(version: Value, seen: Value) -> bool:
    if version is None:
        return False
    if seen is None:
        return True
    # Versions are texts of one form, or integers (LangGraph JS, the in-memory saver); never mixed within a thread.
    return bool(version > seen) if type(version) is type(seen) else True
