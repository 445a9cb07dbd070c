"""What runs next from a checkpoint, and under which task ids, without the graph's code.

Owns the runtime's own rules (langgraph 1.2 pregel/_algo.py, ``prepare_next_tasks``) as far as stored rows tell
them; refuses to know what a task has done: that is `stores.langgraph.tasks`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from types import MappingProxyType
from typing import Final, NamedTuple
from uuid import UUID, uuid5

import xxhash

from stores.langgraph.outline import Outline
from stores.langgraph.rows import START, TASKS
from stores.model import Value

PULL: Final = "__pregel_pull"
PUSH: Final = "__pregel_push"
_NONE: Final[Mapping[str, str]] = MappingProxyType({})

Triggers = dict[str, set[str]]
"""Node → the channels that wake it."""


class Due(NamedTuple):
    """A task of the superstep that starts at a checkpoint. ``path`` as the saver writes it."""

    id: str
    node: str
    path: str


class Ids(Enum):
    """How a release makes the ids of tasks."""

    FIRST = auto()  # langgraph 0.1
    SHA1 = auto()  # in threads that began before langgraph 0.3
    XXH3 = auto()
    JS = auto()  # LangGraph JS


class Place(NamedTuple):
    """What a checkpoint's task ids are made of, beside the task. ``step`` is the checkpoint's own."""

    ns: str
    id: str
    step: int
    ids: Ids = Ids.XXH3

    def pull_id(self, node: str, triggers: Iterable[str], index: int = 0) -> str:
        """The id of a node's task that these channels wake; ``index`` is its place among the step's tasks.

        Empty when the checkpoint's id is no UUID, as of every id here.
        """
        if self.ids is Ids.FIRST:
            return self._first_id(node, sorted(triggers), index)
        if self.ids is Ids.JS:
            return self._js_id(node, PULL, sorted(triggers))
        return self.task_id(node, PULL, *sorted(triggers))

    def push_id(self, node: str, index: int) -> str:
        """The id of the task of a Send, by its place among the Sends."""
        if self.ids is Ids.FIRST:
            return self._first_id(node, [TASKS], index)
        return self._js_id(node, PUSH, str(index)) if self.ids is Ids.JS else self.task_id(node, PUSH, str(index))

    def task_id(self, node: str, *parts: str) -> str:
        """The id that langgraph since 0.2 gives a task of ``node``."""
        try:
            space = bytes.fromhex(self.id.replace("-", ""))
        except ValueError:
            return ""
        text = space + "".join((self._where(node), str(self.step + 1), node, *parts)).encode("utf-8", "surrogatepass")
        is_sha1 = self.ids is Ids.SHA1
        digest = hashlib.sha1(text, usedforsecurity=False).hexdigest() if is_sha1 else xxhash.xxh3_128_hexdigest(text)
        return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"

    def _where(self, node: str) -> str:
        return f"{self.ns}|{node}" if self.ns else node

    def call_ids(self, caller: Due, called: str, number: str) -> tuple[str, str]:
        """The id of a call of the function ``called`` inside a task's code, by its number among the task's writes.

        Two, as langgraph before 0.3 made it as if the call stood beside its caller.
        """
        parts = (PUSH, caller.path, number)
        inside = self._replace(ns=f"{self._where(caller.node)}:{caller.id}")
        return inside.task_id(called, *parts), self.task_id(called, *parts)

    def outside_id(self, name: str) -> str:
        """The id under which what comes from outside a step is written: an update's, a delta channel's input."""
        try:
            return str(uuid5(UUID(self.id), name))
        except ValueError:
            return ""

    def _first_id(self, node: str, triggers: Sequence[str], index: int) -> str:
        """As langgraph 0.1 pregel/algo.py makes it."""
        made_of = {
            "langgraph_step": self.step + 1,
            "langgraph_node": node,
            "langgraph_triggers": triggers,
            "langgraph_task_idx": index,
        }
        return self.outside_id(json.dumps(made_of))

    def _js_id(self, node: str, kind: str, last: str | list[str]) -> str:
        """As LangGraph JS pregel/algo.ts makes it."""
        made_of = [self._where(node), str(self.step + 1), node, kind, last]
        return self.outside_id(json.dumps(made_of, separators=(",", ":"), ensure_ascii=False))


def learn(outlines: Iterable[Outline]) -> Triggers:
    """Which channels wake which nodes, from the names of channels and from what nodes have seen."""
    triggers: Triggers = {}
    for outline in outlines:
        for channel in outline.channels:
            node = node_of(channel)
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


def node_of(channel: str) -> str | None:
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


def is_anything_due(outline: Outline, triggers: Triggers) -> bool:
    """Whether `due_tasks` has any, in a fraction of the time."""
    available = outline.available.keys()
    return bool(outline.sends) or any(
        not available.isdisjoint(channels) and woken_by(outline, node, channels) for node, channels in triggers.items()
    )


def due_tasks(place: Place, outline: Outline, triggers: Triggers, told: Mapping[str, str] = _NONE) -> tuple[Due, ...]:
    """The tasks that the runtime would prepare: Sends in their order, then nodes by name.

    ``told`` are task ids by path, as rows have them: such a node's id is not made.
    """
    due = [Due(place.push_id(node, index), node, push_path(index)) for index, node in enumerate(outline.sends)]
    available = outline.available.keys()
    woken = {
        node: found
        for node, channels in triggers.items()
        if not available.isdisjoint(channels) and (found := woken_by(outline, node, channels))
    }
    # Where the place among the tasks counts, the order of the graph's nodes is not known: by name, until a row proves
    # another.
    for index, node in enumerate(sorted(woken), len(due)):
        path = pull_path(node)
        if (id := told.get(path)) is None:
            id = place.pull_id(node, id_triggers(place.ids, node, woken[node], triggers[node]), index)
        due.append(Due(id, node, path))
    return tuple(due)


def id_triggers(ids: Ids, node: str, woken: Iterable[str], channels: Iterable[str]) -> Iterable[str]:
    """The channels that a task's id is made of: before langgraph 0.3 those that woke it, since then all it waits for.

    A thread of the older format keeps it when a newer release goes on, which names its edges by their ends.
    """
    found = set(channels)
    named_by_end = f"branch:to:{node}"
    if ids in (Ids.FIRST, Ids.SHA1) and named_by_end not in found:
        return woken
    # Every node of a graph has such a channel, written or not; a join tells that it is a graph.
    return found | {named_by_end} if any(channel.startswith("join:") for channel in found) else found


def pull_path(node: str) -> str:
    """A node's task path, as the savers store it since they do."""
    return f"~{PULL}, {node}"


def push_path(index: int) -> str:
    """The task path of a Send."""
    return f"~{PUSH}, {index:010d}, {0:010d}"


def woken_by(outline: Outline, node: str, channels: Iterable[str]) -> list[str]:
    """The channels that have news for a node and wake it."""
    available, seen = outline.available, outline.seen.get(node)
    waiting = [channel for channel in channels if channel in available]
    if seen is None:
        return waiting
    found = [channel for channel in waiting if available[channel] != seen.get(channel)]  # mostly none
    return [channel for channel in found if _is_newer(available[channel], seen.get(channel))]


def _is_newer(version: Value, seen: Value) -> bool:
    if version is None:
        return False
    if seen is None:
        return True
    # Versions are texts of one form, or integers (LangGraph JS, the in-memory saver); never mixed within a thread.
    return bool(version > seen) if type(version) is type(seen) and isinstance(version, str | int) else True
