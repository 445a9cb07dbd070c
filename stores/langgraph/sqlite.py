"""LangGraph's SQLite files as a store. The package langgraph is neither needed nor imported.

Owns paging and what is kept between calls; refuses to read rows itself: that is `stores.langgraph.thread`.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from stores import ids
from stores.codec.aes import KEY_VARIABLE, Seal
from stores.codec.msgpack import Decoder
from stores.errors import Invalid, NotFound, ReadOnly, StoreError, Unsupported
from stores.langgraph import skeleton
from stores.langgraph.skeleton import Key, Skeleton
from stores.langgraph.steps import Memory, Steps
from stores.langgraph.survey import survey
from stores.langgraph.tables import Tables, ThreadRow
from stores.langgraph.thread import ThreadReading
from stores.langgraph.write import Forking
from stores.model import Capability, Change, Checkpoint, Header, NewCheckpoint, Page, Ref, StoreInfo, ThreadInfo
from stores.salvaging import SalvagingReader
from stores.sqlite import file_id, foreign_lock, open_writing

T = TypeVar("T")

_CAPABILITIES: Final = frozenset({Capability.FORK, Capability.NAMESPACES, Capability.TASKS})
_KEPT_THREADS: Final = 8


class LangGraphStore:
    """Reads what SqliteSaver and AsyncSqliteSaver write, and appends forks and edits to it."""

    def __init__(self, path: Path, *, read_only: bool = True) -> None:
        """Open a file. Raises Unreachable or Corrupt for what is no database, Unsupported for foreign tables."""
        self._path = path
        self._read_only = read_only
        self._lock = threading.RLock()
        self._memory = Memory()
        self._skeletons: OrderedDict[str, tuple[tuple[int, str | None], Skeleton]] = OrderedDict()
        self._decoders: OrderedDict[str, Decoder] = OrderedDict()
        self._reader = SalvagingReader(path)
        self._seal, problem = _seal(os.environ.get(KEY_VARIABLE))
        try:
            found, notices = self._reader.read(lambda db: _first_look(db, self._seal, problem))
        except BaseException:
            self._reader.close()
            raise
        self._info = StoreInfo(
            url=str(path),
            kind="langgraph",
            store_id=file_id(path),
            capabilities=_CAPABILITIES if found.is_current else _CAPABILITIES - {Capability.FORK},
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

    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""
        self._reader.close()

    # --- reading

    def threads(self, after: str | None = None, limit: int = 200) -> Page[ThreadInfo]:
        """Newest write first; of two threads the one whose row was stored last."""
        _check_limit(limit)

        def question(db: sqlite3.Connection, tables: Tables) -> Page[ThreadInfo]:
            found = tables.threads(db)
            if after is not None:
                found = [row for row in found if row.written < _read_written(after)]
            page = found[:limit]
            more = str(page[-1].written) if page and len(found) > limit else None
            return Page(tuple(self._thread_info(db, tables, row) for row in page), more)

        return self._ask(question)

    def _thread_info(self, db: sqlite3.Connection, tables: Tables, row: ThreadRow) -> ThreadInfo:
        reading = ThreadReading(Steps(db, tables, row.thread, self._memory))
        shown = Key(row.head, "") if row.head is not None else row.newest
        header = reading.header(shown)
        return ThreadInfo(
            thread=row.thread,
            checkpoints=row.checkpoints,
            head=header.ref if row.head is not None else None,
            step=header.step,
            status=header.status,
            updated=ids.time_of(row.newest.id) or header.created,
            last_node=header.nodes[-1] if header.nodes else None,
            meta=header.meta,
        )

    def headers(self, thread: str, after: str | None = None, limit: int = 1000) -> Page[Header]:
        """Newest id first, a child always before its parent. Raises NotFound; Invalid for another list's ``after``."""
        _check_limit(limit)

        def question(db: sqlite3.Connection, tables: Tables) -> Page[Header]:
            reading = self._thread(db, tables, thread)
            assert reading.skeleton is not None
            order = reading.skeleton.order
            start = 0 if after is None else _place(order, after) + 1
            page = order[start : start + limit]
            more = " ".join(page[-1]) if page and start + limit < len(order) else None
            return Page(tuple(reading.header(key) for key in page), more)

        return self._ask(question)

    def head(self, thread: str, ns: str = "") -> Ref:
        """The newest id, as the savers look it up. Raises NotFound."""

        def question(db: sqlite3.Connection, tables: Tables) -> Ref:
            reading = self._thread(db, tables, thread)
            assert reading.skeleton is not None
            newest = max((key for key in reading.skeleton.order if key.ns == ns), default=None)
            if newest is None:
                raise NotFound(f"thread {thread!r} has no checkpoint in namespace {ns!r}")
            return Ref(thread, ns, newest.id)

        return self._ask(question)

    def load(self, ref: Ref) -> Checkpoint:
        """State and tasks. Raises NotFound, and Corrupt when nothing of the state can be read."""

        def question(db: sqlite3.Connection, tables: Tables) -> Checkpoint:
            reading = self._thread(db, tables, ref.thread)
            return reading.checkpoint(Key(ref.id, ref.ns), self._decoder(ref.thread))

        return self._ask(question)

    # --- writing

    def append(self, new: NewCheckpoint, fence: tuple[str, int] | None = None) -> Header:
        """Always Unsupported: which channels wake which nodes is the graph's to say."""
        raise Unsupported(
            "a checkpoint of LangGraph's cannot be made without its graph", hint="Fork or edit one that is there."
        )

    def fork(
        self,
        base: Ref,
        thread: str,
        changes: Sequence[Change] = (),
        *,
        keep_results: bool = False,
        meta: Mapping[str, object] | None = None,
    ) -> Header:
        """As `stores.protocol.Writer.fork`. A copy without changes has no row of its own, so ``meta`` is not kept."""
        with self._writing() as db:
            tables = Tables.of(db, self._seal)
            if not tables.is_current:
                raise Unsupported(f"{self._path} was written by an early release of LangGraph: it can only be read")
            # Of its own, not what readers share: a wait for another writer keeps nobody from looking.
            rows = tables.skeleton(db, base.thread)
            forking = Forking.at(ThreadReading(Steps(db, tables, base.thread, Memory(), skeleton.build(rows))), base)
            if thread == base.thread:
                forking.check_alive()
                head = forking.edit(thread, changes, meta or {}, max(id for _, id, _ in rows))
            else:
                newest = forking.to_thread(thread, keep_results=keep_results)
                head = forking.edit(thread, changes, meta or {}, newest) if changes else forking.base
        return self._ask(lambda db, tables: self._thread(db, tables, thread).header(head))

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction on a connection of its own, which is gone afterwards."""
        if self._read_only:
            raise ReadOnly(f"{self._path} was opened for reading only", hint="Open it without --read-only.")
        writing = open_writing(self._path, foreign_lock(self._path))
        try:
            with writing.transaction() as db:
                yield db
        finally:
            writing.close()

    # --- what is kept between calls

    def _ask(self, question: Callable[[sqlite3.Connection, Tables], T]) -> T:
        # A saver that opens the file meanwhile may add a column, so they are looked up on each snapshot (20 µs).
        with self._lock:
            return self._reader.read(lambda db: question(db, Tables.of(db, self._seal)))

    def _thread(self, db: sqlite3.Connection, tables: Tables, thread: str) -> ThreadReading:
        stamp = tables.count(db, thread)
        if stamp[0] == 0:
            raise NotFound(f"no thread {thread!r} in {self._path}")
        known = self._skeletons.get(thread)
        if known is None or known[0] != stamp:
            known = stamp, skeleton.build(tables.skeleton(db, thread))
            _keep(self._skeletons, thread, known)
        return ThreadReading(Steps(db, tables, thread, self._memory, known[1]))

    def _decoder(self, thread: str) -> Decoder:
        found = self._decoders.get(thread) or Decoder()
        _keep(self._decoders, thread, found)
        return found


def _keep(kept: OrderedDict[str, T], name: str, value: T) -> None:
    kept[name] = value
    kept.move_to_end(name)
    while len(kept) > _KEPT_THREADS:
        kept.popitem(last=False)


def _seal(key: str | None) -> tuple[Seal | None, str | None]:
    """What opens encrypted values, and why a key that was given does not."""
    if not key:
        return None, None
    try:
        return Seal(key), None
    except StoreError as error:
        return None, f"{error} ({error.hint})" if error.hint else str(error)


def _first_look(db: sqlite3.Connection, seal: Seal | None, problem: str | None) -> tuple[Tables, tuple[str, ...]]:
    tables = Tables.of(db, seal)
    return tables, survey(db, tables, problem)


def _check_limit(limit: int) -> None:
    if limit < 0:
        raise ValueError(f"a page cannot have {limit} items")


def _read_written(after: str) -> int:
    try:
        return int(after)
    except ValueError:
        raise Invalid(f"not the end of a page of threads: {after!r}") from None


def _place(order: Sequence[Key], after: str) -> int:
    id, _, ns = after.partition(" ")
    try:
        return order.index(Key(id, ns))
    except ValueError:
        raise Invalid(f"not the end of a page of this thread: {after!r}") from None
