"""What each LangGraph release said of its own file, row by row, and where a store of ours says something else.

Owns the comparison; refuses to know which differences are right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stores.langgraph.base import LangGraphBase
from stores.langgraph.tasks import CALL, COMMAND, UPDATE
from stores.model import Checkpoint, Header, Ref, Tagged, Task
from tests.stores.langgraph_files import text

Row = dict[str, Any]

FIELDS = ("parent", "step", "source", "created", "next", "tasks", "keys", "values")
# Channels with a reducer that nothing has written to yet: the runtime makes their defaults up, the rows lack them.
DEFAULTS = {"log", "messages", "notes", "results"}


def history_of(name: str) -> list[Row]:
    """What the runtime's ``get_state_history`` gave for every thread and namespace of a file."""
    found: list[Row] = json.loads(text(f"{name.removesuffix('.sqlite')}.expected.json"))["history"]
    tasks = [task for row in found for task in row.get("tasks", ())]
    if not any(task["has_result"] for task in tasks):
        for task in tasks:  # langgraph 0.2.20 had no such field
            del task["has_result"]
    return found


def ref_of(row: Row) -> Ref:
    """The address of a row."""
    return Ref(row["thread_id"], row["ns"], row["id"])


def misses(store: LangGraphBase, history: list[Row]) -> dict[tuple[str, str], list[str]]:
    """Every row with the fields in which the store disagrees, by thread and id."""
    headers = headers_of(store)
    assert set(headers) == {ref_of(row) for row in history}
    found = {}
    for row in history:
        ref = ref_of(row)
        checkpoint = store.load(ref)
        assert checkpoint.header == headers[ref]
        if fields := differences(row, headers[ref], checkpoint):
            found[ref.thread, ref.id] = fields
    return found


def headers_of(store: LangGraphBase) -> dict[Ref, Header]:
    """Every header of every thread."""
    return {one.ref: one for info in store.threads().items for one in store.headers(info.thread).items}


def differences(row: Row, header: Header, checkpoint: Checkpoint) -> list[str]:
    """The fields in which we disagree with the runtime; a field that it did not record counts as agreeing."""
    state = {key: plain(value) for key, value in checkpoint.state.items()}
    keys = set(row["value_keys"] or ())
    made_up = {key for key in keys - set(state) if key in DEFAULTS}
    pairs = {
        "parent": (header.parent and header.parent.id, row["parent"]),
        "step": (header.step, row["step"]),
        "source": (header.source, row["source"]),
        "created": (header.created and header.created.isoformat(), row["created_at"]),
        "next": (sorted(header.next), row["next"]),
        "tasks": _both_tasks(checkpoint, row["tasks"]) if "tasks" in row else (None, None),
        "keys": (set(state) | made_up, keys),
        "values": (state, _without(row["values"], made_up)) if "values" in row else (None, None),
    }
    assert set(pairs) == set(FIELDS)
    return [name for name, (ours, theirs) in pairs.items() if ours != theirs]


def _both_tasks(checkpoint: Checkpoint, recorded: list[Row]) -> tuple[list[Row], list[Row]]:
    """Ours and the runtime's, in one order."""
    ours = {task["id"]: task for task in tasks_of(checkpoint)}
    for task in recorded:
        same = ours.get(task["id"], {})
        if "has_result" not in task:
            same.pop("has_result", None)
        # A Send's path was its place alone before langgraph 0.3.
        if task["path"].startswith("('__pregel_push'") and same.get("path", "").startswith(task["path"][:-1]):
            same["path"] = task["path"]
    return sorted(ours.values(), key=_by_id), sorted(recorded, key=_by_id)


def tasks_of(checkpoint: Checkpoint) -> list[Row]:
    """The tasks of a checkpoint as the recorder printed the runtime's."""
    found = [
        {
            "id": task.id,
            "name": task.node,
            "path": _path_of(task),
            "error": task.error,
            "interrupts": [repr(plain(one.value)) for one in task.interrupts],
            "has_result": task.status == "done",
        }
        for task in checkpoint.tasks
        if _is_the_runtimes(task)
    ]
    return sorted(found, key=_by_id)


def plain(value: Any) -> Any:
    """A value as the recorder printed it."""
    return value.value if isinstance(value, Tagged) else value


def _path_of(task: Task) -> str:
    """The path as the runtime's tuple prints."""
    kind, *rest = task.path.removeprefix("~").split(", ")
    if kind != "__pregel_push":
        return str((kind, *rest))
    index, *call = map(int, rest)
    return str((kind, index, *map(bool, call)))


def _is_the_runtimes(task: Task) -> bool:
    """Whether the runtime lists it: no call inside a functional workflow, no command or update from outside."""
    return task.node not in (CALL, COMMAND, UPDATE) and not task.path.startswith("~__pregel_push, ~")


def _by_id(task: Row) -> str:
    return str(task["id"])


def _without(values: Mapping[str, Any] | None, names: set[str]) -> Row:
    return {key: value for key, value in (values or {}).items() if key not in names}
