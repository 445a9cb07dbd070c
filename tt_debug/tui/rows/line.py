"""The current line of history: what happened at each of its checkpoints, and the next event either way.

Owns what counts as an event.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stores.model import Header, Ref, Status
from tt_debug.session.thread_view import ThreadView
from tt_debug.timing import step_seconds
from tt_debug.tui.rows.timeline import Moment

EDITS = frozenset({"edit", "update", "fork"})
UNREAD = Moment()
"""A checkpoint of which only the address is known, and one like it that others went on from too."""
LEFT = Moment(marks=frozenset({"fork"}))
STOPPED = {Status.FAILED: "failed", Status.CRASHED: "failed", Status.WAITING: "waiting"}


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """From the root to one end, oldest first; ``places`` is where each checkpoint stands on it."""

    refs: tuple[Ref, ...] = ()
    places: dict[Ref, int] = field(default_factory=dict)
    moments: Sequence[Moment] = ()


def line_of(view: ThreadView, end: Ref, beside: HistoryLine | None = None) -> HistoryLine:
    """The line that leads to ``end``. What it has in common with the one ``beside`` it is taken from there: it may be
    long, and the cursor waits."""
    own = view.line(end, beside.places if beside is not None else {})
    shared = beside.places.get(own[0], 0) if beside is not None and own else 0
    before = beside if beside is not None else HistoryLine()
    refs = (*before.refs[:shared], *own)
    places = dict(zip(refs, range(len(refs)), strict=True))
    return HistoryLine(refs, places, [*before.moments[:shared], *moments(view, own)])


def moments(view: ThreadView, line: Sequence[Ref]) -> list[Moment]:
    """One for each checkpoint of ``line``."""
    found: list[Moment] = []
    for at, ref in enumerate(line):
        is_left = view.goes_on(ref) > (1 if at + 1 < len(line) else 0)
        if not view.headers.knows(ref):
            found.append(LEFT if is_left else UNREAD)
            continue
        header = view.seen[ref]
        marks = set()
        if header.status in STOPPED:
            marks.add(STOPPED[header.status])
        if header.source in EDITS:
            marks.add("edited")
        if is_left:
            marks.add("fork")
        found.append(Moment(step_seconds(header, view.seen), frozenset(marks)))
    return found


def with_marks(line: HistoryLine, marks: Mapping[str, Collection[Ref]]) -> Sequence[Moment]:
    """The moments of a line, those of the given checkpoints with these marks too."""
    added: dict[int, set[str]] = {}
    for mark, refs in marks.items():
        for at in {line.places[ref] for ref in refs if ref in line.places}:
            added.setdefault(at, set()).add(mark)
    if not added:
        return line.moments
    more = list(line.moments)
    for at, names in added.items():
        more[at] = replace(more[at], marks=more[at].marks | names)
    return more


def next_event(events: Sequence[Moment], at: int, direction: int, mark: str = "") -> int | None:
    """The next moment with a mark, or with this one; None when there is none that way."""
    at += direction
    while 0 <= at < len(events):
        if mark in events[at].marks if mark else events[at].marks:
            return at
        at += direction
    return None


def place(line: Sequence[Ref], headers: Mapping[Ref, Header], text: str) -> Ref | None:
    """A place as typed: ``15`` a step, ``50%`` of the line, ``-2`` before its end, or the beginning of an id."""
    text = text.strip()
    if not line or not text:
        return None
    if text.endswith("%") and text[:-1].isdigit():
        return line[min(len(line) - 1, int(text[:-1]) * (len(line) - 1) // 100)]
    if text.startswith("-") and text[1:].isdigit():
        return line[max(0, len(line) - 1 - int(text[1:]))]
    if text.isdigit():
        for ref in reversed(line):
            if headers[ref].step == int(text):
                return ref
    found = [ref for ref in headers if ref.id.startswith(text.lower())]
    return found[0] if len(found) == 1 else next((ref for ref in found if ref in line), None)
