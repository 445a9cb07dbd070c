"""What the panels show of one checkpoint, read and laid out off the event loop.

Owns the order of reading and which failure costs what: a diff that cannot be made never hides the state. A store that
is locked is no failure: the call is made again as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from stores.errors import Busy, StoreError, Unreachable
from stores.model import Checkpoint, Diff, Ref, Status, Task, Value
from stores.runs import StepRecord
from tt_debug.conversation import Message, Turn, conversation
from tt_debug.errors import DebuggerError
from tt_debug.redaction import Redaction
from tt_debug.session.hiding import hidden_changes, hidden_checkpoint, hidden_step, hidden_task
from tt_debug.session.session import Session
from tt_debug.shared import Shared
from tt_debug.text import human_size
from tt_debug.tui.glyphs import Glyphs
from tt_debug.tui.messages import told
from tt_debug.tui.rows.diff import LIMIT, DiffRow, changed_keys, diff_rows
from tt_debug.tui.rows.pieces import text_of
from tt_debug.tui.rows.sizes import HUGE, sizes_of
from tt_debug.tui.rows.state import Closed, Node, NodeKey, state_nodes
from tt_debug.tui.rows.transcript import Known, TranscriptRow, transcript_rows
from tt_debug.tui.rows.values import said_in, value_line

LARGE: Final = 262_144
"""Bytes of a state above which its changed keys are not looked up for a row that is only in view."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is kept from one checkpoint to the next: messages that were read, and their lines."""

    messages: Shared[Message | None] = field(default_factory=Shared)
    lines: Known = field(default_factory=Shared)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which checkpoint against which (None: its parent), and how the panels lay it out.

    ``width`` is the transcript's, None when it is not looked at. ``asked`` says that a large state is to be compared
    all the same, ``rows`` how many changes are listed."""

    ref: Ref
    base: Ref | None
    folds: Mapping[NodeKey, bool]
    width: int | None
    opened: frozenset[tuple[str | int, ...]]
    glyphs: Glyphs
    hiding: Redaction
    swapped: bool = False
    asked: bool = False
    rows: int = LIMIT
    remembered: Remembered = field(default_factory=Remembered)


@dataclass(frozen=True, slots=True)
class Compared:
    """A diff as it is shown, with its rows, and the one that marks the state. ``empty`` is said where it has none;
    ``failed`` when that is because it could not be made, ``known`` False when it was not made."""

    diff: Diff = ()
    marks: Diff = ()
    rows: Sequence[DiffRow] = ()
    empty: str = ""
    failed: bool = False
    known: bool = True


@dataclass(frozen=True, slots=True)
class Details:
    """Everything the panels show, its secrets hidden; ``state`` alone is as it is stored, to be edited and copied.

    ``base`` is None at a root. ``notes`` are said of the state's keys, of which
    none opens by itself when it is ``huge``.
    """

    ref: Ref
    checkpoint: Checkpoint
    state: Mapping[str, Value]
    parent: Checkpoint | None
    base: Ref | None
    compared: Compared
    changed: str
    steps: tuple[StepRecord, ...]
    completed: Mapping[str, int] | None
    nodes: list[Node]
    notes: Mapping[str, str]
    huge: bool
    turns: tuple[Turn, ...]
    transcript: list[TranscriptRow] | None
    width: int


def read_details(session: Session, wanted: Wanted) -> Details:
    """Read it all. Raises what `Session.load` raises for the checkpoint itself, nothing for its other side."""
    checkpoint, hiding = session.load(wanted.ref), wanted.hiding
    shown = hidden_checkpoint(checkpoint, hiding)
    parent = _parent(session, checkpoint)
    base = wanted.base or checkpoint.header.parent
    compared = _compared(session, checkpoint, base, wanted)
    plain = wanted.base is None and not wanted.swapped
    huge = _is_huge(checkpoint)
    turns = conversation(shown.state, wanted.remembered.messages)[1]
    steps, completed = _logged(session, wanted.ref)
    return Details(
        ref=wanted.ref,
        checkpoint=shown,
        state=checkpoint.state,
        parent=None if parent is None else replace(parent, tasks=_hidden_tasks(parent, hiding)),
        base=base,
        compared=compared,
        changed=_changed(session, checkpoint, parent, compared.diff if plain else None),
        steps=tuple(hidden_step(step, hiding) for step in steps),
        completed=completed,
        nodes=state_nodes(shown.state, Closed(wanted.folds) if huge else wanted.folds),
        notes=_notes(checkpoint),
        huge=huge,
        turns=turns,
        transcript=_transcript(turns, wanted),
        width=wanted.width or 0,
    )


def _logged(session: Session, ref: Ref) -> tuple[tuple[StepRecord, ...], Mapping[str, int] | None]:
    """What the executor's log has about a checkpoint, and the nodes that were completed up to there."""
    try:
        return session.steps(ref), session.executor.completed(ref)
    except Unreachable:
        # The state comes from the cache, the log does not; the screen says that the store is out of reach.
        return (), None


def _is_huge(checkpoint: Checkpoint) -> bool:
    return (checkpoint.header.size or 0) > HUGE


def _notes(checkpoint: Checkpoint) -> Mapping[str, str]:
    """What is said of the state's keys: that one is put together from other rows; how large each is in a huge state."""
    sizes = sizes_of(checkpoint.state) if _is_huge(checkpoint) else {}
    rebuilt = dict.fromkeys(checkpoint.rebuilt, "rebuilt")
    return {
        key: "  ".join(filter(None, (rebuilt.get(key, ""), human_size(sizes[key]) if key in sizes else "")))
        for key in {**rebuilt, **sizes}
    }


def _transcript(turns: tuple[Turn, ...], wanted: Wanted) -> list[TranscriptRow] | None:
    if wanted.width is None:
        return None
    return transcript_rows(turns, wanted.width, wanted.opened, wanted.glyphs, wanted.remembered.lines)


def _parent(session: Session, checkpoint: Checkpoint) -> Checkpoint | None:
    if checkpoint.header.parent is None:
        return None
    try:
        return session.load(checkpoint.header.parent)
    except Busy:
        raise
    except StoreError:
        # An orphan: its parent is not in the store; the diff's problem says so.
        return None


def _compared(session: Session, checkpoint: Checkpoint, base: Ref | None, wanted: Wanted) -> Compared:
    ref = checkpoint.header.ref
    if base is None:
        return Compared(empty="the first checkpoint: nothing to compare it with", known=False)
    if _is_huge(checkpoint) and not wanted.asked:
        size = human_size(checkpoint.header.size or 0)
        return Compared(rows=[DiffRow("more", text=f"not compared yet: this state has {size}")], known=False)
    try:
        marks = session.diff(ref, base)
        diff = session.diff(base, ref) if wanted.swapped else marks
        other = session.load(base)
    except Busy:
        raise
    except (StoreError, DebuggerError) as error:
        return Compared(empty=told(str(error), error.hint), failed=True, known=False)
    sides = (checkpoint.state, other.state) if wanted.swapped else (other.state, checkpoint.state)
    rebuilt = checkpoint.rebuilt.keys() | other.rebuilt.keys()
    rows = hidden_rows(diff_rows(diff, *sides, wanted.rows, rebuilt), sides, wanted.hiding) if diff else []
    return Compared(diff, marks, rows, "" if diff else "nothing changed")


def hidden_rows(rows: list[DiffRow], sides: tuple[Value, ...], hiding: Redaction) -> list[DiffRow]:
    """The rows of a diff between ``sides`` with their secrets hidden; there are few, however long the diff is."""
    changes = iter(hidden_changes(tuple(row.change for row in rows if row.change is not None), sides, hiding))
    return [row if row.change is None else replace(row, change=next(changes)) for row in rows]


def _hidden_tasks(checkpoint: Checkpoint, hiding: Redaction) -> tuple[Task, ...]:
    return tuple(hidden_task(task, hiding) for task in checkpoint.tasks)


def _changed(session: Session, checkpoint: Checkpoint, parent: Checkpoint | None, diff: Diff | None) -> str:
    if parent is None:
        return ""
    if diff is None:
        diff = session.diff(checkpoint.header.ref, parent.header.ref)
    return changed_keys(diff, parent.state, checkpoint.state)


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What rows of the graph show beyond their headers."""

    changed: Mapping[Ref, str]
    notes: Mapping[Ref, str]


def read_row_facts(session: Session, refs: Iterable[Ref], open_ends: Iterable[Ref], hiding: Redaction) -> RowFacts:
    """The changed keys of ``refs``, and why the checkpoints in ``open_ends`` did not go on."""
    changed: dict[Ref, str] = {}
    notes: dict[Ref, str] = {}
    for ref in refs:
        changed[ref] = ""
        try:
            checkpoint = session.load(ref)
            if (checkpoint.header.size or 0) <= LARGE:
                changed[ref] = _changed(session, checkpoint, _parent(session, checkpoint), None)
        except Busy:
            raise
        except (StoreError, DebuggerError):
            # The row stays without keys; its panels say what is wrong when the cursor comes there.
            continue
    for ref in open_ends:
        try:
            checkpoint = session.load(ref)
            notes[ref] = note_of(_hidden_tasks(checkpoint, hiding), session.steps(ref))
        except Busy:
            raise
        except (StoreError, DebuggerError):
            notes[ref] = ""
    return RowFacts(changed, notes)


def note_of(tasks: Sequence[Task], steps: Iterable[StepRecord]) -> str:
    """Why a checkpoint's step did not end: its error, or what it asks."""
    for task in tasks:
        if task.error:
            return f"{Status.FAILED}: {_first_line(task.error)}"
    for task in tasks:
        for interrupt in task.interrupts:
            return f"{Status.WAITING}: {_first_line(said_in(interrupt.value) or text_of(value_line(interrupt.value)))}"
    for step in steps:
        if step.error:
            return f"{Status.FAILED}: {_first_line(step.error)}"
    return ""


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else ""
