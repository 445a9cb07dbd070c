"""Figures about a history: where its bytes lie, how long its nodes took, what its model calls used.

Owns which checkpoints count and telling how far it has come; the sums are `tt_debug.weighing`'s and `timing`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stores.errors import StoreError
from stores.model import Capability, Header, Ref, Status
from tt_debug.session.questions import OnProgress, Scope, Stopped, places
from tt_debug.timing import Step, Timetable, step_seconds
from tt_debug.weighing import Scales

if TYPE_CHECKING:
    from tt_debug.session.session import Session

_ASKED_FROM: Final = 1.0
"""Seconds from which on a step is asked whether it waited for a person: nobody answers faster."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What is measured: a scope, of it only what comes after ``start`` (a checkpoint of the line), and only what was
    written from ``since`` on; a checkpoint whose time is not known is left out then."""

    scope: Scope = field(default_factory=Scope)
    start: Ref | None = None
    since: datetime | None = None

    @property
    def is_whole_store(self) -> bool:
        """Whether nothing is left out."""
        return self.scope.ref is None and self.start is None and self.since is None


def weigh(session: Session, extent: Extent, scales: Scales, on_progress: OnProgress | None = None) -> Scales:
    """Put every checkpoint of the extent on ``scales``, one at a time. Raises Stopped; what is on them then counts."""
    for part in _parts(session, extent):
        scales.next_family()
        for header in part.counting:
            if on_progress is not None and not on_progress(scales.checkpoints + scales.unread, part.of):
                raise Stopped
            try:
                scales.put(session.load_once(header.ref))
            except StoreError:
                scales.unread += 1
    return scales


def node_times(
    session: Session, extent: Extent, on_progress: OnProgress | None = None, into: Timetable | None = None
) -> Timetable:
    """How long nodes took: by the log of our executor where there is one, else by the times between checkpoints.

    Raises Stopped; what is in ``into`` by then counts.
    """
    table = Timetable() if into is None else into
    if Capability.RUNS in session.info.capabilities:
        _by_log(session, extent, table)
        return table
    done = 0
    for part in _parts(session, extent):
        known = {header.ref: header for header in part.every}
        for header in part.counting:
            if on_progress is not None and not on_progress(done, part.of):
                raise Stopped
            done += 1
            _by_headers(session, header, known, table)
    return table


def _by_log(session: Session, extent: Extent, table: Timetable) -> None:
    parts = () if extent.is_whole_store else _parts(session, extent)
    wanted = {header.ref for part in parts for header in part.counting}
    for thread, step, persons in session.executor.timed():
        ends = {Ref(thread, "", id) for id in (step.checkpoint, step.base) if id is not None}
        if not extent.is_whole_store and not ends & wanted:
            continue
        if step.status == "failed":
            table[step.node].errors += 1
        if step.duration is not None and step.status in ("completed", "failed", "waiting"):
            ref = Ref(thread, "", step.checkpoint) if step.checkpoint is not None else None
            table.put(Step((step.node,), step.duration, persons, step.ended, ref))


def _by_headers(session: Session, header: Header, known: dict[Ref, Header], table: Timetable) -> None:
    if header.status == Status.FAILED:
        _count_failures(session, header.ref, table)
    seconds = step_seconds(header, known)
    if seconds is None or header.parent is None:
        return
    waited = seconds >= _ASKED_FROM and _asked_someone(session, header.parent)
    table.put(Step(header.nodes, max(0.0, seconds), waited, header.created, header.ref))


def _asked_someone(session: Session, ref: Ref) -> bool:
    """Whether a task of the step that starts there stopped with a question."""
    try:
        return any(task.interrupts for task in session.load_once(ref).tasks)
    except StoreError:
        return False


def _count_failures(session: Session, ref: Ref, table: Timetable) -> None:
    try:
        tasks = session.load_once(ref).tasks
    except StoreError:
        return
    for task in tasks:
        if task.status == Status.FAILED:
            table[task.node].errors += 1


@dataclass(frozen=True, slots=True)
class _Part:
    """A line, a thread or a family, and what of it counts; both parents first. ``of`` is how many there will be."""

    every: Sequence[Header]
    counting: Sequence[Header]
    of: int | None


def _parts(session: Session, extent: Extent) -> Iterator[_Part]:
    for found in (place.headers for place in places(session, extent.scope)):
        counting = found
        if extent.start is not None:
            at = next((place for place, header in enumerate(found) if header.ref == extent.start), -1)
            counting = found[at + 1 :]
        if extent.since is not None:
            counting = [header for header in counting if header.created is not None and header.created >= extent.since]
        if counting:
            yield _Part(found, counting, len(counting) if extent.scope.ref is not None else None)


def on_disk(session: Session) -> int | None:
    """Bytes of the store's file with what lies beside it; None where it is no file."""
    if session.info.path is None:
        return None
    total = 0
    for suffix in ("", "-wal"):
        with suppress(OSError, ValueError):  # a name that no file could have, or one that is gone by now
            total += Path(session.info.path + suffix).stat().st_size
    return total or None
