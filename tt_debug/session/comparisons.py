"""Two checkpoints' lines compared: which have an ancestor in common, and what is on record about how they came about.

Owns finding the two lines and the evidence; pairing steps and telling causes is `tt_debug.divergence`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from stores.errors import StoreError
from stores.model import Diff, Header, Ref, Value
from tt_debug.divergence import Call, Comparison, Line, Row, Side
from tt_debug.session.hiding import hidden_changes
from tt_debug.session.questions import OnProgress, Stopped

if TYPE_CHECKING:
    from tt_debug.redaction import Redaction
    from tt_debug.session.session import Session


@dataclass(frozen=True, slots=True)
class Compared:
    """Two lines that are being compared. ``base`` is the newest checkpoint of both, None where there is none; ``steps``
    is how many rows there are at most; ``ends`` are the lines' last checkpoints."""

    a: Ref
    b: Ref
    base: Header | None
    comparison: Comparison
    steps: int
    ends: tuple[Header, Header]

    def rows(self, on_progress: OnProgress | None = None) -> Iterator[Row]:
        """The steps behind the base, oldest first; the comparison's cause is there once they part. Raises Stopped."""
        for done, row in enumerate(self.comparison.rows()):
            if on_progress is not None and not on_progress(done, self.steps):
                raise Stopped
            yield row


def compare(session: Session, a: Ref, b: Ref) -> Compared:
    """The lines that end at two checkpoints, of one thread, of forks, or of threads that have nothing in common.

    Raises NotFound for a thread that is not there.
    """
    view = session.open_thread(a.thread)
    ours = [view.headers[ref] for ref in view.line(view.standing(a))]
    stands = view.standing(b) if b.thread == a.thread or b in view else None
    if stands is None:
        other = session.open_thread(b.thread)
        theirs = [other.headers[ref] for ref in other.line(other.standing(b))]
    else:
        theirs = [view.headers[ref] for ref in view.line(stands)]
    pairs = zip(ours, theirs, strict=False)
    common = len(list(takewhile(lambda pair: pair[0].ref == pair[1].ref, pairs)))
    base = ours[common - 1] if common else None
    left, right = ours[common:], theirs[common:]
    lines = (_line(session, "A", left, base), _line(session, "B", right, base))
    comparison = Comparison(*lines, session.load, Records(session))
    return Compared(a, b, base, comparison, len(left) + len(right), (ours[-1], theirs[-1]))


def _line(session: Session, name: Side, headers: Sequence[Header], base: Header | None) -> Line:
    if base is None:
        return Line(name, headers, {})
    try:
        found = session.load(base.ref)
    except StoreError:
        return Line(name, headers, None)
    return Line(name, headers, found.state, found.tasks)


class Records:
    """What the executor has on record about the steps; in a store without one, nothing."""

    def __init__(self, session: Session) -> None:
        self._executor = session.executor

    def code(self, header: Header) -> Mapping[str, str | None]:
        """The workflow's hash, and the digest of each node's code when that was looked at last before the step."""
        workflow = header.meta.get("workflow_hash")
        if not isinstance(workflow, str):
            return {"code": None}
        at = header.created
        before = [nodes for looked, nodes in self._executor.code(header.ref.thread) if at is None or looked <= at]
        known = before[-1] if before else {}
        return {"definition of the workflow": workflow, **{f"code of {node}": known.get(node) for node in header.nodes}}

    def calls(self, header: Header) -> Sequence[Call] | None:
        """The effects of the attempt that ended at a checkpoint."""
        attempts = self._executor.story((header,))[0].attempts
        if not attempts:
            return None
        uses = (use.effect for use in attempts[-1].uses)
        return tuple(Call(each.slot.name, each.slot.call_no, each.request, each.result) for each in uses)


def hidden_step(session: Session, row: Row, hiding: Redaction) -> tuple[Diff, Diff]:
    """What the step of a row changed on either line, secrets hidden."""
    a, b = (() if header is None else step_changes(session, header, hiding) for header in (row.a, row.b))
    return a, b


def step_changes(session: Session, header: Header, hiding: Redaction) -> Diff:
    """What the step that wrote a checkpoint changed, secrets hidden."""
    return hidden_changes(session.diff(header.ref), _around(session, header), hiding)


def _around(session: Session, header: Header) -> tuple[Value, ...]:
    """The states that a step lies between, as far as they can be read: in them the names of secrets stand."""
    found = []
    for ref in (header.ref, header.parent):
        with suppress(StoreError):
            found.append(session.load(ref).state if ref is not None else {})
    return tuple(found)
