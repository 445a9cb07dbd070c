"""The tasks of a native checkpoint, from the step log and the inbox; of an imported one as they were told elsewhere.

Owns what is shown of the step that starts at a checkpoint; refuses to decide what would run.
"""

from __future__ import annotations

from collections.abc import Sequence

from stores.model import Header, Interrupt, Ref, Status, Task, Value, Write
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


def tasks_at(db: Database, header: Header) -> tuple[Task, ...]:
    """What ran from here, its newest attempt; else what waits for an answer; else what is pending."""
    asked = tuple(_question_of(row) for row in _questions(db, header))
    waiting = {task.node for task in asked if task.status == Status.WAITING}
    # An attempt that stopped to ask is told by its question.
    done = tuple(task for row in _last_attempts(db, header) if (task := _task_of(row)).node not in waiting)
    if not done and not waiting and (past := _past_tasks(db, header)):
        return past
    seen = {task.node for task in done}
    asked = tuple(task for task in asked if task.node not in seen)
    seen.update(task.node for task in asked)
    pending = (Task(f"{header.ref.id}:{node}", node, "", Status.PENDING) for node in header.next if node not in seen)
    return (*done, *asked, *pending)


def _last_attempts(db: Database, header: Header) -> list[tuple[Value, ...]]:
    return db.execute(
        "SELECT s.run_id, s.ordinal, s.attempt, s.node, s.status, s.output, s.error FROM steps s"
        " WHERE s.thread_id = ? AND s.base = ? AND s.substep = '' AND NOT EXISTS (SELECT 1 FROM steps l"
        "  WHERE l.run_id = s.run_id AND l.ordinal = s.ordinal AND l.substep = '' AND l.attempt > s.attempt"
        "  AND l.thread_id = s.thread_id AND l.base = s.base) ORDER BY s.started_at",
        (header.ref.thread, header.ref.id),
    ).fetchall()


def _task_of(row: tuple[Value, ...]) -> Task:
    run_id, ordinal, _, node, status, output, error = row
    written = from_text(output)
    writes = tuple(Write(name, value) for name, value in written.items()) if isinstance(written, dict) else ()
    return Task(f"{run_id}:{ordinal}", node, "", _SHOWN.get(status, Status.PENDING), writes, error)


def _questions(db: Database, header: Header) -> list[tuple[Value, ...]]:
    return db.execute(
        "SELECT id, node, prompt, response_schema, status, answer FROM inbox"
        f" WHERE thread_id = ? AND checkpoint_id = ? AND status IN ('open', 'answered') AND {ASKED}"
        " ORDER BY created_at, id",
        (header.ref.thread, header.ref.id),
    ).fetchall()


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


def _past_tasks(db: Database, header: Header) -> tuple[Task, ...]:
    if version_of(db) < 2:
        return ()
    row = db.execute(
        "SELECT tasks FROM past_tasks WHERE thread_id = ? AND checkpoint_id = ?", (header.ref.thread, header.ref.id)
    ).fetchone()
    return tuple(
        Task(
            told["id"], told["node"], told["path"], told["status"],
            tuple(Write(channel, value) for channel, value in told["writes"]), told["error"],
            tuple(Interrupt(id, value) for id, value in told["interrupts"]),
        )
        for told in (from_text(row[0]) if row is not None else ())
    )  # fmt: skip
