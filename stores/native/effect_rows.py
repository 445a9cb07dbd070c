"""Rows of the effect ledger and of its uses. Every function works inside a transaction of its caller."""

from __future__ import annotations

from typing import Final

from stores.effects import Effect, EffectCall, EffectStatus, EffectUse, OnConflict, Slot
from stores.errors import Invalid, NotFound
from stores.model import Value
from stores.native.database import Database
from stores.native.lease_clock import micros_now
from stores.native.rows import from_micros, from_text, to_micros, to_text

_COLUMNS: Final = (
    "e.key, e.workflow_id, e.node, e.business_id, e.visit, e.name, e.call_no, e.class, e.status, e.request,"
    " e.request_hash, e.result, e.error, e.thread_id, e.run_id, e.token, e.created_at, e.done_at, e.replays"
)


def of_slot(db: Database, slot: str) -> tuple[Effect, ...]:
    """Every entry of a place, oldest first."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM effects e WHERE e.slot = ? ORDER BY e.seq", (slot,))
    return tuple(_effect(row) for row in rows.fetchall())


def at(db: Database, key: str) -> Effect:
    """Raises NotFound."""
    row = db.execute(f"SELECT {_COLUMNS} FROM effects e WHERE e.key = ?", (key,)).fetchone()
    if row is None:
        raise NotFound(f"no effect {key}", hint="List them with `tt-debug effects`.")
    return _effect(row)


def put(
    db: Database,
    call: EffectCall,
    key: str,
    status: str,
    result: Value = None,
    *,
    thread: str,
    run: tuple[str, int],
) -> None:
    """Enter the call under ``key``; an entry that is there takes the status and the result. ``run`` is (id, token)."""
    done = micros_now(db) if status in EffectStatus.ANSWERED else None
    answer = None if result is None else to_text(result, call.slot.name)
    db.execute(
        "INSERT INTO effects (key, slot, workflow_id, node, business_id, visit, name, call_no, class, status, request,"
        " request_hash, result, thread_id, run_id, token, created_at, done_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (key) DO UPDATE SET status = excluded.status, result = excluded.result, error = NULL,"
        " run_id = excluded.run_id, token = excluded.token, done_at = excluded.done_at, asked = NULL",
        (
            key, call.slot.key, call.slot.workflow_id, call.slot.node, call.slot.business_id, call.slot.visit,
            call.slot.name, call.slot.call_no, call.kind, status, to_text(call.request, "request"), call.request_hash,
            answer, thread, *run, micros_now(db), done,
        ),
    )  # fmt: skip


def use(db: Database, run_id: str, call: EffectCall, key: str, *, called: bool) -> None:
    """An attempt came to the effect; what is given instead of a call is counted as a replay."""
    db.execute(
        "INSERT INTO effect_uses (run_id, ordinal, attempt, seq, key, called, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (run_id, ordinal, attempt, seq) DO UPDATE SET key = excluded.key, called = excluded.called",
        (run_id, call.ordinal, call.attempt, call.seq, key, int(called), micros_now(db)),
    )
    if not called:
        db.execute("UPDATE effects SET replays = replays + 1 WHERE key = ?", (key,))


def end(db: Database, key: str, status: str, result: Value, error: str | None) -> None:
    """What came of a call; what was answered before, by a fork that was faster, stays so."""
    db.execute(
        "UPDATE effects SET status = ?, result = ?, error = ?, done_at = ? WHERE key = ?"
        " AND status NOT IN ('done', 'skipped')",
        (status, None if result is None else to_text(result, "result"), error, micros_now(db), key),
    )


def ask(db: Database, key: str, question: str) -> None:
    """A human is asked about the entry from now on."""
    db.execute(
        "UPDATE effects SET asked = ?, status = CASE status WHEN 'intent' THEN 'unknown' ELSE status END WHERE key = ?",
        (question, key),
    )


def resolve(db: Database, question: str, verdict: Value) -> None:
    """Do as the answer says with the entry that the question is about. Raises Invalid for an answer that says nothing.

    Another thread may have been asked about the same entry since, and what is answered there counts.
    ``verdict``: {"as": "done", "result": …} | {"as": "retry" | "skip" | "new-key" | "new" | "reuse"}.
    """
    row = db.execute(f"SELECT {_COLUMNS}, e.slot FROM effects e WHERE e.asked = ?", (question,)).fetchone()
    if row is None:
        return
    effect, slot = _effect(row[:-1]), str(row[-1])
    entries = of_slot(db, slot)
    done = [entry for entry in entries if entry.status in EffectStatus.ANSWERED and entry.key != effect.key]
    match verdict.get("as") if isinstance(verdict, dict) else verdict:
        case "done":
            end(db, effect.key, EffectStatus.DONE, verdict.get("result") if isinstance(verdict, dict) else None, None)
        case "skip":
            end(db, effect.key, EffectStatus.SKIPPED, None, effect.error)
        case "retry" | OnConflict.NEW:
            end(db, effect.key, EffectStatus.PLANNED, None, effect.error)
        case OnConflict.REUSE if done:
            end(db, effect.key, done[-1].status, done[-1].result, None)
        case "new-key":
            _enter_again(db, effect.key, f"{slot}~f{len(entries)}")
        case other:
            raise Invalid(f"{other!r} does not say what to do with {effect.slot.name}", hint="Say done, retry or skip.")
    db.execute("UPDATE effects SET asked = NULL WHERE key = ?", (effect.key,))


def _enter_again(db: Database, key: str, fresh: str) -> None:
    """The same request under another key, not called yet; the newest entry of a request is the one that counts."""
    same = (
        "slot, workflow_id, node, business_id, visit, name, call_no, class, request, request_hash, thread_id, run_id,"
        " token, created_at"
    )
    db.execute(
        f"INSERT INTO effects (key, status, {same}) SELECT ?, 'planned', {same} FROM effects WHERE key = ?",
        (fresh, key),
    )


def restore(db: Database, past: EffectUse) -> None:
    """Insert a use that was recorded elsewhere, and its entry where there is none; what was under way is unknown."""
    effect, slot = past.effect, past.effect.slot
    status = EffectStatus.INTENT if effect.status == EffectStatus.UNKNOWN else effect.status
    result = None if effect.result is None else to_text(effect.result, slot.name)
    db.execute(
        "INSERT INTO effects (key, slot, workflow_id, node, business_id, visit, name, call_no, class, status, request,"
        " request_hash, result, error, thread_id, run_id, token, created_at, done_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?) ON CONFLICT (key) DO NOTHING",
        (
            effect.key, slot.key, *slot, effect.kind, status, to_text(effect.request, "request"), effect.request_hash,
            result, effect.error, effect.thread, effect.run_id, to_micros(effect.created) or micros_now(db),
            to_micros(effect.done),
        ),
    )  # fmt: skip
    db.execute(
        "INSERT INTO effect_uses (run_id, ordinal, attempt, seq, key, called, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            past.run_id,
            past.ordinal,
            past.attempt,
            past.seq,
            effect.key,
            int(past.called),
            to_micros(past.at) or micros_now(db),
        ),
    )


def uses(db: Database, thread: str | None, run_id: str | None) -> tuple[EffectUse, ...]:
    """Every use of an effect by the runs of a thread, or by one run, in the order of the steps."""
    rows = db.execute(
        f"SELECT {_COLUMNS}, u.run_id, u.ordinal, u.attempt, u.seq, u.called, u.at FROM effect_uses u"
        " JOIN effects e ON e.key = u.key JOIN runs r ON r.run_id = u.run_id"
        " WHERE (? IS NULL OR r.thread_id = ?) AND (? IS NULL OR u.run_id = ?)"
        " ORDER BY r.created_at, u.run_id, u.ordinal, u.attempt, u.seq",
        (thread, thread, run_id, run_id),
    ).fetchall()
    return tuple(
        EffectUse(_effect(row[:19]), row[19], row[20], row[21], row[22], bool(row[23]), from_micros(row[24]))
        for row in rows
    )


def _effect(row: tuple[Value, ...]) -> Effect:
    (
        key, workflow, node, business, visit, name, call_no, kind, status, request, hash, result, error, thread, run_id,
        token, created, done, replays,
    ) = row  # fmt: skip
    return Effect(
        key, Slot(workflow, node, business, visit, name, call_no), kind, status, from_text(request), hash,
        from_text(result), error, thread or "", run_id, token, from_micros(created), from_micros(done), replays,
    )  # fmt: skip
