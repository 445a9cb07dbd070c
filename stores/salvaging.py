"""A reader that goes on with what is left of a damaged file, from a copy of its own.

Owns when that happens; refuses to know pages (`stores.pages`) and what is kept of them (`stores.salvage`).
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from stores.errors import Unreachable
from stores.rereading import rereading
from stores.sqlite import Reader, connect
from stores.sqlite_errors import RESTORE, Damaged, is_damage, translated

if TYPE_CHECKING:
    from stores.salvage import Salvaged

T = TypeVar("T")


class SalvagingReader(Reader):
    """As `Reader`. Where SQLite gives up, the rows are taken from the file's pages, and ``salvaged`` says of what."""

    def __init__(self, path: Path) -> None:
        self.salvaged: Salvaged | None = None
        super().__init__(path)

    @rereading
    def read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """The answer to ``question``, from what is left when the file turns out to be damaged where it is asked for."""
        try:
            with self.connection() as db:
                return question(db)
        except Damaged:
            if self.salvaged is not None:
                raise
        with self._lock, translated(self._path):
            self._open_salvaged()
        with self.connection() as db:
            return question(db)

    @property
    def inode(self) -> tuple[int, int] | None:
        """Device and inode of the file that is open; None where its rows were salvaged."""
        found = self._seen.main
        return None if found is None or self.salvaged is not None else found[:2]

    def _open(self) -> None:
        self.salvaged = None
        try:
            super()._open()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            self._open_salvaged()

    def _open_salvaged(self) -> None:
        # Damage is rare, and every store is opened by one of these.
        import shutil
        import tempfile

        from stores.pages import Broken
        from stores.salvage import salvage

        self._drop()
        self._locking = False
        self._copy = tempfile.TemporaryDirectory(prefix="tt-debug-")
        folder = Path(self._copy.name)
        try:
            for suffix in ("", "-wal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(f"{self._path}{suffix}", folder / f"damaged{suffix}")
            self.salvaged = salvage(folder / "damaged", folder / "salvaged")
        except Broken as error:
            self._drop()
            raise Damaged(f"{self._path} is damaged: {error}", hint=RESTORE) from error
        except OSError as error:
            self._drop()
            raise Unreachable(
                f"{self._path} is damaged, and there is no room to take it apart: {error.strerror}",
                hint="Free some space for temporary files, or set TMPDIR.",
            ) from error
        (folder / "damaged").unlink()
        self._db = connect(folder / "salvaged", "mode=ro&immutable=1")
