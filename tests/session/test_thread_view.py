"""A family of threads as one graph: every checkpoint once, forks where they left, copies standing for originals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from stores.model import Change, Header, Ref
from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView

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


def test_the_trunk_is_the_line_of_what_is_asked_for() -> None:
    main = _chain("main", "abcd")
    fork = _chain("fork", "xy", main[1].ref, at=10)
    view = ThreadView("main", main[-1].ref, [main, fork], copies=False)
    rows = view.rows(trunk=fork[-1].ref)
    assert [(row.kind, row.ref.id) for row in rows if row.lane == 0] == [
        ("checkpoint", "a"), ("checkpoint", "b"), ("checkpoint", "x"), ("checkpoint", "y"),
    ]  # fmt: skip
    assert [ref.id for ref in view.line(fork[-1].ref)] == list("abxy")
    assert [row.title for row in rows if row.kind == "fold"] == ["main"]


def test_rows_copied_by_a_fork_appear_once() -> None:
    main = _chain("main", "abcd")
    copy = _chain("fork", "abx")
    view = ThreadView("main", main[-1].ref, [main, copy], copies=True)
    assert sorted(ref.id for ref in view.headers) == ["a", "b", "c", "d", "x"]
    assert view.headers[Ref("fork", "", "x")].parent == Ref("main", "", "b")
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
