"""What commands print, with its secrets hidden: tasks, questions, events.

Pure. Which names are secret is `tt_debug.redaction`'s.
"""

from __future__ import annotations

from dataclasses import replace

from stores.model import Task, Write
from stores.runs import Approval
from tt_debug.engine.events import Event
from tt_debug.redaction import Redaction
from tt_debug.session.records import Form, Pen


def hidden_task(task: Task, hiding: Redaction) -> Task:
    """A task: what it wrote and what it asks."""
    writes = (
        Write(write.channel, hiding.hide(write.value, secret=hiding.names(write.channel))) for write in task.writes
    )
    interrupts = (replace(asked, value=hiding.hide(asked.value)) for asked in task.interrupts)
    return replace(task, writes=tuple(writes), interrupts=tuple(interrupts))


def hidden_question(asked: Approval, hiding: Redaction) -> Approval:
    """A question: its prompt."""
    return replace(asked, prompt=hiding.hide(asked.prompt))


def hidden_event(event: Event, hiding: Redaction, *, as_json: bool) -> Event:
    """An event of a run, its fields to be printed as text or as JSON; what a node printed itself is a text like any."""
    fields = dict(event.fields)
    return replace(event, fields=Pen(Form(hiding, is_json=True)).json(fields) if as_json else hiding.hide(fields))
