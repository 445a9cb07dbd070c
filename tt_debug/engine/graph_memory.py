"""Subgraphs with a memory (``checkpointer=True``), and making LangGraph run one. Stdlib only, Python 3.9.

A resumed graph tells the subgraphs of its first step to go on as well. One whose last turn is over has nothing to go
on with and gives that turn's result again (langgraph 0.6 … 1.2, pregel/_loop.py ``_first``). Since there is a
``_internal/_replay.py``, a head that is addressed by its id gives them their input. Refuses to run anything.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping
from typing import Any

from .graph_saver import rows
from .graph_target import Refused

_UNDONE = {"__error__", "__error_source_node__"}  # channels of a task that is tried again in any case
_EARLIER = "fork one step earlier and resume that: there it is given its input"


class Memories:
    """The memories that a resume would skip: ``over``; and whether the head's step has ``begun`` otherwise."""

    def __init__(self, saver: Any, stored: Any, state: Any) -> None:
        self._saver = saver
        self._thread: str = stored.config["configurable"]["thread_id"]
        self.head: str = stored.checkpoint["id"]
        owners = dict(self._owners())
        self.over = sorted(set(_over(state, owners))) if owners else []
        self.begun = bool(self.over) and (
            any(channel not in _UNDONE for _, channel, _ in stored.pending_writes or []) or self._has_begun()
        )

    def _owners(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Each memory's namespace, which has no task's id in it, with the checkpoints that its newest turn ran in."""
        spaces = "SELECT DISTINCT checkpoint_ns FROM checkpoints WHERE thread_id = ?"
        newest = (
            "SELECT metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
            " ORDER BY checkpoint_id DESC LIMIT 1"
        )
        for (ns,) in rows(self._saver, spaces, self._thread):
            if ns and ":" not in ns:
                [(metadata,)] = rows(self._saver, newest, self._thread, ns)
                yield ns, _parents(metadata)

    def _has_begun(self) -> bool:
        """Whether any subgraph has stored something in the step that starts at the head."""
        later = "SELECT metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns <> '' AND checkpoint_id > ?"
        found = rows(self._saver, later, self._thread, self.head)
        return any(_parents(metadata).get("") == self.head for (metadata,) in found)

    def config(self, config: Mapping[str, Any], release: str, answered: bool) -> dict[str, Any]:
        """``config``, or with the head's id in it where that makes LangGraph run what it would skip.

        By its id the whole step runs again, so it is refused where something of it has been done.
        """
        if not self.over:
            return dict(config)
        names = ", ".join(self.over)
        if self.begun or answered or not _replays():
            text = f"{release} would skip {names}: it remembers an earlier turn, and is taken for finished"
            asked = answered and not self.begun and _replays()
            raise Refused("conflict", text, "resume without an answer first: it asks again" if asked else _EARLIER)
        return {**config, "configurable": {**config["configurable"], "checkpoint_ns": "", "checkpoint_id": self.head}}


def _over(state: Any, owners: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The nodes that would run next whose memory ends in another step than this one; in open subgraphs too."""
    where = state.config["configurable"]
    ns, checkpoint = where.get("checkpoint_ns", ""), where.get("checkpoint_id")
    for task in state.tasks:
        for memory, parents in owners.items():
            if _parts(memory) == [*_parts(ns), task.name] and parents.get(ns) != checkpoint and not task.result:
                yield task.name
        if hasattr(task.state, "tasks"):
            yield from _over(task.state, owners)


def _parts(ns: str) -> list[str]:
    return [part.partition(":")[0] for part in ns.split("|") if part and not part.isdigit()]


def _parents(metadata: Any) -> Mapping[str, str]:
    try:
        found = (metadata if isinstance(metadata, dict) else json.loads(metadata)).get("parents")
    except (TypeError, ValueError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


def _replays() -> bool:
    return importlib.util.find_spec("langgraph._internal._replay") is not None
