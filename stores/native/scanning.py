"""The states of many native checkpoints at once, for questions of a whole history.

Owns passing over those whose bytes say no, chunks that several of them share being asked once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from stores.codec import json
from stores.errors import Corrupt
from stores.model import Ref, Task
from stores.native.base import NativeBase
from stores.native.by_id import Row, rows_at, rows_of
from stores.native.database import Database
from stores.native.rows import HEADER_COLUMNS, Standing, from_text, header_of
from stores.native.schema import version_of
from stores.native.states import texts_of
from stores.native.tasks import tasks_at
from stores.native.tree_reading import named, top_of
from stores.native.trees import is_tree
from stores.rereading import rereading
from stores.scanning import Answer, Holds, Scanned, Unscanned

_STANDING: Final = Standing(went_on=False)


class NativeScanning(NativeBase):
    """The `stores.scanning.Scans` part of a native store."""

    @rereading
    def scan(
        self, refs: Sequence[Ref], holds: Holds | None = None, only: Collection[str] | None = None
    ) -> Sequence[Answer]:
        """As `stores.scanning.Scans`."""
        with self._reading() as db:
            columns = "c.state, c.size" if holds is None else f"c.state, c.size, {HEADER_COLUMNS}"
            wanted = {ref: row for ref, row in rows_at(db, refs, columns) if isinstance(row[0], str)}
            answers: dict[Ref, Answer] = {}
            if holds is not None:
                told = _told(db, refs)
                wanted = {ref: row for ref, row in wanted.items() if ref not in told}
                answers = dict.fromkeys(wanted, Unscanned.PASSED)
                wanted = _holding(db, wanted, holds)
            states = db.states.read_many(db, [(row[0], row[1]) for row in wanted.values()], only)
        for (ref, row), state in zip(wanted.items(), states, strict=True):
            header = header_of(row[2:], _STANDING) if holds is not None else None
            answers[ref] = Scanned(state, header.meta, header.nodes) if header is not None else Scanned(state, {}, ())
        return [answers.get(ref, Unscanned.ALONE) for ref in refs]

    @rereading
    def tasks_of(self, refs: Sequence[Ref]) -> Mapping[Ref, Sequence[Task]]:
        """As `stores.scanning.TellsTasks`."""
        with self._reading() as db:
            return tasks_at(db, {ref: from_text(row[0]) for ref, row in rows_at(db, refs, "c.next")})


def _told(db: Database, refs: Sequence[Ref]) -> set[Ref]:
    """Those of which more is told than what stands in their row: a step from there failed, or somebody was asked."""
    tables = [("steps", "base", " AND error IS NOT NULL"), ("inbox", "checkpoint_id", "")]
    if version_of(db) >= 2:
        tables.append(("past_tasks", "checkpoint_id", ""))
    return {
        ref
        for table, id, more in tables
        for ref, _ in rows_of(db, refs, f"SELECT {id} FROM {table} WHERE thread_id = ? AND {id}", more)
    }


def _holding(db: Database, rows: dict[Ref, Row], holds: Holds) -> dict[Ref, Row]:
    """Those whose bytes may hold what is looked for."""
    trees = {ref: tops for ref, row in rows.items() if is_tree(row[0]) and (tops := _tops(row[0])) is not None}
    chunks = _Chunks(db, {name for tops in trees.values() for name in tops}, holds)
    return {
        ref: row
        for ref, row in rows.items()
        if holds("\n".join(str(part) for part in (row[0], *row[2:])).encode("utf-8", "surrogatepass"))
        or any(map(chunks.hold, trees.get(ref, ())))
    }


def _tops(text: str) -> list[str] | None:
    """The chunks that a tree's row names; None for one that cannot be read, which `load` will tell of."""
    try:
        top = top_of(json.loads(text))
        return [top] if isinstance(top, str) else list(named(top))
    except (Corrupt, LookupError, TypeError, ValueError, AttributeError):
        return None


class _Chunks:
    """The chunks of several trees, each asked once whether it may hold what is looked for."""

    def __init__(self, db: Database, wanted: set[str], holds: Holds) -> None:
        self._inside: dict[str, list[str]] = {}
        self._held: dict[str, bool] = {}
        while wanted := wanted - self._held.keys():
            following: set[str] = set()
            for name, text in texts_of(db, wanted).items():
                # One that is broken is to be come upon by whoever reads it.
                self._held[name] = isinstance(text, str) or holds(text)
                if name[0] == "n" and isinstance(text, bytes):
                    self._inside[name] = list(named(json.loads(text)))
                    following.update(self._inside[name])
            wanted = following

    def hold(self, name: str) -> bool:
        """Whether it, or one inside it, may."""
        if not self._held[name] and any(map(self.hold, self._inside.get(name, ()))):
            self._held[name] = True
        self._inside.pop(name, None)
        return self._held[name]
