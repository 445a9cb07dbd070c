"""A family of threads as one graph: every checkpoint once, forks where they left, copies standing for originals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from stores.model import Change, Header, Ref
from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView, call_name

START = datetime(2026, 9, 14, tzinfo=UTC)


def _header(thread: str, id: str, parent: Ref | None, at: int, ns: str = "", **more: object) -> Header:
    return Header(Ref(thread, ns, id), parent, at, "loop", START + timedelta(seconds=at), **more)  # type: ignore[arg-type]


def _chain(thread: str, ids: str, parent: Ref | None = None, at: int = 0) -> list[Header]:
    found: list[Header] = []
    for id in ids:
        found.append(_header(thread, id, parent, at + len(found)))
        parent = found[-1].ref
    return found


def test_a_native_fork_hangs_under_the_checkpoint_it_came_from() -> None:
    main = _chain("main", "abcd")
    fork = _chain("fork", "xy", main[1].ref, at=10)
    view = ThreadView("main", main[-1].ref, [main, fork], copies=False)
    assert [(row.ref.id, row.lane) for row in view.rows()] == [("a", 0), ("b", 0), ("x", 1), ("c", 0), ("d", 0)]
    stub = view.rows()[2]
    assert (stub.kind, stub.title, stub.hidden, stub.branches) == ("fold", "fork", 2, 1)
    assert [row.ref.id for row in view.rows(frozenset([fork[0].ref]))] == ["a", "b", "x", "y", "c", "d"]
    assert list(view.rows(None)) == list(view.rows(frozenset(view.refs)))


def test_the_trunk_is_the_line_of_what_is_asked_for() -> None:
    main = _chain("main", "abcd")
    fork = _chain("fork", "xy", main[1].ref, at=10)
    view = ThreadView("main", main[-1].ref, [main, fork], copies=False)
    rows = view.rows(trunk=fork[-1].ref)
    assert [(row.kind, row.ref.id) for row in rows if row.lane == 0] == [
        ("checkpoint", "a"), ("checkpoint", "b"), ("checkpoint", "x"), ("checkpoint", "y"),
    ]  # fmt: skip
    assert [ref.id for ref in view.line(fork[-1].ref)] == list("abxy")
    assert ["".join(ref.id for ref in view.line(newest=count)) for count in (0, 2, 9)] == ["", "cd", "abcd"]
    assert [row.title for row in rows if row.kind == "fold"] == ["main"]


def test_rows_copied_by_a_fork_appear_once() -> None:
    main = _chain("main", "abcd")
    copy = _chain("fork", "abx")
    view = ThreadView("main", main[-1].ref, [main, copy], copies=True)
    assert sorted(ref.id for ref in view.headers) == ["a", "b", "c", "d", "x"]
    assert view.headers[Ref("fork", "", "x")].parent == Ref("main", "", "b")
    assert view.standing(Ref("fork", "", "b")) == Ref("main", "", "b")
    assert view.standing(Ref("fork", "", "x")) == Ref("fork", "", "x")
    assert view.standing(Ref("fork", "", "y")) is None
    other = ThreadView("fork", copy[-1].ref, [copy, main], copies=True)
    assert [ref.thread for ref in other.line()] == ["fork", "fork", "fork"]
    assert other.headers[Ref("main", "", "c")].parent == Ref("fork", "", "b")


def test_a_fork_on_which_nothing_happened_yet_still_has_its_head() -> None:
    main = _chain("main", "abcd")
    copy = _chain("fork", "ab")
    view = ThreadView("main", main[-1].ref, [main, copy], copies=True)
    head = copy[-1].ref
    assert view.headers[head].parent == main[1].ref
    assert [ref for ref in view.headers if ref.thread == "fork"] == [head]
    assert [(row.title, row.ref) for row in view.rows() if row.kind == "fold"] == [("fork", head)]
    assert view.line(head) == (main[0].ref, main[1].ref, head)
    other = ThreadView("fork", head, [copy, main], copies=True)
    assert other.line() == (copy[0].ref, head)
    whole = ThreadView("main", main[-1].ref, [main, _chain("twin", "abcd")], copies=True)
    assert whole.line() == tuple(header.ref for header in main)


def test_a_subgraphs_history_hangs_under_what_enclosed_it() -> None:
    main = _chain("t", "abc")
    inner = [_header("t", "s", None, 1, ns="research:1", meta={"parents": {"": "b"}})]
    view = ThreadView("t", main[-1].ref, [[*main, *inner]], copies=True)
    assert view.headers[inner[0].ref].parent == main[1].ref
    assert [row.title for row in view.rows() if row.kind == "fold"] == ["research"]
    assert view.tips() == (main[-1].ref,)


def test_what_follows_a_subgraph_goes_on_in_its_lane_however_short() -> None:
    main = _chain("t", "ab")
    inner = [_header("t", "i", None, 1, ns="sub:1", meta={"parents": {"": "b"}})]
    inner.append(_header("t", "j", inner[0].ref, 2, ns="sub:1", meta={"parents": {"": "b"}}))
    deep = [_header("t", "x", None, 3, ns="sub:1|leaf:2", meta={"parents": {"": "b", "sub:1": "j"}})]
    deep += [_header("t", each, deep[-1].ref, 4, ns="sub:1|leaf:2") for each in "y"]
    inner.append(_header("t", "k", inner[1].ref, 9, ns="sub:1", meta={"parents": {"": "b"}}))
    view = ThreadView("t", main[-1].ref, [[*main, *inner, *deep]], copies=True)
    rows = [(row.lane, row.ref.id, row.title) for row in view.rows(frozenset(view.headers))]
    assert rows == [
        (0, "a", ""), (0, "b", ""), (1, "i", "sub"), (1, "j", ""), (2, "x", "leaf"), (2, "y", ""), (1, "k", ""),
    ]  # fmt: skip
    assert [(row.title, row.hidden, row.branches) for row in view.rows() if row.kind == "fold"] == [("sub", 5, 2)]
    assert [ref.id for ref in view.line(deep[-1].ref)] == ["a", "b", "i", "j", "x", "y"]
    assert view.tip(deep[0].ref) == deep[-1].ref
    assert view.tip(main[0].ref) == main[-1].ref


def test_each_call_of_a_subgraph_that_keeps_its_state_hangs_under_its_own_caller() -> None:
    main = _chain("t", "abcd")
    first = [_header("t", "i", None, 1, ns="memory", meta={"parents": {"": "b"}})]
    first.append(_header("t", "j", first[0].ref, 2, ns="memory", meta={"parents": {"": "b"}}))
    second = [_header("t", "k", first[1].ref, 3, ns="memory", meta={"parents": {"": "d"}})]
    second.append(_header("t", "l", second[0].ref, 4, ns="memory", meta={"parents": {"": "d"}}))
    view = ThreadView("t", main[-1].ref, [[*main, *first, *second]], copies=True)
    assert [(row.lane, row.ref.id) for row in view.rows(frozenset(view.headers))] == [
        (0, "a"), (0, "b"), (1, "i"), (1, "j"), (0, "c"), (0, "d"), (1, "k"), (1, "l"),
    ]  # fmt: skip
    assert [row.title for row in view.rows() if row.kind == "fold"] == ["memory", "memory"]
    # Its own parent stays the last row of the call before, which is what its state comes from.
    assert view.headers[second[0].ref].parent == first[1].ref
    assert [ref.id for ref in view.line(second[1].ref)] == ["a", "b", "c", "d", "k", "l"]
    assert view.tip(first[0].ref) == first[1].ref


def test_a_copied_caller_stands_for_its_copy() -> None:
    main = _chain("t", "abc")
    copy = _chain("fork", "abx")
    inner = [_header("fork", "i", None, 5, ns="sub:1", meta={"parents": {"": "b"}})]
    view = ThreadView("t", main[-1].ref, [main, [*copy, *inner]], copies=True)
    assert view.headers[inner[0].ref].parent == main[1].ref
    assert [row.title for row in view.rows() if row.kind == "fold"] == ["fork", "sub"]


def test_a_subgraph_is_called_by_its_nodes() -> None:
    assert call_name("research:1") == "research"
    assert call_name("mid:1|inner:2") == "mid / inner"
    assert call_name("mid:1|inner:2", "mid:1") == "inner"
    assert call_name("outer|mid", "outer:7") == "mid"
    assert call_name("both:1|1") == "both #2"
    assert call_name("1:7") == "1"


def test_orphans_and_cycles_are_drawn_and_never_looped_on() -> None:
    rows = [_header("t", "a", Ref("t", "", "gone"), 0), _header("t", "b", Ref("t", "", "c"), 1)]
    rows += [_header("t", "c", Ref("t", "", "b"), 2), _header("t", "d", Ref("t", "", "d"), 3)]
    view = ThreadView("t", rows[0].ref, [rows], copies=True)
    assert sorted(row.ref.id for row in view.rows(frozenset(view.headers))) == ["a", "b", "c", "d"]
    assert len(view.line(rows[2].ref)) <= 4


def test_a_fork_by_us_in_a_langgraph_file_is_known_by_the_journal(langgraph: Session) -> None:
    base = langgraph.resolve("trip-kyoto@15")
    fork = langgraph.fork(base, "fixed", (Change("change", ("budget", "per_night"), 96_000, 32_000),))
    info = next(info for info in langgraph.threads() if info.thread == "fixed")
    assert info.forked_from == base
    view = langgraph.open_thread("trip-kyoto")
    assert view.headers[fork.ref].parent == base
    unchanged = langgraph.fork(base, "unchanged")
    assert unchanged.ref in langgraph.open_thread("trip-kyoto")
    assert [row.title for row in view.rows() if row.kind == "fold"] == ["fixed"]
    assert [ref.thread for ref in langgraph.open_thread("fixed").line()] == ["fixed"] * 18
