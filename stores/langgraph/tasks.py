"""What the tasks of a superstep have done, from the rows they wrote.

Owns a task's status (langgraph 1.2 pregel/_task_status.py) and a checkpoint's; refuses SQL and decoding of states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import xxhash

from stores.langgraph.identity import CALL_PATH, UPDATE_PATH
from stores.langgraph.next import PULL, PUSH, Due, Place, node_of
from stores.langgraph.rows import (
    CONTROL_WRITES,
    ERROR,
    INTERRUPT,
    NULL_TASK,
    RESUME,
    RETURN,
    START,
    WRITE_ORDER,
    WriteRow,
    mapping,
)
from stores.model import STUCK, Interrupt, Status, Tagged, Task, Value, Write

# What stands for the writer where no node ran.
UNKNOWN: Final = "?"
COMMAND: Final = "Command"  # the null task: Command(resume=…), Command(update=…), Command(goto=…)
INPUT: Final = "__input__"  # a next turn's input to a delta channel, stored on the checkpoint it starts from
UPDATE: Final = "update_state"
CALL: Final = "call"  # a function called inside a node's code, where nothing tells its name
_HANDLER: Final = "{} (handler)"  # of a failed node's error, where nothing tells its name
OWN_NAMES: Final = (UNKNOWN, COMMAND, INPUT, UPDATE, CALL, START, _HANDLER)
"""All that a checkpoint's writer may be called by us, not by its graph."""
_AFTER_ERROR: Final = ", node_error_handler, 0000000000"


class Ran(NamedTuple):
    """One task by its rows: who it was and what channels it wrote. ``due`` tells a task that the runtime foresees.

    ``stepped`` says that its step was completed, where the release did not store what every task wrote.
    """

    id: str
    node: str
    path: str
    rows: tuple[WriteRow, ...]
    due: bool = False
    stepped: bool = False

    @property
    def status(self) -> str:
        """done, failed, waiting or pending."""
        channels = {row.channel for row in self.rows}
        if channels - CONTROL_WRITES or self.id == NULL_TASK or (self.stepped and not channels):
            return "done"
        if ERROR in channels:
            return "failed"
        return "waiting" if INTERRUPT in channels else "pending"

    @property
    def is_node(self) -> bool:
        """Whether this is a node's own work in the step, not a call inside it, a command or an update from outside."""
        outside = self.id == NULL_TASK or self.node in (INPUT, CALL)
        return not outside and not self.path.startswith((UPDATE_PATH, CALL_PATH))


def untouched(due: Iterable[Due]) -> tuple[Ran, ...]:
    """The tasks of a superstep in which nothing was written."""
    return tuple(Ran(task.id, task.node, task.path, (), due=True) for task in due)


def match(place: Place, due: Sequence[Due], rows: Iterable[WriteRow], names: Iterable[str]) -> tuple[Ran, ...]:
    """The tasks of the superstep: those due first, then everything else that wrote.

    ``names`` are the nodes and functions that may stand behind a task whose path does not tell its name.
    """
    written: dict[str, list[WriteRow]] = {}
    for row in sorted(rows, key=WRITE_ORDER):
        written.setdefault(row.task, []).append(row)
    # START may be the one node of a workflow of the functional API, which goes by another name.
    if not written.keys() <= {task.id for task in due} or any(task.node == START for task in due):
        due = _with_unforeseen(due, written)
    ran = {task.id: Ran(task.id, task.node, task.path, tuple(written.get(task.id, ())), due=True) for task in due}
    foreseen = tuple(ran.values())
    others = [task for task in written if task not in ran]
    if not others:
        return foreseen
    candidates = sorted(names)
    # A call's id is made within its caller's, so callers come first: the path of a call begins with theirs.
    for task in sorted(others, key=lambda task: written[task][0].path.count("~")):
        path = written[task][0].path
        call = _call_name(place, task, path, candidates, ran.values())
        ran[task] = Ran(task, call or _name(place, written[task], candidates), path, tuple(written[task]))
    return (*foreseen, *(ran[task] for task in others))


def _call_name(place: Place, task: str, path: str, candidates: Sequence[str], callers: Iterable[Ran]) -> str | None:
    """The function behind a call inside a node's code; its number where the name was not yet seen anywhere."""
    parts = path.removeprefix(f"~{PUSH}, ").rsplit(", ", 2)
    if not path.startswith(CALL_PATH) or len(parts) != 3:
        return None
    caller, index, _ = parts
    number = str(int(index)) if index.isdigit() else index
    for outer in callers:
        if outer.path == caller:
            made_by = Due(outer.id, outer.node, outer.path)
            for name in candidates:
                if task in place.call_ids(made_by, name, number):
                    return name
    return f"{CALL} {number}"


def _with_unforeseen(due: Sequence[Due], written: dict[str, list[WriteRow]]) -> list[Due]:
    """The tasks due, corrected by the rows: a node that wrote was due, under the id it wrote with.

    What `Command(goto=…)` or an update from outside set off was not due at this checkpoint. A node that failed, or
    asked, and that nothing names, was due all the same.
    """
    known = {task.id for task in due} | {NULL_TASK}
    gone_to = {node_of(row.channel) for row in written.get(NULL_TASK, ())}
    corrected = {task.node if task.path.startswith(f"~{PULL}") else task.path: task for task in due}
    for task, rows in written.items():
        path = rows[0].path
        node = path.removeprefix(f"~{PULL}, ")
        if not path and task not in known and {row.channel for row in rows} & {ERROR, INTERRUPT}:
            corrected.setdefault(task, Due(task, UNKNOWN, ""))
        elif node == path or path.endswith(_AFTER_ERROR) or node in gone_to:
            continue
        else:
            corrected[node] = Due(task, node, path)
        if START in corrected and node != START:
            # The one node of a workflow of the functional API; until it is seen it is taken for a graph's start.
            del corrected[START]
    return list(corrected.values())


def _name(place: Place, rows: Sequence[WriteRow], candidates: Sequence[str]) -> str:
    """What stands behind a task that was not due."""
    task, path = rows[0].task, rows[0].path
    if task == NULL_TASK:
        return COMMAND
    if path.startswith(UPDATE_PATH):
        return UPDATE
    if path.endswith(_AFTER_ERROR):
        failed = path.removeprefix(f"~{PULL}, ").removesuffix(_AFTER_ERROR)
        return next((name for name in candidates if _handles(place, task, name, candidates)), _HANDLER.format(failed))
    if path.startswith(f"~{PULL}, "):
        return path.removeprefix(f"~{PULL}, ")
    if task == place.outside_id(INPUT):
        return INPUT
    return CALL if any(row.channel == RETURN for row in rows) else UNKNOWN


def _handles(place: Place, task: str, name: str, candidates: Sequence[str]) -> bool:
    """Whether ``name`` is the error handler with this task id, of any node that an edge leads to."""
    failed = (place.task_id(node, PULL, f"branch:to:{node}") for node in candidates)
    return any(place.task_id(name, PUSH, "node_error_handler", one) == task for one in failed)


def checkpoint_status(tasks: Sequence[Ran], has_child: bool) -> tuple[str, str | None]:
    """How the step that starts at a checkpoint stands, and what is odd about it."""
    if has_child:
        return Status.DONE, None
    # A node that Command(goto=…) set off was not due, and may wait or fail all the same.
    found = [task.status for task in tasks if task.due or (task.is_node and task.status != "done")]
    if not found:
        return Status.DONE, None
    if "waiting" in found:
        return Status.WAITING, None
    if "failed" in found:
        return Status.FAILED, None
    if all(status == "done" for status in found):
        return Status.FAILED, STUCK
    return Status.UNFINISHED, None


def writers(tasks: Sequence[Ran]) -> tuple[str, ...]:
    """The nodes whose finished work a step applied, each once, in the order their writes were applied in."""
    if not tasks:
        return ()
    finished = sorted((task for task in tasks if task.is_node and task.status == "done"), key=lambda task: task.path)
    return tuple(dict.fromkeys(task.node for task in finished))


def to_task(ran: Ran, decode: Callable[[WriteRow], Value]) -> Task:
    """The task with its writes decoded."""
    values = [(row.channel, decode(row)) for row in ran.rows]
    error = next((value for channel, value in values if channel == ERROR), None)
    given = next((value for channel, value in values if channel == RESUME), ())
    turn = len(given) if isinstance(given, list) else 0
    return Task(
        id=ran.id,
        node=ran.node,
        path=ran.path,
        status=ran.status,
        writes=tuple(Write(channel, value) for channel, value in values if channel not in (ERROR, INTERRUPT)),
        error=_error_text(error),
        interrupts=tuple(
            _interrupt(item, ran.id, turn)
            for channel, value in values
            if channel == INTERRUPT
            for item in (value if isinstance(value, list) else [value])
        ),
    )


def _error_text(error: Value) -> str | None:
    if error is None or isinstance(error, str):
        return error
    if isinstance(error, dict) and isinstance(error.get("message"), str):  # LangGraph JS
        return f"{error.get('name') or 'Error'}: {error['message']}"
    return str(error.value if isinstance(error, Tagged) else error)


def asked_in(stored: Value) -> tuple[str, ...]:
    """The nodes named by where a question was asked, innermost last; langgraph 0.2.2x … 0.5 stored it."""
    where = _fields(stored).get("ns")
    parts = where if isinstance(where, list) else [where]
    return tuple(name for part in parts if isinstance(part, str) for name in _nodes_of(part))


def _nodes_of(ns: str) -> Iterable[str]:
    return (part.partition(":")[0] for part in ns.split("|"))


def _fields(stored: Value) -> Mapping[str, Value]:
    """The fields of a question; JSON of the first savers wraps them in what names its class."""
    fields = mapping(stored.value if isinstance(stored, Tagged) else stored)
    return mapping(fields.get("kwargs")) if fields.get("lc") == 2 else fields


def _interrupt(stored: Value, task: str, turn: int) -> Interrupt:
    """One question; savers of several generations stored it with different fields.

    Without an id it has the one that langgraph 0.4 makes of where it was asked, or its task's.
    """
    fields = _fields(stored)
    if "value" not in fields:
        return Interrupt(task, stored, turn=turn)
    schema, where = fields.get("response_schema"), fields.get("ns")
    name = fields.get("id") or fields.get("interrupt_id")
    if not name:
        place = "|".join(map(str, where)) if isinstance(where, list) else ""
        name = xxhash.xxh3_128_hexdigest(place.encode()) if place else task
    return Interrupt(str(name), fields["value"], schema if isinstance(schema, dict) else None, turn)
