"""The tasks of a native checkpoint, from the step log and the inbox; of an imported one as they were told elsewhere.

Owns what is shown of the step that starts at a checkpoint; refuses to decide what would run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from stores.model import Interrupt, Ref, Status, Task, Value, Write
from stores.native.by_id import rows_of
from stores.native.database import Database
from stores.native.rows import ASKED, from_text, to_text
from stores.native.schema import version_of

_SHOWN = {
    "completed": Status.DONE,
    "skipped": Status.DONE,
    "failed": Status.FAILED,
    "waiting": Status.WAITING,
    "answered": Status.DONE,
    "open": Status.WAITING,
}


_LAST_ATTEMPTS: Final = (
    "SELECT s.base, s.run_id, s.ordinal, s.node, s.status, s.output, s.error FROM steps s"
    " WHERE s.substep = '' AND NOT EXISTS (SELECT 1 FROM steps l"
    "  WHERE l.run_id = s.run_id AND l.ordinal = s.ordinal AND l.substep = '' AND l.attempt > s.attempt"
    "  AND l.thread_id = s.thread_id AND l.base = s.base) AND s.thread_id = ? AND s.base"
)
_QUESTIONS: Final = (
    "SELECT checkpoint_id, id, node, prompt, response_schema, status, answer FROM inbox"
    f" WHERE status IN ('open', 'answered') AND {ASKED} AND thread_id = ? AND checkpoint_id"
)
_PAST: Final = "SELECT checkpoint_id, tasks FROM past_tasks WHERE thread_id = ? AND checkpoint_id"


def tasks_at(db: Database, following: Mapping[Ref, Sequence[str]]) -> dict[Ref, tuple[Task, ...]]:
    """What ran from each checkpoint, its newest attempt; else what waits for an answer; else what is pending, of the
    nodes that would follow."""
    done: dict[Ref, list[Task]] = {}
    for ref, row in rows_of(db, following, _LAST_ATTEMPTS, " ORDER BY s.started_at"):
        done.setdefault(ref, []).append(_task_of(row))
    asked: dict[Ref, list[Task]] = {}
    for ref, row in rows_of(db, following, _QUESTIONS, " ORDER BY created_at, id"):
        asked.setdefault(ref, []).append(_question_of(row))
    waits = {ref for ref, tasks in asked.items() if any(task.status == Status.WAITING for task in tasks)}
    past = _past_tasks(db, [ref for ref in following if ref not in done and ref not in waits])
    return {
        ref: past.get(ref) or _tasks_of(ref, nodes, done.get(ref, ()), asked.get(ref, ()))
        for ref, nodes in following.items()
    }


def _tasks_of(ref: Ref, following: Sequence[str], ran: Sequence[Task], asked: Sequence[Task]) -> tuple[Task, ...]:
    waiting = {task.node for task in asked if task.status == Status.WAITING}
    # An attempt that stopped to ask is told by its question.
    done = [task for task in ran if task.node not in waiting]
    seen = {task.node for task in done}
    asked = [task for task in asked if task.node not in seen]
    seen.update(task.node for task in asked)
    pending = (Task(f"{ref.id}:{node}", node, "", Status.PENDING) for node in following if node not in seen)
    return (*done, *asked, *pending)


def _task_of(row: tuple[Value, ...]) -> Task:
    run_id, ordinal, node, status, output, error = row
    written = from_text(output)
    writes = tuple(Write(name, value) for name, value in written.items()) if isinstance(written, dict) else ()
    return Task(f"{run_id}:{ordinal}", node, "", _SHOWN.get(status, Status.PENDING), writes, error)


def _question_of(row: tuple[Value, ...]) -> Task:
    id, node, prompt, schema, status, answer = row
    asked = Interrupt(id, from_text(prompt), from_text(schema))
    writes = () if answer is None else (Write(node, from_text(answer)),)
    return Task(id, node, "", _SHOWN[status], writes, interrupts=(asked,))


def keep_past(db: Database, ref: Ref, tasks: Sequence[Task]) -> None:
    """Keep what a runtime elsewhere told of the step that starts at ``ref``."""
    told = [
        {
            "id": task.id,
            "node": task.node,
            "path": task.path,
            "status": task.status,
            "error": task.error,
            "writes": [[write.channel, write.value] for write in task.writes],
            "interrupts": [[asked.id, asked.value] for asked in task.interrupts],
        }
        for task in tasks
    ]
    db.execute("INSERT INTO past_tasks VALUES (?, ?, ?)", (ref.thread, ref.id, to_text(told, "tasks")))


def _past_tasks(db: Database, refs: Sequence[Ref]) -> dict[Ref, tuple[Task, ...]]:
    if not refs or version_of(db) < 2:
        return {}
    return {ref: tuple(map(_past_task_of, from_text(row[0]))) for ref, row in rows_of(db, refs, _PAST)}


def _past_task_of(told: Mapping[str, Value]) -> Task:
    return Task(
        told["id"], told["node"], told["path"], told["status"],
        tuple(Write(channel, value) for channel, value in told["writes"]), told["error"],
        tuple(Interrupt(id, value) for id, value in told["interrupts"]),
    )  # fmt: skip
