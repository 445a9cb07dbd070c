"""LangGraph files put together by hand: what no release of the runtime would write, and what only old ones did.

Owns making them, of any (type, bytes), with or without the columns of later savers; refuses to assert anything.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ormsgpack

CHECKPOINTS = """CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))"""
WRITES = """CREATE TABLE writes (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL, {path} idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))"""
WITH_PATH = WRITES.format(path="task_path TEXT NOT NULL DEFAULT '',")
WITHOUT_PATH = WRITES.format(path="")


def uuid(number: int, step: int = 0) -> str:
    """A checkpoint's id as LangGraph makes it: later numbers sort after earlier ones, the step stands inside."""
    return f"1f{number:06x}-0000-6000-{0x8000 | step & 0x3FFF:04x}-000000000000"


def version(number: int) -> str:
    """A channel's version as the savers count it."""
    return f"{number:032}.0.5"


def ext(code: int, *payload: Any) -> ormsgpack.Ext:
    """A value of a class, as LangGraph's serializer writes it."""
    return ormsgpack.Ext(code, ormsgpack.packb(list(payload), option=ormsgpack.OPT_NON_STR_KEYS))


def packed(value: Any) -> bytes:
    """msgpack, with keys of any kind."""
    return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)


@dataclass(frozen=True, slots=True)
class Row:
    """One checkpoint. ``values`` are its state; ``next`` the nodes that its edges lead to. ``blob`` replaces it all."""

    id: str
    parent: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    next: Sequence[str] = ()
    thread: str = "t"
    ns: str = ""
    step: int = 0
    source: str = "loop"
    meta: Mapping[str, Any] = field(default_factory=dict)
    type: str = "msgpack"
    content: Mapping[str, Any] = field(default_factory=dict)
    blob: bytes | str | None = None

    def stored(self) -> tuple[Any, ...]:
        """The row's columns."""
        metadata = json.dumps({"source": self.source, "step": self.step, "parents": {}, **self.meta})
        blob = self.blob if self.blob is not None else self._packed()
        return self.thread, self.ns, self.id, self.parent, self.type, blob, metadata

    def _packed(self) -> bytes | str:
        edges = {f"branch:to:{node}": None for node in self.next}
        names = (*self.values, *edges)
        content = {
            "v": 4,
            "ts": "2026-01-02T03:04:05+00:00",
            "id": self.id,
            "channel_values": {**self.values, **edges},
            "channel_versions": dict.fromkeys(names, version(self.step + 2)),
            "versions_seen": {"__input__": {}},
            "updated_channels": sorted(edges),
            **self.content,
        }
        kept = {name: value for name, value in content.items() if value is not ...}
        return packed(kept) if self.type == "msgpack" else json.dumps(kept)


@dataclass(frozen=True, slots=True)
class Wrote:
    """One row of a task's writes."""

    checkpoint: str
    task: str
    channel: str
    value: Any = None
    idx: int = 0
    path: str = ""
    thread: str = "t"
    ns: str = ""


def handmade(path: Path, rows: Sequence[Row], writes: Sequence[Wrote] = (), *, with_path: bool = True) -> Path:
    """A file in WAL mode, closed."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(CHECKPOINTS)
        db.execute(WITH_PATH if with_path else WITHOUT_PATH)
        db.executemany("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", [row.stored() for row in rows])
        columns = "thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value"
        for one in writes:
            stored = [one.thread, one.ns, one.checkpoint, one.task, one.idx, one.channel, "msgpack", packed(one.value)]
            more, extra = (", task_path", [one.path]) if with_path else ("", [])
            marks = ", ".join("?" * (8 + len(extra)))
            db.execute(f"INSERT INTO writes ({columns}{more}) VALUES ({marks})", [*stored, *extra])
    return path
