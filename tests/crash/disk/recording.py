"""A disk under SQLite that notes every write and sync in order, and can fail at one of them.

The writes go through to the real files, so that whoever runs on the disk sees no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw

from tests.crash.disk.images import Deed

NAME = "noted"
INHERITED = "unix"
CODES = {
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "delete": apsw.SQLITE_IOERR_DELETE,
}


class Disk(apsw.VFS):
    """``fails`` says of each deed, by its number, whether the disk refuses it. ``world`` is a file beside the disk."""

    def __init__(self, world: Path, fails: Callable[[int], bool] = lambda number: False) -> None:
        self.deeds: list[Deed] = []
        self.refused: list[str] = []
        self._world = world
        self._fails = fails
        self._count = 0
        super().__init__(NAME, INHERITED, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> File:
        return File(self, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        self.note("delete", name, 0, b"", bool(syncdir))
        super().xDelete(name, syncdir)

    def note(self, kind: str, name: str, offset: int = 0, data: bytes = b"", durable: bool = False) -> None:
        """Raises apsw.IOError where the disk refuses it."""
        self._count += 1
        if self._fails(self._count):
            self.refused.append(f"{kind} {Path(name).name}")
            error = apsw.IOError(f"the disk refused to {kind}")
            error.result, error.extendedresult = apsw.SQLITE_IOERR, CODES[kind]
            raise error
        self._keep(Deed(kind, Path(name).name, offset, data, durable))

    def mark(self, what: str) -> None:
        """Note something that is no deed of the disk's."""
        self._keep(Deed("mark", what))

    def _keep(self, deed: Deed) -> None:
        seen = self._world.stat().st_size if self._world.exists() else 0
        self.deeds.append(replace(deed, seen=seen))


class File(apsw.VFSFile):
    """One open file of the disk's."""

    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__(INHERITED, name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        self._disk.note("write", self._name, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._disk.note("truncate", self._name, size)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._disk.note("sync", self._name)
        super().xSync(flags)
