"""What LangGraph keeps in memory, written to a file: ``tt_debug.snapshot(saver, "run.db")`` in the user's own process.

Owns LangGraph's SQLite tables as its SqliteSaver 3.1 makes them; imports nothing of LangGraph and reads nothing back.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, Protocol, cast

_TABLES: Final = """
CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
CREATE TABLE writes (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL, task_path TEXT NOT NULL DEFAULT '', idx INTEGER NOT NULL, channel TEXT NOT NULL,
    type TEXT, value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""
_PARTS: Final = ("storage", "writes", "serde", "list")


class _Serializer(Protocol):
    def dumps_typed(self, obj: object) -> tuple[str, bytes]: ...


class _InMemorySaver(Protocol):
    """The public parts of LangGraph's class of that name."""

    storage: Mapping[str, object]
    writes: Mapping[tuple[str, str, str], Mapping[tuple[str, int], tuple[Any, ...]]]
    serde: _Serializer

    def list(self, config: object) -> Iterable[Any]: ...


def snapshot(saver: object, path: str | os.PathLike[str]) -> Path:
    """Write every thread of an InMemorySaver to a new SQLite file, as LangGraph's SqliteSaver would have.

    Call it between two steps. tt-debug opens the file, and a SqliteSaver goes on from it. Values are packed by the
    saver's own serializer. Raises TypeError for another kind of saver, FileExistsError for a path that is taken; what
    was begun is taken away when it fails.
    """
    missing = [name for name in _PARTS if not hasattr(saver, name)]
    if missing:
        raise TypeError(f"snapshot takes LangGraph's InMemorySaver, and a {type(saver).__name__} has no {missing[0]}")
    target = Path(path)
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(target)) as db, db:
            db.executescript(_TABLES)
            _fill(db, cast(_InMemorySaver, saver))
    except BaseException:
        with suppress(FileNotFoundError):
            target.unlink()
        raise
    return target


def _fill(db: sqlite3.Connection, saver: _InMemorySaver) -> None:
    for thread in list(saver.storage):
        db.executemany("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", _checkpoints(saver, thread))
    db.executemany("INSERT INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _writes(saver))


def _checkpoints(saver: _InMemorySaver, thread: str) -> Iterator[tuple[object, ...]]:
    """A thread's rows. In memory values stand apart from their checkpoint; here each checkpoint holds its own."""
    for found in saver.list({"configurable": {"thread_id": thread}}):
        here = found.config["configurable"]
        parent = found.parent_config["configurable"]["checkpoint_id"] if found.parent_config else None
        kind, packed = saver.serde.dumps_typed(found.checkpoint)
        metadata = json.dumps(found.metadata, ensure_ascii=False, default=str).encode("utf-8", "ignore")
        yield str(thread), here["checkpoint_ns"], here["checkpoint_id"], parent, kind, packed, metadata


def _writes(saver: _InMemorySaver) -> Iterator[tuple[object, ...]]:
    for (thread, ns, checkpoint), stored in list(saver.writes.items()):
        for (task, index), write in list(stored.items()):
            # Early releases kept no path of the task.
            _, channel, (kind, packed), path = write if len(write) == 4 else (*write, "")
            yield str(thread), ns, checkpoint, task, path, index, channel, kind, packed
