"""What the stores on LangGraph's tables have in common, whichever database holds them.

Owns paging and what is kept between calls; refuses connections: those are the subclasses' own.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, TypeVar

from stores import ids
from stores.codec.aes import KEY_VARIABLE, Seal
from stores.codec.msgpack import Decoder
from stores.errors import Invalid, NotFound, ReadOnly, StoreError, Unsupported
from stores.langgraph.skeleton import Key, Skeleton
from stores.langgraph.steps import Memory, Steps, read_cards
from stores.langgraph.tables import Place, Tables, ThreadRow, WritableTables
from stores.langgraph.thread import ThreadReading
from stores.model import (
    Addresses,
    Capability,
    Change,
    Checkpoint,
    Header,
    NewCheckpoint,
    Page,
    Ref,
    StoreInfo,
    ThreadInfo,
)

if TYPE_CHECKING:
    from stores.keeping import Room

T = TypeVar("T")

CAPABILITIES: Final = frozenset({Capability.FORK, Capability.NAMESPACES, Capability.TASKS})
_KEPT_THREADS: Final = 8


class LangGraphBase(ABC):
    """Reads LangGraph's checkpoints, and appends forks and edits to them."""

    def __init__(self, name: str, *, read_only: bool) -> None:
        """``name`` is the store's in messages."""
        self._name = name
        self._read_only = read_only
        self._lock = threading.RLock()
        self._memory = Memory()
        self._skeletons: OrderedDict[str, tuple[object, Skeleton]] = OrderedDict()
        self._decoder = Decoder()
        self._seal, self._key_problem = _seal(os.environ.get(KEY_VARIABLE))

    @property
    @abstractmethod
    def info(self) -> StoreInfo:
        """What this store is and can do."""

    @abstractmethod
    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""

    @abstractmethod
    def _ask(self, question: Callable[[Tables], T]) -> T:
        """The answer to a question on one snapshot."""

    @abstractmethod
    def _writing(self, thread: str) -> AbstractContextManager[WritableTables]:
        """A write transaction, in which no other of ours writes to ``thread``."""

    # --- reading

    def threads(self, after: str | None = None, limit: int = 200) -> Page[ThreadInfo]:
        """Newest write first; of two threads the one whose row was stored last."""
        _check_limit(limit)
        start = None if after is None else _read_place(after)

        def question(tables: Tables) -> Page[ThreadInfo]:
            found = tables.threads(start, limit + 1)
            page = found[:limit]
            more = _write_place(page[-1].place) if page and len(found) > limit else None
            readings = [ThreadReading(Steps(tables, row.thread, self._memory)) for row in page]
            self._prepare(tables, readings, page)
            return Page(tuple(map(_thread_info, readings, page)), more)

        return self._ask(question)

    def _prepare(self, tables: Tables, readings: Sequence[ThreadReading], page: Sequence[ThreadRow]) -> None:
        """A few questions for a page of threads: their heads, and the steps that led to them."""
        steps = {reading.thread: reading.steps for reading in readings}
        read_cards(tables, steps, (Ref(row.thread, row.shown.ns, row.shown.id) for row in page))
        cards = [reading.steps.card(row.shown) for reading, row in zip(readings, page, strict=True)]
        pairs = zip(page, cards, strict=True)
        read_cards(tables, steps, (Ref(row.thread, row.shown.ns, card.parent) for row, card in pairs if card.parent))

    def headers(self, thread: str, after: str | None = None, limit: int = 1000) -> Page[Header]:
        """Newest id first, a child always before its parent. Raises NotFound; Invalid for another list's ``after``."""
        _check_limit(limit)

        def question(tables: Tables) -> Page[Header]:
            reading = self._thread(tables, thread)
            assert reading.skeleton is not None
            order = reading.skeleton.order
            start = 0 if after is None else _position(order, after) + 1
            page = order[start : start + limit]
            more = " ".join(page[-1]) if page and start + limit < len(order) else None
            reading.steps.prepare(page)
            return Page(tuple(reading.header(key) for key in page), more)

        return self._ask(question)

    def threads_at(self) -> Sequence[ThreadInfo]:
        """As `stores.protocol.ListsByAddress`."""
        return self._ask(lambda tables: [_by_address(row) for row in tables.threads_at()])

    def addresses(self, thread: str) -> Addresses:
        """As `stores.protocol.TellsAddresses`."""

        def question(tables: Tables) -> Addresses:
            reading = self._thread(tables, thread)
            assert reading.skeleton is not None
            return reading.skeleton.addresses(thread)

        return self._ask(question)

    def headers_at(self, thread: str, refs: Sequence[Ref]) -> Sequence[Header]:
        """As `stores.protocol.TellsAddresses`."""

        def question(tables: Tables) -> Sequence[Header]:
            reading = self._thread(tables, thread)
            assert reading.skeleton is not None
            keys = [Key(ref.id, ref.ns) for ref in refs]
            reading.steps.prepare(keys)
            return [reading.header(key) for key in keys if reading.steps.is_there(key)]

        try:
            return self._ask(question)
        except NotFound:
            return ()

    def untold(self, ref: Ref) -> tuple[str, ...]:
        """As `stores.protocol.TellsUntold.untold`."""
        return self._ask(lambda tables: self._thread(tables, ref.thread).steps.untold(Key(ref.id, ref.ns)))

    def head(self, thread: str, ns: str = "") -> Ref:
        """The newest id, as the savers look it up. Raises NotFound."""

        def question(tables: Tables) -> Ref:
            newest = tables.head(thread, ns)
            if newest is None:
                self._thread(tables, thread)  # raises where there is no such thread at all
                raise NotFound(f"thread {thread!r} has no checkpoint in namespace {ns!r}")
            return Ref(thread, ns, newest)

        return self._ask(question)

    def load(self, ref: Ref) -> Checkpoint:
        """State and tasks. Raises NotFound, and Corrupt when nothing of the state can be read."""

        def question(tables: Tables) -> Checkpoint:
            reading = self._thread(tables, ref.thread)
            reading.steps.prepare((Key(ref.id, ref.ns),))
            return reading.checkpoint(Key(ref.id, ref.ns), self._decoder)

        return self._ask(question)

    def needed(self, ref: Ref) -> tuple[Ref, ...]:
        """As `stores.keeping.TellsNeeds.needed`."""

        def question(tables: Tables) -> tuple[Ref, ...]:
            reading = self._thread(tables, ref.thread)
            key = Key(ref.id, ref.ns)
            if reading.skeleton is None or key not in reading.skeleton:
                raise NotFound(f"no checkpoint {ref.id} in thread {ref.thread!r}")
            return tuple(Ref(ref.thread, one.ns, one.id) for one in reading.needed(key))

        return self._ask(question)

    def room(self, thread: str, kept: Collection[Ref]) -> Room:
        """As `stores.keeping.TellsRoom.room`."""
        return self._ask(lambda tables: tables.room(thread, [Key(ref.id, ref.ns) for ref in kept]))

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
        if self._read_only:
            raise ReadOnly(f"{self._name} was opened for reading only", hint="Open it without --read-only.")
        from stores.langgraph.write import Forking, read_ahead  # 5 ms, and looking writes nothing

        ahead = self._ask(lambda tables: read_ahead(tables, base))
        with self._writing(thread) as tables:
            if not tables.is_writable:
                raise Unsupported(f"the tables of {self._name} lack columns of LangGraph's: they can only be read")
            forking = Forking.at(tables, base, ahead)
            if thread == base.thread:
                forking.check_head()
                forking.check_alive()
                head = forking.edit(thread, changes, meta or {}, forking.newest)
                forking.check_alone()
            elif changes and keep_results:
                head = forking.to_edited_thread(thread, changes, meta or {})
            else:
                newest = forking.to_thread(thread, keep_results=keep_results)
                head = forking.edit(thread, changes, meta or {}, newest) if changes else forking.base
        return self._ask(lambda tables: self._thread(tables, thread).header(head))

    # --- what is kept between calls

    def _thread(self, tables: Tables, thread: str) -> ThreadReading:
        return ThreadReading(Steps(tables, thread, self._memory, self._skeleton(tables, thread)))

    def _read_skeleton(self, tables: Tables, thread: str) -> Skeleton:
        return tables.skeleton(thread)

    def _skeleton(self, tables: Tables, thread: str) -> Skeleton:
        """What is kept, where nothing was stored since: the moment tells it of the store, counting of the thread.

        Raises NotFound for an empty one."""
        moment, (then, known) = tables.moment(), self._skeletons.get(thread, (None, None))
        if known is None:
            known = self._read_skeleton(tables, thread)
        elif (moment is None or then != moment) and (stamp := tables.count(thread)) != known.stamp:
            grown = known.grown(tables, thread)
            known = grown if grown is not None and grown.stamp == stamp else self._read_skeleton(tables, thread)
        if not len(known):
            raise NotFound(f"no thread {thread!r} in {self._name}")
        with self._lock:  # a database answers several threads of the program at once
            self._skeletons[thread] = moment, known
            self._skeletons.move_to_end(thread)
            while len(self._skeletons) > _KEPT_THREADS:
                self._skeletons.popitem(last=False)
        return known


def _by_address(row: ThreadRow) -> ThreadInfo:
    head = None if row.head is None else Ref(row.thread, "", row.head)
    # What an id has of the step is modulo 16,384.
    step = ids.step_of(row.shown.id) if row.checkpoints is not None and row.checkpoints < ids.STEPS else None
    return ThreadInfo(row.thread, row.checkpoints, head, step, "", ids.time_of(row.latest), read=False)


def _thread_info(reading: ThreadReading, row: ThreadRow) -> ThreadInfo:
    header = reading.header(row.shown)
    return ThreadInfo(
        thread=row.thread,
        checkpoints=row.checkpoints,
        head=header.ref if row.head is not None else None,
        step=header.step,
        status=header.status,
        updated=ids.time_of(row.latest) or header.created,
        last_node=header.nodes[-1] if header.nodes else None,
        meta=header.meta,
    )


def _seal(key: str | None) -> tuple[Seal | None, str | None]:
    """What opens encrypted values, and why a key that was given does not."""
    if not key:
        return None, None
    try:
        return Seal(key), None
    except StoreError as error:
        return None, f"{error} ({error.hint})" if error.hint else str(error)


def _check_limit(limit: int) -> None:
    if limit < 0:
        raise ValueError(f"a page cannot have {limit} items")


def _write_place(place: Place) -> str:
    return f"{place.written} {place.id} {place.thread}"


def _read_place(after: str) -> Place:
    written, _, rest = after.partition(" ")
    id, _, thread = rest.partition(" ")
    try:
        return Place(int(written), id, thread)
    except ValueError:
        raise Invalid(f"not the end of a page of threads: {after!r}") from None


def _position(order: Sequence[Key], after: str) -> int:
    id, _, ns = after.partition(" ")
    try:
        return order.index(Key(id, ns))
    except ValueError:
        raise Invalid(f"not the end of a page of this thread: {after!r}") from None
