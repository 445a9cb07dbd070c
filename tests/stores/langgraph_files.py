"""The LangGraph files under tests/data, unpacked where a test may do with them what it likes."""

from __future__ import annotations

import hashlib
import lzma
import sqlite3
from pathlib import Path

DATA = Path(__file__).parent.parent / "data" / "langgraph"

CURRENT = "lg1.2.24_sqlite3.1.2.sqlite"


def unpack(name: str, folder: Path) -> Path:
    """A fresh copy of a fixture; its `-wal` comes along where there is one."""
    for part in (name, f"{name}-wal"):
        packed = DATA / f"{part}.xz"
        if packed.exists():
            (folder / part).write_bytes(lzma.decompress(packed.read_bytes()))
    return folder / name


def text(name: str) -> str:
    """The content of a packed text file."""
    return lzma.decompress((DATA / f"{name}.xz").read_bytes()).decode()


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file of a folder with its SHA-256."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def rows_of(path: Path, thread: str) -> list[tuple[object, ...]]:
    """Every row of one thread in both tables, as bytes."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return [
            row
            for table in ("checkpoints", "writes")
            for row in db.execute(f"SELECT * FROM {table} WHERE thread_id = ? ORDER BY 2, 3, 4, 5, 6", (thread,))
        ]
    finally:
        db.close()
