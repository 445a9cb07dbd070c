"""A checkpoint's row as it is inserted, and the checksum over what it says.

Owns the order of the columns; what becomes a row, and of what, is `rows`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from stores.codec import json
from stores.model import Value


class Row(NamedTuple):
    """A checkpoint's row, as it is inserted. Its checksum covers the columns up to ``visit``, in this order."""

    thread_id: str
    checkpoint_id: str
    parent_id: str | None
    parent_thread: str | None
    step: int
    source: str
    nodes: str
    next: str
    meta: str
    run_id: str | None
    workflow_hash: str | None
    visit: int | None
    status: str
    size: int
    checksum: str
    created_at: int
    token: int | None
    commit_id: str | None
    state: str


class MadeBy(NamedTuple):
    """Those columns that tell who made a checkpoint: a run in a commit of its own, or somebody else."""

    run_id: str | None = None
    workflow_hash: str | None = None
    visit: int | None = None
    token: int | None = None
    commit_id: str | None = None


INSERT: Final = f"INSERT INTO checkpoints ({', '.join(Row._fields)}) VALUES ({', '.join('?' for _ in Row._fields)})"


def checksum_of(record: Sequence[Value], state: bytes, parent: str) -> str:
    """Over the record's columns, its state and the parent's checksum, so that a changed ancestor shows."""
    content = json.dumps([*record, hashlib.sha256(state).hexdigest(), parent])
    return hashlib.sha256(content).hexdigest()
