"""The graph's rows: lanes, glyphs, badges, columns in every width, folding, stubs, what stands after a tip."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from stores.model import Header, Interrupt, Opaque, Ref, Status, Task, Value
from tests.tui.thread_fakes import START, TripSession
from tt_debug.session.thread_view import ThreadView
from tt_debug.text import names_text
from tt_debug.timing import step_seconds
from tt_debug.tui.glyphs import ASCII
from tt_debug.tui.rows.graph import GraphFacts, graph_line
from tt_debug.tui.rows.graph_columns import columns_for
from tt_debug.tui.rows.graph_items import GraphItem, TimeItems, graph_items
from tt_debug.tui.rows.pieces import cells, text_of
from tt_debug.tui.rows.times import clock_text, delta_text
from tt_debug.tui.screens.thread_details import note_of


def chain(thread: str, *, count: int, base: Ref | None = None, source: str = "loop", at: int = 0) -> list[Header]:
    """A thread of ``count`` checkpoints, the first one with ``source``."""
    headers = []
    for number in range(count):
        ref = Ref(thread, "", f"{thread}-{number}")
        created = START + timedelta(seconds=at + number * 2)
        headers.append(
            Header(ref, base, at + number, source if number == 0 else "loop", created, (f"n{number}",), ("x",))
        )
        base = ref
    return headers


def drawn(
    view: ThreadView, width: int = 60, unfolded: frozenset[Ref] = frozenset(), trunk: Ref | None = None
) -> list[str]:
    """The rows as text."""
    trunk = trunk or view.head
    items = graph_items(view.rows(unfolded, trunk))
    columns = columns_for(width, items, view.headers)
    facts = GraphFacts(view.headers, trunk)
    return [text_of(graph_line(item, columns, facts)).rstrip() for item in items]


def family() -> ThreadView:
    """Six steps, a fork of three at step 2 and one of two at step 4."""
    main = chain("main", count=6)
    one = chain("one", count=3, base=main[2].ref, source="fork", at=3)
    two = chain("two", count=2, base=main[4].ref, source="fork", at=5)
    return ThreadView("main", main[-1].ref, [main, one, two], copies=False)


def test_forks_are_folded_to_one_row_below_the_step_they_left() -> None:
    rows = [row[:22].rstrip() for row in drawn(family())]
    assert rows[:5] == ["●      0 n0", "●      1 n1", "●      2 n2", "├─◇ ▸ one  ✓ done  3 s", "●      3 n3"]
    assert rows[6].startswith("├─◇ ▸ two")


def test_an_open_fork_has_its_name_above_it_and_a_lane_of_its_own() -> None:
    view = family()
    first = Ref("one", "", "one-0")
    rows = [row[:20].rstrip() for row in drawn(view, unfolded=frozenset({first}))]
    at = rows.index("├─╮ ▾ one  ✓ done")
    assert rows[at + 1 : at + 4] == ["│ ◆    3 n0", "│ ●    4 n1", "│ ●    5 n2"]
    assert rows[at + 4].startswith("●")


def copied(*, more: int) -> ThreadView:
    """Four steps, and a fork of copies at step 1 with ``more`` steps of its own, made an hour later."""
    main = chain("main", count=4)
    base: Ref | None = None
    copy = []
    for header in main[:2]:
        copy.append(replace(header, ref=Ref("copy", "", header.ref.id), parent=base, status=Status.UNFINISHED))
        base = copy[-1].ref
    own = chain("copy", count=more, base=base, at=3600)
    return ThreadView("main", main[-1].ref, [main, [*copy, *own]], copies=True)


def test_a_fork_of_copies_alone_stands_as_a_fork_that_was_not_run_yet() -> None:
    rows = drawn(copied(more=0), trunk=Ref("copy", "", "main-1"))
    assert rows[2].startswith("├─◇ ▸ main")
    assert rows[3].startswith("◆      1 n1 ‹head")
    assert rows[3].endswith(" F")
    assert rows[4].startswith("○      2 x  not run yet")


def test_the_word_at_the_head_moves_nothing_where_the_badge_is_empty() -> None:
    main = chain("main", count=3)
    main[2] = replace(main[2], nodes=("write_summary",))
    view = ThreadView("main", main[-1].ref, [main], copies=False)
    items = graph_items(view.rows(frozenset(), view.head))
    columns = columns_for(52, items, view.headers)
    facts = GraphFacts(view.headers, view.head, changed={header.ref: "~x" for header in main})
    rows = [text_of(graph_line(item, columns, facts)) for item in items[:3]]
    assert "write_summary ‹head ~x" in rows[2]
    assert len({row.index("~x") for row in rows}) == 1


def test_the_time_until_somebody_forked_is_no_steps() -> None:
    view = copied(more=2)
    first, second = (ref for ref in view.headers if ref.thread == "copy")
    assert step_seconds(view.headers[first], view.headers) is None
    assert step_seconds(view.headers[second], view.headers) == 2.0


def test_another_trunk_keeps_lane_0_and_the_old_line_becomes_a_branch_with_its_threads_name() -> None:
    view = family()
    rows = drawn(view, trunk=Ref("one", "", "one-2"))
    assert any(row.startswith("├─◇ ▸ main") for row in rows)
    assert [row[0] for row in rows if row[0] in "●◆○"] == ["●", "●", "●", "◆", "●", "●"]


def test_more_than_eight_stubs_at_one_point_become_one_row_that_can_be_listed() -> None:
    main = chain("main", count=3)
    forks = [chain(f"f{number}", count=1, base=main[1].ref, source="fork", at=2) for number in range(9)]
    view = ThreadView("main", main[-1].ref, [main, *forks], copies=False)
    items = graph_items(view.rows())
    assert [item.kind for item in items] == ["checkpoint", "checkpoint", "more", "checkpoint"]
    assert (items[2].branches, items[2].hidden) == (9, 9)
    listed = graph_items(view.rows(), {(items[2].ref, items[2].lane)})
    assert [item.kind for item in listed].count("fold") == 9


@pytest.mark.parametrize(
    ("status", "sign", "words"),
    [
        (Status.FAILED, "×", "failed"),
        (Status.WAITING, "‖", "waiting for an answer"),
        (Status.UNFINISHED, "○", "not run yet"),
        (Status.CANCELLED, "○", "cancelled"),
    ],
)
def test_what_would_run_next_stands_after_the_tip_with_a_sign_and_a_word(status: str, sign: str, words: str) -> None:
    ref = Ref("t", "", "1")
    header = Header(ref, None, 4, "loop", START, ("plan",), ("deploy",), status)
    view = ThreadView("t", ref, [[header]], copies=False)
    last = drawn(view)[-1]
    assert last.split() == [sign, "5", "deploy", *words.split()]


def test_the_reason_takes_the_place_of_the_word_and_a_live_run_that_of_both() -> None:
    ref = Ref("t", "", "1")
    headers = {ref: Header(ref, None, 4, "loop", START, ("plan",), ("deploy",), Status.FAILED)}
    item = GraphItem("next", ref, 0, status=Status.FAILED)
    columns = columns_for(60, [item], headers)
    noted = text_of(graph_line(item, columns, GraphFacts(headers, ref, notes={ref: "failed: HTTP 502"})))
    assert "deploy  failed: HTTP 502" in noted
    live = text_of(graph_line(item, columns, GraphFacts(headers, ref, live="deploy  00:42")))
    assert live.startswith("◐")
    assert live.endswith("deploy  00:42")


def test_nothing_stands_after_a_step_that_its_own_thread_went_on_from() -> None:
    view = family()
    kinds = [item.kind for item in graph_items(view.rows())]
    assert kinds.count("next") == 0


def test_columns_go_in_the_order_size_changed_time_badge_and_step_and_node_never() -> None:
    view = family()
    items = graph_items(view.rows())
    seen = []
    for width in range(90, 11, -1):
        columns = columns_for(width, items, view.headers)
        shown = tuple(bool(part) for part in (columns.size, columns.changed, columns.delta, columns.badge))
        if not seen or seen[-1] != shown:
            seen.append(shown)
    assert seen == [
        (True, True, True, True),
        (False, True, True, True),
        (False, False, True, True),
        (False, False, False, True),
        (False, False, False, False),
    ]


@pytest.mark.parametrize("width", [8, 20, 35, 49, 76, 120, 200])
def test_no_row_is_wider_than_its_place(width: int) -> None:
    view = TripSession().open_thread("trip-planner")
    unfolded = frozenset(view.headers)
    items = graph_items(view.rows(unfolded))
    columns = columns_for(width, items, view.headers)
    facts = GraphFacts(view.headers, view.head, dict.fromkeys(view.headers, "~消息+1,usage"), now=START)
    for item in items:
        assert cells(graph_line(item, columns, facts)) <= max(width, 24)


def test_badges_time_changed_keys_and_the_head_are_shown() -> None:
    session = TripSession()
    view = session.open_thread("trip-planner")
    items = graph_items(view.rows())
    columns = columns_for(76, items, view.headers)
    facts = GraphFacts(view.headers, view.head, {view.head: "~messages+1"})
    lines = [text_of(graph_line(item, columns, facts)) for item in items]
    assert " I " in lines[0]
    assert "input" in lines[0]
    assert "+2.1s" in lines[2]
    assert "24 agent ‹head" in lines[-1]
    assert "~messages+1" in lines[-1]


def test_a_row_that_can_be_read_only_in_part_says_so() -> None:
    ref = Ref("t", "", "1")
    header = Header(ref, None, 1, "loop", None, ("n",), problem="metadata is not JSON")
    view = ThreadView("t", ref, [[header]], copies=False)
    assert drawn(view)[0].startswith("!")
    assert "metadata is not JSON" in drawn(view)[0]
    assert "n  ‹head  metadata" in drawn(view, width=40)[0]


def test_a_head_with_a_problem_is_still_marked_as_the_head() -> None:
    ref = Ref("t", "", "1")
    view = ThreadView(
        "t", ref, [[Header(ref, None, 1, "loop", None, ("n",), problem="no id is greater")]], copies=False
    )
    items = graph_items(view.rows())
    columns = columns_for(60, items, view.headers)
    for head, says in ((ref, "n  ‹head  no id is greater"), (Ref("t", "", "2"), "n  no id is greater")):
        assert says in text_of(graph_line(items[0], columns, GraphFacts(view.headers, head)))


def test_time_order_names_the_thread_of_each_checkpoint() -> None:
    view = family()
    items = TimeItems(view)
    assert [item.ref for item in items] == list(view.headers)
    columns = columns_for(70, items, view.headers)
    lines = [text_of(graph_line(item, columns, GraphFacts(view.headers))) for item in items]
    assert "main" in lines[0]
    assert sum("two" in line for line in lines) == 2


def test_ascii_has_no_sign_beyond_ascii() -> None:
    view = TripSession().open_thread("trip-planner")
    items = graph_items(view.rows())
    columns = columns_for(60, items, view.headers)
    facts = GraphFacts(view.headers, view.head, glyphs=ASCII)
    assert all(text_of(graph_line(item, columns, facts)).isascii() for item in items)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.174, "+174ms"),
        (2.1, "+2.1s"),
        (192, "+3m12"),
        (7500, "+2h05"),
        (400_000, "+5d"),
        (-1.5, "-1.5s"),
        (59.96, "+0m59"),
    ],
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert delta_text(seconds) == text


def test_a_clock_has_hours_only_when_it_needs_them() -> None:
    assert (clock_text(42.9), clock_text(3723)) == ("00:42", "1:02:03")


def test_a_node_that_runs_several_times_at_once_is_named_once_with_their_number() -> None:
    assert names_text(("worker", "worker", "join", "worker")) == "worker (3), join"
    assert names_text(()) == ""
    assert "\x1b" not in names_text(("\x1b[2J", "\x1b[2J"))


@pytest.mark.parametrize("width", [40, 60, 100])
def test_many_next_nodes_leave_room_for_why_they_have_not_run(width: int) -> None:
    (header,) = chain("main", count=1)
    ref, nodes = header.ref, tuple(f"node_{number}" for number in range(30))
    view = ThreadView("main", ref, [[replace(header, next=nodes, status=Status.WAITING)]], copies=False)
    items = graph_items(view.rows(frozenset(), ref))
    columns = columns_for(width, items, view.headers)
    said: tuple[tuple[dict[Ref, str], str], ...] = (({}, "waiting for an"), ({ref: "waiting: Approve it?"}, "waiting"))
    for notes, shown in said:
        line = graph_line(items[-1], columns, GraphFacts(view.headers, ref, notes=notes))
        assert "node_0" in text_of(line)
        assert shown in text_of(line)
        assert cells(line) <= width


def test_the_words_of_a_request_are_found_and_nothing_is_a_python_repr() -> None:
    def asks(value: Value) -> str:
        return note_of((Task("1", "ask", "", Status.WAITING, interrupts=(Interrupt("i", value),)),), ())

    assert asks({"question": "Approve?", "options": []}) == "waiting: Approve?"
    assert asks({"amount": 1}) == "waiting: {amount: 1}"
    assert asks(Opaque("msgpack+aes", b"abc")) == "waiting: <msgpack+aes 3>"
