"""The executor's records as values: definitions, runs, steps, approvals.

Owns the shapes; who may change what, and when, is `stores.protocol.RunStore`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from stores.effects import HOLDS, EffectCall
from stores.model import NewCheckpoint, Ref, Status, Value
from stores.run_status import RunStatus as RunStatus
from stores.run_status import shown as shown
from stores.supervision import Breakpoint, BreakpointHit

QUESTIONS: Final = ("approval", "question", *HOLDS)
"""The kinds of an inbox entry that an answer is given to; of the others the run is decided about."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A workflow as it was registered. ``body`` is its canonical JSON text; ``hash`` the SHA-256 of that, in hex.

    ``origin`` is the absolute path of the file it came from, where its ``run: "module:function"`` is looked for.
    """

    hash: str
    workflow_id: str
    version: str
    body: str
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a thread. ``base`` is where it started, ``head`` its newest checkpoint. ``business_id`` is whose
    effects it has: that of the line it was forked from, else the thread's name with the beginning of the store's id.

    ``until`` is where the run pauses, as the user wrote it; ``token`` the fencing token of its present owner. A
    crashed run with a ``hold_reason`` (the kind of its open question) goes on only once that is resolved.
    ``lease_left`` is in seconds, at the time of reading, 0 once it is over; None where nobody runs it. ``available`` is
    the time before which its next attempt is not to begin, past or None where nothing is waited for.
    """

    run_id: str
    thread: str
    workflow_hash: str
    status: str = RunStatus.PENDING
    mode: str = "live"
    business_id: str | None = None
    base: Ref | None = None
    head: Ref | None = None
    until: str | None = None
    token: int = 0
    owner: str | None = None
    owner_pid: int | None = None
    requested: str | None = None  # "pause" | "cancel"
    recoveries: int = 0
    hold_reason: str | None = None
    error: str | None = None
    created: datetime | None = None
    started: datetime | None = None
    ended: datetime | None = None
    boot_id: str | None = None
    lease_left: float | None = field(default=None, compare=False)
    beat: datetime | None = None
    available: datetime | None = None

    @property
    def shown(self) -> str:
        """Its status in the words of `stores.model.Status`, as listings and events name it."""
        return Status.HELD if self.hold_reason and self.status == RunStatus.CRASHED else shown(self.status)


class StepRecord(NamedTuple):
    """One attempt at one node. ``duration`` is in seconds.

    ``status``: running, completed, failed, waiting (for a human), skipped, abandoned (its process died).
    ``base`` is the id of the checkpoint it started from, ``checkpoint`` of the one it ended at; a store fills them in.
    ``substep`` names a part of the node that was completed by itself, empty for the node.
    """

    run_id: str
    ordinal: int
    node: str
    attempt: int = 1
    visit: int = 1
    status: str = "running"
    input: Value = None
    output: Value = None
    started: datetime | None = None
    ended: datetime | None = None
    error: str | None = None
    error_class: str | None = None
    retryable: bool | None = None
    next_attempt_at: datetime | None = None
    log: tuple[str, ...] = ()
    base: str | None = None
    checkpoint: str | None = None
    substep: str = ""

    @property
    def duration(self) -> float | None:
        """Seconds from start to end, None while either is unknown."""
        if self.started is None or self.ended is None:
            return None
        return (self.ended - self.started).total_seconds()


@dataclass(frozen=True, slots=True)
class Approval:
    """A question to a human. ``status``: open, answered, expired, withdrawn.

    ``kind``: "approval" of a human task, "question" about a step that was running when its process died, or one of
    `stores.effects.HOLDS`: its run is held until it is answered; or one of `stores.supervision.Case`, of which the run
    itself is decided about. After ``due`` the ``on_timeout`` of an approval says what happens: wait (nothing), reject,
    fail.
    In a LangGraph store it is an interrupt of an unfinished task; ``id`` and ``turn`` are the interrupt's. A copied
    thread has its questions under the same ids.
    """

    id: str
    thread: str
    ns: str
    checkpoint: str
    node: str
    prompt: Value
    schema: Mapping[str, Value] | None = None
    status: str = "open"
    since: datetime | None = None
    run_id: str | None = None
    answer: Value = None
    answered_by: str | None = None
    answered: datetime | None = None
    kind: str = "approval"
    turn: int = 0
    due: datetime | None = None
    on_timeout: str = "wait"


class Decision(NamedTuple):
    """What a run does after a step: see the fields of the same names in `StepCommit`."""

    run_status: str
    following: StepRecord | None = None
    error: str | None = None
    hit: BreakpointHit | None = None


@dataclass(frozen=True, slots=True)
class StepCommit:
    """What one transaction of a run makes durable.

    ``checkpoint`` carries the merged state, the step, the node and ``next``. ``run_status`` is the run's status
    afterwards; ``following`` is the step that is running from then on, when the run goes on. ``statements`` are
    business statements that are executed in the same transaction: SQL and parameters are each one's request. ``hit``
    is the breakpoint that the run stops at. ``decide`` is asked in the transaction, with what somebody has requested of
    the run and the breakpoints of its thread, for those four: so nobody's wish falls between the looking and the doing.
    """

    run_id: str
    token: int
    step: StepRecord
    checkpoint: NewCheckpoint
    run_status: str = RunStatus.RUNNING
    following: StepRecord | None = None
    approval: Approval | None = None
    error: str | None = None
    commit_id: str = field(default="")
    statements: tuple[EffectCall, ...] = ()
    hit: BreakpointHit | None = None
    decide: Callable[[str | None, tuple[Breakpoint, ...]], Decision] | None = field(default=None, compare=False)
