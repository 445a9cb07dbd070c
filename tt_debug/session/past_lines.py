"""One line of an export as values: a checkpoint with its steps, and what the executor knew of its thread.

Owns what a line must hold; refuses to open files or stores.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from stores.codec import json as strict_json
from stores.effects import Effect, EffectUse, Slot
from stores.model import Interrupt, NewCheckpoint, Opaque, Ref, Task, Value, Write
from stores.past import PastCheckpoint, PastThread
from stores.runs import Approval, Definition, Run, StepRecord

T = TypeVar("T")
Record = Mapping[str, Value]


class Malformed(ValueError):
    """A line that is JSON and yet no checkpoint; the text names the field."""


def checkpoint_of(record: Record) -> PastCheckpoint | None:
    """The checkpoint; None for one that could not be read when it was exported. Raises Malformed, and Invalid for a
    state that JSON would change."""
    ref = Ref(_text(record, "thread"), _text(record, "ns", ""), _text(record, "id"))
    if "state" not in record and "problem" in record:
        return None
    state = _object(record, "state")
    strict_json.dumps(state)
    parent = _optional(record, "parent", str)
    new = NewCheckpoint(
        ref=ref,
        parent=None if parent is None else Ref(_text(record, "parent_thread", ref.thread), ref.ns, parent),
        state=state,
        source=_text(record, "source", "import"),
        meta=_object(record, "meta", {}),
        step=_optional(record, "step", int),
        nodes=_texts(record, "nodes"),
        next=_texts(record, "next"),
        status=_text(record, "status", "unfinished"),
        blobs=_blobs(record),
    )
    steps = tuple(_step(found) for found in _objects(record, "steps") if "run" in found)
    tasks = tuple(_task(found) for found in _objects(record, "tasks"))
    # What our own executor knows of the next step is told by its steps and questions again.
    told = tuple(task for task in tasks if task.id != f"{ref.id}:{task.node}")
    return PastCheckpoint(new, _time(record, "created"), record.get("head") is True, steps, told)


def _blobs(record: Record) -> dict[str, Opaque]:
    """The binary values that came with the line, by their SHA-256."""
    found: dict[str, Opaque] = {}
    for digest, text in _object(record, "blobs", {}).items():
        try:
            found[digest] = Opaque("bytes", b64decode(text, validate=True))
        except (ValueError, TypeError) as error:
            raise Malformed(f"the binary value {digest} is no base64") from error
        if found[digest].digest != digest:
            raise Malformed(f"the binary value {digest} is not what was exported")
    return found


def thread_of(record: Record) -> PastThread | None:
    """What the executor knew of the line's thread, where the line says it. Raises Malformed."""
    if "executor" not in record:
        return None
    known, thread = _object(record, "executor"), _text(record, "thread")
    return PastThread(
        thread,
        _optional(known, "business_id", str),
        tuple(_definition(found) for found in _objects(known, "definitions")),
        tuple(_run(found, thread) for found in _objects(known, "runs")),
        tuple(_approval(found, thread) for found in _objects(known, "approvals")),
        tuple(_effect(found) for found in _objects(known, "effects")),
    )


def _task(known: Record) -> Task:
    return Task(
        id=_text(known, "id"),
        node=_text(known, "name"),
        path=_text(known, "path", ""),
        status=_text(known, "status"),
        writes=tuple(Write(_text(found, "channel"), found.get("value")) for found in _objects(known, "writes")),
        error=_optional(known, "error", str),
        interrupts=tuple(Interrupt(_text(found, "id"), found.get("value")) for found in _objects(known, "interrupts")),
    )


def _definition(known: Record) -> Definition:
    return Definition(
        _text(known, "hash"), _text(known, "workflow_id"), _text(known, "version"), _text(known, "body"),
        _optional(known, "origin", str),
    )  # fmt: skip


def _run(known: Record, thread: str) -> Run:
    base, head = _optional(known, "base", str), _optional(known, "head", str)
    return Run(
        run_id=_text(known, "run"),
        thread=thread,
        workflow_hash=_text(known, "definition"),
        status=_text(known, "status"),
        mode=_text(known, "mode", "live"),
        business_id=_optional(known, "business_id", str),
        base=None if base is None else Ref(thread, "", base),
        head=None if head is None else Ref(thread, "", head),
        until=_optional(known, "until", str),
        token=_optional(known, "token", int) or 0,
        recoveries=_optional(known, "recoveries", int) or 0,
        error=_optional(known, "error", str),
        created=_time(known, "created"),
        started=_time(known, "started"),
        ended=_time(known, "ended"),
    )


def _step(known: Record) -> StepRecord:
    return StepRecord(
        run_id=_text(known, "run"),
        ordinal=_whole(known, "ordinal"),
        node=_text(known, "node"),
        attempt=_whole(known, "attempt"),
        visit=_whole(known, "visit"),
        status=_text(known, "status"),
        output=known.get("output"),
        started=_time(known, "started"),
        ended=_time(known, "ended"),
        error=_optional(known, "error", str),
        error_class=_optional(known, "error_class", str),
        retryable=_optional(known, "retryable", bool),
        next_attempt_at=_time(known, "next_attempt"),
        log=_texts(known, "log"),
        base=_optional(known, "base", str),
        checkpoint=_optional(known, "checkpoint", str),
        substep=_text(known, "substep", ""),
    )


def _effect(known: Record) -> EffectUse:
    slot = _of(known, "slot", _is_slot, "six places: workflow, node, business id, visit, name, call", None)
    effect = Effect(
        key=_text(known, "key"),
        slot=Slot(*slot),
        kind=_text(known, "class"),
        status=_text(known, "status"),
        request=known.get("request"),
        request_hash=_text(known, "request_hash"),
        result=known.get("result"),
        error=_optional(known, "error", str),
        thread=_text(known, "thread"),
        run_id=_text(known, "by_run"),
        created=_time(known, "created"),
        done=_time(known, "done"),
    )
    called: bool = _of(known, "called", lambda value: isinstance(value, bool), "true or false", None)
    ordinal, attempt, seq = (_whole(known, name) for name in ("ordinal", "attempt", "seq"))
    return EffectUse(effect, _text(known, "run"), ordinal, attempt, seq, called, _time(known, "at"))


def _is_slot(value: Value) -> bool:
    kinds = (str, str, str, int, str, int)
    return isinstance(value, list) and tuple(map(type, value)) == kinds


def _approval(known: Record, thread: str) -> Approval:
    return Approval(
        id=_text(known, "id"),
        thread=thread,
        ns="",
        checkpoint=_text(known, "checkpoint"),
        node=_text(known, "node"),
        prompt=known.get("prompt"),
        schema=None if known.get("schema") is None else _object(known, "schema"),
        status=_text(known, "status"),
        since=_time(known, "since"),
        run_id=_optional(known, "run", str),
        answer=known.get("answer"),
        answered_by=_optional(known, "answered_by", str),
        answered=_time(known, "answered"),
        kind=_text(known, "kind", "approval"),
    )


def _of(record: Record, name: str, fits: Callable[[Value], bool], what: str, default: Value) -> Value:
    value = record.get(name, default)
    if not fits(value):
        raise Malformed(f"{name} must be {what}" + ("" if name in record else ", and it is missing"))
    return value


def _text(record: Record, name: str, default: str | None = None) -> str:
    found: str = _of(record, name, lambda value: isinstance(value, str), "a text", default)
    return found


def _whole(record: Record, name: str) -> int:
    found: int = _of(record, name, lambda value: type(value) is int, "a whole number", None)
    return found


def _optional(record: Record, name: str, kind: type[T]) -> T | None:
    found: T | None = _of(
        record, name, lambda value: value is None or type(value) is kind, f"{kind.__name__} or null", None
    )
    return found


def _object(record: Record, name: str, default: Value = None) -> dict[str, Value]:
    found: dict[str, Value] = _of(record, name, lambda value: isinstance(value, dict), "an object", default)
    return found


def _objects(record: Record, name: str) -> list[dict[str, Value]]:
    found: list[dict[str, Value]] = _of(record, name, lambda value: _is_list(value, dict), "a list of objects", [])
    return found


def _texts(record: Record, name: str) -> tuple[str, ...]:
    return tuple(_of(record, name, lambda value: _is_list(value, str), "a list of texts", []))


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _time(record: Record, name: str) -> datetime | None:
    text = _optional(record, name, str)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Malformed(f"{name} must be a time as ISO 8601 writes it, not {text!r}") from None
    if found.tzinfo is None:
        raise Malformed(f"{name} must say its zone: {text!r}")
    return found
