"""Rows of the native tables and the values they stand for; the one place where a checkpoint row is inserted.

Every function works inside a transaction of its caller; none opens or commits one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from types import NoneType
from typing import Final

from stores.codec import json
from stores.errors import Conflict, Corrupt, Invalid, NotFound, Unsupported
from stores.ids import micros_of
from stores.model import Header, NewCheckpoint, Ref, Status, Value
from stores.native.checkpoint_rows import INSERT, MadeBy, Row, checksum_of
from stores.native.database import Database
from stores.native.lease_clock import micros_now
from stores.native.states import Stored, keep, keep_binaries
from stores.runs import RunStatus

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

# What a listing reads: all of it stands in the index `checkpoints_headers`.
HEADER_COLUMNS: Final = (
    "c.thread_id, c.checkpoint_id, c.parent_id, c.parent_thread, c.step, c.source, c.nodes, c.visit, c.next, c.status,"
    " c.run_id, c.workflow_hash, c.size, c.created_at, c.meta"
)
_HEADER: Final = attrgetter(*HEADER_COLUMNS.replace("c.", "").split(", "))
# A step that was run from here left a child in this thread; an edit of this checkpoint is not such a child.
WENT_ON: Final = (
    "EXISTS (SELECT 1 FROM checkpoints k WHERE k.parent_id = c.checkpoint_id AND k.thread_id = c.thread_id"
    " AND k.parent_thread IS NULL AND k.source NOT IN ('edit', 'fork'))"
)
# What an answer is given to; of the others the run is decided about.
ASKED: Final = "kind IN ('approval', 'question', 'unknown_effect', 'effect_conflict')"
# Whose effects the runs of a thread `t` have: those of the line it was forked from, else its own. Its name alone would
# not do: threads of two stores share names, and would hand the same keys to the same world.
BUSINESS_ID: Final = (
    "coalesce(t.business_id, (SELECT r.business_id FROM runs r WHERE r.thread_id = t.thread_id"
    " ORDER BY r.created_at, r.run_id LIMIT 1),"
    " t.thread_id || '@' || (SELECT substr(m.value, 1, 8) FROM meta m WHERE m.key = 'store_id'))"
)
# A run that is held is shown as such: it goes on only once its question is resolved.
RUN_SHOWN: Final = "CASE WHEN r.status = 'crashed' AND r.hold_reason IS NOT NULL THEN 'held' ELSE r.status END"
ACTIVE_RUN: Final = "('pending', 'running', 'waiting_human', 'paused', 'crashed')"
# Of a checkpoint's meta these have columns of their own.
_META_COLUMNS: Final[Mapping[str, type]] = {"run_id": str, "workflow_hash": str, "visit": int}

SHOWN: Final[Mapping[str, str]] = {
    RunStatus.PENDING: Status.PENDING,
    RunStatus.RUNNING: Status.RUNNING,
    RunStatus.WAITING: Status.WAITING,
    RunStatus.PAUSED: Status.PAUSED,
    RunStatus.COMPLETED: Status.DONE,
    RunStatus.FAILED: Status.FAILED,
    RunStatus.CANCELLED: Status.CANCELLED,
    RunStatus.CRASHED: Status.CRASHED,
}
"""How a run's status is shown of the thread and of the checkpoint that is the run's head."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the tables beside a checkpoint say of it: whether a step led on from it, its run, its open question."""

    went_on: bool
    run_status: str | None = None
    asks: bool = False


def to_micros(time: datetime | None) -> int | None:
    """Microseconds since 1970 in UTC; a time without a zone is taken as UTC."""
    if time is None:
        return None
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return (aware - EPOCH) // _MICROSECOND


def from_micros(micros: int | None) -> datetime | None:
    """The time in UTC."""
    return None if micros is None else EPOCH + timedelta(microseconds=micros)


def to_text(value: Value, *path: str) -> str:
    """JSON text for a column. Raises Invalid, naming the place, for what JSON would change."""
    return json.dumps(value, path).decode()


def from_text(text: str | None) -> Value:
    """The value of a JSON column; None for NULL. Raises Corrupt."""
    return None if text is None else json.loads(text)


def header_from(row: Row, standing: Standing) -> Header:
    """A header from a row as it was put."""
    return header_of(_HEADER(row), standing)


def header_of(row: Sequence[Value], standing: Standing) -> Header:
    """A header from `HEADER_COLUMNS`. A damaged column is told in `Header.problem`, the rest is kept."""
    thread, id, parent, parent_thread, step, source, nodes, visit, following, status, run, workflow, size, at, meta = (
        row
    )
    damaged: list[str] = []
    names, after = _parsed(nodes, "nodes", damaged), _parsed(following, "next", damaged)
    known = _parsed(meta, "meta", damaged)
    about = dict(known) if isinstance(known, dict) else {}
    for key, value in zip(_META_COLUMNS, (run, workflow, visit), strict=True):
        if value is not None:
            about[key] = value
    return Header(
        ref=Ref(thread, "", id),
        parent=None if parent is None else Ref(parent_thread or thread, "", parent),
        step=step,
        source=source,
        created=from_micros(at),
        nodes=tuple(names or ()),
        next=tuple(after or ()),
        status=_status(status, bool(after), standing),
        size=size,
        meta=about,
        problem=f"{' and '.join(damaged)} cannot be read" if damaged else None,
    )


def _parsed(text: str, name: str, damaged: list[str]) -> Value:
    try:
        return json.loads(text)
    except Corrupt:
        damaged.append(name)
        return None


def _status(stored: str, has_next: bool, standing: Standing) -> str:
    if standing.went_on:
        return Status.DONE
    if standing.run_status is not None:
        return SHOWN.get(standing.run_status, standing.run_status)
    if not has_next:
        return Status.DONE if stored == Status.UNFINISHED else stored
    return Status.WAITING if standing.asks else stored


def run_statuses(db: Database, thread: str) -> dict[str, str]:
    """The status of the newest run at each checkpoint it ended at; that of an active run at the thread's head."""
    found = db.execute(
        f"SELECT CASE WHEN r.status IN {ACTIVE_RUN} THEN t.head ELSE r.head END, {RUN_SHOWN}"
        " FROM runs r JOIN threads t ON t.thread_id = r.thread_id WHERE r.thread_id = ? ORDER BY r.created_at, r.rowid",
        (thread,),
    )
    return {head: status for head, status in found if head is not None}


def open_questions(db: Database, thread: str) -> frozenset[str]:
    """The checkpoints of a thread at which a human is asked."""
    found = db.execute(
        f"SELECT checkpoint_id FROM inbox WHERE thread_id = ? AND status = 'open' AND {ASKED}", (thread,)
    )
    return frozenset(row[0] for row in found)


def header_at(db: Database, thread: str, id: str) -> Header:
    """One checkpoint's header. Raises NotFound."""
    row = db.execute(
        f"SELECT {HEADER_COLUMNS}, {WENT_ON} FROM checkpoints c WHERE c.thread_id = ? AND c.checkpoint_id = ?",
        (thread, id),
    ).fetchone()
    if row is None:
        raise NotFound(f"no checkpoint {id} in thread {thread!r}", hint="List the thread's checkpoints with `log`.")
    asks = id in open_questions(db, thread)
    return header_of(row[:-1], Standing(bool(row[-1]), run_statuses(db, thread).get(id), asks))


def state_at(db: Database, ref: Ref) -> dict[str, Value]:
    """A checkpoint's state, shared with others that hold the same. Raises NotFound, Corrupt."""
    row = db.execute(
        "SELECT state, size FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?", (ref.thread, ref.id)
    ).fetchone()
    if row is None:
        raise NotFound(f"no checkpoint {ref.id} in thread {ref.thread!r}", hint="List its checkpoints with `log`.")
    try:
        return db.states.read(db, row[0], row[1])
    except Corrupt as error:
        raise Corrupt(f"the state of {ref.id} in thread {ref.thread!r} is {error}", hint="Fork its parent.") from error


@dataclass(frozen=True, slots=True)
class _Parent:
    step: int | None
    checksum: str
    workflow_hash: str | None
    tree: str | None = None  # its state's row, where that is the root of a tree


def insert_checkpoint(db: Database, new: NewCheckpoint, *, token: int | None = None) -> Header:
    """Insert a checkpoint and make it its thread's head; the thread is made when it is new. A ``business_id`` in the
    meta of a new fork is the thread's own, instead of the one it was forked from.

    ``run_id``, ``workflow_hash`` and ``visit`` in ``new.meta`` go to columns of their own; the workflow's hash is
    the parent's where none is given. A step that is None is the parent's + 1, −1 for a thread's first.
    The same id with the same content gives the header that is there and changes nothing. Raises Conflict for
    other content, NotFound for a parent that is not in the store, Invalid for a value JSON would change.
    """
    put_checkpoint(db, new, MadeBy(token=token))
    return header_at(db, new.ref.thread, new.ref.id)


def put_checkpoint(db: Database, new: NewCheckpoint, by: MadeBy) -> Row:
    """As `insert_checkpoint`; gives the row. What has a commit's id is known to be in the store or not."""
    if new.ref.ns:
        raise Unsupported("a native store has no namespaces", hint="Leave the namespace empty.")
    parent = _parent_of(db, new)
    stored = db.states.cut(_as_dict(new.state), new.blobs, parent.tree)
    row = _row(new, parent, stored, micros_of(new.ref.id) or micros_now(db), by)
    if by.commit_id is None and _is_there(db, new.ref, row.checksum):
        return row
    keep(db, stored)
    if new.parent is None or new.parent.thread != new.ref.thread:
        _ensure_thread(db, new)
    db.execute(INSERT, row)
    db.execute("UPDATE threads SET head = ? WHERE thread_id = ?", (new.ref.id, new.ref.thread))
    return row


def restore_checkpoint(db: Database, new: NewCheckpoint, created: datetime | None) -> None:
    """Insert a checkpoint that was written elsewhere, at its own time; its parent need not be here.

    Its thread is there already. Raises Invalid for a value JSON would change.
    """
    if new.ref.ns:
        raise Unsupported("a native store has no namespaces", hint="Leave the namespace empty.")
    parent = replace(_parent_row(db, new.parent) or _NO_PARENT, workflow_hash=None)
    stored = db.states.cut(_as_dict(new.state), new.blobs, parent.tree)
    row = _row(new, parent, stored, to_micros(created) or micros_of(new.ref.id) or micros_now(db), MadeBy())
    keep(db, stored, given_only=True)
    keep_binaries(db, list(new.blobs.values()))  # what effects and parts of the thread refer to came with it too
    db.execute(INSERT, row)
    if new.parent is not None and new.parent.thread != new.ref.thread:
        db.execute(
            "UPDATE threads SET forked_from_thread = ?, forked_from = ? WHERE thread_id = ? AND forked_from IS NULL",
            (new.parent.thread, new.parent.id, new.ref.thread),
        )


def _row(new: NewCheckpoint, parent: _Parent, state: Stored, created: int, by: MadeBy) -> Row:
    """Raises Invalid for what JSON would change."""
    meta = dict(new.meta)
    if by.run_id is None:
        # Metadata from elsewhere may hold anything under these names.
        fitting = [name for name, kind in _META_COLUMNS.items() if type(meta.get(name)) in (kind, NoneType)]
        by = by._replace(**{name: meta.pop(name, None) for name in fitting})
    elsewhere = new.parent is not None and new.parent.thread != new.ref.thread
    covered = (
        new.ref.thread,
        new.ref.id,
        new.parent and new.parent.id,
        new.parent.thread if new.parent is not None and elsewhere else None,
        _step_of(new, parent),
        new.source,
        to_text(list(new.nodes), "nodes"),
        to_text(list(new.next), "next"),
        to_text(meta, "meta"),
        by.run_id,
        by.workflow_hash or parent.workflow_hash,
        by.visit,
    )
    checksum = checksum_of(covered, state.text.encode(), parent.checksum)
    return Row(*covered, new.status, state.size, checksum, created, by.token, by.commit_id, state.text)


def _step_of(new: NewCheckpoint, parent: _Parent) -> int:
    if new.step is not None:
        return new.step
    return -1 if parent.step is None else parent.step + 1


def _as_dict(state: Mapping[str, Value]) -> dict[str, Value]:
    if not isinstance(state, Mapping):
        raise Invalid(f"a state is a mapping, not {type(state).__name__}", hint="Return a mapping of names to values.")
    return dict(state)


_NO_PARENT: Final = _Parent(None, "", None)


def _parent_of(db: Database, new: NewCheckpoint) -> _Parent:
    if new.parent is None:
        return _NO_PARENT
    found = _parent_row(db, new.parent)
    if found is None:
        raise NotFound(
            f"the parent {new.parent.id} is not in thread {new.parent.thread!r}", hint="Append the parent first."
        )
    return found


def _parent_row(db: Database, parent: Ref | None) -> _Parent | None:
    if parent is None:
        return None
    row = db.execute(
        "SELECT step, checksum, workflow_hash, CASE WHEN substr(state, 1, 1) = '[' THEN state END FROM checkpoints"
        " WHERE thread_id = ? AND checkpoint_id = ?",
        (parent.thread, parent.id),
    ).fetchone()
    return None if row is None else _Parent(*row)


def _is_there(db: Database, ref: Ref, checksum: str) -> bool:
    row = db.execute(
        "SELECT checksum FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?", (ref.thread, ref.id)
    ).fetchone()
    if row is not None and row[0] != checksum:
        raise Conflict(
            f"checkpoint {ref.id} of thread {ref.thread!r} is there with other content",
            hint="History is append-only: choose a new id.",
        )
    return row is not None


def _ensure_thread(db: Database, new: NewCheckpoint) -> None:
    origin = new.parent if new.parent is not None and new.parent.thread != new.ref.thread else None
    named = new.meta.get("business_id") if origin is not None else None
    db.execute(
        "INSERT OR IGNORE INTO threads (thread_id, forked_from_thread, forked_from, business_id, created_at) VALUES"
        f" (?1, ?2, ?3, coalesce(?5, (SELECT {BUSINESS_ID} FROM threads t WHERE t.thread_id = ?2)), ?4)",
        (new.ref.thread, origin and origin.thread, origin and origin.id, micros_now(db), named),
    )
