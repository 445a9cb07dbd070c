"""The current line of history: what happened at each of its checkpoints, and the next event either way.

Owns what counts as an event.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice

from stores.model import Ref, Status
from tt_debug.session.addresses import at_step
from tt_debug.session.thread_view import ThreadView
from tt_debug.timing import step_seconds
from tt_debug.tui.rows.timeline import Moment, Moments

EDITS = frozenset({"edit", "update", "fork"})
UNREAD = Moment()
"""A checkpoint of which only the address is known, and one like it that others went on from too."""
LEFT = Moment(marks=frozenset({"fork"}))
STOPPED = {Status.FAILED: "failed", Status.CRASHED: "failed", Status.WAITING: "waiting"}


class Places(Mapping[Ref, int]):
    """Where each checkpoint of a line stands: the first ``shared`` where another line has them, which is not copied."""

    def __init__(self, long: Mapping[Ref, int], shared: int, own: Mapping[Ref, int]) -> None:
        self._long, self._shared, self._own = long, shared, own

    @classmethod
    def of(cls, refs: Sequence[Ref]) -> Places:
        """Those of a line that has nothing in common with another."""
        return cls(dict(zip(refs, count())), len(refs), {})

    def followed_by(self, at: int, refs: Sequence[Ref]) -> Places:
        """The first ``at`` of them, then these."""
        if len(refs) > at:
            return Places.of([*islice(self, at), *refs])
        own = {ref: place for ref, place in self._own.items() if place < at}
        own.update(zip(refs, count(at)))
        return Places(self._long, min(at, self._shared), own)

    def __len__(self) -> int:
        return self._shared + len(self._own)

    def __iter__(self) -> Iterator[Ref]:
        yield from islice(self._long, self._shared)
        yield from self._own

    def __getitem__(self, ref: Ref) -> int:
        place = self._own.get(ref)
        if place is None:
            place = self._long[ref]
            if place >= self._shared:
                raise KeyError(ref)
        return place


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """From the root to one end, oldest first; ``places`` is where each checkpoint stands on it.

    ``unread`` are those of which only the address was known, oldest first too."""

    refs: tuple[Ref, ...] = ()
    places: Places = field(default_factory=lambda: Places.of(()))
    moments: Moments = field(default_factory=Moments)
    unread: tuple[Ref, ...] = ()


def line_of(view: ThreadView, end: Ref, beside: HistoryLine | None = None, changed: Iterable[Ref] = ()) -> HistoryLine:
    """The line that leads to ``end``. What it has in common with the one ``beside`` it is taken from there, up to the
    first that was ``changed`` since: it may be long, and the cursor waits."""
    beside = beside or HistoryLine()
    own = view.line(end, beside.places)
    shared = beside.places.get(own[0], 0) if own else 0
    first = min((beside.places[ref] for ref in changed if ref in beside.places), default=shared)
    own = beside.refs[first:shared] + own
    unread = tuple(ref for ref in own if not view.headers.knows(ref))
    at = min(first, shared)
    kept = beside.unread[: bisect_left(beside.unread, at, key=beside.places.__getitem__)]
    is_same = own == beside.refs[at:]  # but for what is known of it
    return HistoryLine(
        beside.refs if is_same else beside.refs[:at] + own,
        beside.places if is_same else beside.places.followed_by(at, own),
        beside.moments.followed_by(Moments.of(moments(view, own)), at),
        kept + unread,
    )


def moments(view: ThreadView, line: Sequence[Ref]) -> list[Moment]:
    """One for each checkpoint of ``line``, which follows nothing or what was gone on from."""
    found: list[Moment] = []
    parted, end = view.parted, line[-1] if line else None
    for ref in line:
        is_left = view.goes_on(ref) > 0 if ref is end else ref in parted and view.goes_on(ref) > 1
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


def with_marks(line: HistoryLine, marks: Mapping[str, Collection[Ref]]) -> Moments:
    """The moments of a line, those of the given checkpoints with these marks too."""
    found = dict(line.moments.marks)
    for mark, refs in marks.items():
        for at in {line.places[ref] for ref in refs if ref in line.places}:
            found[at] = found.get(at, frozenset()) | {mark}
    return Moments(line.moments.seconds, found)


def next_event(events: Moments, at: int, direction: int, mark: str = "") -> int | None:
    """The next moment with a mark, or with this one; None when there is none that way."""
    ahead = (
        place for place, marks in events.marks.items() if (place - at) * direction > 0 and (not mark or mark in marks)
    )
    return min(ahead, key=lambda place: abs(place - at), default=None)


def place(view: ThreadView, line: Sequence[Ref], text: str) -> Ref | None:
    """A place as typed: ``15`` a step, ``50%`` of the line, ``-2`` before its end, or the beginning of an id.

    Reads headers on the way to a step that is not known."""
    text = text.strip()
    if not line or not text:
        return None
    if text.endswith("%") and text[:-1].isdigit():
        return line[min(len(line) - 1, int(text[:-1]) * (len(line) - 1) // 100)]
    if text.startswith("-") and text[1:].isdigit():
        return line[max(0, len(line) - 1 - int(text[1:]))]
    at = at_step(view, line, int(text)) if text.isdigit() else None
    if at is not None:
        return at
    found = [ref for ref in view.refs if ref.id.startswith(text.lower())]
    return found[0] if len(found) == 1 else next((ref for ref in found if ref in line), None)
