"""The history in the native tables, read and appended to.

Owns the listing of threads and headers, loading, appending and forking; runs are kept by `stores.native.runs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from stores.changes import apply_changes
from stores.errors import Conflict, NotFound
from stores.ids import is_ours, new_id
from stores.model import (
    Capability,
    Change,
    Checkpoint,
    Header,
    NewCheckpoint,
    Page,
    Ref,
    Status,
    ThreadInfo,
    Value,
)
from stores.native.addresses import NativeAddresses
from stores.native.database import Database
from stores.native.fencing import owned
from stores.native.past import NativePast
from stores.native.rows import (
    ACTIVE_RUN,
    ASKED,
    HEADER_COLUMNS,
    RUN_SHOWN,
    WENT_ON,
    Standing,
    from_micros,
    header_at,
    header_of,
    insert_checkpoint,
    open_questions,
    run_statuses,
    state_at,
)
from stores.native.scanning import NativeScanning
from stores.native.supervision import NativeSupervision
from stores.native.tasks import tasks_at
from stores.rereading import rereading

CAPABILITIES: Final = frozenset(
    {Capability.WRITE, Capability.FORK, Capability.RUNS, Capability.TASKS, Capability.BLOBS}
)
"""What every native store can do."""

# The newest write of each thread is one step in an index; what else is told is looked up for the page alone.
_THREADS: Final = f"""
SELECT {HEADER_COLUMNS},
       EXISTS (SELECT 1 FROM inbox i
               WHERE i.thread_id = t.thread_id AND i.checkpoint_id = t.head AND i.status = 'open'
                 AND i.{ASKED}),
       (SELECT {RUN_SHOWN} FROM runs r
        WHERE r.thread_id = t.thread_id AND (r.head = t.head OR r.status IN {ACTIVE_RUN})
        ORDER BY r.created_at DESC, r.rowid DESC LIMIT 1),
       (SELECT count(*) FROM checkpoints k WHERE k.thread_id = t.thread_id),
       t.newest, w.created_at, t.forked_from_thread, t.forked_from, t.title, t.business_id, t.head
FROM (SELECT * FROM (SELECT thread_id, head, forked_from_thread, forked_from, title, business_id,
                            (SELECT max(seq) FROM checkpoints m WHERE m.thread_id = a.thread_id) AS newest
                     FROM threads a) b
      WHERE newest < ? ORDER BY newest DESC LIMIT ?) t
JOIN checkpoints c ON c.seq = coalesce(
  (SELECT seq FROM checkpoints h WHERE h.thread_id = t.thread_id AND h.checkpoint_id = t.head), t.newest)
JOIN checkpoints w ON w.seq = t.newest
ORDER BY t.newest DESC
"""
_HEADERS: Final = f"""
SELECT {HEADER_COLUMNS}, {WENT_ON}, c.seq FROM checkpoints c
WHERE c.thread_id = ? AND c.seq < ? ORDER BY c.seq DESC LIMIT ?
"""
_PAST_THE_LAST: Final = 2**63 - 1


class NativeHistory(NativePast, NativeSupervision, NativeScanning, NativeAddresses):
    """Listing, loading, appending and forking, wherever the tables lie."""

    @rereading
    def threads(self, after: str | None = None, limit: int = 200) -> Page[ThreadInfo]:
        """Newest write first."""
        rows, following = self._page(_THREADS, (), after, limit, column=18)
        return Page(tuple(_thread_of(row) for row in rows), following)

    @rereading
    def headers(self, thread: str, after: str | None = None, limit: int = 1000) -> Page[Header]:
        """Newest first, in the order of insertion, so that a child comes before its parent. Raises NotFound."""
        with self._reading() as db:
            self._check_thread(db, thread)
            rows, following = self._page(_HEADERS, (thread,), after, limit, column=16)
            runs, asked = run_statuses(db, thread), open_questions(db, thread)
        headers = (header_of(row[:15], Standing(bool(row[15]), runs.get(row[1]), row[1] in asked)) for row in rows)
        return Page(tuple(headers), following)

    @rereading
    def head(self, thread: str, ns: str = "") -> Ref:
        """The newest checkpoint of the line that a run would go on from. Raises NotFound."""
        with self._reading() as db:
            row = db.execute("SELECT head FROM threads WHERE thread_id = ?", (thread,)).fetchone()
        if row is None or row[0] is None or ns:
            raise _no_thread(thread, ns)
        return Ref(thread, "", row[0])

    @rereading
    def load(self, ref: Ref) -> Checkpoint:
        """Header, state and tasks. Raises NotFound, and Corrupt for a state that is not a JSON object."""
        with self._reading() as db:
            header = self._header(db, ref)
            state, tasks = state_at(db, ref), tasks_at(db, {ref: header.next})[ref]
        return Checkpoint(header, state, tasks)

    def append(self, new: NewCheckpoint, fence: tuple[str, int] | None = None) -> Header:
        """Insert one checkpoint as its thread's head; see `stores.protocol.Writer`."""
        with self._writing() as db:
            if fence is None:
                return insert_checkpoint(db, new)
            owned(db, self._fence(*fence))
            return insert_checkpoint(db, new, token=fence[1])

    def fork(
        self,
        base: Ref,
        thread: str,
        changes: Sequence[Change] = (),
        *,
        keep_results: bool = False,
        meta: Mapping[str, object] | None = None,
    ) -> Header:
        """One new row whose parent is ``base``: source "fork" on a new thread, "edit" in the base's own.

        A ``workflow_hash`` in ``meta`` binds the new line to another definition than the base's.
        """
        self._check_writable()
        origin = self.load(base)
        state = apply_changes(origin.state, changes)
        with self._writing() as db:
            row = db.execute("SELECT head FROM threads WHERE thread_id = ?", (thread,)).fetchone()
            if row is not None and thread != base.thread:
                raise Conflict(f"thread {thread!r} exists", hint="Choose another name for the fork.")
            if thread == base.thread and row is not None and row[0] != base.id:
                raise Conflict(f"the head of {thread!r} is {row[0]} by now", hint="Look at it, and edit that.")
            _refuse_running(db, thread)
            newest = max([base.id, *(row or ())], key=lambda id: (is_ours(id), id))
            step = (origin.header.step or 0) + 1
            new = NewCheckpoint(
                ref=Ref(thread, "", new_id(step, newest if is_ours(newest) else None)),
                parent=base,
                state=state,
                source="edit" if thread == base.thread else "fork",
                meta=meta or {},
                step=step,
                next=origin.header.next,
                status=Status.UNFINISHED if origin.header.next else Status.DONE,
            )
            return insert_checkpoint(db, new)

    def _page(
        self, sql: str, scope: tuple[str, ...], after: str | None, limit: int, column: int
    ) -> tuple[list[tuple[Value, ...]], str | None]:
        """The rows of one page and where the following one starts; ``column`` holds the row's place in the order."""
        if limit < 0:
            raise ValueError(f"a page cannot have {limit} items")
        start = _PAST_THE_LAST if after is None else int(after)
        with self._reading() as db:
            rows = db.execute(sql, (*scope, start, limit + 1)).fetchall()
        if len(rows) <= limit:
            return rows, None
        return rows[:limit], str(rows[limit - 1][column]) if limit else after

    def _header(self, db: Database, ref: Ref) -> Header:
        if ref.ns:
            raise _no_thread(ref.thread, ref.ns)
        return header_at(db, ref.thread, ref.id)

    def _check_thread(self, db: Database, thread: str) -> None:
        if db.execute("SELECT 1 FROM threads WHERE thread_id = ?", (thread,)).fetchone() is None:
            raise _no_thread(thread)


def _no_thread(thread: str, ns: str = "") -> NotFound:
    where = f"no thread {thread!r}" + (f" with namespace {ns!r}" if ns else "")
    return NotFound(where, hint="List the threads with `tt-debug threads`.")


def _refuse_running(db: Database, thread: str) -> None:
    running = "SELECT run_id, owner_pid FROM runs WHERE thread_id = ? AND status = 'running'"
    row = db.execute(running, (thread,)).fetchone()
    if row is not None:
        raise Conflict(
            f"thread {thread!r} is being run by process {row[1]} (run {row[0]})",
            hint="Pause the run first, or fork to a new thread.",
        )


def _thread_of(row: tuple[Value, ...]) -> ThreadInfo:
    asks, run_status, count, _, updated, origin_thread, origin, title, business_id, named_head = row[15:]
    head = header_of(row[:15], Standing(False, run_status, bool(asks)))
    named = {"title": title, "business_id": business_id}
    return ThreadInfo(
        thread=head.ref.thread,
        checkpoints=count,
        head=head.ref if head.ref.id == named_head else None,  # a head that is not there: the newest is told of
        step=head.step,
        status=head.status,
        updated=from_micros(updated),
        forked_from=None if origin is None else Ref(origin_thread, "", origin),
        last_node=head.nodes[-1] if head.nodes else None,
        meta={**head.meta, **{key: value for key, value in named.items() if value is not None}},
    )
