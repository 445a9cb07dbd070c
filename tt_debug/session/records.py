"""A checkpoint as one plain object: what `show --json` prints and `export` writes a line of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from stores.errors import Corrupt
from stores.model import Checkpoint, Header, Task, Value
from stores.protocol import RunStore, Store
from stores.runs import StepRecord
from tt_debug.session.thread_view import ThreadView
from tt_debug.values import to_json

Record = dict[str, Value]


def log_record(header: Header) -> Record:
    """What `log --json` shows of a checkpoint; ``parent_thread`` only where it differs, ``problem`` if there is one."""
    parent = header.parent
    if parent is not None and parent.ns != header.ref.ns:
        parent = None  # what ran a subgraph's first checkpoint: the graph draws it there, the row has no parent
    record: Record = {
        "thread": header.ref.thread,
        "ns": header.ref.ns,
        "id": header.ref.id,
        "parent": parent.id if parent else None,
    }
    if parent is not None and parent.thread != header.ref.thread:
        record["parent_thread"] = parent.thread
    record |= {
        "step": header.step,
        "source": header.source,
        "nodes": list(header.nodes),
        "next": list(header.next),
        "status": header.status,
        "created": timestamp(header.created),
        "size": header.size,
    }
    if header.problem is not None:
        record["problem"] = header.problem
    return record


def show_record(checkpoint: Checkpoint, steps: tuple[StepRecord, ...] = ()) -> Record:
    """What `show --json` prints: the log record with state, tasks and steps."""
    return log_record(checkpoint.header) | {
        "state": to_json(dict(checkpoint.state)),
        "tasks": [_task(task) for task in checkpoint.tasks],
        "steps": [_step(step) for step in steps],
        "meta": to_json(dict(checkpoint.header.meta)),
    }


def records_of(store: Store, view: ThreadView) -> Iterator[Mapping[str, Value]]:
    """One `show` object a checkpoint of the view's own thread, oldest first.

    One that cannot be read is its `log` object with the ``problem``, and no ``state``.
    """
    for ref, header in view.headers.items():
        if ref.thread == view.thread:
            try:
                checkpoint = store.load(ref)
            except Corrupt as error:
                yield log_record(header) | {"problem": header.problem or str(error)}
                continue
            yield show_record(checkpoint, store.steps(ref=ref) if isinstance(store, RunStore) else ())


def timestamp(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _task(task: Task) -> Record:
    return {
        "id": task.id,
        "name": task.node,
        "path": task.path,
        "status": task.status,
        "error": task.error,
        "interrupts": [{"id": i.id, "value": to_json(i.value)} for i in task.interrupts],
        "writes": [{"channel": write.channel, "value": to_json(write.value)} for write in task.writes],
    }


def _step(step: StepRecord) -> Record:
    duration = step.duration
    return {
        "node": step.node,
        "attempt": step.attempt,
        "visit": step.visit,
        "status": step.status,
        "started": timestamp(step.started),
        "duration_ms": None if duration is None else round(duration * 1000, 3),
        "input": to_json(step.input),
        "output": to_json(step.output),
        "error": step.error,
        "log": list(step.log),
    }
