"""Questions to humans in the native tables, and their answers.

Owns the one-answer rule, decided by a WHERE clause, and what an answer leaves in the thread: a checkpoint with
the answer under the node's name, from which any process can go on. Whether an answer fits is the caller's check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stores.edges import NoMatch, first_match
from stores.effects import HOLDS
from stores.errors import Conflict, Invalid, NotFound, StoreError
from stores.ids import new_id
from stores.model import Header, NewCheckpoint, Ref, Status, Value
from stores.native import effect_rows
from stores.native.base import NativeBase
from stores.native.database import Database
from stores.native.lease_clock import micros_now
from stores.native.rows import ASKED, from_micros, from_text, header_at, insert_checkpoint, state_at, to_micros, to_text
from stores.points import point
from stores.rereading import rereading
from stores.runs import QUESTIONS, Approval

COLUMNS: Final = (
    "id, thread_id, checkpoint_id, node, prompt, response_schema, status, created_at, run_id, answer, answered_by,"
    " answered_at, kind, due_at, on_timeout"
)


class NativeInbox(NativeBase):
    """Reading the inbox, and answering."""

    @rereading
    def approvals(self, thread: str | None = None, status: str | None = "open") -> tuple[Approval, ...]:
        """Oldest first; ``status`` None gives all."""
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM inbox WHERE (?1 IS NULL OR thread_id = ?1) AND (?2 IS NULL OR status = ?2)"
                f" AND {ASKED} ORDER BY created_at, rowid",
                (thread, status),
            ).fetchall()
        return tuple(approval_of(row) for row in rows)

    def answer(self, approval_id: str, answer: object, by: str, *, reject: bool = False) -> Header:
        """Record it once, and make the waiting run pending. A rejection becomes ``{"approved": false, "reason": …}``.

        The answer's checkpoint follows the thread's present head, so that an edit made while waiting is kept.
        """
        value = {"approved": False, "reason": answer} if reject else answer
        with self._writing() as db:
            row = db.execute(
                "UPDATE inbox SET status = 'answered', answer = ?, answered_by = ?, answered_at = ?"
                f" WHERE id = ? AND status = 'open' AND {ASKED} RETURNING {COLUMNS}",
                (to_text(value, "answer"), by, micros_now(db), approval_id),
            ).fetchone()
            if row is None:
                raise not_open(db, approval_id)
            asked = approval_of(row)
            point("native.answered")
            if asked.kind in HOLDS:
                effect_rows.resolve(db, asked.id, value)
            header = _insert_answer(db, asked, value)
            point("native.answer-inserted")
            _wake(db, asked, header.ref.id, value)
            return header_at(db, header.ref.thread, header.ref.id)


def insert_approval(db: Database, asked: Approval) -> None:
    """Open a question; part of the transaction that suspends the run."""
    db.execute(
        "INSERT INTO inbox (id, kind, run_id, thread_id, checkpoint_id, node, prompt, response_schema, status,"
        " created_at, due_at, on_timeout) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?)",
        (
            asked.id, asked.kind, asked.run_id, asked.thread, asked.checkpoint, asked.node,
            to_text(asked.prompt, "prompt"), None if asked.schema is None else to_text(dict(asked.schema), "schema"),
            to_micros(asked.since) or micros_now(db), to_micros(asked.due), asked.on_timeout,
        ),
    )  # fmt: skip


def withdraw(db: Database, run_id: str) -> None:
    """Nobody needs an answer for this run any more."""
    db.execute("UPDATE inbox SET status = 'withdrawn' WHERE run_id = ? AND status = 'open'", (run_id,))


def _insert_answer(db: Database, asked: Approval, value: Value) -> Header:
    head = db.execute(
        "SELECT c.checkpoint_id, c.step, c.next, c.meta FROM threads t"
        " JOIN checkpoints c ON c.thread_id = t.thread_id AND c.checkpoint_id = t.head WHERE t.thread_id = ?",
        (asked.thread,),
    ).fetchone()
    id, step, after = head[0], head[1], from_text(head[2])
    state = state_at(db, Ref(asked.thread, "", id))
    about: dict[str, Value] = {"approval": asked.id, "kind": asked.kind, "answered_by": asked.answered_by}
    if asked.kind == "approval":
        state = {**state, asked.node: value}
        after = _following(db, asked, state)
        about["visit"] = _visit(db, asked)
    else:
        about["answer"] = value  # what to do with a step is no part of the state
        about.update({"inside": inside} if (inside := from_text(head[3]).get("inside")) else {})
    new = NewCheckpoint(
        ref=Ref(asked.thread, "", new_id(step, id)),
        parent=Ref(asked.thread, "", id),
        state=state,
        source="answer",
        meta={**about, "run_id": asked.run_id},
        step=step,
        nodes=(asked.node,),
        next=tuple(after),
        status=Status.UNFINISHED if after else Status.DONE,
    )
    return insert_checkpoint(db, new)


def _following(db: Database, asked: Approval, state: Mapping[str, Value]) -> list[str]:
    """What runs after the answer, by the edges that the suspended step left in its checkpoint's meta."""
    row = db.execute(
        "SELECT meta FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?", (asked.thread, asked.checkpoint)
    ).fetchone()
    edges = from_text(row[0]).get("edges") if row is not None else None
    try:
        target = first_match([(edge.get("when"), edge["to"]) for edge in edges or [{"to": None}]], state)
    except NoMatch as error:
        raise Invalid(
            f"no way on from {asked.node} with this answer: {error}",
            hint="Give an answer that the workflow has an edge for, or cancel the run.",
        ) from error
    return [] if target is None else [target]


def _visit(db: Database, asked: Approval) -> int | None:
    row = db.execute("SELECT visit FROM steps WHERE run_id = ? AND status = 'waiting'", (asked.run_id,)).fetchone()
    return None if row is None else int(row[0])


def _wake(db: Database, asked: Approval, checkpoint: str, value: Value) -> None:
    done = db.execute(
        "UPDATE runs SET status = 'pending', head = ?, hold_reason = NULL WHERE run_id = ?"
        " AND (status = 'waiting_human' OR status = 'crashed' AND hold_reason IS NOT NULL)",
        (checkpoint, asked.run_id),
    )
    if asked.run_id is not None and done.rowcount != 1:
        raise Conflict(f"run {asked.run_id} no longer waits for {asked.id}", hint="Look at the thread again.")
    db.execute(
        "UPDATE steps SET status = 'completed', output = ?, ended_at = ?, checkpoint_id = ?"
        " WHERE run_id = ? AND status = 'waiting'",
        (to_text({asked.node: value}, "answer"), micros_now(db), checkpoint, asked.run_id),
    )


def not_open(db: Database, approval_id: str) -> StoreError:
    row = db.execute("SELECT status, answered_by, answered_at, kind FROM inbox WHERE id = ?", (approval_id,)).fetchone()
    if row is None:
        return NotFound(f"no question {approval_id}", hint="List them with `tt-debug inbox`.")
    status, by, at, kind = row
    if status == "open":
        asks = "an answer" if kind in QUESTIONS else "a decision"
        how = "answer" if kind in QUESTIONS else "resolve"
        return Conflict(f"{approval_id} asks for {asks}", hint=f"Give it with `tt-debug {how}`.")
    if status == "answered":
        when = from_micros(at)
        said = f"was already answered by {by}" + (f" at {when:%Y-%m-%d %H:%M:%S} UTC" if when else "")
    else:
        said = f"is {status}"
    return Conflict(f"{approval_id} {said}", hint="Resume the thread to go on with what is recorded.")


def approval_of(row: tuple[Value, ...]) -> Approval:
    id, thread, checkpoint, node, prompt, schema, status, since, run_id, answer, by, at, kind, due, timeout = row
    return Approval(
        id, thread, "", checkpoint, node, from_text(prompt), from_text(schema), status, from_micros(since), run_id,
        from_text(answer), by, from_micros(at), kind, 0, from_micros(due), timeout or "wait",
    )  # fmt: skip
