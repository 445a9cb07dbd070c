"""A head whose tasks have all finished and no checkpoint followed: their results are applied, and the graph goes on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores import open_store
from stores.protocol import Writer
from tests.engine.graph_threads import AGENTS, KINDS, run, started, stored_log, target
from tests.engine.test_graph_forks import header

BOTH = pytest.mark.parametrize("graph", KINDS)
WHOLE = ["in", "a", "b", "c", "d"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


@BOTH
def test_a_fork_that_keeps_its_results(tmp_path: Path, graph: str) -> None:
    path = started(tmp_path / "t.sqlite", "letters:builder")
    store = open_store(str(path), read_only=False)
    assert isinstance(store, Writer)
    for step, thread in ((1, "kept b"), (3, "kept d")):
        store.fork(header(store, step).ref, thread, keep_results=True)
    store.close()
    outcome = run(path, target(graph), thread="kept b")
    assert (outcome.end.status, outcome.nodes()) == ("done", ["c", "d"])
    assert stored_log(path, "kept b") == WHOLE
    last = run(path, target(graph), thread="kept d")
    assert (last.end.status, last.nodes()) == ("done", [])
    assert stored_log(path, "kept d") == WHOLE
    again = run(path, target(graph), thread="kept d")
    assert (again.end.status, again.end.head) == ("done", last.end.head)


@BOTH
def test_an_application_that_was_killed_before_it_stored_the_step(tmp_path: Path, graph: str) -> None:
    """A task's writes are stored when it ends, the step's checkpoint a moment later."""
    path = started(tmp_path / "t.sqlite", "letters:builder", interrupt_before=["c"])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM checkpoints WHERE checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints)")
    outcome = run(path, target(graph), until="d")
    assert (outcome.end.status, outcome.nodes()) == ("paused", ["c"])
    assert run(path, target(graph)).nodes() == ["d"]
    assert stored_log(path) == WHOLE
