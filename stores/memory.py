"""The reference adapter: the contract of `stores.protocol` over a list in memory.

Owns nothing but brevity. States are kept as JSON text, so that no caller can change what was stored.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from stores.changes import apply_changes
from stores.codec import json
from stores.errors import Conflict, LeaseLost, NotFound, ReadOnly, Unreachable
from stores.ids import is_ours, new_id, time_of
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
    Value,
)

CAPABILITIES: Final = frozenset({Capability.WRITE, Capability.FORK, Capability.NAMESPACES})


@dataclass(frozen=True, slots=True)
class _Row:
    header: Header
    content: bytes  # what makes two appends of one id the same
    state: bytes


class MemoryStore:
    """A store that lasts as long as the object."""

    def __init__(self, *, read_only: bool = False, rows: Sequence[_Row] = ()) -> None:
        self._read_only = read_only
        self._lock = threading.RLock()
        self._rows: list[_Row] | None = list(rows)

    @property
    def info(self) -> StoreInfo:
        """What this store is and can do."""
        return StoreInfo("memory:", "memory", f"memory-{id(self):x}", CAPABILITIES, self._read_only)

    def frozen(self) -> MemoryStore:
        """A copy that refuses writes."""
        with self._lock:
            return MemoryStore(read_only=True, rows=self._open())

    def threads(self, after: str | None = None, limit: int = 200) -> Page[ThreadInfo]:
        """Newest write first."""
        with self._lock:
            newest: dict[str, int] = {}
            for place, row in enumerate(self._open()):
                newest[row.header.ref.thread] = place
            order = sorted(newest.items(), key=lambda item: -item[1])
            kept, following = _page([(place, thread) for thread, place in order], after, limit)
            return Page(tuple(self._thread_info(thread) for thread in kept), following)

    def headers(self, thread: str, after: str | None = None, limit: int = 1000) -> Page[Header]:
        """Newest first, in the order of appending, so that a child comes before its parent."""
        with self._lock:
            places = [(n, row.header) for n, row in enumerate(self._open()) if row.header.ref.thread == thread]
            if not places:
                raise NotFound(f"no thread {thread!r}")
            kept, following = _page(places[::-1], after, limit)
            return Page(tuple(kept), following)

    def head(self, thread: str, ns: str = "") -> Ref:
        """The newest checkpoint of the namespace."""
        with self._lock:
            for row in reversed(self._open()):
                if (row.header.ref.thread, row.header.ref.ns) == (thread, ns):
                    return row.header.ref
        raise NotFound(f"no thread {thread!r} with namespace {ns!r}")

    def load(self, ref: Ref) -> Checkpoint:
        """Header and state; a new copy at each call."""
        with self._lock:
            row = self._row(ref)
        if row is None:
            raise NotFound(f"no checkpoint {ref.id} in thread {ref.thread!r}")
        return Checkpoint(row.header, json.loads(row.state))

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._rows = None

    def append(self, new: NewCheckpoint, fence: tuple[str, int] | None = None) -> Header:
        """Insert one checkpoint; see `stores.protocol.Writer`."""
        with self._lock:
            self._check_writable()
            if fence is not None:
                raise LeaseLost(f"no run {fence[0]} here")
            parent = None if new.parent is None else self.load(new.parent).header
            state = json.dumps(dict(new.state))
            step = new.step if new.step is not None else -1 if parent is None else (parent.step or 0) + 1
            about = [list(new.parent or ()), step, new.source, list(new.nodes), list(new.next), dict(new.meta)]
            content = json.dumps([*about, list(new.ref)]) + state
            there = self._row(new.ref)
            if there is not None and there.content != content:
                raise Conflict(f"checkpoint {new.ref.id} of thread {new.ref.thread!r} is there with other content")
            if there is not None:
                return there.header
            header = Header(
                ref=new.ref,
                parent=new.parent,
                step=step,
                source=new.source,
                created=time_of(new.ref.id) or datetime.now(UTC),
                nodes=new.nodes,
                next=new.next,
                status=new.status if new.next else Status.DONE,
                size=len(state),
                meta=dict(new.meta),
            )
            self._open().append(_Row(header, content, state))
            return header

    def fork(
        self,
        base: Ref,
        thread: str,
        changes: Sequence[Change] = (),
        *,
        keep_results: bool = False,
        meta: Mapping[str, Value] | None = None,
    ) -> Header:
        """One new checkpoint whose parent is ``base``; see `stores.protocol.Writer`."""
        with self._lock:
            self._check_writable()
            origin = self.load(base)
            own = thread == base.thread
            if not own and any(row.header.ref.thread == thread for row in self._open()):
                raise Conflict(f"thread {thread!r} exists")
            if own and self.head(thread, base.ns) != base:
                raise Conflict(f"{base.id} is not the head of {thread!r} any more")
            step = (origin.header.step or 0) + 1
            ids = [row.header.ref.id for row in self._open() if row.header.ref.thread == thread] + [base.id]
            id = new_id(step, max((known for known in ids if is_ours(known)), default=None))
            new = NewCheckpoint(
                ref=Ref(thread, base.ns, id),
                parent=base,
                state=apply_changes(origin.state, changes),
                source="edit" if own else "fork",
                meta=meta or {},
                step=step,
                next=origin.header.next,
            )
            return self.append(new)

    def _open(self) -> list[_Row]:
        if self._rows is None:
            raise Unreachable("this store was closed")
        return self._rows

    def _check_writable(self) -> None:
        self._open()
        if self._read_only:
            raise ReadOnly("this store was opened for reading only")

    def _row(self, ref: Ref) -> _Row | None:
        return next((row for row in self._open() if row.header.ref == ref), None)

    def _thread_info(self, thread: str) -> ThreadInfo:
        headers = [row.header for row in self._open() if row.header.ref.thread == thread]
        root = [header for header in headers if header.ref.ns == ""]
        head, first = (root or headers)[-1], headers[0]
        return ThreadInfo(
            thread=thread,
            checkpoints=len(headers),
            head=head.ref if root else None,
            step=head.step,
            status=head.status,
            updated=headers[-1].created,
            forked_from=first.parent if first.parent is not None and first.parent.thread != thread else None,
            last_node=head.nodes[-1] if head.nodes else None,
            meta=head.meta,
        )


def _page(places: list[tuple[int, Value]], after: str | None, limit: int) -> tuple[list[Value], str | None]:
    """A slice of a listing that is sorted by falling place."""
    if limit < 0:
        raise ValueError(f"a page cannot have {limit} items")
    left = [item for item in places if after is None or item[0] < int(after)]
    kept = left[:limit]
    following = after if not kept else str(kept[-1][0]) if len(left) > limit else None
    return [value for _, value in kept], following
