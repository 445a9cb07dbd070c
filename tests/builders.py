"""Builders of the stores that tests look at: native files, mapped tables, other programs' files.

Owns making them from nothing, deterministically; refuses to assert anything.
"""

from __future__ import annotations

import lzma
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

import orjson

from stores.conformance import SAMPLE
from stores.model import NewCheckpoint
from stores.native.sqlite import NativeStore, create_native

KEPT: Final = Path(__file__).parent / "data"


def native_file(path: Path, checkpoints: Iterable[NewCheckpoint] = SAMPLE) -> Path:
    """A native store holding ``checkpoints``, closed."""
    create_native(path)
    with closing(NativeStore(path, read_only=False)) as store:
        for new in checkpoints:
            store.append(new)
    return path


def table_file(path: Path, checkpoints: Iterable[NewCheckpoint] = SAMPLE, *, journal_mode: str = "delete") -> Path:
    """An application's own table ``history(run, id, prev, payload, at)``, in the order given."""
    rows = [
        (c.ref.thread, c.ref.id, c.parent and c.parent.id, orjson.dumps(dict(c.state)).decode()) for c in checkpoints
    ]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"PRAGMA journal_mode = {journal_mode}")
        db.execute(
            "CREATE TABLE history (run TEXT, id TEXT, prev TEXT, payload TEXT, at TEXT DEFAULT '2026-01-02T03:04:05')"
        )
        db.executemany("INSERT INTO history (run, id, prev, payload) VALUES (?, ?, ?, ?)", rows)
    return path


def sql_file(path: Path, script: str) -> Path:
    """A database made by an SQL script."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
    return path


def langgraph_file(name: str, folder: Path) -> Path:
    """A file that LangGraph wrote, of tests/data/langgraph, unpacked into ``folder``."""
    target = folder / name
    target.write_bytes(lzma.decompress((KEPT / "langgraph" / f"{name}.xz").read_bytes()))
    return target


def others_file(name: str, folder: Path) -> Path:
    """A file that another framework wrote, of tests/data/other, unpacked into ``folder``."""
    target = folder / name
    target.write_bytes(lzma.decompress((KEPT / "other" / f"{name}.xz").read_bytes()))
    return target
