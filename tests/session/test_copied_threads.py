"""Forks that nobody noted: told by the ids that a copy has in common with its original."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.model import Change, Ref
from tests.engine.graph_threads import started
from tt_debug.session.session import Session


def test_a_fork_made_elsewhere_is_known_by_its_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "theirs"))
    path = started(tmp_path / "t.sqlite", "letters:builder")
    started(path, "letters:builder", "other")
    theirs = Session.open(str(path))
    theirs.fork(theirs.resolve("t@2"), "one", (Change("add", ("log", 3), new="x"),))
    theirs.fork(theirs.resolve("one"), "two")
    theirs.close()
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "ours"))
    session = Session.open(str(path))
    assert {info.thread: info.forked_from for info in session.threads()} == {
        "t": None,
        "other": None,
        "one": session.resolve("t@2"),
        "two": session.resolve("one"),
    }
    view = session.open_thread("t")
    assert {ref.thread for ref in view.headers} == {"t", "one", "two"}
    assert view.line(session.resolve("one"))[-2] == session.resolve("t@2")
    assert not (tmp_path / "ours").exists()


def test_ids_that_are_not_unique_prove_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3
    from contextlib import closing

    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    path = started(tmp_path / "t.sqlite", "letters:builder")
    started(path, "letters:builder", "other")
    with closing(sqlite3.connect(path)) as db, db:
        for thread in ("t", "other"):
            first = "(SELECT min(checkpoint_id) FROM checkpoints WHERE thread_id = ?)"
            db.execute(f"UPDATE checkpoints SET checkpoint_id = '0' WHERE checkpoint_id = {first}", (thread,))
    session = Session.open(str(path))
    assert {info.forked_from for info in session.threads()} == {None}
    assert {ref.thread for ref in session.open_thread("t").headers} == {"t"}
    assert Ref("t", "", "0") in session.open_thread("t").headers
