"""What can be said of an SQLite file from outside: what SQLite finds wrong in it, what lies beside it and under it.

Owns looking; refuses to mend.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from stores.errors import Corrupt
from stores.sqlite import open_reading

MOST_PROBLEMS: Final = 5
LONGEST_CHECK: Final = 300_000_000
"""Bytes up to which a file is read from end to end."""
_MOUNTS: Final = Path("/proc/self/mounts")
_NETWORK: Final = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "afs", "ceph", "glusterfs")


def faults(path: Path) -> tuple[str, ...] | None:
    """What SQLite's own check finds, a few sentences; None for a file that would take too long to read."""
    if path.stat().st_size > LONGEST_CHECK:
        return None
    try:
        reader = open_reading(path)
    except Corrupt as error:
        return (str(error),)
    try:
        return reader.read(_check)
    except Corrupt as error:
        return (str(error),)
    finally:
        reader.close()


def _check(db: sqlite3.Connection) -> tuple[str, ...]:
    found = [row[0] for row in db.execute(f"PRAGMA quick_check({MOST_PROBLEMS})")]
    return () if found == ["ok"] else tuple(found)


def beside(path: Path) -> dict[str, int]:
    """Companions of the file, ``-wal``, ``-shm`` or ``-journal``, and their sizes in bytes."""
    sizes = {}
    for suffix in ("-wal", "-shm", "-journal"):
        companion = Path(f"{path}{suffix}")
        if companion.exists():
            sizes[suffix] = companion.stat().st_size
    return sizes


def network_filesystem(path: Path) -> str | None:
    """The kind of file system when it is one whose locks SQLite cannot rely on; None where that is not known."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    mounts = [(fields[1], fields[2]) for line in lines if len(fields := line.split()) > 2]
    under = [(mount, kind) for mount, kind in mounts if os.path.commonpath([mount, path.resolve()]) == mount]
    kind = max(under, key=lambda found: len(found[0]), default=("", ""))[1]
    return kind if kind.startswith(_NETWORK) else None
