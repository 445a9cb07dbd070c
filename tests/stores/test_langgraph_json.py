"""Histories stored as JSON, by LangGraph JS and by Python's savers up to 1.0.9: edited in the form they have."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores.errors import Invalid
from stores.langgraph.sqlite import LangGraphStore
from stores.model import Change, Ref
from tests.stores.langgraph_files import rows_of, unpack
from tests.stores.langgraph_graphs import config, saver_of
from tests.stores.langgraph_views import header

PYTHON = "lg0.2.20_sqlite1.0.3.sqlite"
JS = "js_lg1.7.3_sqlite1.0.4.sqlite"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


def stored(path: Path, ref: Ref) -> tuple[str, dict[str, Any], type]:
    """A row's type, its content as JSON, and in what its metadata is stored."""
    where = "(thread_id, checkpoint_ns, checkpoint_id) = (?, ?, ?)"
    with closing(sqlite3.connect(path)) as db:
        question = f"SELECT type, checkpoint, metadata FROM checkpoints WHERE {where}"
        kind, content, metadata = db.execute(question, ref).fetchone()
    return kind, json.loads(content), type(metadata)


@pytest.mark.parametrize(
    ("name", "thread", "step"), [(PYTHON, "agent-linear", 3), (JS, "js-agent", 4)], ids=["python", "js"]
)
def test_an_edit_keeps_the_form_and_everything_else(name: str, thread: str, step: int, tmp_path: Path) -> None:
    path = unpack(name, tmp_path)
    store = LangGraphStore(path, read_only=False)
    before = rows_of(path, thread)
    base = header(store, thread, step=step)
    state = store.load(base.ref).state
    fork = store.fork(base.ref, "fork", [Change("change", ("turn",), state["turn"], 99)])
    assert (fork.next, fork.source, fork.step) == (base.next, "fork", step + 1)
    assert store.load(fork.ref).state == {**state, "turn": 99}
    assert rows_of(path, thread) == before
    (kind, new, metadata), (_, old, as_before) = stored(path, fork.ref), stored(path, base.ref)
    assert (kind, metadata) == ("json", as_before)
    assert new["channel_values"] == {**old["channel_values"], "turn": 99}
    changed = {name for name, version in new["channel_versions"].items() if version != old["channel_versions"][name]}
    assert changed == {"turn"}
    assert new["channel_versions"]["turn"] > max(old["channel_versions"].values())
    assert new["versions_seen"] == old["versions_seen"]
    store.close()


def test_python_reads_it_back_with_its_classes(tmp_path: Path) -> None:
    path = unpack(PYTHON, tmp_path)
    store = LangGraphStore(path, read_only=False)
    base = header(store, "agent-linear", step=3)
    content = ("messages", 0, "kwargs", "content")
    state = store.load(base.ref).state
    asked = state["messages"][0]["kwargs"]["content"]
    store.fork(base.ref, "fork", [Change("change", content, asked, "Łódź?")])
    store.close()
    with saver_of(path) as saver:
        found = saver.get_tuple(config("fork"))  # type: ignore[arg-type]
    assert found is not None
    first = found.checkpoint["channel_values"]["messages"][0]
    assert (type(first).__name__, first.content) == ("SystemMessage", "Łódź?")


@pytest.mark.parametrize("value", [2**53, math.nan, "\ud800"])
def test_what_javascript_would_read_otherwise_is_refused_with_its_path(value: object, tmp_path: Path) -> None:
    path = unpack(JS, tmp_path)
    store = LangGraphStore(path, read_only=False)
    base = header(store, "js-agent", step=4)
    with pytest.raises(Invalid, match=r"turn\.deep\[0\]"):
        store.fork(base.ref, "fork", [Change("change", ("turn",), None, {"deep": [value]})])
    assert rows_of(path, "fork") == []
    store.close()


def test_a_file_of_the_first_releases_is_forked_and_edited(tmp_path: Path) -> None:
    path = unpack("lg0.1.19_builtin.sqlite", tmp_path)
    store = LangGraphStore(path, read_only=False)
    base = header(store, "agent-linear", step=3)
    state = store.load(base.ref).state
    copy = store.fork(base.ref, "copy")
    fork = store.fork(base.ref, "fork", [Change("change", ("turn",), state["turn"], 99)])
    assert (copy.next, fork.next, fork.step) == (base.next, base.next, 4)
    assert store.load(fork.ref).state == {**state, "turn": 99}
    assert store.load(copy.ref).state == state
    assert store.info.notices == ()
    store.close()
