"""From a fork to its end: the store copies and edits, the driver runs the user's graph on, stock LangGraph agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores import open_store
from stores.model import Change, Header
from stores.protocol import Store, Writer
from tests.engine.graph_threads import AGENTS, KINDS, run, started, stock, stored_log, target
from tt_debug.engine.graph import describe_graph


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


def header(store: Store, step: int, thread: str = "t") -> Header:
    [found] = [header for header in store.headers(thread).items if header.step == step and header.ref.ns == ""]
    return found


def forked(path: Path, step: int, changes: tuple[Change, ...] = (), thread: str = "f") -> Header:
    store = open_store(str(path), read_only=False)
    assert isinstance(store, Writer)
    try:
        return store.fork(header(store, step).ref, thread, changes)
    finally:
        store.close()


EDIT = (Change("change", ("log", 2), "b", "B!"),)


@pytest.mark.parametrize("graph", KINDS)
def test_an_edited_fork_runs_from_its_base_and_the_original_stays(tmp_path: Path, graph: str) -> None:
    import letters

    path = started(tmp_path / "t.sqlite", "letters:builder")
    base = forked(path, 2, EDIT)
    assert describe_graph(target(graph), str(path), "f").next == base.next == ("c",)
    outcome = run(path, target(graph), thread="f")
    assert (outcome.end.status, outcome.nodes()) == ("done", ["c", "d"])
    assert outcome.the("run_started").fields["base"] == base.ref.id
    assert stored_log(path) == ["in", "a", "b", "c", "d"]
    with stock(path, letters.builder) as app:
        state = app.get_state({"configurable": {"thread_id": "f"}})
        assert (state.values, state.next) == ({"log": ["in", "a", "B!", "c", "d"]}, ())


def test_a_fork_stops_before_a_node_and_goes_on(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "letters:builder")
    forked(path, 1)
    assert run(path, target("letters:graph"), thread="f", until="d").nodes() == ["b", "c"]
    assert run(path, target("letters:graph"), thread="f", single_step=True).nodes() == ["d"]


def test_a_breakpoint_of_the_graph_is_passed_where_the_fork_begins_at_it(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "letters:builder")
    forked(path, 2)
    forked(path, 1, thread="earlier")
    assert run(path, target("letters:stops_at_c"), thread="f").nodes() == ["c", "d"]
    assert run(path, target("letters:stops_at_c"), thread="earlier").nodes() == ["b"]


def test_an_edit_in_the_thread_itself(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "letters:builder", interrupt_before=["c"])
    forked(path, 2, EDIT, thread="t")
    assert run(path, target("letters:graph")).nodes() == ["c", "d"]
    assert stored_log(path) == ["in", "a", "B!", "c", "d"]


@pytest.mark.parametrize("changes", [(), (Change("add", ("log", 1), new="more"),)])
def test_a_forked_question_is_answered_at_once(tmp_path: Path, changes: tuple[Change, ...]) -> None:
    path = started(tmp_path / "t.sqlite", "questions:one")
    forked(path, 0, changes)
    outcome = run(path, target("questions:one"), thread="f", answer="large", has_answer=True)
    assert (outcome.end.status, outcome.nodes()) == ("done", ["size", "last"])
    assert stored_log(path, "f") == ["in", *[change.new for change in changes], ["size", "large"], "last"]
    waiting = run(path, target("questions:one"))
    assert waiting.end.status == "waiting"
