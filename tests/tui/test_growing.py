"""A thread that is read again shows the same, whatever was taken over from the last time it was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stores import ids
from stores.model import Header, Ref
from stores.refs import Refs
from tests.stores.handmade import uuid
from tt_debug.descent import Descent
from tt_debug.session.headers import Strand
from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView
from tt_debug.tui.rows.line import line_of
from tt_debug.tui.screens.thread_reading import FIRST, MOST, Asked, Reading, Shape, read_thread, shaped
from tt_debug.tui.watch import Watch

STEP = 1_000
CHANGES = st.lists(
    st.lists(st.tuples(st.sampled_from(["append", "fork", "insert", "delete"]), st.integers(0, 99)), max_size=4),
    min_size=1,
    max_size=4,
)


class Store:
    """One thread: the parents of its checkpoints by their place in time. What nobody went on from has work left."""

    def __init__(self, count: int) -> None:
        self.parents: dict[int, int | None] = {at * STEP: (at - 1) * STEP if at else None for at in range(count)}
        self.asked: list[Ref] = []

    def change(self, kind: str, number: int) -> None:
        times = sorted(self.parents)
        one, last = times[number % len(times)], times[-1]
        if kind == "append":
            self.parents[last + STEP] = last
        elif kind == "fork":
            self.parents[last + STEP] = one
        elif kind == "insert":
            self.parents[one + number + 1] = one
        elif len(times) > 1:
            del self.parents[one]

    def open_thread(self, _thread: str, _on_page: object) -> ThreadView:
        times = sorted(self.parents)
        places = {time: at for at, time in enumerate(times)}
        refs = Refs("t", "", [uuid(time, 0) for time in times])
        above = [self.parents[time] for time in times]
        parents = [-1 if time is None else places.get(time, -1) for time in above]
        missing = {
            at: Ref("t", "", uuid(time, 0)) for at, time in enumerate(above) if time is not None and parents[at] < 0
        }
        ends = {refs[at] for at in range(len(refs)) if at not in parents}

        def read(wanted: Sequence[Ref]) -> list[Header]:
            self.asked += wanted
            return [self._header(ref, refs, parents, missing, ref in ends) for ref in wanted]

        strand = Strand(refs, parents, missing, {})
        return ThreadView("t", refs[-1], [strand], False, complete=True, read=read)

    def _header(self, ref: Ref, refs: Refs, parents: Sequence[int], missing: dict[int, Ref], is_end: bool) -> Header:
        at = refs.place(ref)
        assert at is not None
        parent = refs[parents[at]] if parents[at] >= 0 else missing.get(at)
        after = ("more",) if is_end else ()
        return Header(ref, parent, 1, "loop", ids.time_of(ref.id), ("work",), after, status="" if is_end else "done")


def read(store: Store, before: Reading | None = None, most: int = MOST) -> Reading:
    watch = Watch(lambda: 0.0)

    def nothing(*_: object) -> None: ...

    asked = Asked("t", Shape("t"), watch, nothing, nothing, lambda: None, most, before)
    return read_thread(cast(Session, store), asked)


@given(CHANGES, st.integers(0, 99))
@example([[("append", 0)], [("append", 0), ("append", 0)], [("delete", 0)]], 99)
@example([[("fork", 3), ("append", 0)], [("insert", 5)], [("append", 0)]], 1)
@example([[("append", 0)], [("delete", 8)], [("append", 0)]], 0)
def test_what_was_taken_over_is_what_is_read_anew(changes: list[list[tuple[str, int]]], number: int) -> None:
    store = Store(8)
    reading = read(store)
    for each in changes:
        for kind, at in each:
            store.change(kind, at)
        reading, anew = read(store, reading), read(store)
        assert reading.line == anew.line
        assert reading.view.ends() == anew.view.ends()
        if number % 3 == 0:
            continue
        shape = Shape("t", frozenset(anew.view.refs))
        trunk = anew.view.refs[number % len(anew.view.refs)]
        reading, anew = shaped(reading, trunk, shape), shaped(anew, trunk, shape)
    # Of what lies on no line that was read, whatever was looked at before is known.
    assert dict(reading.view.headers.items()) == dict(anew.view.headers.items())
    shape = Shape("t", frozenset(anew.view.refs[::2]))
    reading, anew = shaped(reading, anew.trunk, shape), shaped(anew, anew.trunk, shape)
    assert reading.line == anew.line
    assert list(reading.items) == list(anew.items)
    for ref in anew.view.refs:
        assert reading.view.children(ref) == anew.view.children(ref)


def test_of_a_thread_that_has_grown_only_its_end_is_read() -> None:
    store = Store(50)
    reading = read(store)
    store.change("append", 0)
    store.asked.clear()
    again = read(store, reading)
    assert sorted(store.asked) == sorted(again.view.refs[-2:])


def test_of_a_long_thread_no_more_is_read_than_is_looked_at_and_the_rest_when_it_is_asked_for() -> None:
    store = Store(4 * FIRST)
    reading = read(store, most=2 * FIRST)
    refs = list(reading.view.refs)
    assert sorted(store.asked) == refs[2 * FIRST :]
    assert (reading.whole, reading.line.unread) == (False, tuple(refs[: 2 * FIRST]))
    store.change("append", 0)
    store.asked.clear()
    grown = read(store, reading, most=2 * FIRST)
    assert sorted(store.asked) == sorted(grown.view.refs[-2:])
    assert not grown.whole
    more = read(store, grown, most=5 * FIRST)
    assert more.whole
    assert more.line.unread == ()
    assert more.line.places is grown.line.places


def test_who_went_on_is_looked_for_where_more_than_one_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(50)
    store.change("fork", 7)
    store.change("append", 0)
    looked: list[Ref] = []
    goes_on = ThreadView.goes_on
    monkeypatch.setattr(ThreadView, "goes_on", lambda view, ref: looked.append(ref) or goes_on(view, ref))
    view = store.open_thread("t", None)
    line = line_of(view, view.refs[49])
    assert looked == [view.refs[7], view.refs[49]]
    assert line.moments.marks == {7: {"fork"}}


@given(st.lists(st.integers(-1, 20), max_size=20), st.integers(0, 20))
def test_who_goes_on_from_whom(drawn: list[int], shorter: int) -> None:
    parents = [parent if parent < len(drawn) else -1 for parent in drawn]
    short = [parent if parent < len(parents[:shorter]) else -1 for parent in parents[:shorter]]
    below = [[child for child, parent in enumerate(parents) if parent == node] for node in range(len(parents))]
    for descent in (Descent(parents), Descent([*short, *parents[shorter:]], Descent(short))):
        if descent.parents == parents:
            assert [list(descent.children(node)) for node in range(len(parents))] == below
            assert descent.ends() == [node for node, children in enumerate(below) if not children]
            assert descent.ascends == all(parent < node for node, parent in enumerate(parents))
