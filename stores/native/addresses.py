"""Where the checkpoints of a native thread are, without their headers, and the headers of those that are asked for."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import lt
from typing import Final

from stores.errors import NotFound
from stores.model import Addresses, Header, Ref
from stores.native.base import NativeBase
from stores.native.by_id import rows_at
from stores.native.rows import HEADER_COLUMNS, WENT_ON, Standing, header_of, open_questions, run_statuses
from stores.refs import Refs
from stores.rereading import rereading

# In the order of insertion. All of it stands in the index `checkpoints_headers`.
_ADDRESSES: Final = (
    "SELECT c.checkpoint_id, c.parent_id, c.parent_thread FROM checkpoints c WHERE c.thread_id = ? ORDER BY c.seq"
)


class NativeAddresses(NativeBase):
    """The `stores.protocol.TellsAddresses` part of a native store."""

    @rereading
    def addresses(self, thread: str) -> Addresses:
        """As `stores.protocol.TellsAddresses`."""
        with self._reading() as db:
            rows = db.execute(_ADDRESSES, (thread,)).fetchall()
        if not rows:
            raise NotFound(f"no checkpoint in thread {thread!r}", hint="List the threads with `tt-debug threads`.")
        ids: Sequence[str] = [id for id, _, _ in rows]
        places = {id: at for at, id in enumerate(ids)}
        parents = array("i", (-1 if other else places.get(parent, -1) for _, parent, other in rows))
        missing = {
            at: Ref(other or thread, "", parent)
            for at, (_, parent, other) in enumerate(rows)
            if parents[at] < 0 and parent is not None
        }
        sorts = all(map(lt, ids, ids[1:]))
        return Addresses(Refs(thread, "", ids) if sorts else [Ref(thread, "", id) for id in ids], parents, missing)

    @rereading
    def headers_at(self, thread: str, refs: Sequence[Ref]) -> Sequence[Header]:
        """As `stores.protocol.TellsAddresses`."""
        own = [ref for ref in refs if ref.thread == thread]
        with self._reading() as db:
            rows = dict(rows_at(db, own, f"{HEADER_COLUMNS}, {WENT_ON}"))
            runs, asked = run_statuses(db, thread), open_questions(db, thread)
        return [
            header_of(row[:-1], Standing(bool(row[-1]), runs.get(ref.id), ref.id in asked)) for ref, row in rows.items()
        ]
