"""What is asked of LangGraph's tables, whichever database holds them: everything above speaks to this and to no SQL.

Owns the questions; refuses to answer one: `stores.langgraph.sqlite_tables`, `stores.langgraph.postgres_tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from stores.langgraph.collisions import Versions
from stores.langgraph.rows import CheckpointRow, WriteRow
from stores.langgraph.skeleton import Key, Skeleton
from stores.model import Ref

if TYPE_CHECKING:
    from stores.keeping import Room
    from stores.langgraph.copying import CopyPlan


class Place(NamedTuple):
    """Where a thread stands in a listing, newest write first: ``written`` counts up with every row stored, and where
    rows were stored together, the newest id decides, then the name."""

    written: int
    id: str
    thread: str


class ThreadRow(NamedTuple):
    """One thread by its ids alone: how many checkpoints, where they were counted, the one it is listed by, and the
    newest of the root graph.

    ``written`` counts up with every row that is stored: a copied thread is new although its ids are not. ``latest`` is
    the greatest id in any namespace.
    """

    thread: str
    checkpoints: int | None
    newest: Key
    head: str | None
    written: int
    latest: str

    @property
    def place(self) -> Place:
        """Where it stands in a listing."""
        return Place(self.written, self.newest.id, self.thread)

    @property
    def shown(self) -> Key:
        """The checkpoint that a listing shows of it."""
        return Key(self.head, "") if self.head is not None else self.newest


class Tables(Protocol):
    """One snapshot of the tables. Rows are given as they stand, encrypted ones opened where the key is known."""

    @property
    def is_writable(self) -> bool:
        """Whether rows can be written as the saver that made the tables reads them."""
        ...

    @property
    def is_first(self) -> bool:
        """Whether langgraph 0.1 wrote them."""
        ...

    def threads(self, after: Place | None, limit: int) -> list[ThreadRow]:
        """At most ``limit`` threads that follow ``after``, newest write first."""
        ...

    def threads_at(self) -> Sequence[ThreadRow]:
        """All of them, counted where that costs little."""
        ...

    def moment(self) -> object | None:
        """Equal to an earlier one only where nothing was stored in between; None where the database does not tell."""
        ...

    def count(self, thread: str) -> tuple[int, str | None]:
        """How many checkpoints a thread has, and its newest id: changes when its skeleton does."""
        ...

    def head(self, thread: str, ns: str) -> str | None:
        """The newest id of a namespace."""
        ...

    def skeleton(self, thread: str) -> Skeleton:
        """A thread's checkpoints by address; empty for one that is not there."""
        ...

    def since(self, thread: str, last: Key) -> list[tuple[str, str]]:
        """(id, parent or "") of the checkpoints with greater ids in the namespace of ``last``, ascending."""
        ...

    def newest(self, limit: int) -> list[tuple[str, Key]]:
        """The newest checkpoint of every thread and namespace, newest write first."""
        ...

    def progress(self) -> int:
        """A number that is another when checkpoints were stored."""
        ...

    def read_many(
        self, refs: Iterable[Ref], known: Callable[[Ref], int | None]
    ) -> Iterator[tuple[Ref, int, CheckpointRow]]:
        """A few questions for many checkpoints: their rows as `outlined` gives them, with their stamps, one by one.

        ``known`` is the stamp under which a checkpoint is remembered: one that still has it is left out. Once the
        first row is given, the stamps of those left out and the writes of all are at hand.
        """
        ...

    def stamp(self, thread: str, key: Key) -> int | None:
        """A number that is another when the row is; None when there is no such row."""
        ...

    def outlined(self, thread: str, key: Key) -> CheckpointRow | None:
        """One row as far as a header needs it: values that only a state needs may be left out."""
        ...

    def checkpoint(self, thread: str, key: Key) -> CheckpointRow | None:
        """One whole row."""
        ...

    def writes(self, thread: str, key: Key, *, values: bool = False) -> Sequence[WriteRow]:
        """What the tasks of a checkpoint's superstep wrote; the values only when asked for, as they lie behind."""
        ...

    def writes_to(self, thread: str, key: Key, channel: str) -> list[WriteRow]:
        """What they wrote to one channel, with the values."""
        ...

    def counted_versions(self, thread: str) -> Versions:
        """The versions of a thread's channels, where values are stored apart under versions that are counted."""
        ...

    def room(self, thread: str, kept: Collection[Key]) -> Room:
        """As `stores.keeping.TellsRoom.room`."""
        ...

    def task_owner(self, thread: str, ns: str, task: str) -> str | None:
        """The checkpoint in whose superstep a task ran, by what it wrote."""
        ...


class WritableTables(Tables, Protocol):
    """The same inside a write transaction. Rows are only ever added."""

    def exists(self, thread: str) -> bool:
        """Whether anything is stored under this name; writes may be there before their checkpoint."""
        ...

    def highest_count(self, thread: str) -> int:
        """The highest whole number that is the version of a value stored apart, on any branch; 0 for none."""
        ...

    def insert(self, thread: str, row: CheckpointRow) -> None:
        """Append one checkpoint, encrypted if it was. A row of the same id is an error of the database's."""
        ...

    def copy(self, thread: str, to: str, plan: CopyPlan) -> None:
        """Append the plan's ``rows`` of a thread under another name, their ids and bytes as they are, and the writes
        of all its ``checkpoints`` that are not left out."""
        ...


def recognises(columns: Mapping[str, Collection[str]]) -> bool:
    """Whether tables with these columns are LangGraph's. The first releases called an id ``thread_ts``."""
    found = set(columns.get("checkpoints", ()))
    return {"thread_id", "checkpoint"} <= found and bool(found & {"checkpoint_id", "thread_ts"})
