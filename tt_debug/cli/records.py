"""What ``--json`` prints for each thing: plain objects with names that do not change.

Pure. A checkpoint's own record is the session's, as ``export`` writes it too.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from stores.model import MISSING, Change, Header, Ref, ThreadInfo
from tt_debug.redaction import NOTHING, Redaction
from tt_debug.session.records import Form, Pen, Record, log_record, timestamp
from tt_debug.values import to_json

if TYPE_CHECKING:
    from stores.runs import Approval, Run
    from tt_debug.engine.events import Event
    from tt_debug.session.plans import RunPlan, RunResult


def address(ref: Ref | None) -> Record | None:
    """A checkpoint in any thread."""
    return None if ref is None else {"thread": ref.thread, "ns": ref.ns, "id": ref.id}


def thread_record(info: ThreadInfo) -> Record:
    """One item of ``threads``."""
    return {
        "thread": info.thread,
        "checkpoints": info.checkpoints,
        "head": info.head.id if info.head else None,
        "step": info.step,
        "status": info.status if info.read else None,
        "updated": timestamp(info.updated),
        "forked_from": address(info.forked_from),
    }


def change_record(change: Change) -> Record:
    """One item of ``diff``; a side that is not there is left out, null is a value."""
    record: Record = {"op": change.op, "path": to_json(change.path)}
    if change.old is not MISSING:
        record["old"] = to_json(change.old)
    if change.new is not MISSING:
        record["new"] = to_json(change.new)
    if change.source is not None:
        record["from"] = to_json(change.source)
    return record


def new_head_record(header: Header) -> Record:
    """What ``fork`` and ``edit`` made. ``parent_thread`` as in ``log``."""
    record = log_record(header)
    return {key: record[key] for key in ("thread", "ns", "id", "parent", "parent_thread") if key in record}


def run_record(run: Run) -> Record:
    """One item of ``runs``."""
    return {
        "run": run.run_id,
        "thread": run.thread,
        "status": run.shown,
        "mode": run.mode,
        "business_id": run.business_id,
        "definition": run.workflow_hash,
        "base": run.base.id if run.base else None,
        "head": run.head.id if run.head else None,
        "until": run.until,
        "held": run.hold_reason,
        "recoveries": run.recoveries,
        "error": run.error,
        "created": timestamp(run.created),
        "started": timestamp(run.started),
        "ended": timestamp(run.ended),
    }


def approval_record(approval: Approval) -> Record:
    """One item of ``approvals``."""
    return {
        "id": approval.id,
        "thread": approval.thread,
        "ns": approval.ns,
        "checkpoint": approval.checkpoint,
        "node": approval.node,
        "prompt": to_json(approval.prompt),
        "schema": None if approval.schema is None else to_json(dict(approval.schema)),
        "status": approval.status,
        "since": timestamp(approval.since),
    }


def plan_record(plan: RunPlan) -> Record:
    """What would run."""
    return {
        "title": plan.title,
        "action": plan.request.action,
        "thread": plan.thread,
        "base": address(plan.base),
        "step": plan.step,
        "nodes": list(plan.nodes),
        "until": plan.stops,
        "does": list(plan.does),
        "calls": list(plan.calls),
        "notes": list(plan.notes),
        "code": plan.code,
        "definition": plan.definition.hash if plan.definition else None,
    }


def event_record(event: Event, hiding: Redaction = NOTHING) -> Record:
    """A line of a run's stream; its time with Z, whatever the child wrote."""
    fields = Pen(Form(hiding, is_json=True)).json(dict(event.fields))
    return {**replace(event, fields=fields).to_json(), "at": event.at.replace("+00:00", "Z")}


def result_record(result: RunResult) -> Record:
    """The last line of a run's stream, with the run's own fields; the head as an id."""
    return {
        "run": result.run,
        "thread": result.thread,
        "status": result.status,
        "head": result.head.id if result.head else None,
        "error": result.error,
        "notes": list(result.notes),
        **({} if result.divergence is None else {"divergence": to_json(dict(result.divergence))}),
    }


def now_text() -> str:
    """The present moment as events carry it."""
    return str(timestamp(datetime.now(UTC)))
