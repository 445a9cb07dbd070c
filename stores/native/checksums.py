"""Whether the checkpoints of a line are what was once written: each one's checksum covers its parent's, and its state
what the state refers to.

Owns the walk; how a checksum comes about is in `checkpoint_rows`.
"""

from __future__ import annotations

from typing import Final

from stores.model import Ref
from stores.native.checkpoint_rows import checksum_of
from stores.native.database import Database
from stores.native.states import broken

_ROW: Final = (
    "SELECT thread_id, checkpoint_id, parent_id, parent_thread, step, source, nodes, next, meta, run_id,"
    " workflow_hash, visit, state, checksum FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?"
)


def fault(db: Database, ref: Ref, known: Ref | None) -> tuple[Ref, str] | None:
    """The newest damaged checkpoint from ``ref`` up to and with ``known``, or the line's first, and its fault."""
    row = db.execute(_ROW, (ref.thread, ref.id)).fetchone()
    sound: set[str] = set()
    if row is None:
        return ref, "it is gone"
    while row is not None:
        parent = None if row[2] is None else (row[3] or row[0], row[2])
        above = None if parent is None else db.execute(_ROW, parent).fetchone()
        here = Ref(row[0], "", row[1])
        if not isinstance(row[-2], str):
            return here, "its state is no text"
        if checksum_of(row[:-2], row[-2].encode("utf-8", "surrogateescape"), above[-1] if above else "") != row[-1]:
            gone = parent is not None and above is None
            return here, "its parent is gone" if gone else "it does not match its checksum"
        fault = broken(db, row[-2], sound)
        if fault is not None:
            return here, fault
        row = None if here == known else above
    return None
