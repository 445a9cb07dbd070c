"""Forks and edits as rows of LangGraph's own tables, appended inside the caller's transaction.

Owns what is copied and in what order; refuses to change or delete a row, and to build one: `stores.langgraph.edit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from stores import ids
from stores.codec.msgpack import Decoder
from stores.errors import Conflict, Invalid, NotFound, Unsupported
from stores.langgraph.birth import Birth
from stores.langgraph.copying import Owners, plan_copy
from stores.langgraph.edit import edited_row
from stores.langgraph.outline import NEWEST_FORMAT
from stores.langgraph.rows import TASKS, CheckpointRow, WriteRow
from stores.langgraph.skeleton import Key, Skeleton, enclosing
from stores.langgraph.steps import Memory, Steps
from stores.langgraph.tables import Tables, WritableTables
from stores.langgraph.thread import ThreadReading
from stores.model import Change, Ref

_PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class Ahead:
    """What was read of a thread before its write transaction: right as long as its ``stamp`` is the same.

    ``owners`` of a checkpoint never change.
    """

    stamp: tuple[int, str | None]
    skeleton: Skeleton
    owners: Mapping[Key, Owners]


@dataclass(frozen=True, slots=True)
class Forking:
    """One fork or edit at ``base``, on the connection of a write transaction."""

    reading: ThreadReading
    tables: WritableTables
    skeleton: Skeleton
    base: Key
    owners: Mapping[Key, Owners]

    @classmethod
    def at(cls, tables: WritableTables, base: Ref, ahead: Ahead) -> Forking:
        """Raises NotFound when there is no such checkpoint, Unsupported when its format is not known."""
        key = Key(base.id, base.ns)
        unchanged = tables.count(base.thread) == ahead.stamp
        known = ahead.skeleton if unchanged else tables.skeleton(base.thread)
        # Of its own, not what readers share: a wait for another writer keeps nobody from looking.
        reading = ThreadReading(Steps(tables, base.thread, Memory(), known))
        if key not in known:
            raise NotFound(f"no checkpoint {base.id} in thread {reading.thread!r}")
        version = reading.version(key)
        if version > NEWEST_FORMAT:
            raise Unsupported(
                f"checkpoint {base.id} is of format version {version}: tt-debug writes up to {NEWEST_FORMAT}",
                hint="Fork at an earlier checkpoint, or take a newer tt-debug.",
            )
        return cls(reading, tables, known, key, ahead.owners)

    @property
    def newest(self) -> str:
        """The newest id of the thread, in any namespace."""
        return max(key.id for key in self.skeleton.heads.values())

    def to_thread(self, thread: str, *, keep_results: bool) -> str:
        """Copy what leads to the base under a new thread's name; returns the newest id there.

        Raises Conflict when the thread exists, Invalid when it cannot be a name.
        """
        self._check_free(thread)
        plan = plan_copy(self.skeleton, self.base, self._owners, keep_results=keep_results)
        self.tables.copy(self.reading.thread, thread, plan)
        return max(key.id for key in plan.checkpoints)

    def to_edited_thread(self, thread: str, changes: Sequence[Change], meta: Mapping[str, object]) -> Key:
        """The same with ``changes`` in the base's copy, which keeps its id.

        The ids of tasks and questions are made of their checkpoint's: so finished tasks stay finished there, questions
        stay open, and subgraphs are where they were. Raises as `to_thread` and `edit` do.
        """
        self._check_free(thread)
        row = self._row()
        birth = Birth(row.id, row.parent, self.reading.header(self.base).step or 0, meta)
        plan = plan_copy(self.skeleton, self.base, self._owners, keep_results=True)
        # First the row, so that what it refers to is copied with the rest.
        self.tables.insert(thread, self._edited(row, changes, birth))
        self.tables.copy(self.reading.thread, thread, replace(plan, given=self.base))
        return self.base

    def edit(self, thread: str, changes: Sequence[Change], meta: Mapping[str, object], after: str) -> Key:
        """Append the base with ``changes`` as the head of ``thread``; its id sorts after ``after``.

        Raises Invalid when a change does not apply or cannot be stored, Unsupported for a row that is not read.
        """
        step = (self.reading.header(self.base).step or 0) + 1
        try:
            name = ids.new_id(step, after)
        except ValueError as error:
            raise Unsupported(f"the thread's ids are not LangGraph's: {error}") from error
        row = self._row()
        self.tables.insert(thread, self._edited(row, changes, Birth(name, self._parent_of_fork(row), step, meta)))
        return Key(name, self.base.ns)

    def _check_free(self, thread: str) -> None:
        _check_name(thread)
        if self.tables.exists(thread):
            raise Conflict(f"thread {thread!r} exists", hint="Choose another name.")

    def _row(self) -> CheckpointRow:
        row = self.tables.checkpoint(self.reading.thread, self.base)
        assert row is not None
        return row

    def _edited(self, row: CheckpointRow, changes: Sequence[Change], birth: Birth) -> CheckpointRow:
        decoder = Decoder()
        state = self.reading.checkpoint(self.base, decoder).state if changes else {}
        floor = self.tables.highest_count(self.reading.thread)
        return edited_row(row, state, changes, replace(birth, floor=floor), decoder)

    def check_head(self) -> None:
        """An edit of the thread itself is one of its head: of two made at once, the second is refused."""
        head = self.skeleton.heads[self.base.ns]
        if head != self.base:
            raise Conflict(
                f"{self.base.id} is not the head of thread {self.reading.thread!r}: that is {head.id}",
                hint="Look at what came since, or fork to a new thread.",
            )

    def check_alone(self) -> None:
        """After the edit: what the application stored since the head was looked at is not to be overtaken unseen."""
        thread = self.reading.thread
        if self.tables.count(thread)[0] != len(self.skeleton) + 1:
            raise Conflict(
                f"thread {thread!r} was written to in this very moment: nothing was changed",
                hint="Look at what came, then edit that.",
            )

    def check_alive(self) -> None:
        """An edit in an inner namespace is only ever read while the task around it is open."""
        for ns, id in self._owners(self.base).items():
            if self.skeleton.has_child(Key(id, ns)):
                raise Unsupported(
                    f"the step around namespace {self.base.ns!r} is over: an edit there would never be read",
                    hint="Fork to a new thread from here instead.",
                )

    def _owners(self, key: Key) -> Owners:
        owners = self.owners.get(key) or self.reading.owners(key)
        if owners or not key.ns:
            return owners
        outside = enclosing(key.ns)
        if outside is None:
            return {}
        ns, task = outside
        owner = self.tables.task_owner(self.reading.thread, ns, task)
        return {} if owner is None else {ns: owner, **self._owners(Key(owner, ns))}

    def _parent_of_fork(self, row: CheckpointRow) -> str | None:
        """The base, or the base's own parent where values are rebuilt from what ancestors wrote.

        A delta channel is the writes of all ancestors, and before version 4 pending Sends are the parent's writes:
        with the base as parent, the step that went on from it would count.
        """
        reading = self.reading
        names = {write.channel for write in self._parent_writes()}
        if reading.has_deltas(self.base) or (reading.version(self.base) < 4 and TASKS in names):
            return row.parent
        return row.id

    def _parent_writes(self) -> Sequence[WriteRow]:
        parent = self.skeleton.parent(self.base)
        return self.tables.writes(self.reading.thread, parent) if parent else ()


def read_ahead(tables: Tables, base: Ref) -> Ahead:
    """For a fork at ``base``, on a snapshot of its own: while the write lock is held little is left to read.

    A thread of 4,000 checkpoints, most of them in subgraphs, held it for 0.25 s otherwise.
    """
    known = tables.skeleton(base.thread)
    reading = ThreadReading(Steps(tables, base.thread, Memory(), known))
    inner = [key for key in known.order if key.ns]
    owners: dict[Key, Owners] = {}
    for start in range(0, len(inner), _PAGE):
        page = inner[start : start + _PAGE]
        reading.steps.prepare(page)
        owners |= {key: found for key in page if (found := reading.owners(key))}
    return Ahead(tables.count(base.thread), known, owners)


def _check_name(thread: str) -> None:
    try:
        thread.encode()
    except UnicodeEncodeError as error:
        raise Invalid("the thread's name holds half a surrogate pair") from error
    if not thread:
        raise Invalid("a thread needs a name")
