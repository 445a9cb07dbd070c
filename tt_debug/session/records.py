"""A checkpoint as one plain object: what `show --json` prints and `export` writes a line of.

A store of ours holds JSON, which is written as it is; other stores' values are written by `tt_debug.values.to_json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from stores.blobs import referred
from stores.model import MISSING, Checkpoint, Header, Task, Value
from tt_debug.redaction import NOTHING, Hidden, Redaction
from tt_debug.values import to_json

if TYPE_CHECKING:
    from stores.runs import StepRecord

Record = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Form:
    """How a store's values are written: with which secrets hidden, and whether they are JSON already."""

    hiding: Redaction = NOTHING
    is_json: bool = False


def form_of(store_kind: str, hiding: Redaction = NOTHING) -> Form:
    """How the values of a store of that kind are written."""
    return Form(hiding, is_json=store_kind in ("native", "memory"))


class Pen:
    """Writes values in a form, and remembers whether it had to hide anything."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self.has_hidden = False

    def json(self, value: Value, *, secret: bool = False) -> Value:
        """The value in JSON types. ``secret``: it lies under a secret name."""
        shown = self._form.hiding.hide(value, secret=secret)
        self.has_hidden = self.has_hidden or shown is not value
        if not self._form.is_json:
            return to_json(shown)
        return referred(value if shown is value else _with_forms(shown))

    def named(self, name: str, value: Value) -> Value:
        """What is kept under a name, in JSON types."""
        return self.json(value, secret=self._form.hiding.names(name))

    def mark(self, record: Record) -> Record:
        """The record, which says so where something in it was hidden."""
        return record | {"redacted": True} if self.has_hidden else record


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


def show_record(
    checkpoint: Checkpoint,
    steps: tuple[StepRecord, ...] = (),
    form: Form = Form(),
    completed: Mapping[str, int] | None = None,
) -> Record:
    """What `show --json` prints: the log record with state, tasks and steps; ``redacted`` where something is hidden,
    ``rebuilt`` where a value is put together from other rows, ``completed`` (how often each node was) where known."""
    pen = Pen(form)
    rebuilt: Record = {"rebuilt": dict(checkpoint.rebuilt)} if checkpoint.rebuilt else {}
    if completed is not None:
        rebuilt["completed"] = dict(completed)
    return pen.mark(
        log_record(checkpoint.header)
        | rebuilt
        | {
            "state": pen.json(dict(checkpoint.state)),
            "tasks": [_task(task, pen) for task in checkpoint.tasks],
            "steps": [_step(step, pen) for step in steps],
            "meta": pen.json(dict(checkpoint.header.meta)),
        }
    )


def timestamp(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _task(task: Task, pen: Pen) -> Record:
    given: Record = {} if task.given is MISSING else {"given": pen.json(task.given)}
    return given | {
        "id": task.id,
        "name": task.node,
        "path": task.path,
        "status": task.status,
        "error": task.error,
        "interrupts": [{"id": i.id, "value": pen.json(i.value)} for i in task.interrupts],
        "writes": [{"channel": write.channel, "value": pen.named(write.channel, write.value)} for write in task.writes],
    }


def _step(step: StepRecord, pen: Pen) -> Record:
    duration = step.duration
    return {
        "run": step.run_id,
        "ordinal": step.ordinal,
        "node": step.node,
        **({"substep": step.substep} if step.substep else {}),
        "attempt": step.attempt,
        "visit": step.visit,
        "status": step.status,
        "started": timestamp(step.started),
        "ended": timestamp(step.ended),
        "duration_ms": None if duration is None else round(duration * 1000, 3),
        "base": step.base,
        "checkpoint": step.checkpoint,
        "input": pen.json(step.input),
        "output": pen.json(step.output),
        "error": step.error,
        "error_class": step.error_class,
        "retryable": step.retryable,
        "next_attempt": timestamp(step.next_attempt_at),
        "log": list(step.log),
    }


def _with_forms(value: Value) -> Value:
    """A copy that `Redaction.hide` made of JSON, its hidden values written as JSON too, in place."""
    box = [value]
    todo: list[Any] = [box]
    while todo:
        holder = todo.pop()
        places = list(enumerate(holder)) if isinstance(holder, list) else list(holder.items())
        for place, item in places:
            if isinstance(item, Hidden):
                holder[place] = {"$redacted": item.kind}
            elif isinstance(item, list | dict):
                todo.append(item)
    return box[0]
