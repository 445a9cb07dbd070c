"""Effects as values: what a run asks of the world outside, under which key, and what came of it.

Owns the keys, and which entry of the ledger a call meets. Who may write an entry, and when, is
`stores.protocol.RunStore`; calling is the executor's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import orjson

from stores.codec import json
from stores.model import Value


class EffectClass:
    """What may be done about a call whose outcome is unknown, because its process died while it was made."""

    REPEATABLE: Final = "repeatable"  # a read or a model call: made again
    IDEMPOTENT: Final = "idempotent"  # made again under the same key, by which the other side knows it
    PROBE: Final = "probe"  # the other side is asked first
    TRANSACTIONAL: Final = "transactional"  # written with the step's checkpoint: never unknown
    AT_MOST_ONCE: Final = "at_most_once"  # never made again unasked

    ALL: Final = (REPEATABLE, IDEMPOTENT, PROBE, TRANSACTIONAL, AT_MOST_ONCE)


class EffectStatus:
    """How an entry of the ledger stands."""

    PLANNED: Final = "planned"  # known not to have been done: the next run that comes to it makes the call
    INTENT: Final = "intent"  # being called, or its process died while it was
    DONE: Final = "done"
    FAILED: Final = "failed"  # known not to have been done
    SKIPPED: Final = "skipped"  # not to be done; the node gets null
    UNKNOWN: Final = "unknown"  # nobody knows whether it was done: a human is asked
    CONFLICT: Final = "conflict"  # another request than the one on record: a human is asked

    ANSWERED: Final = frozenset({DONE, SKIPPED})


class OnConflict:
    """What to do when a node asks for something else than it did under the same key before."""

    NEW: Final = "new"
    REUSE: Final = "reuse"
    SKIP: Final = "skip"

    ALL: Final = (NEW, REUSE, SKIP)


HOLDS: Final = ("unknown_effect", "effect_conflict")
"""The kinds of questions that an effect holds its run with."""


class Slot(NamedTuple):
    """The place of a call in a line of work: the same after a recovery and in a fork, another in every other thread.

    ``visit`` counts the node's visits, ``call_no`` the calls of that name in this visit.
    """

    workflow_id: str
    node: str
    business_id: str
    visit: int
    name: str
    call_no: int

    @property
    def key(self) -> str:
        """What the other side may know the call by: its idempotency key, or the id of a message."""
        return "ik1:" + digest(list(self))[:40]


@dataclass(frozen=True, slots=True)
class EffectCall:
    """A call about to be made, by attempt ``attempt`` of step ``ordinal``; ``seq`` counts the attempt's calls from 0.

    ``has_value`` says that there is nothing to call: ``value`` is recorded as it is.
    """

    slot: Slot
    kind: str
    request: Value
    request_hash: str
    ordinal: int
    attempt: int
    seq: int
    value: Value = None
    has_value: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """One entry of the ledger. ``key`` is the slot's, or that with ``~f1``, ``~f2``, … for a further request.

    ``token`` is that of the run that began it; ``replays`` counts how often its result was given instead of a call.
    """

    key: str
    slot: Slot
    kind: str
    status: str
    request: Value
    request_hash: str
    result: Value = None
    error: str | None = None
    thread: str = ""
    run_id: str = ""
    token: int = 0
    created: datetime | None = None
    done: datetime | None = None
    replays: int = 0

    @property
    def answered(self) -> bool:
        """Whether ``result`` is what came of it; else nobody knows one, and None says nothing."""
        return self.status in EffectStatus.ANSWERED


@dataclass(frozen=True, slots=True)
class EffectUse:
    """A node came to an effect: in which attempt, as its how-manieth (from 0), and whether it was called then."""

    effect: Effect
    run_id: str
    ordinal: int
    attempt: int
    seq: int
    called: bool
    at: datetime | None = None


class Begun(NamedTuple):
    """The entry that a call met, and the status it had before; None for an entry that was made now."""

    effect: Effect
    before: str | None


class Met(NamedTuple):
    """What a call meets: an entry that is there, or the key, status and result of the one to make."""

    found: Effect | None
    key: str = ""
    status: str = EffectStatus.INTENT
    result: Value = None


def meet(entries: Sequence[Effect], call: EffectCall, on_conflict: str | None) -> Met:
    """The entry for ``call`` among those of its slot, oldest first.

    The same request meets the newest entry of it. Another request than what was done takes a further key where the
    call may be repeated; else it is decided by ``on_conflict``, and left to a human where that is None. What was left
    to a human by another run is decided by the first one that says how.
    """
    same = [entry for entry in entries if entry.request_hash == call.request_hash]
    undecided = bool(same) and on_conflict is not None and same[-1].status == EffectStatus.CONFLICT
    if same and not undecided:
        return Met(same[-1])
    fresh = call.slot.key if not entries else f"{call.slot.key}~f{len(entries)}"
    key = same[-1].key if undecided else fresh
    if call.has_value:
        return Met(None, key, EffectStatus.DONE, call.value)
    if call.kind == EffectClass.REPEATABLE or all(_surely_undone(entry) for entry in entries):
        return Met(None, key)
    done = [entry for entry in entries if entry.status in EffectStatus.ANSWERED]
    if on_conflict == OnConflict.REUSE and done:
        return Met(None, key, done[-1].status, done[-1].result)
    decided = {OnConflict.NEW: EffectStatus.INTENT, OnConflict.SKIP: EffectStatus.SKIPPED}
    return Met(None, key, decided.get(on_conflict or "", EffectStatus.CONFLICT))


def _surely_undone(entry: Effect) -> bool:
    if entry.kind == EffectClass.TRANSACTIONAL:
        return entry.status not in EffectStatus.ANSWERED
    return entry.status in (EffectStatus.FAILED, EffectStatus.PLANNED, EffectStatus.CONFLICT)


def digest(value: Value) -> str:
    """SHA-256 of a value's canonical JSON (keys sorted), in hex. Raises Invalid for what JSON would change."""
    json.dumps(value)
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
