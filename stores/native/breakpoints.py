"""Breakpoints in the native tables, and their hits.

Refuses to know when one is met: whoever runs a run says so, in the transaction that stops it there.
"""

from __future__ import annotations

from typing import Final

from stores.model import Value
from stores.native.base import NativeBase
from stores.native.database import Database
from stores.native.event_rows import log
from stores.native.lease_clock import micros_now
from stores.native.rows import from_micros, to_micros
from stores.native.schema import version_of
from stores.rereading import rereading
from stores.supervision import Breakpoint, BreakpointHit

_SINCE: Final = 4
"""The schema that they came with: a file that nobody has written to since has none."""

_COLUMNS: Final = "id, place, node, name, condition, thread_id, hits, created_by, created_at"


class NativeBreakpoints(NativeBase):
    """The breakpoints of a native store."""

    @rereading
    def breakpoints(self, thread: str | None = None) -> tuple[Breakpoint, ...]:
        """Oldest first; of a thread, those of all threads are among them."""
        with self._reading() as db:
            return () if version_of(db) < _SINCE else breakpoints_at(db, thread)

    def set_breakpoint(self, wanted: Breakpoint) -> Breakpoint:
        """The same place, condition and thread again gives the one that is there."""
        with self._writing() as db:
            for row in db.execute(f"SELECT {_COLUMNS} FROM breakpoints ORDER BY created_at, rowid").fetchall():
                if _same(_breakpoint(row), wanted):
                    return _breakpoint(row)
            db.execute(
                f"INSERT INTO breakpoints ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)",
                (
                    wanted.id, wanted.place, wanted.node, wanted.name, wanted.condition, wanted.thread, wanted.by,
                    to_micros(wanted.created) or micros_now(db),
                ),
            )  # fmt: skip
            row = db.execute(f"SELECT {_COLUMNS} FROM breakpoints WHERE id = ?", (wanted.id,)).fetchone()
            return _breakpoint(row)

    def clear_breakpoint(self, id: str) -> bool:
        """False where there is none of that id."""
        with self._writing() as db:
            return db.execute("DELETE FROM breakpoints WHERE id = ?", (id,)).rowcount == 1


def breakpoints_at(db: Database, thread: str | None) -> tuple[Breakpoint, ...]:
    """Oldest first; of a thread, those of all threads are among them."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM breakpoints WHERE ?1 IS NULL OR thread_id IS NULL OR thread_id = ?1"
        " ORDER BY created_at, rowid",
        (thread,),
    ).fetchall()
    return tuple(_breakpoint(row) for row in rows)


def record_hit(db: Database, run_id: str, thread: str, hit: BreakpointHit | None) -> None:
    """Count it, and keep what was met where; part of the transaction that stops the run."""
    if hit is None:
        return
    for id in hit.ids:
        db.execute("UPDATE breakpoints SET hits = hits + 1 WHERE id = ?", (id,))
    data: dict[str, Value] = {"breakpoints": list(hit.ids), "place": hit.place, "node": hit.node, "said": hit.said}
    log(db, "breakpoint", data if hit.key is None else {**data, "key": hit.key}, run_id, thread)


def _same(one: Breakpoint, other: Breakpoint) -> bool:
    def what(each: Breakpoint) -> tuple[str | None, ...]:
        return each.place, each.node, each.name, each.condition, each.thread

    return what(one) == what(other)


def _breakpoint(row: tuple[Value, ...]) -> Breakpoint:
    id, place, node, name, condition, thread, hits, by, at = row
    return Breakpoint(id, place, node, name, condition, thread, hits, by, from_micros(at))
