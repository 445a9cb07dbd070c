"""Two lines of checkpoints side by side: what is paired, where they part, and which cause is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.errors import Corrupt
from stores.model import Checkpoint, Header, Ref, Tagged, Task, Value, Write
from tt_debug.divergence import BY_HAND, Call, Comparison, Line, Row, Side, aligned, who

Step = tuple[str, Mapping[str, Value]]
"""Who wrote it (a node, or a source of what is done by hand), and the state."""


@dataclass
class Records:
    """Evidence by the ids of checkpoints."""

    codes: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    made: Mapping[str, Sequence[Call]] = field(default_factory=dict)

    def code(self, header: Header) -> Mapping[str, str | None]:
        return self.codes.get(header.ref.id, {"code": None})

    def calls(self, header: Header) -> Sequence[Call] | None:
        return self.made.get(header.ref.id)


def header(side: str, at: int, writer: str) -> Header:
    by_hand = writer in BY_HAND or writer == "input"
    nodes = () if by_hand else tuple(writer.split("+"))
    return Header(Ref("t", "", f"{side}{at}"), None, at, writer if by_hand else "loop", None, nodes)


class Lines:
    """Two lines made of steps, with ``base`` as the state before both."""

    def __init__(self, a: Sequence[Step], b: Sequence[Step], base: Mapping[str, Value] | None = None) -> None:
        self.points: dict[Ref, Checkpoint] = {}
        self.broken: set[str] = set()
        self.base = {} if base is None else base
        self.a, self.b = self._line("a", a), self._line("b", b)

    def _line(self, side: str, steps: Sequence[Step]) -> list[Header]:
        headers = [header(side, at, writer) for at, (writer, _) in enumerate(steps)]
        self.points |= {one.ref: Checkpoint(one, state) for one, (_, state) in zip(headers, steps, strict=True)}
        return headers

    def load(self, ref: Ref) -> Checkpoint:
        if ref.id in self.broken:
            raise Corrupt("torn")
        return self.points[ref]

    def compared(self, records: Records | None = None) -> tuple[list[Row], Comparison]:
        def line(name: Side, headers: Sequence[Header]) -> Line:
            return Line(name, headers, self.base)

        comparison = Comparison(line("A", self.a), line("B", self.b), self.load, records or Records())
        return list(comparison.rows()), comparison


def picture(rows: Sequence[Row]) -> list[str]:
    """A row a line: the mark, both steps, the keys; ``!`` where they part."""
    return [
        " ".join(filter(None, (
            f"{row.mark}{'!' * row.is_parting}", *("-" if one is None else who(one) for one in (row.a, row.b)),
            ",".join(row.keys),
        )))
        for row in rows
    ]  # fmt: skip


def test_an_edit_shifts_the_steps_and_not_what_belongs_together() -> None:
    rows, found = Lines(
        [("plan", {"n": 1, "plan": "x"}), ("act", {"n": 2, "plan": "x"})],
        [("fork", {"n": 0, "tone": "dry"}), ("plan", {"n": 1, "tone": "dry", "plan": "y"}),
         ("act", {"n": 2, "tone": "dry", "plan": "y"})],
        {"n": 0},
    ).compared()  # fmt: skip
    assert picture(rows) == ["only! - fork tone", "differs plan plan plan", "same act act"]
    assert found.cause is not None
    assert (found.cause.kind, found.cause.words) == ("edited", "the state was edited in B")


def test_loops_are_paired_by_visit_and_what_ran_once_more_stands_alone() -> None:
    def at(number: int) -> Mapping[str, Value]:
        return {"n": number}

    rows, found = Lines(
        [("search", at(1)), ("search", at(2)), ("answer", {"n": 2, "said": "x"})],
        [("search", at(1)), ("search", at(2)), ("search", at(3)), ("answer", {"n": 3, "said": "x"})],
        {"n": 0},
    ).compared()
    assert picture(rows) == ["same search search", "same search search", "only! - search n", "same answer answer"]
    assert found.cause is not None
    assert found.cause.words == "from the same state B ran search here, A went on with answer"


def test_a_plain_fork_parts_nothing() -> None:
    rows, found = Lines([("act", {"n": 1})], [("fork", {"n": 0}), ("act", {"n": 1})], {"n": 0}).compared()
    assert picture(rows) == ["only - fork", "same act act"]
    assert found.cause is None


def test_another_node_from_the_same_state() -> None:
    rows, found = Lines([("x", {"n": 1}), ("end", {"n": 2})], [("y", {"n": 5}), ("end", {"n": 6})], {}).compared()
    assert picture(rows)[0] == "node! x y n"
    assert found.cause is not None
    assert (found.cause.kind, found.cause.words) == ("node", "from the same state A went on with x, B with y")


def test_where_one_line_ends_the_other_went_on() -> None:
    rows, found = Lines([("x", {"n": 1}), ("y", {"n": 2})], [("x", {"n": 1})], {}).compared()
    assert picture(rows) == ["same x x", "only! y - n"]
    assert found.cause is not None
    assert (found.cause.kind, found.cause.words) == ("ended", "B ends here (done), A went on with y")


def test_different_input_is_no_output_of_a_model() -> None:
    found = Lines([("input", {"q": "one"})], [("input", {"q": "two"})]).compared()[1]
    assert found.cause is not None
    assert found.cause.kind == "input"


def message(name: str, text: str, role: str = "ai") -> Tagged:
    return Tagged("langchain.AIMessage", {"id": name, "type": role, "content": text}, name.encode() + text.encode())


WHOSE = {
    "ai": ", and the model's output differs",
    "tool": ", and the tool's output differs",
    "human": " and wrote something else: the output of a model or tool differs, or the code",
}


@pytest.mark.parametrize("role", WHOSE)
def test_what_a_model_said_differs(role: str) -> None:
    rows, found = Lines(
        [("ask", {"messages": [message("r1", "Hi", "human")]}),
         ("act", {"messages": [message("r1", "Hi", "human"), message("r2", "Yes", role)]})],
        [("ask", {"messages": [message("s1", "Hi", "human")]}),
         ("act", {"messages": [message("s1", "Hi", "human"), message("s2", "No", role)]})],
        {"messages": []},
    ).compared()  # fmt: skip
    assert picture(rows) == ["ids ask ask", "differs! act act messages"]
    assert found.cause is not None
    assert (found.cause.kind, found.cause.words) == ("output", f"act started from the same state{WHOSE[role]}")
    assert found.cause.notes == ("which code ran is not on record",)


def test_ids_count_where_they_are_no_element_s() -> None:
    rows, _ = Lines([("x", {"customer": {"id": "c1"}})], [("x", {"customer": {"id": "c2"}})]).compared()
    assert picture(rows) == ["differs! x x customer"]


def test_numbers_of_other_types_differ() -> None:
    rows, _ = Lines([("x", {"n": 1, "l": [1]})], [("x", {"n": 1.0, "l": [True]})]).compared()
    assert picture(rows) == ["differs! x x n,l"]


CODE: dict[str, str | None] = {"definition of the workflow": "h1", "code of x": "m1"}


def test_other_code_is_the_cause_where_it_is_on_record() -> None:
    lines = Lines([("x", {"n": 1})], [("x", {"n": 2})])
    same = lines.compared(Records({"a0": CODE, "b0": CODE}))[1].cause
    other = lines.compared(Records({"a0": CODE, "b0": {**CODE, "code of x": "m2"}}))[1].cause
    assert same is not None
    assert other is not None
    told = "the same definition of the workflow, code of x ran"
    assert (same.kind, same.notes) == ("output", (told,))
    assert same.words.endswith("the output of a model or tool differs")
    assert (other.kind, other.words) == ("code", "another code of x ran")


def test_code_that_is_on_record_in_part_is_said_to_be() -> None:
    part: dict[str, str | None] = {**CODE, "code of x": None}
    cause = Lines([("x", {"n": 1})], [("x", {"n": 2})]).compared(Records({"a0": CODE, "b0": part}))[1].cause
    assert cause is not None
    assert cause.words.endswith("the output of a model or tool differs, or the code")
    assert cause.notes == ("the same definition of the workflow ran", "which code of x ran is not on record")


def test_what_was_called_tells_whose_output_differs() -> None:
    lines = Lines([("x", {"n": 1})], [("x", {"n": 2})])
    asked = Call("quote", 0, {"q": 1}, 10)
    answered = lines.compared(Records(made={"a0": [asked], "b0": [replace(asked, result=20)]}))[1].cause
    equal = lines.compared(Records(made={"a0": [asked], "b0": [asked]}))[1].cause
    other = lines.compared(Records(made={"a0": [asked, Call("mail", 0, {}, None)], "b0": [asked]}))[1].cause
    assert answered is not None
    assert equal is not None
    assert other is not None
    assert answered.notes[0] == "quote answered differently to the same request"
    assert "was given the same" in equal.words
    assert other.notes[0] == "mail was called in A only"


def test_answers_of_people_are_a_cause_of_their_own() -> None:
    lines = Lines([("ask", {"n": 0}), ("gate", {"n": 1})], [("ask", {"n": 0}), ("gate", {"n": 2})])
    for name, answer in (("a0", True), ("b0", False)):
        ref = Ref("t", "", name)
        task = Task("1", "gate", "", "done", (Write("__resume__", [answer]),))
        lines.points[ref] = replace(lines.points[ref], tasks=(task,))
    cause = lines.compared()[1].cause
    assert cause is not None
    assert (cause.kind, cause.words) == ("answer", "gate was given different answers by a person")


def test_what_cannot_be_read_is_unknown_and_not_taken_for_a_difference() -> None:
    lines = Lines(
        [("x", {"n": 1}), ("y", {"n": 2}), ("z", {"n": 3})], [("x", {"n": 1}), ("y", {"n": 2}), ("z", {"n": 3})]
    )
    lines.broken.add("b1")
    rows, found = lines.compared()
    assert [row.mark for row in rows] == ["same", "unknown", "unknown"]
    assert found.cause is not None
    assert (found.cause.kind, rows[1].problem) == ("unknown", "torn")


WRITERS = st.lists(st.sampled_from(["x", "y", "x+y", "fork", "edit"]), max_size=8)


@given(WRITERS, WRITERS)
def test_every_step_stands_once_and_in_its_order(a: list[str], b: list[str]) -> None:
    lines = Lines([(writer, {}) for writer in a], [(writer, {}) for writer in b])
    rows = aligned(lines.a, lines.b)
    assert [one for one, _ in rows if one is not None] == lines.a
    assert [other for _, other in rows if other is not None] == lines.b
    assert all(one is not None or other is not None for one, other in rows)


@given(WRITERS)
def test_a_line_is_the_same_as_itself(a: list[str]) -> None:
    steps = [(writer, {"n": at, "log": list(range(at))}) for at, writer in enumerate(a)]
    rows, found = Lines(steps, steps).compared()
    assert all(row.mark == "same" for row in rows)
    assert found.cause is None
