"""What a step wrote, attempt by attempt and task by task, and what stands open from a checkpoint on.

Owns the order of the sections and their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from stores.model import MISSING, Checkpoint, Header, Status, Task, Value
from stores.runs import StepRecord
from tt_debug.conversation import as_message, plain
from tt_debug.text import human_duration, names_text, safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs, status_glyph, status_ink
from tt_debug.tui.rows.message import flat
from tt_debug.tui.rows.pieces import Line, Piece
from tt_debug.tui.rows.values import value_line
from tt_debug.unfinished import untouched

INDENT: Final = Piece("    ")
SHOWN: Final = 20
"""Entries of one value that are listed."""


@dataclass(frozen=True, slots=True)
class WriteRow:
    """One row; a heading is not for the cursor."""

    line: Line
    heading: bool = False


def write_rows(
    here: Checkpoint, parent: Checkpoint | None, steps: Sequence[StepRecord], glyphs: Glyphs = UNICODE
) -> list[WriteRow]:
    """The step that ended at ``here``, then the one that starts there."""
    rows = [*_made(here.header, parent, steps, glyphs)]
    if not rows:
        words = {"input": "the input of the thread", "fork": "a fork: written by hand, no node ran"}
        told = words.get(here.header.source, "no writes are recorded for this step")
        rows = [WriteRow((Piece(told, "muted"),))]
    # A step that stopped half-way has finished tasks too: their results are kept.
    after = here.tasks if any(task.status != Status.DONE for task in here.tasks) else ()
    failed = [step for step in steps if step.status != "completed"]
    if after or failed or here.header.next:
        rows.append(WriteRow((Piece("from here", "strong"),), heading=True))
        if told := untouched(here):
            rows.append(WriteRow((Piece(told, "muted"),)))
        for step in failed:
            rows.extend(_attempt(step, glyphs))
        for task in after:
            rows.extend(_task(task, glyphs))
        if not after and not failed:
            rows.append(WriteRow((Piece(f"{glyphs.end} ", "muted"), Piece(names_text(here.header.next)))))
    return rows


def _made(header: Header, parent: Checkpoint | None, steps: Sequence[StepRecord], glyphs: Glyphs) -> Iterator[WriteRow]:
    attempts = [step for step in steps if step.status == "completed"]
    tasks = parent.tasks if parent is not None and header.source in ("loop", "update", "run") else ()
    if not attempts and not any(task.writes for task in tasks):
        return
    yield WriteRow((Piece("this step", "strong"),), heading=True)
    for step in attempts:
        yield from _attempt(step, glyphs)
    for task in tasks:
        yield from _task(task, glyphs)


def _task(task: Task, glyphs: Glyphs) -> Iterator[WriteRow]:
    sign = status_glyph(task.status, glyphs)
    lead = (Piece(f"{sign} ", status_ink(task.status)), Piece(safe_text(task.node), "strong"))
    yield WriteRow(
        (*lead, Piece(f"  {task.status}", status_ink(task.status)), Piece(f"  {safe_text(task.id[:13])}", "muted"))
    )
    if task.given is not MISSING:
        yield WriteRow((INDENT, Piece("given  ", "muted"), *value_line(task.given, glyphs)))
    if task.error:
        yield WriteRow((INDENT, Piece(flat(task.error[:1000], glyphs), "error")))
    for interrupt in task.interrupts:
        for key, value in _parts(interrupt.value):
            yield WriteRow((INDENT, Piece("asks  ", "warning"), *_named(key, value, glyphs)))
    for write in task.writes:
        for value in _each(write.value):
            yield WriteRow((INDENT, *_named(write.channel, value, glyphs)))


def _named(name: object, value: Value, glyphs: Glyphs) -> Line:
    lead = (Piece(f"{flat(str(name), glyphs)}  ", "key"),) if name != "" else ()
    return (*lead, *value_line(value, glyphs))


def _parts(value: Value) -> Iterable[tuple[object, Value]]:
    """A dict's own entries, one nameless entry for anything else."""
    inner = plain(value)
    return islice(inner.items(), SHOWN) if isinstance(inner, Mapping) and inner else (("", value),)


def _each(value: Value) -> Iterable[Value]:
    """The messages of a list of messages, one by one; any other value as it is."""
    if isinstance(value, list) and value and all(as_message(item) is not None for item in value[:SHOWN]):
        return value[:SHOWN]
    return (value,)


def _attempt(step: StepRecord, glyphs: Glyphs) -> Iterator[WriteRow]:
    status = {"completed": Status.DONE, "running": Status.RUNNING, "failed": Status.FAILED}.get(
        step.status, step.status
    )
    sign, ink = status_glyph(status, glyphs), status_ink(status)
    took = f"  {human_duration(step.duration)}" if step.duration is not None else ""
    attempt = f"  attempt {step.attempt}" if step.attempt > 1 or status == Status.FAILED else ""
    yield WriteRow(
        (
            Piece(f"{sign} ", ink),
            Piece(safe_text(step.node), "strong"),
            Piece(f"  {safe_text(status)}", ink),
            Piece(attempt + took, "muted"),
        )
    )
    if step.error:
        yield WriteRow((INDENT, Piece(flat(step.error[:1000], glyphs), "error")))
    for name, value in (("input", step.input), ("output", step.output)):
        if value is None:
            continue
        for key, item in _parts(value):
            yield WriteRow((INDENT, Piece(f"{name:<6} ", "muted"), *_named(key, item, glyphs)))
    for line in step.log:
        yield WriteRow((INDENT, Piece("log    ", "muted"), Piece(flat(line[:1000], glyphs))))
