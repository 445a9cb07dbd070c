"""An edit as a node's own update, through the graph's ``update_state``. In the user's interpreter: stdlib, Python 3.9.

Reducers and branches are the user's code and run here; no node does. Owns the preview, which is made in memory with
rows that were only read, and saving. Refuses to choose the checkpoint, or to fork.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from .events_pipe import Tell, plain
from .graph_guard import Guard
from .graph_saver import reading, with_saver, writing_async
from .graph_standing import survey
from .graph_target import Refused, import_failed

_END = "__end__"


async def update(job: Mapping[str, Any], tell: Tell, graph: Any) -> None:
    """Preview ``job``'s update, or save it; tells one "updated" event. Raises Refused."""
    node = job["as_node"]
    if node not in graph.nodes and node != _END:
        named = ", ".join(name for name in graph.nodes if not name.startswith("__"))
        raise Refused("usage", f"this graph has no node {node!r}", f"it has: {named}")
    config = {"configurable": {**_own(job), "thread_id": job["thread"], "checkpoint_ns": ""}}
    guard, place = Guard(job["trust"]), _saved if job["save"] else in_memory
    try:
        with reading(graph, job["store"], guard) as reader:
            survey(guard, reader.checkpointer, job["thread"], "", job["base"])
        async with place(job, graph, config, guard) as twin:
            base = await twin.aget_state(_at(config, job["base"]))
            given = _values(job, twin)
            made = await twin.aupdate_state(config, given, as_node=node)
            after = await twin.aget_state(made)
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary to user code: a reducer or a branch may raise anything
        raise import_failed(f"updating the state as {node}", error) from None
    told = {"as_node": node, "next": list(after.next), "before": plain(base.values), "after": plain(after.values)}
    stored = made["configurable"]["checkpoint_id"] if job["save"] else None
    tell({"event": "updated", "saved": job["save"], "checkpoint": stored, **told})


def _own(job: Mapping[str, Any]) -> dict[str, Any]:
    asked = job["config"].get("configurable") or {}
    return {key: value for key, value in asked.items() if not key.startswith("checkpoint_")}


def _at(config: Mapping[str, Any], checkpoint: str) -> dict[str, Any]:
    return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint}}


# --- what is handed over


def _values(job: Mapping[str, Any], twin: Any) -> Any:
    """The update, as the graph's own serializer reads it; None for none. ``replace`` goes past a reducer."""
    if not job["values"]:
        return None
    serde, found = twin.checkpointer.serde, {}
    for name, packed in job["values"].items():
        if name not in twin.channels:
            known = ", ".join(channel for channel in twin.channels if ":" not in channel and channel[:2] != "__")
            raise Refused("usage", f"this graph's state has no {name!r}", f"it has: {known}")
        value = serde.loads_typed(("msgpack", base64.b64decode(packed)))
        found[name] = _whole(value) if job["replace"] and _reduces(twin.channels[name]) else value
    return found


def _reduces(channel: Any) -> bool:
    return hasattr(channel, "operator") or type(channel).__name__ == "DeltaChannel"


def _whole(value: Any) -> Any:
    try:
        from langgraph.types import Overwrite
    except ImportError:
        text = "this release of LangGraph cannot replace what a reducer puts together"
        raise Refused("usage", text, "leave out the node for an exact replacement, or go through the reducer") from None
    return Overwrite(value)


# --- where


@contextlib.asynccontextmanager
async def _saved(job: Mapping[str, Any], graph: Any, config: Mapping[str, Any], guard: Guard) -> AsyncIterator[Any]:
    """The graph on the store itself. Refused when its newest checkpoint is not the one that the edit was made on."""
    async with writing_async(graph, job["store"], guard) as twin:
        head = await twin.checkpointer.aget_tuple(config)
        if head is None or head.checkpoint["id"] != job["base"]:
            text = f"thread {job['thread']!r} has moved on since the edit was made"
            raise Refused("conflict", text, "read it again, or fork where the edit was made")
        yield twin


@contextlib.asynccontextmanager
async def in_memory(job: Mapping[str, Any], graph: Any, config: Mapping[str, Any], guard: Guard) -> AsyncIterator[Any]:
    """The graph on a copy, in memory, of the checkpoint that the edit is made on; nothing can be written."""
    from langgraph.checkpoint.memory import MemorySaver

    with reading(graph, job["store"], guard) as reader:
        saver = reader.checkpointer
        line = [saver.get_tuple(_at(config, job["base"]))]
        if line[0] is None:
            raise Refused("thread", f"thread {job['thread']!r} has no checkpoint {job['base']}")
        deltas = any(type(channel).__name__ == "DeltaChannel" for channel in graph.channels.values())
        while deltas and line[-1].parent_config is not None:  # such a channel is what its ancestors wrote
            above = saver.get_tuple(line[-1].parent_config)
            if above is None:
                break
            line.append(above)
    memory = MemorySaver(serde=saver.serde.inner)
    for found in reversed(line):
        _copy(memory, found, config, with_writes=found is not line[0] or job["with_writes"])
    yield with_saver(graph, lambda _, serde: memory, None, guard)


def _copy(memory: Any, found: Any, config: Mapping[str, Any], with_writes: bool) -> None:
    parent = found.parent_config or config
    above = {"configurable": {**config["configurable"], **_address(parent)}}
    here = memory.put(above, found.checkpoint, found.metadata, found.checkpoint["channel_versions"])
    by_task: dict[str, list[Any]] = {}
    for task, channel, value in (found.pending_writes or []) if with_writes else []:
        by_task.setdefault(task, []).append((channel, value))
    for task, writes in by_task.items():
        memory.put_writes(here, writes, task)


def _address(config: Mapping[str, Any]) -> dict[str, str]:
    found = config["configurable"].get("checkpoint_id")
    return {"checkpoint_id": found} if found else {}
