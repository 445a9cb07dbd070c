"""A path followed along a line: a stop for every change of what lies there, and none for anything else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from stores.errors import Corrupt
from stores.model import MISSING, Path, Ref, Tagged, Value
from tests.core.lines import Line
from tt_debug.blame import Book, Stop, history, origins
from tt_debug.finding import State


def asked(line: Line, path: Path) -> Iterator[Stop]:
    """The stops as they come, the states read one by one."""
    headers = {header.ref: header for header in line.headers}

    def state(ref: Ref) -> State:
        try:
            return line.load(ref).state
        except Corrupt as error:
            return error

    newest_first = ((ref, state(ref)) for ref in reversed(headers))
    return history(newest_first, Book(headers.__getitem__, lambda ref: line.load(ref).tasks), path)


def stops(line: Line, path: Path) -> list[Stop]:
    return list(asked(line, path))


def told(line: Line, path: Path) -> list[tuple[int | None, str]]:
    return [(stop.step, stop.op) for stop in stops(line, path)]


def test_creation_change_removal_and_creation_again_are_stops() -> None:
    line = Line([{}, {"a": 1}, {"a": 1}, {"a": 2}, {}, {"a": 2}])
    assert told(line, ("a",)) == [(5, "add"), (4, "remove"), (3, "change"), (1, "add")]
    changed = stops(line, ("a",))[2]
    assert (changed.old, changed.new, changed.nodes, changed.tasks) == (1, 2, ("n3",), ("task-3",))
    assert changed.before is not None
    assert changed.before.id == "002"


def test_what_the_oldest_checkpoint_has_was_made_there() -> None:
    assert told(Line([{"a": 1}, {"a": 1}]), ("a",)) == [(0, "add")]


def test_a_path_that_never_was_has_no_stops() -> None:
    assert told(Line([{"a": 1}, {"a": [1]}]), ("b", 0)) == []


@pytest.mark.parametrize(("old", "new"), [(1, 1.0), (1, True), (None, False), ([2], [2.0]), (0.0, -0.0)])
def test_another_type_is_another_value(old: Value, new: Value) -> None:
    assert told(Line([{"a": old}, {"a": new}]), ("a",)) == [(1, "change"), (0, "add")]


def test_the_same_value_is_no_change() -> None:
    nan = float("nan")
    assert told(Line([{"a": nan}, {"a": float("nan")}]), ("a",)) == [(0, "add")]


def test_null_and_missing_differ() -> None:
    assert told(Line([{}, {"a": None}]), ("a",)) == [(1, "add")]


def message(id: str, content: str) -> Tagged:
    return Tagged("app.Message", {"id": id, "content": content})


def test_elements_with_ids_are_followed_wherever_they_stand() -> None:
    one, two = message("m1", "first"), message("m2", "second")
    line = Line(
        [
            {"messages": []},
            {"messages": [one]},
            {"messages": [one, two]},
            {"messages": [two]},
            {"messages": [message("m0", "before"), message("m2", "edited")]},
        ]
    )
    found = stops(line, ("messages", 1, "content"))
    assert [(stop.step, stop.op, stop.path) for stop in found] == [
        (4, "change", ("messages", 1, "content")),
        (2, "add", ("messages", 1, "content")),
    ]
    assert (found[0].old, found[0].new) == ("second", "edited")


def test_an_element_that_was_removed_is_followed_back_from_where_it_was_last() -> None:
    line = Line([{"l": [{"id": 1, "v": "x"}]}, {"l": [{"id": 1, "v": "y"}]}, {"l": []}])
    assert told(line, ("l", 0, "v")) == [(2, "remove"), (1, "change"), (0, "add")]


def test_positions_without_ids_stay_positions() -> None:
    line = Line([{"l": ["a"]}, {"l": ["new", "a"]}])
    assert told(line, ("l", 0)) == [(1, "change"), (0, "add")]


def test_a_checkpoint_that_cannot_be_read_is_unknown_not_unchanged() -> None:
    found = stops(Line([{"a": 1}, None, None, {"a": 2}, {"a": 2}]), ("a",))
    assert [(stop.step, stop.op, stop.more) for stop in found] == [(2, "unknown", 1), (0, "add", 0)]
    assert (found[0].old, found[0].new, found[0].problem) == (1, 2, "002 is torn")


def test_unknown_ends_of_a_line() -> None:
    assert told(Line([None, {"a": 1}]), ("a",)) == [(0, "unknown")]
    assert told(Line([{"a": 1}, None]), ("a",)) == [(1, "unknown"), (0, "add")]


def test_an_edit_is_nobodys_step() -> None:
    line = Line([{"a": 1}, {"a": 2}], sources={1: "fork"})
    assert stops(line, ("a",))[0].tasks == ()
    assert stops(line, ("a",))[0].source == "fork"


def test_nothing_is_read_that_nobody_waits_for() -> None:
    line = Line([{"a": step} for step in range(100)])
    assert [stop.step for stop in islice(asked(line, ("a",)), 2)] == [99, 98]
    assert set(line.read) == {99, 98, 97}


def test_where_a_value_was_copied_from() -> None:
    state = {"hotels": [{"name": "Grand Imperial"}], "n": 3, "total": 264000, "same": "Grand Imperial"}
    assert origins(state, "Grand Imperial", ("same",)) == (("hotels", 0, "name"),)
    assert origins(state, 264000, ("cost",)) == (("total",),)
    assert origins(state, {"name": "Grand Imperial"}, ("hotel",)) == (("hotels", 0),)
    for everywhere in (3, True, None, "", "abc", [], {}, float("nan"), float("inf"), MISSING):
        assert origins({"x": everywhere, "y": everywhere}, everywhere, ("x",)) == ()
