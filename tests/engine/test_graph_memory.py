"""Subgraphs with a memory of earlier turns: LangGraph takes them for finished on a resume, and they have to run."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from stores.errors import Conflict
from stores.model import Change
from tests.engine.graph_threads import AGENTS, run, stock, stored_log, target
from tests.engine.test_graph_forks import forked

TWO_TURNS = ["one", "before", "remember before", "after", "two", "before", "remember before, before", "after"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


def turns(path: Path, graph: str, *inputs: str, **how: Any) -> Path:
    """Several turns of one thread, by stock LangGraph; ``how`` stops each."""
    import memories

    with stock(path, getattr(memories, graph.partition(":")[2])) as app:
        for value in inputs:
            with contextlib.suppress(ValueError):
                app.invoke({"log": [value]}, {"configurable": {"thread_id": "t"}}, **how)
    return path


@pytest.mark.parametrize("graph", ["memories:builder", pytest.param("memories:within", marks=pytest.mark.soak)])
def test_a_fork_before_a_memory_runs_it(tmp_path: Path, graph: str) -> None:
    """At step 6 the second turn has come to the memory, which finished the first."""
    store = turns(tmp_path / "t.sqlite", graph, "one", "two")
    assert stored_log(store) == TWO_TURNS
    forked(store, 6)
    outcome = run(store, target(graph), thread="f")
    assert (outcome.end.status, outcome.nodes()) == ("done", ["memory", "after"])
    assert stored_log(store, "f") == TWO_TURNS
    forked(store, 6, (Change("change", ("log", 5), "before", "EDITED"),), thread="edited")
    assert run(store, target(graph), thread="edited").nodes() == ["memory", "after"]
    assert stored_log(store, "edited")[-2:] == ["remember before, EDITED", "after"]


def test_a_breakpoint_before_a_memory_is_passed(tmp_path: Path) -> None:
    import memories

    store = turns(tmp_path / "t.sqlite", "memories:builder", "one")
    turns(store, "memories:builder", "two", interrupt_before=["memory"])
    assert run(store, target("memories:builder"), single_step=True).nodes() == ["memory"]
    assert run(store, target("memories:builder")).nodes() == ["after"]
    assert stored_log(store) == TWO_TURNS
    with stock(store, memories.builder) as app:
        config = {"configurable": {"thread_id": "t"}}
        assert app.invoke({"log": ["three"]}, config)["log"][-2] == "remember before, before, before"


@pytest.mark.soak
def test_a_memory_that_asks_goes_on_with_its_answer(tmp_path: Path) -> None:
    store = turns(tmp_path / "t.sqlite", "memories:asking", "one")
    graph = target("memories:asking")
    assert run(store, graph, answer="yes", has_answer=True).end.status == "done"
    turns(store, "memories:asking", "two")
    assert run(store, graph).end.status == "waiting"  # in the middle of this turn: nothing is begun again
    assert run(store, graph, answer="no", has_answer=True).nodes() == ["memory", "after"]
    log = [*TWO_TURNS[:2], "told yes after before", *TWO_TURNS[3:6], "told no after before, before", "after"]
    assert stored_log(store) == log
    forked(store, 6)
    with pytest.raises(Conflict, match="memory") as caught:
        run(store, graph, thread="f", answer="late", has_answer=True)
    assert "without an answer" in caught.value.hint
    assert run(store, graph, thread="f").end.status == "waiting"
    assert run(store, graph, thread="f", answer="late", has_answer=True).end.status == "done"
    assert stored_log(store, "f")[-2:] == ["told late after before, before", "after"]


def test_a_node_that_failed_before_its_memory_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = turns(tmp_path / "t.sqlite", "memories:within", "one")
    with monkeypatch.context() as patch:
        patch.setenv("FAIL_AT", "recall")
        turns(store, "memories:within", "two")
    assert run(store, target("memories:within")).nodes() == ["memory", "after"]
    assert stored_log(store) == TWO_TURNS


def test_results_of_a_sibling_are_not_given_up_for_a_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = turns(tmp_path / "t.sqlite", "memories:beside", "one")
    with monkeypatch.context() as patch:
        patch.setenv("FAIL_AT", "recall")
        turns(store, "memories:beside", "two")
    before = stored_log(store)
    with pytest.raises(Conflict, match="skip memory") as caught:
        run(store, target("memories:beside"))
    assert "one step earlier" in caught.value.hint
    assert stored_log(store) == before
