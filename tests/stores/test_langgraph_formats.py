"""A checkpoint of a format that a later release of LangGraph may bring: shown, with a notice, and never written on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import ormsgpack
import pytest

from stores.codec import splice
from stores.errors import Unsupported
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Change, Header
from tests.stores.langgraph_files import CURRENT, rows_of, unpack


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose newest checkpoint of "agent-linear" says that its format is 99."""
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    path = unpack(CURRENT, tmp_path)
    newest = "thread_id = 'agent-linear' AND checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints"
    where = f"{newest} WHERE thread_id = 'agent-linear')"
    with closing(sqlite3.connect(path)) as db, db:
        (blob,) = db.execute(f"SELECT checkpoint FROM checkpoints WHERE {where}").fetchone()
        parts = [part._replace(raw=ormsgpack.packb(99)) if part.key == "v" else part for part in splice.split_map(blob)]
        db.execute(f"UPDATE checkpoints SET checkpoint = ? WHERE {where}", (splice.join_map(parts),))
    return path


def newest_of(store: LangGraphStore) -> Header:
    return store.headers("agent-linear").items[0]


def test_it_is_shown_with_a_notice(later: Path) -> None:
    store = LangGraphStore(later)
    header = newest_of(store)
    assert header.problem == "its format is version 99, later than any that tt-debug knows: it may be misread"
    assert "messages" in store.load(header.ref).state
    assert [one.problem for one in store.headers("agent-linear").items[1:]] == [None] * 31


@pytest.mark.parametrize("thread", ["fork", "agent-linear"])
def test_nothing_is_written_on_its_ground(later: Path, thread: str) -> None:
    store = LangGraphStore(later, read_only=False)
    before = rows_of(later, "agent-linear")
    header = newest_of(store)
    with pytest.raises(Unsupported, match="version 99") as caught:
        store.fork(header.ref, thread, [Change("change", ("turn",), store.load(header.ref).state["turn"], 9)])
    assert "earlier" in caught.value.hint
    assert rows_of(later, "agent-linear") == before
    assert rows_of(later, "fork") == []
    earlier = store.headers("agent-linear").items[3]
    assert store.fork(earlier.ref, "fork").next == earlier.next
