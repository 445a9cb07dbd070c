"""Layouts as pictures, and what holds for every tree."""

from __future__ import annotations

from inspect import cleandoc
from math import floor, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tt_debug.layout import Layout, Row, extended, lay_out, picture


def draw(parents: list[int], names: str, pinned: int | None = None, folded: frozenset[int] = frozenset()) -> str:
    return picture(lay_out(parents, pinned), names.split(), folded)


TRIP = [-1, 0, 1, 2, 2, 1, 5]
NAMES = "input plan edit again draft' draft send"


@pytest.mark.parametrize(
    ("parents", "names", "pinned", "folded", "wanted"),
    [
        pytest.param([], "", None, (), "", id="nothing"),
        pytest.param([-1, 0, 1], "a b c", 2, (), "● a\n● b\n● c", id="a chain is flat"),
        pytest.param(
            TRIP,
            NAMES,
            6,
            (),
            """
            ● input
            ● plan
            ├─● edit
            │ ├─● again
            │ ● draft'
            ● draft
            ● send
            """,
            id="light children first, the head's line on lane 0",
        ),
        pytest.param(
            TRIP,
            NAMES,
            6,
            (2,),
            """
            ● input
            ● plan
            ├─▸ 3 checkpoints · 2 branches
            ● draft
            ● send
            """,
            id="a folded branch is one row",
        ),
        pytest.param(
            TRIP,
            NAMES,
            4,
            (),
            """
            ● input
            ● plan
            ├─● draft
            │ ● send
            ● edit
            ├─● again
            ● draft'
            """,
            id="another trunk",
        ),
        pytest.param(
            [-1, 0, 0, 0, 0],
            "a b c d e",
            2,
            (3,),
            """
            ● a
            ├─● b
            ├─▸ 1 checkpoint
            ├─● e
            ● c
            """,
            id="many forks at one point",
        ),
        pytest.param(
            [-1, 0, -1, 2, 2, 1],
            "a b other c d e",
            5,
            (),
            """
            ● a
            ● b
            ● e
            ● other
            ├─● c
            ● d
            """,
            id="a forest stands one tree below the other",
        ),
        pytest.param(
            [1, 2, -1, 1],
            "c b a x",
            None,
            (),
            """
            ● a
            ● b
            ├─● c
            ● x
            """,
            id="children may be numbered before their parent",
        ),
        pytest.param(
            [1, 2, 0, 0, 4, -1],
            "a b c tail self root",
            None,
            (),
            """
            ● root
            ● a
            ├─● tail
            ● c
            ● b
            ● self
            """,
            id="cycles are cut",
        ),
    ],
)
def test_pictures(parents: list[int], names: str, pinned: int | None, folded: tuple[int, ...], wanted: str) -> None:
    assert draw(parents, names, pinned, frozenset(folded)) == cleandoc(wanted)


def test_cut_links_are_reported() -> None:
    layout = lay_out([1, 2, 0, 0, 4, -1])
    assert layout.cut == (0, 4)
    assert lay_out(TRIP).cut == ()


def test_what_stands_aside_is_a_branch_whatever_its_size() -> None:
    names = ["input", "plan", "inner", "more", "again", "head"]
    layout = lay_out([-1, 0, 1, 2, 3, 1], 5, aside={2, 4})
    wanted = """
        ● input
        ● plan
        ├─● inner
        │ ● more
        │ ├─● again
        ● head
    """
    assert picture(layout, names) == cleandoc(wanted)
    assert picture(layout, names, (2,)) == "● input\n● plan\n├─▸ 3 checkpoints · 2 branches\n● head"


def test_an_only_child_that_stands_aside_leaves_its_parent_an_end() -> None:
    assert picture(lay_out([-1, 0], None, aside={1}), ["head", "inner"]) == "● head\n├─● inner"


def test_a_pinned_line_into_a_branch_aside_keeps_lane_0_only_up_to_there() -> None:
    assert picture(lay_out([-1, 0, 1, 0], 2, aside={1}), list("abcd")) == "● a\n├─● b\n│ ● c\n● d"


def test_a_node_in_the_middle_of_a_line_cannot_be_folded() -> None:
    assert draw(TRIP, NAMES, 6, frozenset({0, 1, 5})) == draw(TRIP, NAMES, 6)


@pytest.mark.parametrize(("parents", "pinned"), [([5], None), ([-1], 1), ([-1], -1), ([], 0)])
def test_what_does_not_exist_is_refused(parents: list[int], pinned: int | None) -> None:
    with pytest.raises(ValueError, match="there is no node"):
        lay_out(parents, pinned)


def test_a_chain_of_100_000_does_not_recurse() -> None:
    chain = list(range(-1, 99_999))
    assert list(lay_out(chain, 99_999).order) == list(range(100_000))
    backwards = [*range(1, 100_000), -1]
    assert max(lay_out(backwards, 0).lane) == 0
    circle = [*range(1, 100_000), 0]
    assert lay_out(circle, 7).cut == (0,)


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int], int | None]:
    """A forest with shuffled numbers, and a pinned node or none."""
    count = draw(st.integers(0, 60))
    parents = [draw(st.integers(-1, node - 1)) if draw(st.booleans()) else node - 1 for node in range(count)]
    names = draw(st.permutations(range(count)))
    shuffled = [-1] * count
    for node, parent in enumerate(parents):
        shuffled[names[node]] = names[parent] if parent >= 0 else -1
    return shuffled, draw(st.one_of(st.none(), st.integers(0, count - 1))) if count else None


def line_of(parents: list[int], node: int) -> list[int]:
    line = [node]
    while parents[line[-1]] >= 0:
        line.append(parents[line[-1]])
    return line


def below(parents: list[int], node: int) -> set[int]:
    return {other for other in range(len(parents)) if node in line_of(parents, other)}


@given(forests())
def test_laws(forest: tuple[list[int], int | None]) -> None:
    parents, pinned = forest
    layout = lay_out(parents, pinned)
    count = len(parents)
    assert sorted(layout.order) == list(range(count))  # every node once
    for node, parent in enumerate(parents):
        assert layout.order[layout.row_of[node]] == node
        assert parent < 0 or layout.row_of[parent] < layout.row_of[node]  # parent before child
        assert set(layout.subtree(node)) == below(parents, node)  # subtree contiguous
        assert layout.size(node) == len(below(parents, node))
    if count:
        assert max(layout.lane) + 1 <= floor(log2(count)) + 2
    if pinned is not None:
        assert {layout.lane[node] for node in line_of(parents, pinned)} == {0}


@given(forests(), st.integers(0, 3))
def test_what_goes_on_from_the_end_changes_no_other_place(forest: tuple[list[int], int | None], more: int) -> None:
    parents, pinned = forest
    layout = lay_out(parents, pinned)
    count = len(parents)
    last = layout.order[-1] if parents else -1
    longer = [*parents, *([last, *range(count, count + more)][:more])]
    if last == pinned and last >= 0:
        assert extended(layout, longer) == lay_out(longer, len(longer) - 1 if more else pinned)
    assert more == 0 or extended(layout, [*longer, -1]) is None


@given(forests(), st.randoms(use_true_random=False))
def test_folding_hides_slices_and_nothing_else(forest: tuple[list[int], int | None], random: object) -> None:
    parents, pinned = forest
    layout = lay_out(parents, pinned)
    folded = {node for node in range(len(parents)) if random.random() < 0.3}  # type: ignore[attr-defined]
    rows = layout.rows(folded)
    shown = [node for row in rows for node in (layout.subtree(row.node) if row.kind == "fold" else [row.node])]
    assert shown == list(layout.order)
    for row in rows:
        assert row.through == tuple(range(row.lane))
        if row.kind == "fold":
            assert row.node in folded
            assert row.hidden == layout.size(row.node)
            assert row.branches == sum(layout.opens(node) for node in layout.subtree(row.node))
        assert row.opens == layout.opens(row.node)


@given(forests())
def test_every_line_that_passes_goes_on_below(forest: tuple[list[int], int | None]) -> None:
    """A lane left of a row has a node above it and one below it that belong to the same line."""
    parents, pinned = forest
    layout = lay_out(parents, pinned)
    rows: tuple[Row, ...] = tuple(layout.rows())
    for at, row in enumerate(rows):
        for lane in row.through:
            assert any(above.lane == lane for above in rows[:at])
            assert _next_in_lane(layout, rows, at, lane)


def _next_in_lane(layout: Layout, rows: tuple[Row, ...], at: int, lane: int) -> bool:
    following = next((row for row in rows[at + 1 :] if row.lane == lane), None)
    return following is not None and not following.opens and layout.parents[following.node] >= 0
