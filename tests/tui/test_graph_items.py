"""Rows that are made when they are looked at: each is found by its checkpoint, and says no more than is known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from stores import ids
from stores.model import Header, Ref
from tests.stores.handmade import uuid
from tt_debug.session.headers import Strand
from tt_debug.session.thread_view import ThreadView
from tt_debug.tui.rows.graph import GraphFacts, graph_line
from tt_debug.tui.rows.graph_columns import columns_for
from tt_debug.tui.rows.graph_items import GraphItems, TimeItems, graph_items
from tt_debug.tui.rows.line import line_of
from tt_debug.tui.rows.pieces import text_of

FOREST = st.lists(st.integers(0, 40), max_size=40).map(
    lambda drawn: [value % (at + 1) - 1 for at, value in enumerate(drawn)]
)


def view_of(parents: Sequence[int], known: bool = True) -> ThreadView:
    """A thread whose checkpoints hang as ``parents`` say; with ``known`` False only by their addresses."""
    refs = [Ref("t", "", uuid(at, at)) for at in range(len(parents))]
    headers = {
        ref: Header(ref, refs[parent] if parent >= 0 else None, at, "loop", ids.time_of(ref.id), ("work",), ("more",))
        for at, (ref, parent) in enumerate(zip(refs, parents, strict=True))
    }
    strand = Strand(refs, parents, {}, headers if known else {})
    return ThreadView("t", refs[-1], [strand], False, read=lambda wanted: [headers[ref] for ref in wanted])


@given(FOREST.filter(bool), st.sets(st.integers(0, 39)))
def test_every_row_is_found_by_its_checkpoint(parents: list[int], opened: set[int]) -> None:
    view = view_of(parents)
    unfolded = frozenset(view.refs[at] for at in opened if at < len(parents))
    items = graph_items(view.rows(unfolded))
    rows = list(items)
    assert rows == [items[at] for at in range(len(items))] == items[:]
    shown = {item.ref: at for at, item in enumerate(rows) if item.kind == "checkpoint"}
    folded = {item.ref: at for at, item in enumerate(rows) if item.kind in ("fold", "more")}
    for ref in view.refs:
        assert items.row_of(ref) == shown.get(ref, folded.get(ref))
    assert len(shown) + sum(item.hidden for item in rows) == len(parents)
    assert items.deepest == max(item.lane for item in rows)
    assert items.folds == len(folded)


@given(FOREST.filter(bool))
def test_what_is_read_later_draws_the_same_rows(parents: list[int]) -> None:
    late, early = view_of(parents, known=False), view_of(parents)
    items = graph_items(late.rows())
    late.headers.learn(late.refs)
    assert list(items) == list(graph_items(early.rows()))


def test_what_was_not_read_is_said_to_be_unknown() -> None:
    view = view_of([-1, 0, 1, 2], known=False)
    items = TimeItems(view)
    drawn = [_drawn(view, items, row) for row in range(len(items))]
    assert [line.split()[1:3] for line in drawn] == [[str(step), "…"] for step in range(4)]
    assert not any("work" in line or "done" in line for line in drawn)
    view.headers.learn(view.refs[1:2])
    assert "work" in _drawn(view, items, 1)
    assert "work" not in _drawn(view, items, 0)


def test_time_order_finds_its_rows() -> None:
    view = view_of([-1, 0, 0])
    items = TimeItems(view)
    assert [items.row_of(item.ref) for item in items] == [0, 1, 2]
    assert items.row_of(Ref("t", "", "none")) is None


def _drawn(view: ThreadView, items: GraphItems | TimeItems, row: int) -> str:
    columns = columns_for(60, items, view.seen)
    return text_of(graph_line(items[row], columns, GraphFacts(view.seen, now=datetime(2026, 1, 1, tzinfo=UTC))))


@given(FOREST.filter(bool), st.integers(0, 39), st.integers(0, 39))
def test_a_line_beside_another_is_the_same_as_one_alone(parents: list[int], one: int, other: int) -> None:
    view = view_of(parents)
    first, second = (view.refs[at % len(parents)] for at in (one, other))
    assert line_of(view, second, line_of(view, first)) == line_of(view, second)
