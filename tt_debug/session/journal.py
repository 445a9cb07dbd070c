"""What we know about a store that is not ours, in a file of our own: lineage of forks, answers, graphs that ran,
bookmarks, watches, what we wrote into it.

Lies under `stores.places.state_folder()`, named by the store's id; made at the first write, never by looking.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import orjson

from stores.errors import Busy, Conflict, StoreError, Unreachable
from stores.model import Ref, Value
from stores.places import state_folder

SCHEMA = """
CREATE TABLE IF NOT EXISTS forks(
  thread TEXT PRIMARY KEY, base_thread TEXT NOT NULL, base_ns TEXT NOT NULL, base_id TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fresh(thread TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS replies(
  thread TEXT NOT NULL, approval TEXT NOT NULL, turn INTEGER NOT NULL, answer TEXT NOT NULL,
  answered_by TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (thread, approval, turn));
CREATE TABLE IF NOT EXISTS graphs(thread TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS marks(
  thread TEXT NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, note TEXT NOT NULL, at TEXT NOT NULL,
  PRIMARY KEY (thread, ns, id), UNIQUE (thread, name));
CREATE TABLE IF NOT EXISTS watches(
  thread TEXT NOT NULL, expression TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (thread, expression));
CREATE TABLE IF NOT EXISTS shown_watches(thread TEXT PRIMARY KEY, expression TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS own_writes(
  thread TEXT NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,
  base_thread TEXT NOT NULL, base_ns TEXT NOT NULL, base_id TEXT NOT NULL, at TEXT NOT NULL,
  undone TEXT, PRIMARY KEY (thread, ns, id));
"""


class Asked(NamedTuple):
    """Which question: copied threads share ids, and so do several questions of one task in early releases."""

    thread: str
    approval: str
    turn: int


class Answer(NamedTuple):
    """An answer recorded for a question of a foreign thread."""

    asked: Asked
    answer: Value
    by: str
    at: datetime


class Mark(NamedTuple):
    """A name that a person gave to a checkpoint, and what they noted."""

    ref: Ref
    name: str
    note: str
    at: datetime


class OwnWrite(NamedTuple):
    """A checkpoint that we appended. ``kind`` "fork": the head of a new thread, made from ``base``; "edit": ``base``
    changed in its own thread; "undo": the head put back to what it was at ``base``.

    ``undone`` is what took it back, None while nothing did: of an edit the checkpoint that was appended for it; of a
    fork how it stood when it was put out of sight.
    """

    ref: Ref
    kind: Literal["fork", "edit", "undo"]
    base: Ref
    at: datetime
    undone: str | None = None


class Journal:
    """The sidecar of one store. Raises StoreError when its own file cannot be read or written."""

    def __init__(self, store_id: str, folder: Path | None = None) -> None:
        self._path = (folder or state_folder()) / f"{store_id}.sqlite"

    def forks(self) -> dict[str, Ref]:
        """Thread → the checkpoint it was forked at."""
        rows = self._read("SELECT thread, base_thread, base_ns, base_id FROM forks")
        return {row[0]: Ref(row[1], row[2], row[3]) for row in rows}

    def record_fork(self, thread: str, base: Ref, *, fresh: bool = False) -> None:
        """Remember where ``thread`` was forked at, and whether it is to have effects of its own."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO forks VALUES (?, ?, ?, ?, ?)", (thread, *base, _now()))
            db.execute("DELETE FROM fresh WHERE thread = ?", (thread,))
            if fresh:
                db.execute("INSERT INTO fresh VALUES (?)", (thread,))

    def fresh(self) -> frozenset[str]:
        """The forks that share no effect with the line they left."""
        return frozenset(row[0] for row in self._read("SELECT thread FROM fresh"))

    def answers(self) -> dict[Asked, Answer]:
        """The recorded answers, oldest first, whether or not they were handed to the graph since."""
        rows = self._read("SELECT thread, approval, turn, answer, answered_by, at FROM replies ORDER BY rowid")
        found = (
            Answer(Asked(row[0], row[1], int(row[2])), orjson.loads(row[3]), row[4], datetime.fromisoformat(row[5]))
            for row in rows
        )
        return {answer.asked: answer for answer in found}

    def record_answer(self, asked: Asked, answer: Value, by: str) -> None:
        """Record it once. Raises Conflict naming who answered before."""
        with self._writing() as db:
            row = (*asked, orjson.dumps(answer).decode(), by, _now())
            done = db.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?)", row)
            if done.rowcount != 1:
                which = "SELECT answered_by, at FROM replies WHERE (thread, approval, turn) = (?, ?, ?)"
                before = db.execute(which, asked).fetchone()
                raise Conflict(
                    f"{asked.approval} was already answered by {before[0]} at {before[1]}",
                    hint="resume the thread to use that answer",
                )

    def graph_of(self, thread: str) -> Mapping[str, Value] | None:
        """The fingerprint of the graph that last ran the thread, or what that was forked from, for us; or None."""
        forks, seen = self.forks(), {thread}
        while True:
            rows = self._read("SELECT fingerprint FROM graphs WHERE thread = ?", (thread,))
            if rows:
                found: Mapping[str, Value] = orjson.loads(rows[0][0])
                return found
            base = forks.get(thread)
            if base is None or base.thread in seen:
                return None
            thread = base.thread
            seen.add(thread)

    def record_graph(self, thread: str, fingerprint: Mapping[str, Value]) -> None:
        """Remember which graph ran ``thread``."""
        with self._writing() as db:
            row = (thread, orjson.dumps(fingerprint).decode(), _now())
            db.execute("INSERT OR REPLACE INTO graphs VALUES (?, ?, ?)", row)

    def marks(self) -> tuple[Mark, ...]:
        """Every bookmark, oldest first."""
        rows = self._read("SELECT thread, ns, id, name, note, at FROM marks ORDER BY at, rowid")
        return tuple(
            Mark(Ref(thread, ns, id), name, note, datetime.fromisoformat(at)) for thread, ns, id, name, note, at in rows
        )

    def put_mark(self, ref: Ref, name: str, note: str) -> Mark:
        """Name a checkpoint. Raises Conflict where another one of its thread has that name."""
        made = Mark(ref, name, note, datetime.now(UTC))
        with self._writing() as db:
            which = "SELECT id FROM marks WHERE thread = ? AND name = ? AND (ns, id) <> (?, ?)"
            other = db.execute(which, (ref.thread, name, ref.ns, ref.id)).fetchone()
            if other is not None:
                raise Conflict(f"{name!r} is the bookmark of {other[0]}", hint="choose another name, or take that away")
            row = (*ref, name, note, made.at.isoformat(timespec="milliseconds"))
            db.execute("INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?, ?)", row)
        return made

    def drop_mark(self, ref: Ref) -> bool:
        """Whether the checkpoint had a bookmark, which is gone now."""
        with self._writing() as db:
            return db.execute("DELETE FROM marks WHERE (thread, ns, id) = (?, ?, ?)", ref).rowcount > 0

    def watches(self, thread: str) -> tuple[str, ...]:
        """The expressions that are watched on a thread, the oldest first."""
        rows = self._read("SELECT expression FROM watches WHERE thread = ? ORDER BY at, rowid", (thread,))
        return tuple(row[0] for row in rows)

    def put_watch(self, thread: str, expression: str) -> None:
        """Watch an expression on a thread."""
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO watches VALUES (?, ?, ?)", (thread, expression, _now()))

    def drop_watch(self, thread: str, expression: str) -> bool:
        """Whether it was watched; it is not any more."""
        with self._writing() as db:
            which = (thread, expression)
            return db.execute("DELETE FROM watches WHERE (thread, expression) = (?, ?)", which).rowcount > 0

    def shown_watch(self, thread: str) -> str | None:
        """The expression that has a column of the thread's graph."""
        rows = self._read("SELECT expression FROM shown_watches WHERE thread = ?", (thread,))
        return rows[0][0] if rows else None

    def show_watch(self, thread: str, expression: str | None) -> None:
        """Give an expression the column; None: nothing has it."""
        with self._writing() as db:
            db.execute("DELETE FROM shown_watches WHERE thread = ?", (thread,))
            if expression is not None:
                db.execute("INSERT INTO shown_watches VALUES (?, ?)", (thread, expression))

    def own_writes(self) -> tuple[OwnWrite, ...]:
        """What we appended, oldest first."""
        rows = self._read(
            "SELECT thread, ns, id, kind, base_thread, base_ns, base_id, at, undone FROM own_writes ORDER BY at, rowid"
        )
        return tuple(
            OwnWrite(Ref(*row[:3]), _kind(row[3]), Ref(*row[4:7]), datetime.fromisoformat(row[7]), row[8])
            for row in rows
        )

    def record_write(self, ref: Ref, kind: Literal["fork", "edit", "undo"], base: Ref) -> None:
        """Remember an append. What it was made from is in use again: it is not out of sight any more."""
        with self._writing() as db:
            if kind == "fork":
                # What is known of a thread of that name was of another one, or of the copy that was then changed.
                db.execute("DELETE FROM own_writes WHERE thread = ?", (ref.thread,))
            row = (*ref, kind, *base, _now(), None)
            db.execute("INSERT OR REPLACE INTO own_writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            db.execute("UPDATE own_writes SET undone = NULL WHERE kind = 'fork' AND thread = ?", (base.thread,))

    def record_undone(self, ref: Ref, by: str | None) -> bool:
        """Remember what took a write back, or with None that it counts again; whether it is on record."""
        with self._writing() as db:
            which = "UPDATE own_writes SET undone = ? WHERE (thread, ns, id) = (?, ?, ?)"
            return db.execute(which, (by, *ref)).rowcount > 0

    def _read(self, sql: str, values: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
        if not self._path.exists():
            return []
        try:
            with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True, timeout=5)) as db:
                return db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            if "no such table" in str(error):  # written before there was such a record; the next write makes it
                return []
            raise _translated(self._path, error) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with closing(sqlite3.connect(self._path, timeout=5, isolation_level=None)) as db:
                db.executescript(SCHEMA)
                db.execute("BEGIN IMMEDIATE")
                with db:
                    yield db
        except (sqlite3.Error, OSError) as error:
            raise _translated(self._path, error) from error


def _translated(path: Path, error: Exception) -> StoreError:
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return Busy(f"our own record {path} is locked by another tt-debug", hint="try again in a moment")
    return Unreachable(
        f"our own record {path} cannot be used: {error}", hint="move it away, or set TT_DEBUG_HOME to another folder"
    )


def _kind(text: str) -> Literal["fork", "edit", "undo"]:
    return "fork" if text == "fork" else "edit" if text == "edit" else "undo"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
