"""The diff's rows: signs, words, lists of messages, what is left out; and the line of history with its events."""

from __future__ import annotations

import itertools

import pytest

from stores.model import MISSING, Change, Diff, Opaque, Value
from tests.tui.sample_threads import message
from tests.tui.thread_fakes import TripSession
from tt_debug.diff import diff
from tt_debug.redaction import Hidden, Redaction
from tt_debug.tui.glyphs import ASCII
from tt_debug.tui.rows.diff import DiffRow, changed_keys, counts_text, diff_line, diff_rows, with_opened
from tt_debug.tui.rows.line import line_of, next_event, place, with_marks
from tt_debug.tui.rows.pieces import cells, text_of
from tt_debug.tui.rows.timeline import Moment, Moments, bar_line, cell_of, chart, heights, mark_line, moment_of
from tt_debug.tui.screens.thread_details import hidden_rows

LONG = "I will look up trains, hotels and opening hours, then propose a plan."


def shown(old: dict[str, Value], new: dict[str, Value], width: int = 90) -> list[str]:
    """The rows between two states as text."""
    return [text_of(diff_line(row, width)) for row in diff_rows(diff(old, new), old, new)]


def test_each_kind_of_change_has_its_sign() -> None:
    old = {"a": 1, "b": "x", "same": 0}
    assert shown(old, {"a": 2, "c": [1], "same": 0}) == ["~ a  1 → 2", '- b  "x"', "+ c  [1]", "… 1 key unchanged"]


def test_a_change_of_type_names_both_types() -> None:
    assert shown({"a": 1}, {"a": "1"}) == ['~ a  1 → "1"  int → str']
    assert shown({"a": None}, {"a": {}}) == ["~ a  null → {}  null → object"]


def test_bytes_that_read_alike_are_told_apart() -> None:
    assert shown({"o": Opaque("pickle", b"abc")}, {"o": Opaque("pickle", b"abd")}) == [
        "~ o  <pickle 3 sha256 ba7816bf> → <pickle 3 sha256 a52d159f>"
    ]
    hidden = text_of(diff_line(DiffRow("change", ("k",), Change("change", ("k",), Hidden("text"), Hidden("text"))), 90))
    assert hidden == "~ k  ●●●● → ●●●●"


def test_long_texts_are_compared_by_words_and_their_beginning_is_left_out() -> None:
    old, new = {"t": LONG}, {"t": LONG.replace("opening hours", "ryokan")}
    row = diff_rows(diff(old, new), old, new)[0]
    inks = {piece.ink: piece.text for piece in diff_line(row, 200)}
    assert inks["added-word"].strip() == "ryokan"
    assert "opening" in inks["removed-word"]
    assert text_of(diff_line(row, 200)).startswith("~ t  …")
    assert "[-" in text_of(diff_line(row, 200, ASCII))
    assert "{+ryokan+}" in text_of(diff_line(row, 200, ASCII))


def test_an_opened_change_is_written_out_in_full() -> None:
    old, new = {"t": LONG}, {"t": LONG.replace("hotels", "ryokan")}
    rows = with_opened(diff_rows(diff(old, new), old, new), {("t",)}, 30)
    text = " ".join(text_of(row.line).strip() for row in rows[1:])
    assert "I will look up trains," in text
    assert "propose a plan." in text
    assert all(cells(row.line) <= 30 for row in rows)


def test_a_list_of_messages_is_counted_and_only_what_changed_is_listed() -> None:
    before = [message("human", "one", "m0"), message("ai", "two", "m1")]
    after = [*before, message("tool", "three", "m2")]
    assert shown({"messages": before}, {"messages": after}) == [
        "≡ messages  2 → 3, 2 unchanged",
        "+ messages[2]  tool   three",
    ]
    edited = [before[0], message("ai", "other", "m1")]
    assert shown({"messages": before}, {"messages": edited})[0] == "≡ messages  2, 1 unchanged"


def test_floats_that_differ_by_rounding_are_counted_and_not_listed() -> None:
    assert shown({"a": 0.3, "b": 1}, {"a": 0.30000000000000004, "b": 1}) == [
        "… 1 numbers differ by rounding only",
        "… 1 key unchanged",
    ]


def test_secrets_stay_hidden_in_a_diff_and_the_rest_of_it_is_as_it_was() -> None:
    old: dict[str, Value] = {
        "api_key": "sk-1",
        "credentials": {"user": "sk-3"},
        "n": 1,
        "headers": [{"name": "Cookie"}],
    }
    new = {"api_key": "sk-2" * 20, "credentials": {"user": "sk-4", "more": "sk-5"}, "n": 2, "card": "sk-6"}
    new["headers"] = [{"name": "Cookie", "value": "sk-7"}]
    rows = hidden_rows(diff_rows(diff(old, new), old, new), (old, new), Redaction())
    text = "\n".join(text_of(diff_line(row, 80)) for row in rows)
    assert "sk-" not in text
    assert "~ api_key  ●●●● → ●●●●" in text
    assert "+ headers[0].value  ●●●●" in text
    assert "~ n  1 → 2" in text
    assert "sk-7" in "\n".join(shown(old, new))


def test_a_moved_element_tells_where_from() -> None:
    changes: Diff = (Change("move", ("a", 0), "x", "x", ("a", 2)),)
    assert text_of(diff_line(diff_rows(changes, {"a": []}, {"a": []})[0], 60)) == '↷ a[0]  from a[2]  "x"'


def test_two_thousand_changes_are_enough() -> None:
    changes = tuple(Change("add", ("k", n), MISSING, n) for n in range(2500))
    rows = diff_rows(changes, {"k": []}, {"k": []})
    assert len(rows) == 2001
    assert rows[-1].text == "500 more changes"


def test_counts_and_keys_for_a_row_of_the_graph() -> None:
    old = {"messages": [message("human", "one", "m0")], "n": 1, "gone": 1}
    new = {"messages": [*old["messages"], message("ai", "two", "m1")], "n": 2}  # type: ignore[misc]
    found = diff(old, new)
    assert counts_text(found) == "+1 ~1 -1"
    assert changed_keys(found, old, new) == "~messages+1,n,gone"
    assert changed_keys((), old, old) == ""


@pytest.mark.parametrize("width", [10, 40, 80])
def test_no_row_is_wider_than_its_place(width: int) -> None:
    session = TripSession()
    refs = [ref for ref in session.checkpoints if ref.thread == "trip-planner"]
    for old, new in itertools.pairwise(refs):
        before, after = session.load(old).state, session.load(new).state
        for row in diff_rows(session.diff(new, old), before, after):
            assert cells(diff_line(row, width)) <= width


# --- the timeline


def test_every_moment_has_a_cell_and_every_cell_a_moment() -> None:
    for count in (1, 3, 26, 100, 1000):
        for width in (10, 60, 104):
            places = [cell_of(index, count, width) for index in range(count)]
            assert places == sorted(places)
            assert places[0] == 0
            assert places[-1] < width
            assert moment_of(0, count, width) == 0
            for index in range(0, count, max(1, count // 7)):
                if count <= width:
                    assert moment_of(places[index], count, width) == index
            assert moment_of(width * 9, count, width) == count - 1


def test_bars_grow_with_the_logarithm_of_the_longest_step_in_a_cell() -> None:
    events = Moments.of([Moment(0.01), Moment(0.1), Moment(1.0), Moment(10.0), Moment(None)])
    high = heights(events, 5)
    assert high[:4] == sorted(high[:4])
    assert high[3] == 7
    assert high[4] == 0
    assert cells(bar_line(chart(events, 5), 2)) == 5


def test_a_crowd_of_marks_keeps_only_those_that_matter() -> None:
    few = Moments.of(Moment(1.0, frozenset({"failed"} if n == 3 else ())) for n in range(10))
    assert "×" in text_of(mark_line(chart(few, 10), 0))
    crowd = Moments.of(Moment(1.0, frozenset({"failed"} if n != 500 else {"waiting"})) for n in range(1000))
    text = text_of(mark_line(chart(crowd, 50), 0))
    assert "×" not in text
    assert "‖" in text


def test_the_line_knows_its_events_and_the_next_one() -> None:
    session = TripSession()
    view = session.open_thread("trip-planner")
    line = line_of(view, view.head)
    events = with_marks(line, {"A": {line.refs[3]}, "hit": {line.refs[12], line.refs[20]}})
    assert [at for at, event in enumerate(events) if event.marks] == [3, 12, 20]
    assert next_event(events, 3, 1) == 12
    assert next_event(events, 20, 1) is None
    assert next_event(events, 3, 1, "hit") == 12
    assert next_event(events, 12, -1, "hit") is None
    assert next_event(events, 5, -1) == 3


def test_places_as_people_type_them() -> None:
    session = TripSession()
    view = session.open_thread("trip-planner")
    line = view.line()
    assert place(view, line, "15") == line[16]
    assert place(view, line, "0%") == line[0]
    assert place(view, line, "100%") == line[-1]
    assert place(view, line, "-2") == line[-3]
    assert place(view, line, line[4].id[:10]) == line[4]
    assert place(view, line, "nonsense") is None
    assert place(view, line, "99") is None
