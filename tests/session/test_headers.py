"""Headers that are read when they are asked for: once, with their neighbours, and never guessed."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence

from stores import ids
from stores.model import Header, Ref
from tests.stores.handmade import uuid
from tt_debug.session.addresses import at_step
from tt_debug.session.headers import AROUND, Strand
from tt_debug.session.thread_view import ThreadView

COUNT = 3 * AROUND


class Reading:
    """Remembers what was asked for; ``gone`` are checkpoints that were deleted meanwhile."""

    def __init__(self, gone: frozenset[Ref] = frozenset()) -> None:
        self.asked: list[Ref] = []
        self.gone = gone

    def __call__(self, refs: Sequence[Ref]) -> list[Header]:
        self.asked.extend(refs)
        return [Header(ref, None, 7, "loop", None, ("work",)) for ref in refs if ref not in self.gone]


def opened(reading: Reading, missing: Ref | None = None) -> ThreadView:
    refs = [Ref("t", "", uuid(at, at - 1)) for at in range(COUNT)]
    absent = {0: missing} if missing is not None else {}
    strand = Strand(refs, range(-1, COUNT - 1), absent, {})
    return ThreadView("t", refs[-1], [strand], True, complete=True, read=reading)


def test_one_is_read_with_its_neighbours_and_once() -> None:
    reading = Reading()
    view = opened(reading)
    middle = view.refs[COUNT // 2]
    assert view.headers[middle].nodes == ("work",)
    assert view.headers[middle].parent == view.refs[COUNT // 2 - 1]
    assert len(reading.asked) == 2 * AROUND
    assert [header.step for header in view.headers.values()] == [7] * COUNT
    assert sorted(reading.asked) == sorted(view.refs)


def test_who_passes_over_them_gets_the_same_and_keeps_nothing() -> None:
    gone = Ref("t", "", uuid(2, 1))
    reading = Reading(frozenset({gone}))
    view = opened(reading)
    known = view.headers[view.refs[0]]
    before = view.headers.known()
    asked = len(reading.asked)
    found = view.headers.passing([view.refs[-1], view.refs[0], view.refs[-2]])
    assert view.headers.known() == before
    assert len(reading.asked) == asked + 2
    assert found[1] is known
    assert found == [view.headers[ref] for ref in (view.refs[-1], view.refs[0], view.refs[-2])]
    assert opened(Reading(frozenset({gone}))).headers.passing([gone])[0].problem == "it is no longer in the store"


def test_a_glimpse_reads_nothing_and_tells_what_the_id_does() -> None:
    reading = Reading()
    seen = opened(reading).seen
    assert [seen[ref].step for ref in seen] == list(range(-1, COUNT - 1))
    assert all(header.created == ids.time_of(ref.id) for ref, header in seen.items())
    assert not any(header.read or header.source or header.nodes for header in seen.values())
    assert reading.asked == []


def test_steps_of_a_thread_without_its_beginning_are_unknown_until_they_are_read() -> None:
    view = opened(Reading(), missing=Ref("t", "", "gone"))
    first = view.refs[0]
    assert view.seen[first].step is None
    assert view.seen[first].problem == "its parent is not in the store"
    assert view.headers[first].step == 7


def test_one_that_is_gone_by_then_says_so() -> None:
    view = opened(reading := Reading())
    reading.gone = frozenset(view.refs[:1])
    assert view.headers[view.refs[0]].problem == "it is no longer in the store"
    assert view.headers[view.refs[1]].problem is None


def test_what_others_went_on_from_is_not_read_again() -> None:
    before = opened(Reading())
    before.headers.learn(before.refs)
    after = opened(again := Reading())
    after.recall(before)
    after.headers.learn(after.refs)
    assert again.asked == [after.refs[-1]]


def test_a_view_that_is_left_gives_its_room_back_at_once() -> None:
    was_on = gc.isenabled()
    gc.disable()
    try:
        view = opened(Reading())
        assert view.headers[view.head].nodes == ("work",)
        left = weakref.ref(view)
        del view
        assert left() is None
    finally:
        if was_on:
            gc.enable()


def line_of_steps(steps: Sequence[int], asked: list[Ref]) -> ThreadView:
    """A line whose headers are read when they are asked for, told in ``asked``."""
    refs = [Ref("t", "", uuid(at, 0)) for at in range(len(steps))]
    by_ref = dict(zip(refs, steps, strict=True))

    def read(wanted: Sequence[Ref]) -> list[Header]:
        asked.extend(wanted)
        return [Header(ref, None, by_ref[ref], "loop", None) for ref in wanted]

    strand = Strand(refs, range(-1, len(refs) - 1), {}, {})
    return ThreadView("t", refs[-1], [strand], True, complete=True, read=read)


def test_a_step_far_from_the_end_is_found_without_reading_the_line_up_to_it() -> None:
    asked: list[Ref] = []
    view = line_of_steps(range(-1, 100 * AROUND - 1), asked)
    line = view.line()
    assert at_step(view, line, 4321) == line[4322]
    assert len(asked) <= 2 * AROUND * (len(line) - 1).bit_length()
    assert [at_step(view, line, step) for step in (-1, len(line) - 2, len(line), -2)] == [line[0], line[-1], None, None]
    view.headers.learn(line)
    asked.clear()
    assert at_step(view, line, 7) == line[8]
    assert asked == []


def test_a_step_is_found_on_a_line_whose_steps_do_not_ascend() -> None:
    view = line_of_steps([*[1] * 5 * AROUND, 7, *[3] * 5 * AROUND, 2], [])
    line = view.line()
    assert [at_step(view, line, step) for step in (7, 3, 2, 4)] == [line[5 * AROUND], line[-2], line[-1], None]
