"""A LangGraph server as a store: what it tells of its threads, and the writes it takes.

Owns paging and what is kept between calls; requests, mapping, forks and runs each have their module.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from stores.errors import Corrupt, Invalid, NotFound, ReadOnly, Unsupported
from stores.langgraph_server import runs, snapshots
from stores.langgraph_server.address import Address
from stores.langgraph_server.connection import MOST_ROWS, Connection, Row, State
from stores.langgraph_server.history import History, Key
from stores.langgraph_server.snapshots import After
from stores.langgraph_server.write import Writing
from stores.model import (
    Capability,
    Change,
    Checkpoint,
    Header,
    NewCheckpoint,
    Page,
    Ref,
    Status,
    StoreInfo,
    ThreadInfo,
)
from stores.server_runs import Assistant, RunNews, ServerRun

DETAILED: Final = 200
"""So many of the newest threads are asked for their head: the server's own listing does not tell it."""
_AT_ONCE: Final = 8
# What the server says of a thread: the run that ended last, not the state it is in.
_STATUSES: Final = {"busy": Status.RUNNING, "interrupted": Status.WAITING, "error": Status.FAILED}
_NOTICE: Final = (
    "values are shown as the server writes them in JSON: their classes and bytes are not told, and what an edit "
    "changes is stored from JSON, through the reducers of the graph on the server"
)


class _Head(NamedTuple):
    """A thread's newest checkpoint, as far as it was told; ``is_empty``: it has none."""

    header: Header | None
    is_empty: bool = False


_UNTOLD: Final = _Head(None)


def open_url(url: str, *, read_only: bool) -> ServerStore | None:
    """The server at ``langgraph+http(s)://…``; None for any other URL. Raises Unreachable, Unsupported."""
    address = Address.of(url)
    return None if address is None else ServerStore(address, read_only=read_only)


class ServerStore:
    """Threads of one server. Looking sends nothing but GETs and searches."""

    def __init__(self, address: Address, *, read_only: bool = True) -> None:
        """Ask the server for its release. Raises Unreachable, Unsupported."""
        self._connection = Connection(address)
        try:
            release, count = self._connection.release(), self._connection.count_threads()
        except BaseException:
            self._connection.close()
            raise
        more = f"beyond the newest {DETAILED} of its {count:,} threads only the server's own word on them is shown"
        self._info = StoreInfo(
            url=address.shown,
            kind="langgraph-server",
            store_id=address.store_id,
            capabilities=frozenset({Capability.FORK, Capability.NAMESPACES, Capability.TASKS, Capability.NAMES_FORKS}),
            read_only=read_only,
            notices=(f"{_NOTICE} (langgraph-api {release})", *([more] if count > DETAILED else [])),
        )
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, _Head]] = {}
        self._after: dict[str, dict[Key, After]] = {}

    @property
    def info(self) -> StoreInfo:
        """What this store is and can do."""
        return self._info

    def close(self) -> None:
        """Idempotent; every later call raises Unreachable."""
        self._connection.close()

    # --- reading

    def threads(self, after: str | None = None, limit: int = 200) -> Page[ThreadInfo]:
        """Latest change first. A thread on which nothing has run yet has no head."""
        _check_limit(limit)
        offset, last = _thread_end(after)
        asked = min(limit, MOST_ROWS)
        if not asked:
            return Page((), after)
        rows = self._connection.threads(offset, asked)
        # What was changed since the last page was read has moved to the front, and the rest further back.
        left = [row for row in rows if last is None or _is_after(row, last)]
        detailed = left[: max(0, DETAILED - offset)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            heads = [*pool.map(self._head, detailed), *[_UNTOLD] * (len(left) - len(detailed))]
        items = tuple(_thread_info(row, head) for row, head in zip(left, heads, strict=True))
        if len(rows) < asked:
            return Page(items)
        return Page(items, f"{offset + len(rows)} {rows[-1]['updated_at']} {rows[-1]['thread_id']}")

    def _head(self, row: Row) -> _Head:
        """The header of a thread's head, asked for again only when the thread has changed.

        Untold where the server cannot tell it, as of a thread whose graph is gone: its neighbours are told.
        """
        thread, stamp = row["thread_id"], row["updated_at"]
        known = self._known.get(thread)
        if known is None or known[0] != stamp:
            try:
                newest = self._connection.history(thread, limit=2)
            except (Corrupt, Invalid, NotFound):
                return _UNTOLD
            history = History(self._connection, thread, {snapshots.place(state): state for state in newest})
            head = next(iter(newest), None)
            origin = snapshots.made_from(row)
            found = (
                None if head is None else snapshots.header(thread, head, history.parent(head), After.NOTHING, origin)
            )
            known = stamp, _Head(found, is_empty=head is None)
            with self._lock:
                self._known[thread] = known
        return known[1]

    def headers(self, thread: str, after: str | None = None, limit: int = 1000) -> Page[Header]:
        """Newest first, the checkpoints of subgraphs before the one that called them.

        Raises NotFound, also for a thread on which nothing has run; Invalid for another list's ``after``.
        """
        _check_limit(limit)
        history = History(self._connection, thread)
        if after is not None and thread not in self._after:
            self._children(thread)
        states, more = history.page(after, limit)
        if after is None and limit and not states:
            raise NotFound(f"thread {thread!r} has no checkpoint", hint="Nothing has run on it yet.")
        known = self._noted(thread, states)
        return Page(tuple(self._header(history, state, known) for state in states), more)

    def _header(self, history: History, state: State, known: Mapping[Key, After]) -> Header:
        after = known.get(snapshots.place(state), After.NOTHING)
        above = snapshots.parent_of(state)
        origin = snapshots.made_from(self._connection.thread(history.thread)) if above is None else None
        return snapshots.header(history.thread, state, history.parent(state), after, origin)

    def head(self, thread: str, ns: str = "") -> Ref:
        """What the server goes on from. Raises NotFound."""
        state = self._connection.state(thread, ns)
        if state is None:
            raise NotFound(f"thread {thread!r} has no checkpoint in namespace {ns!r}")
        return Ref(thread, *snapshots.place(state))

    def load(self, ref: Ref) -> Checkpoint:
        """State and tasks. Raises NotFound."""
        state = self._connection.state(ref.thread, ref.ns, ref.id)
        if state is None:
            raise NotFound(f"no checkpoint {ref.id} in thread {ref.thread!r}")
        known = self._children(ref.thread)
        header = self._header(History(self._connection, ref.thread), state, known)
        return snapshots.checkpoint(state, header, known.get((ref.ns, ref.id), After.NOTHING))

    def _children(self, thread: str) -> Mapping[Key, After]:
        """What goes on from a thread's checkpoints, as far as it was read; all of it is read when nothing was."""
        if thread not in self._after:
            states, _ = History(self._connection, thread).page(None, 10**9)
            return self._noted(thread, states)
        return self._after[thread]

    def _noted(self, thread: str, children: Sequence[State]) -> Mapping[Key, After]:
        with self._lock:
            known = dict(self._after.get(thread, {}))
            for child in children:
                parent = snapshots.parent_of(child)
                if parent is not None:
                    known[parent] = max(known.get(parent, After.NOTHING), After.by(child))
            self._after[thread] = known
            return known

    # --- writing

    def append(self, new: NewCheckpoint, fence: tuple[str, int] | None = None) -> Header:
        """Always Unsupported: the server makes checkpoints itself."""
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
        """As `stores.protocol.Writer.fork`, where a new ``thread`` is "": the server names it.

        The server copies the whole thread, and where the fork does not start at its head or has changes, one more
        checkpoint is put on the copy: ``update_state`` at ``base``, or a copy of ``base`` itself. Changes are first
        made on a copy that is thrown away. Raises Unsupported for what the server cannot do, Invalid for a change
        that its graph would store in another way, with the path.
        """
        self._check_writable("fork")
        base_checkpoint = self.load(base)
        writing = Writing(self._connection, base_checkpoint, changes)
        if thread == base.thread:
            made = writing.edit()
        elif thread:
            raise Invalid("a LangGraph server names threads itself", hint="Leave the new thread's name out.")
        else:
            made = writing.to_thread(keep_results=keep_results, meta=meta or {})
        self._noted(made.thread, [self._connection.stored(made)])
        return self.load(made).header

    def _check_writable(self, what: str) -> None:
        if self._info.read_only:
            raise ReadOnly(
                f"{self._info.url} was opened for reading only: no {what}", hint="Open it without --read-only."
            )

    # --- running, on the server

    def assistant(self, thread: str) -> Assistant:
        """What the thread was last run with. Raises NotFound when nothing ever ran on it."""
        return runs.assistant(self._connection, thread)

    def run_on(self, run: ServerRun) -> Iterator[RunNews]:
        """As `stores.server_runs.ServerRuns.run_on`."""
        self._check_writable("run")
        return runs.news(self._connection, run)

    def cancel(self, thread: str) -> bool:
        """Interrupt the runs under way on the thread."""
        self._check_writable("stop")
        return runs.cancel(self._connection, thread)


def _thread_info(row: Row, told: _Head) -> ThreadInfo:
    head = told.header
    word = _STATUSES.get(row.get("status") or "", Status.PENDING if told.is_empty else Status.DONE)
    return ThreadInfo(
        thread=row["thread_id"],
        checkpoints=0 if told.is_empty else None,
        head=None if head is None else head.ref,
        step=None if head is None else head.step,
        status=word if head is None or word == Status.RUNNING else head.status,
        updated=snapshots.moment(row.get("updated_at")),
        forked_from=snapshots.forked_from(row),
        last_node=head.nodes[-1] if head is not None and head.nodes else None,
        meta=row.get("metadata") or {},
    )


def _is_after(row: Row, last: tuple[str, str]) -> bool:
    """Whether a thread stands behind the last one of the page before; the server's times are of one form."""
    return bool(row["updated_at"] <= last[0] and row["thread_id"] != last[1])


def _thread_end(after: str | None) -> tuple[int, tuple[str, str] | None]:
    if after is None:
        return 0, None
    parts = after.split(" ")
    if len(parts) != 3 or not parts[0].isdecimal():
        raise Invalid(f"not the end of a page of threads: {after!r}")
    return int(parts[0]), (parts[1], parts[2])


def _check_limit(limit: int) -> None:
    if limit < 0:
        raise ValueError(f"a page cannot have {limit} items")
