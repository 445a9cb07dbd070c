"""What a server tells of one checkpoint (a ``ThreadState``), as headers, tasks and state.

Owns the mapping; refuses to ask the server for anything. Values are JSON as they came: what class a value had on
the server, and bytes, are not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from typing import Any, Final

from stores.langgraph_server.connection import Row, State
from stores.model import Checkpoint, Header, Interrupt, Ref, Status, Task, Value, Write

INPUT: Final = "__input__"
START: Final = "__start__"
OURS: Final = "tt_debug"
"""The key under which a fork of ours notes, in its thread's metadata, where it comes from."""
ANEW: Final = "made_from_values"
"""There too, where the fork is no copy."""
_MADE: Final = "made from the values shown of its origin: their classes and hidden channels were not taken along"
# langgraph-runtime-inmem 0.36 does not bring back a channel that joins branches (NamedBarrierValue): it names no task.
_UNTOLD: Final = "the server does not tell what ran after it, and would go on from it with nothing"
_BROKEN_OFF: Final = "CancelledError()"
"""What stands on a task whose run was cancelled: it did not fail, and runs again."""
_FIELDS: Final = frozenset({"source", "step", "thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map"})


def place(state: State) -> tuple[str, str]:
    """Namespace and id."""
    at = state["checkpoint"]
    return at.get("checkpoint_ns") or "", at["checkpoint_id"]


def parent_of(state: State) -> tuple[str, str] | None:
    """Namespace and id of its parent."""
    above = state.get("parent_checkpoint")
    return (above.get("checkpoint_ns") or "", above["checkpoint_id"]) if above else None


def root_of(state: State) -> str | None:
    """The root graph's checkpoint in whose superstep a subgraph's ran."""
    return _parents(state).get("")


def inner_namespaces(state: State) -> list[str]:
    """The namespaces of the subgraphs that its tasks call."""
    calls = (task.get("checkpoint") for task in state.get("tasks") or ())
    return [call["checkpoint_ns"] for call in calls if call and call.get("checkpoint_ns")]


def checkpoint(state: State, header: Header, after: After) -> Checkpoint:
    """The state with its tasks under a header made before."""
    return Checkpoint(header, values(state), tasks(state, after))


def values(state: State) -> dict[str, Value]:
    """The state; a graph whose state is no object gives its one value as it is."""
    held = state.get("values")
    return held if isinstance(held, dict) else {"values": held}


class After(IntEnum):
    """What goes on from a checkpoint: nothing, a fork or an edit, a step that ran there."""

    NOTHING = 0
    COPY = 1
    STEP = 2

    @classmethod
    def by(cls, state: State) -> After:
        """What a child says of its parent."""
        return cls.STEP if (state.get("metadata") or {}).get("source") == "loop" else cls.COPY


def header(thread: str, state: State, before: State | None, after: After, origin: Ref | None = None) -> Header:
    """``before`` is its parent's state, where there is one; ``after``: what the thread went on with.

    ``origin`` is what its thread was made from by its values, as `made_from` tells.
    """
    metadata, (ns, id) = state["metadata"], place(state)
    above, source = parent_of(state), metadata.get("source") or ""
    step, is_copied = metadata.get("step"), origin is not None and above is None and not ns
    ran, has_child = tasks(state, after), after > After.NOTHING
    return Header(
        ref=Ref(thread, ns, id),
        parent=origin if is_copied else None if above is None else Ref(thread, *above),
        step=step if isinstance(step, int) else None,
        source=source,
        created=moment(state.get("created_at")),
        nodes=_nodes(source, before),
        next=tuple(state.get("next") or ()),
        status=_status(ran, has_child),
        meta={name: value for name, value in metadata.items() if name not in _FIELDS},
        owner=_owner(thread, ns, state),
        problem=_MADE if is_copied else _UNTOLD if after is After.STEP and not ran else None,
    )


def tasks(state: State, after: After) -> tuple[Task, ...]:
    """The tasks of the superstep that starts there."""
    return tuple(_task(task, after > After.NOTHING) for task in state.get("tasks") or ())


def forked_from(row: Row) -> Ref | None:
    """Where a fork of ours says that it comes from."""
    noted = (row.get("metadata") or {}).get(OURS)
    found = noted.get("forked_from") if isinstance(noted, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    parts = [found.get(name) for name in ("thread_id", "checkpoint_ns", "checkpoint_id")]
    return Ref(*map(str, parts)) if all(isinstance(part, str) for part in parts) else None


def made_from(row: Row) -> Ref | None:
    """The same for a fork that is no copy: its first checkpoint goes on from there."""
    noted = (row.get("metadata") or {}).get(OURS)
    return forked_from(row) if isinstance(noted, Mapping) and noted.get(ANEW) else None


def fork_note(base: Ref, meta: Mapping[str, object]) -> dict[str, Value]:
    """The metadata that `forked_from` reads."""
    names = ("thread_id", "checkpoint_ns", "checkpoint_id")
    return {OURS: {"forked_from": dict(zip(names, base, strict=True)), **meta}}


def moment(text: Any) -> datetime | None:
    """A time as the server writes it."""
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _task(task: Mapping[str, Any], has_child: bool) -> Task:
    result, error = task.get("result"), task.get("error")
    asked = tuple(
        Interrupt(str(one.get("id") or one.get("interrupt_id") or ""), one.get("value"), one.get("response_schema"))
        for one in task.get("interrupts") or ()
    )
    # A question and an error stay on the task that was answered, or did better the second time.
    if result is not None or (has_child and not error and not asked):
        status = Status.DONE
    elif error and error != _BROKEN_OFF:
        status = Status.FAILED
    else:
        status = Status.WAITING if asked else Status.PENDING
    return Task(
        id=str(task.get("id") or ""),
        node=str(task.get("name") or ""),
        path=", ".join(map(str, task.get("path") or ())),
        status=status,
        writes=_writes(result),
        error=None if error is None else str(error),
        interrupts=asked if status == Status.WAITING else (),
    )


def _writes(result: Value) -> tuple[Write, ...]:
    if result is None:
        return ()
    if isinstance(result, dict):
        return tuple(Write(channel, value) for channel, value in result.items())
    return (Write("result", result),)


def _status(found: Sequence[Task], has_child: bool) -> str:
    told = {task.status for task in found}
    if has_child or not told:
        return Status.DONE
    return next((one for one in (Status.WAITING, Status.FAILED) if one in told), Status.UNFINISHED)


def _nodes(source: str, before: State | None) -> tuple[str, ...]:
    """Who wrote a checkpoint: every task of its parent's superstep, as a superstep ends with all of them."""
    if source == "input":
        return (INPUT,)
    if source != "loop" or before is None:
        return ()
    return tuple(dict.fromkeys(task["name"] for task in before.get("tasks") or ()))


def _parents(state: State) -> Mapping[str, str]:
    found = (state.get("metadata") or {}).get("parents")
    return found if isinstance(found, Mapping) else {}


def _owner(thread: str, ns: str, state: State) -> Ref | None:
    """Of the graphs around a subgraph's checkpoint the innermost."""
    if not ns or not _parents(state):
        return None
    return Ref(thread, *max(_parents(state).items(), key=lambda one: (one[0].count("|"), one[0])))
