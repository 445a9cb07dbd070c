"""What driving a graph leaves as it was in the user's file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.engine.graph_threads import AGENTS, KINDS, listing, run, started, stored_log, target


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(AGENTS)


def journal_mode(path: Path, wanted: str | None = None) -> str:
    with closing(sqlite3.connect(path)) as db:
        (found,) = db.execute(f"PRAGMA journal_mode = {wanted}" if wanted else "PRAGMA journal_mode").fetchone()
    return str(found)


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("graph", KINDS)
def test_the_files_journal_mode(tmp_path: Path, graph: str, mode: str) -> None:
    """The savers' own set-up asks for WAL, which stays in the file for good."""
    store = started(tmp_path / "store.sqlite", "letters:builder", interrupt_before=["b"])
    assert journal_mode(store, mode) == mode
    assert run(store, target(graph)).end.status == "done"
    assert journal_mode(store) == mode
    assert stored_log(store) == ["in", "a", "b", "c", "d"]
    assert [name for name in listing(tmp_path) if name.startswith("store")] == ["store.sqlite"]
