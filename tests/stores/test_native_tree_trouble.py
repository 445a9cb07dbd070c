"""Native stores from before there were chunks, a death among chunks, and chunks that are lost or damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from stores.errors import Corrupt
from stores.model import Header, Ref
from stores.native import schema, tables
from stores.native.sqlite import NativeStore, create_native
from stores.native.trees import is_tree
from tests.stores.native_states import MESSAGES, append, chat, path, sql, store

__all__ = ["path", "store"]

# --- what was there before


@pytest.fixture
def older(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with history as the release before it wrote it: large states in their rows."""
    with monkeypatch.context() as patch:
        patch.setattr("stores.native.states.INLINE", 10**9)
        with closing(NativeStore(path, read_only=False)) as store:
            chat(store, 40)
    sql(path, "DROP TABLE chunks")
    sql(path, "UPDATE meta SET value = '4' WHERE key = 'schema'")
    return path


def test_history_of_the_schema_before_stays_as_it_is(older: Path) -> None:
    columns = "SELECT thread_id, checkpoint_id, parent_id, state, checksum, size FROM checkpoints WHERE seq <= 40"
    before = sql(older, columns)
    with closing(NativeStore(older)) as looking:
        assert looking.load(Ref("chat", "", "000039")).state["messages"] == MESSAGES[:40]
        assert looking.fault(looking.head("chat")) is None
    assert sql(older, "SELECT value FROM meta WHERE key = 'schema'") == [("4",)]
    with closing(NativeStore(older, read_only=False)) as store:
        after = append(store, {"messages": MESSAGES[:41], "n": 41}, store.head("chat"))
        assert store.load(after.ref).state["messages"] == MESSAGES[:41]
        assert store.load(Ref("chat", "", "000039")).state["messages"] == MESSAGES[:40]
        assert store.fault(after.ref) is None
    assert sql(older, columns) == before
    assert sql(older, "SELECT value FROM meta WHERE key = 'schema'") == [(str(len(schema.MIGRATIONS)),)]
    assert is_tree(sql(older, "SELECT state FROM checkpoints WHERE seq = 41")[0][0])


def test_the_table_is_made_as_it_stands_in_a_new_store(older: Path, tmp_path: Path) -> None:
    create_native(older)
    create_native(tmp_path / "new.sqlite")
    shape = "SELECT sql FROM sqlite_master WHERE tbl_name = 'chunks' ORDER BY name"
    assert sql(older, shape) == sql(tmp_path / "new.sqlite", shape)
    assert "chunks" in tables.OURS


def killed(path: Path, script: str, at: str) -> int:
    code = f"import pathlib, sys; path = pathlib.Path(sys.argv[1])\n{script}"
    environment = {**os.environ, "TT_DEBUG_KILL_AT": at} if at else None
    return subprocess.run([sys.executable, "-c", code, str(path)], env=environment, check=False).returncode


@pytest.mark.parametrize("at", ["sqlite.begun", "native.schema-changed", "sqlite.written"])
def test_a_death_in_the_migration_leaves_the_store_as_it_was(older: Path, at: str) -> None:
    script = "from stores.native.sqlite import create_native; create_native(path)"
    before = sql(older, "SELECT sql FROM sqlite_master"), sql(older, "SELECT * FROM meta ORDER BY key")
    assert killed(older, script, at) == -9
    with closing(NativeStore(older)) as looking:
        assert looking.fault(looking.head("chat")) is None
    assert (sql(older, "SELECT sql FROM sqlite_master"), sql(older, "SELECT * FROM meta ORDER BY key")) == before
    assert killed(older, script, "") == 0
    assert sql(older, "SELECT value FROM meta WHERE key = 'schema'") == [(str(len(schema.MIGRATIONS)),)]


APPEND = """
from stores.native.sqlite import NativeStore
from tests.stores.native_states import MESSAGES, append
store = NativeStore(path, read_only=False)
append(store, {"messages": MESSAGES[:41], "image": b"image" * 1000}, store.head("chat"))
"""


@pytest.mark.parametrize("at", ["native.chunks-inserted", "sqlite.written"])
def test_a_death_while_chunks_are_written_leaves_none_behind(store: NativeStore, path: Path, at: str) -> None:
    head = chat(store, 40)[-1].ref
    count = "SELECT count(*) FROM chunks"
    before = sql(path, count)
    assert killed(path, APPEND, at) == -9
    assert (store.head("chat"), sql(path, count)) == (head, before)
    assert killed(path, APPEND, "") == 0
    assert store.load(store.head("chat")).state["messages"] == MESSAGES[:41]
    assert store.fault(store.head("chat")) is None


# --- damage


def damaged(path: Path, steps: int, damage: str) -> list[Header]:
    """A chat, of which the chunk that came with the last but third message is damaged."""
    with closing(NativeStore(path, read_only=False)) as store:
        headers = chat(store, steps)
    place = "(SELECT hash FROM chunks WHERE length(data) > 700 ORDER BY rowid DESC LIMIT 1 OFFSET 2)"
    sql(path, damage.replace("hash = IT", f"hash = {place}"))
    return headers


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ("DELETE FROM chunks WHERE hash = IT", "is gone"),
        ("UPDATE chunks SET data = CAST(substr(data, 1, 40) || 'x' || substr(data, 42) AS BLOB) WHERE hash = IT",
         "is damaged"),
        ("UPDATE chunks SET data = x'00' WHERE hash = IT", "is damaged"),
        ("UPDATE chunks SET data = 'text' WHERE hash = IT", "is damaged"),
        ("UPDATE chunks SET data = (SELECT data FROM chunks LIMIT 1) WHERE hash = IT", "is damaged"),
    ],
)  # fmt: skip
def test_a_lost_or_flipped_chunk_is_told_with_its_place(path: Path, damage: str, what: str) -> None:
    headers = damaged(path, 40, damage)
    with closing(NativeStore(path)) as store:
        for header in headers[-3:]:
            with pytest.raises(Corrupt, match=rf"{header.ref.id}.*chunk [0-9a-f]{{12}} of messages\[37\] {what}"):
                store.load(header.ref)
            fault = store.fault(header.ref)
            assert fault is not None
            assert fault[0] == header.ref
            assert what in fault[1]
        assert store.load(headers[-4].ref).state["messages"] == MESSAGES[:37]
        assert store.fault(headers[-4].ref) is None
        assert len(store.headers("chat").items) == 40


@pytest.mark.parametrize(
    "text",
    [
        '["tt-debug/tree-2",{}]',
        '["tt-debug/tree-1",7]',
        '["tt-debug/tree-1",{"list":[[[1]]]}]',
        '["tt-debug/tree-1",{"dict":[["x"]]}]',
        '["tt-debug/tree-1","j0000"]',
        '["tt-debug/tree-1"]',
        '["tt-debug/tree-1",',
    ],
)
def test_a_row_that_is_no_tree_is_corrupt(store: NativeStore, path: Path, text: str) -> None:
    header = append(store, {"messages": MESSAGES[:40]})
    sql(path, "UPDATE checkpoints SET state = ?", text)
    with closing(NativeStore(path)) as anew:
        with pytest.raises(Corrupt, match=header.ref.id):
            anew.load(header.ref)
        assert anew.fault(header.ref) is not None
