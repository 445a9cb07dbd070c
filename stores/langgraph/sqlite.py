"""LangGraph's SQLite files as a store. The package langgraph is neither needed nor imported.

Owns the file's connections; refuses to know rows: those are `stores.langgraph.base`'s and below.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, TypeVar

from stores.langgraph import kept
from stores.langgraph.base import CAPABILITIES, LangGraphBase
from stores.langgraph.skeleton import Skeleton
from stores.langgraph.sqlite_listing import Listing
from stores.langgraph.sqlite_survey import survey
from stores.langgraph.sqlite_tables import SqliteTables
from stores.langgraph.tables import Tables, WritableTables
from stores.model import Capability, Ref, StoreInfo
from stores.salvaging import SalvagingReader
from stores.sqlite import file_id, foreign_lock, open_writing

if TYPE_CHECKING:
    from stores.scanning import Answer, Holds

T = TypeVar("T")


class LangGraphStore(LangGraphBase):
    """Reads what SqliteSaver and AsyncSqliteSaver write, and appends forks and edits to it."""

    def __init__(self, path: Path, *, read_only: bool = True) -> None:
        """Open a file. Raises Unreachable or Corrupt for what is no database, Unsupported for foreign tables."""
        super().__init__(str(path), read_only=read_only)
        self._path = path
        self._reader = SalvagingReader(path)
        self._listing = Listing()
        try:
            can_fork, notices = self._ask_file(lambda tables: (tables.is_writable, survey(tables, self._key_problem)))
        except BaseException:
            self._reader.close()
            raise
        self._info = StoreInfo(
            url=str(path),
            kind="langgraph",
            store_id=file_id(path),
            capabilities=CAPABILITIES if can_fork else CAPABILITIES - {Capability.FORK},
            read_only=read_only,
            path=str(path),
            notices=notices,
        )

    @property
    def info(self) -> StoreInfo:
        """What this store is and can do."""
        # Damage may show only where a row is asked for.
        if self._reader.salvaged is None:
            return self._info
        capabilities = self._info.capabilities - {Capability.FORK}
        notices = (str(self._reader.salvaged), *self._info.notices)
        return replace(self._info, capabilities=capabilities, notices=notices)

    def version(self) -> object:
        """As `stores.protocol.TellsVersion`."""
        return self._reader.version()

    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""
        self._reader.close()

    def copies(self) -> Mapping[str, Ref]:
        """As `stores.protocol.TellsCopies`."""
        return self._ask_file(lambda tables: tables.copies())

    def scan(
        self, refs: Sequence[Ref], holds: Holds | None = None, only: Collection[str] | None = None
    ) -> Sequence[Answer]:
        """As `stores.scanning.Scans`."""
        from stores.langgraph.scanning import Wanted, scan, widened
        from stores.langgraph.sqlite_scanning import SqliteScanning

        wanted = Wanted(widened(holds), None if only is None else frozenset(only))

        def question(db: Connection) -> Sequence[Answer]:
            tables = SqliteScanning.of(db, self._seal)
            told = tables.telling(refs) if wanted.holds is not None else ()
            return scan(refs, tables.whole(refs, wanted.holds), told, self._decoder, wanted)

        with self._lock:
            return self._reader.read(question)

    def _ask(self, question: Callable[[Tables], T]) -> T:
        return self._ask_file(question)

    def _ask_file(self, question: Callable[[SqliteTables], T]) -> T:
        # A saver that opens the file meanwhile may add a column, so they are looked up on each snapshot (20 µs).
        with self._lock:
            return self._reader.read(lambda db: question(SqliteTables.of(db, self._seal, self._listing)))

    def _read_skeleton(self, tables: Tables, thread: str) -> Skeleton:
        if not isinstance(tables, SqliteTables):
            return tables.skeleton(thread)
        return kept.skeleton(self._path, self._reader.inode, tables, thread)

    @contextlib.contextmanager
    def _writing(self, thread: str) -> Iterator[WritableTables]:
        """A write transaction on a connection of its own, which is gone afterwards."""
        from stores.langgraph.sqlite_writing import SqliteWriting

        writing = open_writing(self._path, foreign_lock(self._path))
        try:
            with writing.transaction() as db:
                yield SqliteWriting.of(db, self._seal)
        finally:
            writing.close()
