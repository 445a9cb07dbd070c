"""The diff in two columns: what stands on which side, and when there is room for it."""

from __future__ import annotations

import pytest

from stores.model import Change, Value
from tests.tui.sample_threads import message
from tests.tui.thread_app import thread_screen
from tt_debug.diff import diff
from tt_debug.redaction import Hidden
from tt_debug.tui.glyphs import ASCII
from tt_debug.tui.rows.diff import DiffRow, diff_rows
from tt_debug.tui.rows.pieces import cells, text_of
from tt_debug.tui.rows.side_by_side import Columns, columns_for, side_line, with_opened_sides
from tt_debug.tui.widgets.diff_view import DiffView

LONG = "I will look up trains, hotels and opening hours, then propose a plan."
NARROW = Columns(8, 20)


def beside(change: Change, columns: Columns = NARROW) -> tuple[str, str]:
    """Both sides of a change as text."""
    old, new = text_of(side_line(change, columns)).split("│")
    return old.strip(), new.strip()


def changed(view: DiffView) -> list[int]:
    """The rows of values that became others."""
    return [at for at, row in enumerate(view.rows) if row.change is not None and row.change.op == "change"]


def rows_of(old: dict[str, Value], new: dict[str, Value]) -> list[DiffRow]:
    return diff_rows(diff(old, new), old, new)


def test_each_value_stands_on_its_side() -> None:
    assert beside(Change("change", ("a",), 1, 2)) == ("~ a         1", "2")
    assert beside(Change("change", ("a",), 1, "1")) == ("~ a         1  int", '"1"  str')
    assert beside(Change("change", ("a",), Hidden("text"), Hidden("text"))) == ("~ a         ●●●●", "●●●●")


def test_what_has_one_side_only_has_all_the_room() -> None:
    added = Change("add", ("a",), new=LONG[:38])
    assert text_of(side_line(added, NARROW)) == f'+ a         "{LONG[:38]}"'
    assert text_of(side_line(Change("remove", ("a",), "x"), NARROW)) == '- a         "x"'
    assert (
        text_of(side_line(Change("move", ("a", 1), new="x", source=("a", 0)), NARROW)) == '↷ a[1]      from a[0]  "x"'
    )


def test_of_a_long_text_both_sides_show_the_words_that_differ() -> None:
    line = side_line(Change("change", ("t",), LONG, LONG.replace("opening hours", "ryokan")), NARROW)
    inks = {piece.ink: piece.text for piece in line}
    assert "opening" in inks["removed-word"]
    assert inks["added-word"].strip().startswith("ryokan")
    assert "{+ryokan+}" in text_of(
        side_line(Change("change", ("t",), LONG, LONG.replace("hotels", "ryokan")), NARROW, ASCII)
    )


@pytest.mark.parametrize("width", [60, 66, 120, 198])
def test_no_row_is_wider_than_its_panel(width: int) -> None:
    old: dict[str, Value] = {
        "plan": {"a very long name " * 4: "京都" * 60},
        "n": 1,
        "messages": [message("ai", LONG, "m1")],
    }
    new: dict[str, Value] = {"plan": {"a very long name " * 4: "奈良" * 60}, "m": LONG * 4, "messages": []}
    rows = rows_of(old, new)
    columns = columns_for(rows, width)
    opened = {row.path for row in rows if row.change is not None}
    for row in rows:
        if row.change is not None:
            assert cells(side_line(row.change, columns)) <= width
    for row in with_opened_sides(rows, opened, columns, width):
        assert cells(row.line) <= width


def test_an_opened_change_is_written_out_on_both_sides() -> None:
    rows = rows_of({"t": LONG}, {"t": LONG.replace("hotels", "ryokan")})
    columns = columns_for(rows, 66)
    halves = [text_of(row.line).split("│") for row in with_opened_sides(rows, {("t",)}, columns, 66)[1:]]
    old, new = (" ".join(half[side].strip() for half in halves) for side in (0, 1))
    assert old == LONG
    assert new == LONG.replace("hotels", "ryokan")


@pytest.mark.parametrize(("width", "has_sides"), [(120, False), (200, True)])
async def test_there_are_two_columns_in_a_wide_terminal_only(width: int, has_sides: bool) -> None:
    async with thread_screen(size=(width, 40)) as it:
        await it.press("d")
        view = it.screen.views.diff
        drawn = [text_of(view.piece_line(row, 60)) for row in changed(view)]
        assert drawn
        assert all(("│" in line) is has_sides for line in drawn)


async def test_resizing_gives_and_takes_a_column() -> None:
    async with thread_screen(size=(200, 40)) as it:
        await it.press("d")
        view = it.screen.views.diff
        change = changed(view)[0]
        for width, has_sides in ((100, False), (200, True), (90, False), (240, True)):
            await it.pilot.resize_terminal(width, 40)
            await it.until(lambda: ("│" in text_of(view.piece_line(change, 60))) is has_sides)  # noqa: B023
