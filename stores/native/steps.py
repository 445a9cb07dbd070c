"""Rows of the step log: one a try at a node, and one a part of a node that was completed by itself.

Every function works inside a transaction of its caller. The state a step started from is not stored twice: its
row names the checkpoint, and the state is read from there when asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stores.errors import Corrupt, NotFound
from stores.model import NewCheckpoint, Ref, Value
from stores.native.database import Database
from stores.native.lease_clock import micros_now
from stores.native.rows import from_micros, from_text, state_at, to_micros, to_text
from stores.runs import StepRecord

_COLUMNS: Final = (
    "s.run_id, s.ordinal, s.node, s.attempt, s.visit, s.status, s.output, s.started_at, s.ended_at, s.error,"
    " s.error_class, s.retryable, s.next_attempt_at, s.log, s.base, s.checkpoint_id, s.substep"
)

_ENDING: Final = (
    "status", "ended_at", "checkpoint_id", "output", "error", "error_class", "retryable", "next_attempt_at", "log",
    "token",
)  # fmt: skip
_END: Final = (
    f"UPDATE steps SET {', '.join(f'{name} = ?' for name in _ENDING)}"
    " WHERE run_id = ? AND ordinal = ? AND attempt = ? AND substep = '' AND status = 'running'"
)

# The line from a checkpoint up, across the threads it was forked from.
_LINE: Final = """
WITH RECURSIVE line(thread_id, checkpoint_id) AS (
  SELECT thread_id, checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?
  UNION ALL
  SELECT coalesce(c.parent_thread, c.thread_id), c.parent_id
  FROM line JOIN checkpoints c ON c.thread_id = line.thread_id AND c.checkpoint_id = line.checkpoint_id
  WHERE c.parent_id IS NOT NULL)
"""


def start(db: Database, step: StepRecord, thread: str, head: str, token: int) -> None:
    """Insert an attempt as running from the thread's head."""
    db.execute(
        "INSERT INTO steps (run_id, ordinal, attempt, node, visit, token, status, thread_id, base, started_at, substep)"
        " VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, '')",
        (
            step.run_id, step.ordinal, step.attempt, step.node, step.visit, token, thread, head,
            to_micros(step.started) or micros_now(db),
        ),
    )  # fmt: skip


def abandon(db: Database, run_id: str) -> None:
    """Whoever ran or asked what is still logged so has gone."""
    db.execute(
        "UPDATE steps SET status = 'abandoned', ended_at = ? WHERE run_id = ? AND status IN ('running', 'waiting')",
        (micros_now(db), run_id),
    )


def end(db: Database, step: StepRecord, at: Ref, base: str | None, token: int) -> None:
    """How an attempt ended, at the checkpoint ``at`` (its id empty when it made none).

    A try that was never logged as running is inserted, as one from ``base``; others still running are abandoned.
    """
    ending = (
        step.status,
        None if step.status == "waiting" else to_micros(step.ended) or micros_now(db),
        at.id or None,
        None if step.output is None else to_text(step.output, step.node),
        step.error,
        step.error_class,
        step.retryable,
        to_micros(step.next_attempt_at),
        to_text(list(step.log), "log") if step.log else None,
        token,
    )
    if db.execute(_END, (*ending, step.run_id, step.ordinal, step.attempt)).rowcount != 1:
        abandon_others = "UPDATE steps SET status = 'abandoned', ended_at = ? WHERE run_id = ? AND status = 'running'"
        db.execute(abandon_others, (micros_now(db), step.run_id))
        started = to_micros(step.started or step.ended) or micros_now(db)
        row = {
            **dict(zip(_ENDING, ending, strict=True)), "run_id": step.run_id, "ordinal": step.ordinal,
            "attempt": step.attempt, "node": step.node, "visit": step.visit, "thread_id": at.thread, "base": base,
            "started_at": started, "substep": "",
        }  # fmt: skip
        marks = ", ".join(f":{name}" for name in row)
        db.execute(f"INSERT INTO steps ({', '.join(row)}) VALUES ({marks})", row)


def end_substep(db: Database, step: StepRecord, at: NewCheckpoint, token: int) -> None:
    """A part of a running node was completed, at the checkpoint ``at``."""
    _insert(
        db, step, token, at.ref.thread, status=step.status, base=at.parent and at.parent.id, checkpoint=at.ref.id
    )  # fmt: skip


def restore(db: Database, step: StepRecord, thread: str) -> None:
    """Insert an attempt that was logged elsewhere; one that was running has lost its process."""
    status = "abandoned" if step.status == "running" else step.status
    _insert(db, step, 0, thread, status=status, base=step.base, checkpoint=step.checkpoint)


def _insert(
    db: Database,
    step: StepRecord,
    token: int,
    thread: str,
    *,
    status: str,
    base: str | None,
    checkpoint: str | None,
) -> None:
    row = {
        "run_id": step.run_id,
        "ordinal": step.ordinal,
        "substep": step.substep,
        "attempt": step.attempt,
        "node": step.node,
        "visit": step.visit,
        "token": token,
        "status": status,
        "thread_id": thread,
        "base": base,
        "checkpoint_id": checkpoint,
        "output": None if step.output is None else to_text(step.output, step.node),
        "started_at": to_micros(step.started),
        "ended_at": to_micros(step.ended),
        "error": step.error,
        "error_class": step.error_class,
        "retryable": step.retryable,
        "next_attempt_at": to_micros(step.next_attempt_at),
        "log": to_text(list(step.log), "log") if step.log else None,
    }
    marks = ", ".join(f":{name}" for name in row)
    db.execute(f"INSERT INTO steps ({', '.join(row)}) VALUES ({marks})", row)


def of_run(db: Database, run_id: str | None) -> tuple[StepRecord, ...]:
    """Every attempt of a run, or of all runs, oldest first; inputs are left out."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM steps s WHERE ?1 IS NULL OR s.run_id = ?1"
        " ORDER BY s.run_id, s.ordinal, s.attempt, s.started_at",
        (run_id,),
    )
    return tuple(_record(row, None) for row in rows)


def at(db: Database, ref: Ref, run_id: str | None) -> tuple[StepRecord, ...]:
    """All attempts of the step that ended at ``ref``, then those of a step that started there and ended nowhere."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM steps s WHERE s.thread_id = ?1 AND (?3 IS NULL OR s.run_id = ?3) AND ("
        " EXISTS (SELECT 1 FROM steps e WHERE e.thread_id = ?1 AND e.checkpoint_id = ?2"
        "  AND e.run_id = s.run_id AND e.ordinal = s.ordinal AND e.substep = s.substep)"
        " OR s.base = ?2 AND NOT EXISTS (SELECT 1 FROM steps e WHERE e.run_id = s.run_id AND e.ordinal = s.ordinal"
        "  AND e.substep = s.substep AND e.checkpoint_id IS NOT NULL))"
        " ORDER BY s.started_at, s.ordinal, s.attempt",
        (ref.thread, ref.id, run_id),
    ).fetchall()
    states = {base: _state(db, ref.thread, base) for base in {row[-3] for row in rows}}
    return tuple(_record(row, states[row[-3]]) for row in rows)


def visits(db: Database, ref: Ref) -> Mapping[str, int]:
    """The visits of every node on the line that ends at ``ref``."""
    rows = db.execute(
        f"{_LINE} SELECT c.nodes, max(c.visit) FROM line JOIN checkpoints c USING (thread_id, checkpoint_id)"
        " WHERE c.visit IS NOT NULL GROUP BY c.nodes",
        (ref.thread, ref.id),
    ).fetchall()
    return {from_text(nodes)[0]: visit for nodes, visit in rows}


def substeps(db: Database, ref: Ref) -> Mapping[str, Value]:
    """What the node that is unfinished at ``ref`` completed of itself, with the state being what it still is there."""
    rows = db.execute(
        f"{_LINE.replace('WHERE c.parent_id', 'WHERE c.visit IS NULL AND c.parent_id')}"
        " SELECT s.substep, s.output, c.state, c.size FROM line JOIN checkpoints c USING (thread_id, checkpoint_id)"
        " JOIN steps s ON s.thread_id = c.thread_id AND s.checkpoint_id = c.checkpoint_id"
        " WHERE c.source = 'substep' AND s.substep <> ''"
        " AND c.size = (SELECT size FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?)",
        (ref.thread, ref.id, ref.thread, ref.id),
    ).fetchall()
    if not rows:
        return {}
    here = state_at(db, ref)
    # One may stand in its row as it is and the other as a tree: large states of an older schema do.
    return {name: from_text(output) for name, output, text, size in rows if db.states.read(db, text, size) == here}


def _state(db: Database, thread: str, id: str | None) -> Value:
    """The state at a checkpoint of the thread, or where the thread was forked; None when it cannot be read."""
    try:
        return None if id is None else state_at(db, Ref(thread, "", id))
    except (NotFound, Corrupt):
        return None


def _record(row: tuple[Value, ...], input: Value) -> StepRecord:
    (
        run_id, ordinal, node, attempt, visit, status, output, started, ended, error, kind, retryable, following, log,
        base, checkpoint, substep,
    ) = row  # fmt: skip
    return StepRecord(
        run_id, ordinal, node, attempt, visit, status, input, from_text(output), from_micros(started),
        from_micros(ended), error, kind, None if retryable is None else bool(retryable), from_micros(following),
        tuple(from_text(log) or ()), base, checkpoint, substep,
    )  # fmt: skip
