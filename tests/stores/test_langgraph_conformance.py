"""LangGraph files against the contract of all stores."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores import ids
from stores.codec import msgpack
from stores.conformance import SAMPLE, TRIP, AddressConformance, StoreConformance, WriterConformance
from stores.langgraph.sqlite import LangGraphStore
from stores.model import NewCheckpoint

SCHEMA = """
CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
CREATE TABLE writes (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL, task_path TEXT NOT NULL DEFAULT '', idx INTEGER NOT NULL, channel TEXT NOT NULL,
    type TEXT, value BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""


def content_of(new: NewCheckpoint) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sample's checkpoint as a saver is given it, and its metadata."""
    version = f"{(new.step or 0) + 2:032}.0.{new.ref.id[-4:]}"
    coming = {f"branch:to:{node}": None for node in new.next}
    made = ids.time_of(new.ref.id)
    assert made is not None
    content = {
        "v": 4,
        "ts": made.isoformat(),
        "id": new.ref.id,
        "channel_values": {**new.state, **coming},
        "channel_versions": dict.fromkeys((*new.state, *coming), version),
        "versions_seen": {"__input__": {}},
        "updated_channels": sorted(coming),
    }
    return content, {"source": new.source, "step": new.step, "parents": {}}


def row_of(new: NewCheckpoint) -> tuple[object, ...]:
    """The same as a saver stores it."""
    content, metadata = content_of(new)
    parent = new.parent.id if new.parent else None
    return (new.ref.thread, "", new.ref.id, parent, "msgpack", msgpack.encode(content), json.dumps(metadata).encode())


@pytest.fixture(params=["wal", "delete"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample in a file of its own folder, in either mode of journalling."""
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    (tmp_path / "db").mkdir()
    made = tmp_path / "db" / "sample.sqlite"
    with closing(sqlite3.connect(made)) as db:
        db.execute(f"PRAGMA journal_mode = {request.param}")
        db.executescript(SCHEMA)
        db.executemany("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", map(row_of, SAMPLE))
        db.commit()
    return made


@pytest.fixture
def sample(path: Path) -> Iterator[LangGraphStore]:
    store = LangGraphStore(path, read_only=False)
    yield store
    store.close()


@pytest.fixture
def frozen(path: Path) -> Iterator[LangGraphStore]:
    store = LangGraphStore(path)
    yield store
    store.close()


class TestLangGraphStore(StoreConformance, AddressConformance, WriterConformance):
    def test_a_fork_is_a_new_thread_and_the_base_stays(self, sample: Any) -> None:
        """Without changes a fork is a copy: its head is the base itself, and has no row to keep a reason in."""
        base = SAMPLE[2]
        header = sample.fork(base.ref, "fork", meta={"why": "to see"})
        original = sample.load(base.ref)
        assert header.ref == base.ref._replace(thread="fork")
        assert (header.source, header.next) == (original.header.source, original.header.next)
        assert sample.load(header.ref).state == original.state
        assert sample.head("fork") == header.ref
        assert [one.ref.id for one in sample.headers("fork").items] == [new.ref.id for new in reversed(SAMPLE[:3])]
        assert sample.threads().items[0].thread == "fork"
        assert len(sample.headers(TRIP).items) == 6
