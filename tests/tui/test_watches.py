"""Watches: expressions with their value at the cursor and over the line, added and taken away by one key."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.errors import Corrupt
from stores.model import MISSING, Header, NewCheckpoint, Ref, Value
from tests.builders import native_file
from tests.tui.conftest import screen_lines
from tests.tui.thread_app import Opened, thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.errors import UsageError
from tt_debug.query import Failed, compile_expr, evaluate, expression_of
from tt_debug.redaction import NOTHING, Redaction
from tt_debug.session import watches
from tt_debug.session.session import Session
from tt_debug.tui.dialogs.expression import ExpressionDialog
from tt_debug.tui.glyphs import ASCII, UNICODE
from tt_debug.tui.rows.graph import GraphFacts, graph_line
from tt_debug.tui.rows.graph_columns import columns_for
from tt_debug.tui.rows.graph_items import GraphItem
from tt_debug.tui.rows.pieces import Piece, cells, text_of
from tt_debug.tui.rows.watches import WatchRow, point, watch_line, watch_rows
from tt_debug.tui.screens.answers import AnswersScreen


def row_of(it: Opened, expression: str) -> str:
    """The row of a watch, without what stands beside the panel."""
    return next((line[line.index(expression) :] for line in screen_lines(it.app) if f" {expression} " in line), "")


async def watch(it: Opened, expression: str) -> None:
    """By the dialog."""
    await it.press("1")
    await it.pilot.press("w")
    await it.until(lambda: isinstance(it.app.screen, ExpressionDialog))
    await it.pilot.press(*expression, "enter")
    await it.until(lambda: expression in it.session.watches.of("trip-planner"))
    await it.rest()


async def test_a_watch_shows_the_value_here_and_over_the_line_below_the_diff() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        assert "w Watch" not in it.text
        await watch(it, "length(messages)")
        await watch(it, "plan.status")
        assert "w Watch" in it.text
        assert "▁" in row_of(it, "length(messages)")
        assert "█" in row_of(it, "length(messages)")
        assert '"draft" → "review"' in row_of(it, "plan.status")
        while it.screen.header().nodes != ("agent",):  # type: ignore[union-attr]
            await it.press("comma")
        assert "here" in row_of(it, "length(messages)")
        assert it.app.done[-1].command == "tt-debug find /tmp/demo.db trip-planner plan.status --changes"


async def test_the_value_under_the_cursor_is_watched_and_not_any_more() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("2")
        it.screen.views.state.go_to(("usage", "cost_usd"))
        await it.press("w")
        assert it.session.watches.of("trip-planner") == ("usage.cost_usd",)
        it.screen.set_focus(it.screen.views.watches)
        await it.pilot.press("enter")
        await it.until(lambda: isinstance(it.app.screen, AnswersScreen))
        await it.pilot.press("q")
        await it.until(lambda: it.app.screen is it.screen)
        await it.press("w")
        assert it.session.watches.of("trip-planner") == ()
        assert "w Watch" not in it.text


async def test_one_column_has_a_tab_for_them() -> None:
    async with thread_screen("trip-planner", (80, 24)) as it:
        await watch(it, "plan.status")
        it.screen.show_tab("watches")
        await it.rest()
        assert "w Watch" in it.text
        assert "final" in row_of(it, "plan.status")
        await it.pilot.resize_terminal(120, 40)
        await it.rest()
        assert it.screen.tab == "state"
        assert "w Watch" in it.text
        await it.pilot.resize_terminal(200, 60)
        await it.rest()
        assert "final" in row_of(it, "plan.status")


async def test_what_cannot_answer_says_why_and_secrets_stay_hidden() -> None:
    session = TripSession()
    session.failing[session.heads["trip-planner"]] = Corrupt("page 7 cannot be read")
    async with thread_screen("trip-planner", (120, 40), session) as it:
        await watch(it, "api_key")
        assert "page 7 cannot be" in row_of(it, "api_key")
        await it.press("comma")
        assert "●●●●" in row_of(it, "api_key")
        await it.press("S")
        assert "sk-very-secret" in row_of(it, "api_key")
        await watch(it, "length(retry)")
        assert "length" in row_of(it, "length(retry)")[14:]


async def test_what_is_no_expression_stays_in_the_dialog() -> None:
    async with thread_screen("trip-planner", (120, 40), read_only=True) as it:
        await it.pilot.press("w")
        await it.until(lambda: isinstance(it.app.screen, ExpressionDialog))
        await it.pilot.press(*"a =", "enter")
        await it.until(lambda: "is not a JMESPath" in it.text)
        await it.pilot.press("escape")
        await it.rest()
        assert it.session.watches.kept == {}


@pytest.mark.parametrize("path", [("plan", "status"), ("messages", 0, "content"), ("odd key", "a.b"), ('"', "é", 2, 1)])
def test_a_path_as_an_expression_answers_with_its_value(path: tuple[str | int, ...]) -> None:
    state: object = "found"
    for step in reversed(path):
        state = {step: state} if isinstance(step, str) else [0] * step + [state]
    assert evaluate(compile_expr(expression_of(path)), state) == "found"  # type: ignore[arg-type]


def test_a_row_fits_and_what_is_unknown_is_not_shown_as_null() -> None:
    refs = [Ref("t", "", str(number)) for number in range(40)]
    known = {("n", ref): point(at * at, "n", NOTHING, UNICODE) for at, ref in enumerate(refs[:30])}
    (row,) = watch_rows(["n"], known, refs, refs[4], refs[3])
    assert "9 → 16 here" in text_of(watch_line(row, 80, UNICODE))
    (far,) = watch_rows(["n"], known, refs, refs[35], refs[34])
    assert text_of(watch_line(far, 80, UNICODE)).split() == ["n", "…"]
    assert text_of(point(MISSING, "api_key", Redaction(), UNICODE).line) == "missing"
    failed = WatchRow("n", point(Failed("no \x1b such"), "n", NOTHING, UNICODE))
    assert "no ␛ such" in text_of(watch_line(failed, 80, UNICODE))
    for width in range(12, 100, 7):
        for each in (row, far, failed):
            assert cells(watch_line(each, width, ASCII)) <= width
            assert text_of(watch_line(each, width, ASCII)).isascii() or each is failed


def test_a_secret_by_its_name_in_the_expression_is_hidden() -> None:
    assert text_of(point("sk-1", "a.api_key", Redaction(), UNICODE).line) == "●●●●"
    assert point(7, "password", Redaction(), UNICODE).number is None
    assert text_of(point("sk-1", "a.note", Redaction(), UNICODE).line) == '"sk-1"'


def test_they_lie_in_our_own_record_and_the_store_stays_as_it_is(tmp_path: Path) -> None:
    path = native_file(tmp_path / "n.db")
    before = path.read_bytes()
    session = Session.open(str(path))
    assert session.watches.of("t") == ()
    session.watches.add("t", "b")
    session.watches.add("t", "a")
    session.watches.add("t", "b")
    with pytest.raises(UsageError):
        session.watches.add("t", "a =")
    session.close()
    session = Session.open(str(path))
    assert session.watches.of("t") == ("b", "a")
    assert session.watches.of("other") == ()
    assert session.watches.drop("t", "b")
    assert not session.watches.drop("t", "b")
    assert session.watches.of("t") == ("a",)
    session.close()
    assert path.read_bytes() == before


async def test_a_watch_is_a_column_of_the_graph_filled_where_one_looks(tmp_path: Path) -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("1", "L")
        assert "nothing is watched yet" in it.told
        await watch(it, "length(messages)")
        await watch(it, "plan.status")
        await it.press("1", "L", "L")
        assert it.session.watches.column("trip-planner") == "plan.status"
        await it.until(lambda: '~ "final"' in it.text)
        assert "1 Graph   w plan.status" in it.text
        assert it.app.done[-1].command == "tt-debug log /tmp/demo.db trip-planner --watch plan.status"
        it.screen.set_focus(it.screen.views.watches)
        await it.pilot.press("G")
        await it.press("L")
        assert it.session.watches.column("trip-planner") is None
        assert "w plan.status" not in it.text
        await it.press("L")
        await it.press("w")
        assert it.screen.column == ""


async def test_in_the_graph_to_where_any_watch_changed() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await watch(it, "plan.status")
        await it.press("1", "left_curly_bracket")
        last = it.step
        value = it.session.load(it.screen.selected).state["plan"]["status"]  # type: ignore[arg-type]
        await it.press("left_curly_bracket")
        assert it.step is not None
        assert last is not None
        assert it.step < last
        assert it.session.load(it.screen.selected).state["plan"]["status"] != value  # type: ignore[arg-type]
        await it.press("right_curly_bracket")
        assert it.step == last
        await it.press("G", "right_curly_bracket")
        assert "no watch changes after this" in it.told


def test_changes_of_any_watch_along_a_line(tmp_path: Path) -> None:
    states: list[dict[str, Value]] = [{}, {"a": 1}, {"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}]
    refs = [Ref("t", "", f"{at:02d}") for at in range(len(states))]
    parents = [None, *refs]
    line = [NewCheckpoint(ref, parents[at], states[at], "step") for at, ref in enumerate(refs)]
    session = Session.open(str(native_file(tmp_path / "c.db", line)))
    asked = ("a", "b", "length(`1`)")

    def before(at: int) -> Ref | None:
        return watches.changed_before(session, refs[: at + 1], asked)

    def after(at: int) -> Ref | None:
        return watches.changed_after(session, refs[at:], asked)

    assert [before(at) for at in range(5)] == [None, None, refs[1], refs[1], refs[3]]
    assert [after(at) for at in range(5)] == [refs[1], refs[3], refs[3], None, None]
    session.close()


def test_the_column_of_a_watch_shares_the_room_of_what_there_is() -> None:
    header = Header(Ref("t", "", "1"), None, 3, "loop", None, ("agent",))
    headers = {header.ref: header}
    items = [GraphItem("checkpoint", header.ref, 0)]
    value = (Piece("~ "), Piece('"a rather long value of a watch, too long for it"'))
    for width in range(24, 200):
        columns = columns_for(width, items, headers, watched=True)
        line = graph_line(items[0], columns, GraphFacts(headers, watched="x", values={header.ref: value}))
        assert cells(line) <= width
        assert columns.value == 0 or "~" in text_of(line)
        assert columns_for(width, items, headers).value == 0
    assert columns_for(53, items, headers, watched=True).value >= 12
