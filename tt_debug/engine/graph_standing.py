"""The user's compiled graph and where a thread of it stands. In the user's interpreter: stdlib only, Python 3.9.

Owns what is read through a copy of it on the store (`graph_saver`), without a write. Refuses to run anything.
"""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from .events_pipe import plain
from .graph_guard import Guard
from .graph_memory import Memories
from .graph_saver import Store, package_of, reading, require_saver, rows, shown
from .graph_target import Refused, import_failed
from .lasting import lasting_imports

_PARTS = ("bound", "steps", "nodes", "writers", "builder", "branches", "path", "_tools_by_name", "tools_by_name")
_NOT_RESULTS = {"__error__", "__error_source_node__", "__interrupt__", "__resume__"}


def require_langgraph(store: Store) -> str:
    """The release in this interpreter. Refuses where LangGraph or its saver for the store is missing."""
    from importlib import metadata

    shown, warnings.showwarning = warnings.showwarning, lambda *_, **__: None
    try:
        # What a release warns of in its own imports is no news of this run; filters stay as the user has them.
        with lasting_imports():
            import langgraph.pregel  # noqa: F401 - both must be importable

            require_saver(store)
    except ImportError as error:
        hint = f"run: {sys.executable} -m pip install langgraph {package_of(store)}"
        if error.name == "langgraph":  # as in an environment that holds our tool alone
            hint = f"name the agent's own interpreter with --python, or {hint}"
        raise Refused("missing", f"{sys.executable} cannot import {error.name}", hint) from None
    finally:
        warnings.showwarning = shown
    return metadata.version("langgraph")


def as_graph(value: Any) -> Any:
    """The compiled graph in what was found or made."""
    from langgraph.pregel import Pregel

    if hasattr(value, "compile") and not isinstance(value, Pregel):
        try:
            value = value.compile()
        except Exception as error:  # noqa: BLE001 - the boundary to user code
            raise import_failed("compiling the graph", error) from None
    while not isinstance(value, Pregel) and hasattr(value, "bound"):
        value = value.bound.with_config(getattr(value, "config", None) or {})
    if not isinstance(value, Pregel):
        remote = "it runs on a server, and cannot be driven here" if type(value).__name__ == "RemoteGraph" else ""
        raise Refused("usage", f"this is no graph but a {type(value).__module__}.{type(value).__qualname__}", remote)
    return value


def async_only(graph: Any) -> bool:
    """Whether some node, branch or tool of it can only be awaited."""
    seen: set[int] = set()
    rest = [graph]
    while rest:
        part = rest.pop()
        if id(part) in seen or isinstance(part, (str, bytes, int, float, type(None))):
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            rest += part.values()
        elif isinstance(part, (list, tuple)):
            rest += part
        elif any(hasattr(part, name) for name in ("func", "afunc", "coroutine")):
            awaited = getattr(part, "afunc", None) or getattr(part, "coroutine", None)
            if awaited is not None and getattr(part, "func", None) is None:
                return True
        rest += [getattr(part, name) for name in _PARTS if _has(part, name)]
    return False


def _has(part: Any, name: str) -> bool:
    """Without calling a ``__getattr__``, which could make up parts without end."""
    return name in getattr(part, "__dict__", ()) or isinstance(getattr(type(part), name, None), property)


class Standing:
    """A thread at its newest checkpoint, as the graph's own runtime sees it."""

    def __init__(self, graph: Any, store: Store, thread: str, guard: Guard) -> None:
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        with reading(graph, store, guard) as twin:
            for place in _read_next(twin.checkpointer, thread):
                survey(guard, twin.checkpointer, thread, *place)
            stored = twin.checkpointer.get_tuple(config)
            if stored is None:
                raise Refused("thread", f"{shown(store)} has no thread {thread!r}")
            try:
                state = twin.get_state(config, subgraphs=True)
                self.lost = sorted(_lost(twin, twin.checkpointer, stored, state))
                self.memories = Memories(twin.checkpointer, stored, state)
            except Refused:
                raise
            except Exception as error:  # noqa: BLE001 - the boundary to user code, and to a release older than the file
                raise import_failed(f"reading thread {thread!r} with this graph", error) from None
        self.head: str = stored.checkpoint["id"]
        self.step: int = (stored.metadata or {}).get("step", -1)
        self.finished = {task for task, channel, _ in stored.pending_writes or [] if channel not in _NOT_RESULTS}
        open_tasks = [task for task in state.tasks if task.id not in self.finished]
        self.next = [task.name for task in open_tasks] or list(state.next)
        self.questions = [question for task in open_tasks for question in _questions(task)]
        self.asking = bool(open_tasks) and all(task.interrupts for task in open_tasks)


def facts(graph: Any, job: Mapping[str, Any], guard: Guard) -> dict[str, Any]:
    """Where the job's thread stands; or nothing but that its checkpoint ``base`` can be read, where there is one."""
    store, thread = job["store"], job["thread"]
    if job["base"] is not None:
        with reading(graph, store, guard) as twin:
            survey(guard, twin.checkpointer, thread, "", job["base"])
        return {}
    there = Standing(graph, store, thread, guard)
    nodes = [node for node in graph.nodes if not node.startswith("__")]
    found = {"nodes": nodes, "next": there.next, "questions": there.questions, "lost": there.lost}
    return {**found, "head": there.head, "step": there.step}


def survey(guard: Guard, saver: Any, thread: str, ns: str, checkpoint: str) -> None:
    """Read a checkpoint and its writes. Raises Refused with all that may not be built of them."""
    at = {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint}}
    where = f"checkpoint {checkpoint}{f' of {ns}' if ns else ''} in thread {thread!r}"
    guard.survey(lambda: saver.get_tuple(at), where)


def _read_next(saver: Any, thread: str) -> Iterator[tuple[str, str]]:
    """The checkpoints that a run starts from: the head, what its open subgraphs stored since, and memories."""
    newest = "SELECT checkpoint_ns, MAX(checkpoint_id) AS newest FROM checkpoints WHERE thread_id = ? GROUP BY 1"
    found = dict(rows(saver, newest, thread))
    for ns, checkpoint in found.items():
        if ":" not in ns.rpartition("|")[2] or checkpoint > found.get("", ""):
            yield ns, checkpoint


def _questions(task: Any) -> Iterator[dict[str, Any]]:
    ns = task.state.config["configurable"].get("checkpoint_ns", "") if task.state else ""
    for interrupt in task.interrupts:
        approval = _identity(interrupt, task.id)
        yield {"node": task.name, "approval": approval, "prompt": plain(interrupt.value), "ns": ns}


def _identity(interrupt: Any, task: str) -> str:
    """A question's id, in releases without any the one that later ones make of where it was asked, or its task's."""
    where = getattr(interrupt, "ns", None)
    found = getattr(interrupt, "id", None) or (where and getattr(interrupt, "interrupt_id", None))
    if found or not where:
        return str(found or task)
    with contextlib.suppress(ImportError):
        from xxhash import xxh3_128_hexdigest

        return str(xxh3_128_hexdigest("|".join(where).encode()))
    return task


def _lost(graph: Any, saver: Any, stored: Any, state: Any) -> set[str]:
    """The nodes that would run next and that the graph lacks, or a subgraph that is under way."""
    lost = _named_next(stored) - set(graph.nodes)
    inner = dict(graph.get_subgraphs())
    for task in state.tasks:
        if task.state and task.name in inner:
            below = saver.get_tuple(task.state.config)
            lost |= _lost(inner[task.name], saver, below, task.state) if below else set()
    return lost


def _named_next(stored: Any) -> set[str]:
    """The nodes that the stored checkpoint itself names as running next: LangGraph drops silently those it lacks."""
    checkpoint = stored.checkpoint
    values, versions, seen = (checkpoint[key] for key in ("channel_values", "channel_versions", "versions_seen"))
    sends = [*(values.get("__pregel_tasks") or ()), *(checkpoint.get("pending_sends") or ())]
    names: set[str] = set()
    for channel in values:
        kind, _, node = channel.rpartition(":")
        if kind.startswith("join:") and values[channel] != set(kind[len("join:") :].split("+")):
            continue
        before = seen.get(node, {}).get(channel)
        if re.match(r"branch:|join:|start$", kind) and (before is None or versions.get(channel, before) > before):
            names.add(node)
    for _, channel, value in stored.pending_writes or []:
        if channel.startswith("branch:to:"):
            names.add(channel[len("branch:to:") :])
        if channel == "__pregel_tasks":
            sends.append(value)
    return names | {send.node for send in sends if hasattr(send, "node")}
