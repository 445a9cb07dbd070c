"""Runs of a thread on its server: what is asked for, and what its stream of events says.

Owns the words of the stream; refuses to decide what a run means for the thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stores.errors import NotFound
from stores.langgraph_server.connection import Connection
from stores.model import Value
from stores.server_runs import Assistant, RunNews, ServerRun


def assistant(connection: Connection, thread: str) -> Assistant:
    """What the thread was last run with. Raises NotFound when nothing ever ran on it."""
    metadata = connection.thread(thread).get("metadata") or {}
    # A thread that was only ever written to knows its graph alone, whose own assistant goes by the same name.
    id = metadata.get("assistant_id") or metadata.get("graph_id")
    if not isinstance(id, str):
        raise NotFound(f"nothing ever ran on thread {thread!r}", hint="Start it with its application.")
    graph = str(metadata.get("graph_id") or id)
    if not metadata.get("assistant_id"):
        return Assistant(id, id, graph)
    row = connection.assistant(id)
    return Assistant(id, str(row.get("name") or id), str(row.get("graph_id") or graph))


def news(connection: Connection, run: ServerRun) -> Iterator[RunNews]:
    """Start the run and give what the server tells of it, until it ends."""
    for part in connection.stream(run.thread, run.assistant.id, _wishes(run)):
        event, _, ns = part.event.partition("|")
        told = _told(event, ns, part.data)
        if told is not None:
            yield told


def cancel(connection: Connection, thread: str) -> bool:
    """Interrupt the runs under way on the thread, those that wait first; False when there is none."""
    active = connection.active_runs(thread)
    for run in active:
        connection.interrupt(thread, run)
    return bool(active)


def _wishes(run: ServerRun) -> dict[str, Any]:
    wishes: dict[str, Any] = {"config": dict(run.config)} if run.config else {}
    if run.answers:
        wishes["command"] = {"resume": dict(run.answers)}
    if run.until:
        wishes["interrupt_before"] = [run.until]
    if run.single_step:
        wishes["interrupt_after"] = "*"
    return wishes


def _told(event: str, ns: str, data: Value) -> RunNews | None:
    if not isinstance(data, Mapping):
        return RunNews("failed", error=str(data)) if event == "error" else None
    if event == "metadata":
        return RunNews("started", id=str(data.get("run_id") or ""))
    if event == "error":
        return RunNews("failed", error=_error(data))
    if event == "tasks":
        return _task(ns, data)
    if event == "checkpoints":
        at = (data.get("config") or {}).get("configurable") or {}
        step = (data.get("metadata") or {}).get("step")
        return RunNews(
            "checkpoint",
            id=str(at.get("checkpoint_id") or ""),
            ns=ns,
            step=step if isinstance(step, int) else None,
            next=tuple(data.get("next") or ()),
        )
    return None


def _task(ns: str, data: Mapping[str, Any]) -> RunNews:
    id, node = str(data.get("id") or ""), str(data.get("name") or "")
    if "result" not in data and "error" not in data:
        return RunNews("task", id=id, ns=ns, node=node)
    error = data.get("error")
    said = None if error is None else _error(error)
    return RunNews("result", id=id, ns=ns, node=node, error=said, waiting=bool(data.get("interrupts")))


def _error(error: Value) -> str:
    """As Python says it: the class, and what it says."""
    if not isinstance(error, Mapping):
        return str(error)
    return ": ".join(str(error[name]) for name in ("error", "message") if error.get(name))
