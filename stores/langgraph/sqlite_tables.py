"""The SQL over LangGraph's two SQLite tables, whichever generation of the saver made them: `Tables` on one snapshot.

Owns column names: they are looked up, never assumed, as savers added some and moved others. Refuses meaning.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, Self

from stores.codec.aes import Seal, is_sealed
from stores.errors import Corrupt, Unsupported
from stores.langgraph import sqlite_room, sqlite_threads
from stores.langgraph.collisions import Versions
from stores.langgraph.rows import Blob, CheckpointRow, WriteRow, as_bytes, as_text
from stores.langgraph.skeleton import Column, Key, Skeleton, build, is_ascending
from stores.langgraph.sqlite_listing import Listing, counted, is_text, spaces
from stores.langgraph.tables import recognises
from stores.model import Ref

_CURRENT: Final = ("checkpoint_id", "parent_checkpoint_id", "checkpoint_ns", "type", "metadata")
_FIRST: Final = ("thread_ts", "parent_ts", "''", "'json'", "metadata")
# What only an index of a damaged file still tells of has no channel.
_IS_WHOLE: Final = "channel IS NOT NULL"
_PAGE: Final = 10_000
_NO_WRITES: Final[Sequence[WriteRow]] = ()
_NO_BLOBS: Final[Mapping[str, Blob]] = MappingProxyType({})
_TOGETHER: Final = 200  # rows that one question asks for: four parameters each, and older SQLites take 999


@dataclass(frozen=True, slots=True)
class SqliteTables:
    """One snapshot of a file, and its columns as SQL expressions: those that a generation lacks are literals."""

    db: sqlite3.Connection
    id: str
    parent: str
    ns: str
    type: str
    metadata: str
    has_writes: bool
    write_path: str
    write_type: str
    seal: Seal | None = None
    listing: Listing = field(default_factory=Listing)
    # By thread, namespace and id. Looked into several times for each checkpoint, and a `Ref` to do so costs twice that.
    _stamps: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _written: dict[tuple[str, str, str], Sequence[WriteRow]] = field(default_factory=dict)

    @classmethod
    def of(cls, db: sqlite3.Connection, seal: Seal | None = None, listing: Listing | None = None) -> Self:
        """The tables of an open file; ``seal`` opens what is encrypted, ``listing`` is kept between snapshots.

        Raises Unsupported when they are others.
        """
        names = {table: columns_of(db, table) for table in ("checkpoints", "writes")}
        if not recognises(names):
            raise Unsupported("no LangGraph tables here", hint="Give a file written by LangGraph's SqliteSaver.")
        found, writes = names["checkpoints"], names["writes"]
        first = "checkpoint_id" not in found
        return cls(
            db=db,
            id="thread_ts" if first else "checkpoint_id",
            parent=_one_of(found, "parent_checkpoint_id", "parent_ts"),
            ns="checkpoint_ns" if "checkpoint_ns" in found else "''",
            type="type" if "type" in found else "'json'",
            metadata=_one_of(found, "metadata"),
            has_writes={"thread_id", "task_id", "idx", "channel", "value"} <= writes,
            write_path="task_path" if "task_path" in writes else "''",
            write_type="type" if "type" in writes else "'json'",
            seal=seal,
            listing=listing or Listing(),
        )

    @property
    def is_writable(self) -> bool:
        """Whether rows can be written as the saver that made the tables reads them."""
        return (self.id, self.parent, self.ns, self.type, self.metadata) in (_CURRENT, _FIRST)

    @property
    def is_first(self) -> bool:
        """Whether langgraph 0.1 wrote the file."""
        return self.id == "thread_ts"

    @property
    def addressed(self) -> str:
        """The condition that a row of either table has an address: other writers may have stored no text there."""
        return " AND ".join(f"typeof({column}) = 'text'" for column in ("thread_id", self.ns, self.id))

    threads = sqlite_threads.threads
    threads_at = sqlite_threads.threads_at
    copies = sqlite_threads.copies

    def skeleton(self, thread: str) -> Skeleton:
        """As `Tables.skeleton`."""
        columns = []
        for (ns,) in self.db.execute(spaces(self.ns), {"thread": thread}).fetchall():
            column = self._column(thread, ns) if ns.isascii() else None
            if column is None:
                return self._odd_skeleton(thread)
            columns.append(column)
        return Skeleton(columns)

    def _column(self, thread: str, ns: str) -> Column | None:
        """One namespace; None where names are other than LangGraph's own. Its pages come as two texts, which SQLite
        joins in a tenth of the time that a row for each checkpoint takes here; they grow with what there is of it, so
        that a long thread takes few, and the texts little room."""
        question = (
            f"SELECT count(*), group_concat(id, char(10)), group_concat(parent, char(10)) FROM ("
            f"SELECT {self.id} AS id, ifnull({self.parent}, '') AS parent FROM checkpoints {self._of_thread} "
            f"AND {self.ns} = ? AND {self.id} >= ? ORDER BY {self.id} LIMIT ?)"
        )
        column, start = Column.of(ns, (), ()), ""
        while True:
            limit = max(_PAGE, len(column.ids))
            count, *joined = self.db.execute(question, (thread, ns, start, limit)).fetchone()
            split = [text.split("\n") for text in joined if isinstance(text, str) and text.isascii()]
            if count and [len(part) for part in split] != [count, count]:
                return None
            column = column.followed_by(*split) if count else column
            if count < limit:
                return column if is_ascending(column.ids) else None
            start = f"{column.ids[-1]}\0"  # no text lies between the two

    def since(self, thread: str, last: Key) -> list[tuple[str, str]]:
        """As `Tables.since`."""
        question = (
            f"SELECT {self.id}, {self.parent} FROM checkpoints {self._of_thread} AND {self.ns} = ? AND {self.id} > ? "
            f"ORDER BY 1"
        )
        found = self.db.execute(question, (thread, last.ns, last.id))
        return [(id, as_text(parent)) for id, parent in filter(is_text, found)]

    def _odd_skeleton(self, thread: str) -> Skeleton:
        """The same row by row, where names are other than LangGraph's own."""
        question = f"SELECT {self.ns}, {self.id}, {self.parent} FROM checkpoints {self._of_thread}"
        found = filter(is_text, self.db.execute(question, (thread,)))
        return build((ns, id, as_text(parent)) for ns, id, parent in found)

    @property
    def _of_thread(self) -> str:
        return f"WHERE thread_id = ? AND {self.addressed}"

    def head(self, thread: str, ns: str) -> str | None:
        """As `Tables.head`."""
        return next(self.newest_first(thread, ns), None)

    def newest_first(self, thread: str, ns: str) -> Iterator[str]:
        """The ids of a namespace."""
        question = f"SELECT {self.id} FROM checkpoints {self._of_thread} AND {self.ns} = ? ORDER BY {self.id} DESC"
        return (id for (id,) in filter(is_text, self.db.execute(question, (thread, ns))))

    def newest(self, limit: int) -> list[tuple[str, Key]]:
        """The newest checkpoint of every thread and namespace, newest write first."""
        question = (
            f"SELECT thread_id, {self.ns}, max({self.id}), max(rowid) FROM checkpoints "
            f"WHERE {self.addressed} GROUP BY 1, 2 ORDER BY 4 DESC LIMIT ?"
        )
        return [(thread, Key(id, ns)) for thread, ns, id, _ in filter(is_text, self.db.execute(question, (limit,)))]

    def progress(self) -> int:
        """The number of the row that was stored last."""
        found = self.db.execute("SELECT max(rowid) FROM checkpoints").fetchone()
        return found[0] or 0

    def moment(self) -> tuple[sqlite3.Connection, int]:
        """As `Tables.moment`: SQLite counts the commits of other connections, and ours here makes none."""
        (version,) = self.db.execute("PRAGMA data_version").fetchone()
        return self.db, version

    def count(self, thread: str) -> tuple[int, str | None]:
        """How many checkpoints a thread has, and its newest id: changes when its skeleton does."""
        count, first, last = self.db.execute(counted(self.ns, self.id), {"thread": thread}).fetchone()
        if first == last:  # as in most: its greatest id is found, not looked for among all
            return count, None if first is None else self.head(thread, first)
        question = f"SELECT max({self.id}) FROM checkpoints WHERE thread_id = ? AND {self.addressed}"
        return count, self.db.execute(question, (thread,)).fetchone()[0]

    def read_many(
        self, refs: Iterable[Ref], known: Callable[[Ref], int | None]
    ) -> Iterator[tuple[Ref, int, CheckpointRow]]:
        """As `Tables.read_many`: the bytes of one checkpoint at a time are held."""
        wanted = [ref for ref in dict.fromkeys(refs) if ref not in self._stamps]
        remembered = [ref for ref in wanted if known(ref) is not None]
        for ref, (size,) in self._each(remembered, "checkpoints", "length(checkpoint)"):
            self._stamps[ref] = size or 0
        if self.has_writes:
            self._written.update(dict.fromkeys(wanted, _NO_WRITES))
            rows = self._each(wanted, "writes", f"task_id, {self.write_path}, idx, channel", _IS_WHOLE)
            for ref, of_one in groupby(rows, itemgetter(0)):
                self._written[ref] = [self._write(*row) for _, row in of_one]
        unknown = wanted
        if remembered:
            unknown = [ref for ref in wanted if ref not in self._stamps or self._stamps[ref] != known(ref)]
        what = f"{self.parent}, {self.type}, checkpoint, {self.metadata}"
        for ref, stored in self._each(unknown, "checkpoints", what):
            row = self._row(ref.ns, ref.id, *stored)
            self._stamps[ref] = row.size
            yield ref, row.size, row

    def _each(
        self, refs: Sequence[Ref], table: str, what: str, only: str = "1"
    ) -> Iterator[tuple[Ref, tuple[Any, ...]]]:
        """What is asked of the rows at these addresses, each found by the primary key."""
        for start in range(0, len(refs), _TOGETHER):
            part = refs[start : start + _TOGETHER]
            question = (
                f"WITH wanted(number, thread, ns, id) AS (VALUES {', '.join(['(?, ?, ?, ?)'] * len(part))}) "
                f"SELECT wanted.number, {what} FROM wanted CROSS JOIN {table} WHERE thread_id = wanted.thread "
                f"AND {self.ns} = wanted.ns AND {self.id} = wanted.id AND {only}"
            )
            numbered = [value for number, ref in enumerate(part) for value in (number, *ref)]
            for row in self.db.execute(question, numbered):
                yield part[row[0]], row[1:]

    def stamp(self, thread: str, key: Key) -> int | None:
        """The bytes of a checkpoint, without reading them: a row is never changed, only replaced."""
        if (stamp := self._stamps.get((thread, key.ns, key.id))) is not None:
            return stamp
        found = self._one("length(checkpoint)", thread, key)
        return None if found is None else found[0] or 0

    def outlined(self, thread: str, key: Key) -> CheckpointRow | None:
        """The whole row: its values all lie in the same bytes."""
        return self.checkpoint(thread, key)

    def checkpoint(self, thread: str, key: Key) -> CheckpointRow | None:
        """One whole row."""
        what = f"{self.ns}, {self.id}, {self.parent}, {self.type}, checkpoint, {self.metadata}"
        found = self._one(what, thread, key)
        if found is None:
            return None
        return self._row(*found)

    def _row(self, ns: str, id: str, parent: Any, stored: Any, content: Any, metadata: Any) -> CheckpointRow:
        kind = as_text(stored) or None
        opened, blob = self._opened(kind, content) if self.seal is not None else (kind, content)
        size = len(content if isinstance(content, str) else as_bytes(content))
        return CheckpointRow(ns, id, as_text(parent) or None, opened, blob, metadata, opened != kind, _NO_BLOBS, size)

    def _opened(self, kind: str | None, data: Any) -> tuple[str | None, Any]:
        """A (type, bytes) pair without its encryption; as it is when there is no key, or the wrong one."""
        if self.seal is None or kind is None or not is_sealed(kind) or not isinstance(data, bytes):
            return kind, data
        try:
            return self.seal.open(kind, data)
        except Corrupt:
            return kind, data

    def _one(self, what: str, thread: str, key: Key) -> tuple[Any, ...] | None:
        question = f"SELECT {what} FROM checkpoints WHERE thread_id = ? AND {self.ns} = ? AND {self.id} = ?"
        found: tuple[Any, ...] | None = self.db.execute(question, (thread, key.ns, key.id)).fetchone()
        return found

    def writes(self, thread: str, key: Key, *, values: bool = False) -> Sequence[WriteRow]:
        """What the tasks of a checkpoint's superstep wrote; the values only when asked for, as they lie behind."""
        if not self.has_writes:
            return []
        if not values and (known := self._written.get((thread, key.ns, key.id))) is not None:
            return known
        more = f", {self.write_type}, value" if values else ""
        question = (
            f"SELECT task_id, {self.write_path}, idx, channel{more} FROM writes "
            f"WHERE thread_id = ? AND {self.ns} = ? AND {self.id} = ?"
        )
        found = self.db.execute(f"{question} AND {_IS_WHOLE}", (thread, key.ns, key.id))
        return [self._write(*row) for row in found]

    def writes_to(self, thread: str, key: Key, channel: str) -> list[WriteRow]:
        """As `Tables.writes_to`."""
        return [row for row in self.writes(thread, key, values=True) if row.channel == channel]

    def _write(self, task: Any, path: Any, idx: Any, channel: Any, *value: Any) -> WriteRow:
        if not value and type(task) is type(path) is type(channel) is str and (task + path + channel).isascii():
            # Past the named tuple's own constructor: there are several of these for each row that is listed.
            return tuple.__new__(WriteRow, (task, path, idx if isinstance(idx, int) else 0, channel, None, None))
        name = as_text(task), as_text(path), idx if isinstance(idx, int) else 0, as_text(channel)
        if not value:
            return WriteRow(*name)
        kind, blob = self._opened(as_text(value[0]) or None, value[1])
        return WriteRow(*name, kind, b"" if blob is None else blob)

    def counted_versions(self, thread: str) -> Versions:
        """None: a row holds its values itself."""
        return {}

    room = sqlite_room.room

    def task_owner(self, thread: str, ns: str, task: str) -> str | None:
        """The checkpoint in whose superstep a task ran, by what it wrote."""
        if not self.has_writes:
            return None
        question = f"SELECT {self.id} FROM writes WHERE thread_id = ? AND {self.ns} = ? AND task_id = ? LIMIT 1"
        found = self.db.execute(question, (thread, ns, task)).fetchone()
        return found[0] if found else None


def columns_of(db: sqlite3.Connection, table: str) -> frozenset[str]:
    """The names of a table's columns; none where there is no such table."""
    return frozenset(row[1] for row in db.execute(f"PRAGMA table_info({table})"))


def _one_of(found: Collection[str], *names: str) -> str:
    return next((name for name in names if name in found), "NULL")
