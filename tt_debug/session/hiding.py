"""What a front end shows, with its secrets hidden: checkpoints, changes, log entries, questions, events.

Pure. Which names are secret is `tt_debug.redaction`'s; texts that a program wrote (errors, logs) are left as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from stores.model import MISSING, Checkpoint, Diff, Task, ThreadInfo, Value, Write
from tt_debug.redaction import Redaction

if TYPE_CHECKING:
    from stores.runs import Approval, StepRecord
    from tt_debug.engine.events import Event


def hidden_checkpoint(point: Checkpoint, hiding: Redaction) -> Checkpoint:
    """A checkpoint: its state, what its tasks wrote and ask, its metadata and the runtime's own values."""
    return replace(
        point,
        header=replace(point.header, meta=hidden_state(point.header.meta, hiding)),
        state=hidden_state(point.state, hiding),
        tasks=tuple(hidden_task(task, hiding) for task in point.tasks),
        internals=hidden_state(point.internals, hiding),
    )


def hidden_state(state: Mapping[str, Value], hiding: Redaction) -> Mapping[str, Value]:
    """A state, key by key: what holds no secret is the very same object, however much lies beside it."""
    if "value" in state:
        hidden: Mapping[str, Value] = hiding.hide(state)  # {"name": "Authorization", "value": …}
        return hidden
    return {key: hiding.hide(value, secret=hiding.names(key)) for key, value in state.items()}


def hidden_task(task: Task, hiding: Redaction) -> Task:
    """A task: what it wrote and what it asks."""
    writes = (
        Write(write.channel, hiding.hide(write.value, secret=hiding.names(write.channel))) for write in task.writes
    )
    interrupts = (replace(asked, value=hiding.hide(asked.value)) for asked in task.interrupts)
    given = task.given if task.given is MISSING else hiding.hide(task.given)
    return replace(task, writes=tuple(writes), interrupts=tuple(interrupts), given=given)


def hidden_step(step: StepRecord, hiding: Redaction) -> StepRecord:
    """A log entry: its input and output."""
    return step._replace(input=hiding.hide(step.input), output=hiding.hide(step.output))


def hidden_changes(changes: Diff, sides: tuple[Value, ...], hiding: Redaction) -> Diff:
    """Changes between ``sides``, the states before and after: a place that is secret in either is hidden."""

    def shown(secret: bool, value: Value) -> Value:
        return hiding.hide(value, secret=secret)

    found = []
    for change in changes:
        secret = any(hiding.at(side, change.path) for side in sides)
        found.append(replace(change, old=shown(secret, change.old), new=shown(secret, change.new)))
    return tuple(found)


def hidden_question(asked: Approval, hiding: Redaction) -> Approval:
    """A question: its prompt."""
    return replace(asked, prompt=hiding.hide(asked.prompt))


def hidden_event(event: Event, hiding: Redaction) -> Event:
    """An event of a run: its fields."""
    return replace(event, fields=hidden_state(event.fields, hiding))


def hidden_thread(info: ThreadInfo, hiding: Redaction) -> ThreadInfo:
    """A thread of a listing: its metadata."""
    return replace(info, meta=hidden_state(info.meta, hiding))
