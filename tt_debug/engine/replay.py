"""A line run again from what is on record: node code runs, effects and answers come from the record, nothing is called.

Owns following the recorded line and telling where the new one leaves it. Writes to a scratch store at most; the line
itself is only read. Edits, forks and answers on the line are taken over as they were.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stores.codec import json as codec
from stores.effects import EffectClass, EffectStatus, digest
from stores.ids import new_id
from stores.model import Header, NewCheckpoint, Ref, Status, Value
from stores.protocol import RunStore, Writer
from stores.runs import Run, StepRecord
from tt_debug.binaries import Binaries
from tt_debug.definition.workflow import Workflow
from tt_debug.engine.context import Context
from tt_debug.engine.effects import CACHE, Calls, Entry, Stopped, newest_answer
from tt_debug.engine.events import Event
from tt_debug.engine.nodes import NodeResult, call_node
from tt_debug.engine.plan import NoWayOn, next_node
from tt_debug.engine.retry import FatalError, classify
from tt_debug.engine.traces import storable


@dataclass(frozen=True, slots=True)
class ReplayJob:
    """Which line to run again: ``line`` are the ids of its checkpoints with their threads, the base first.

    ``mode`` "verify" ends at the first divergence; "recorded" goes on and keeps its states in ``thread`` of the store
    at ``scratch``. ``business_id`` is whose effects are on record, ``definition`` the hash of the workflow's.
    """

    mode: str
    line: Sequence[Sequence[str]]
    business_id: str
    definition: str
    thread: str
    scratch: str = ""


class _Ended(Exception):
    def __init__(self, status: str, error: str | None = None) -> None:
        super().__init__(status)
        self.status, self.error = status, error


class Recorded:
    """The effects of a replayed attempt: given from the record, or the end of the replay. ``seen`` is their order."""

    def __init__(self, store: RunStore, calls: Calls) -> None:
        self._store = store
        self._calls = calls
        self.seen: list[tuple[str, str]] = []
        self.missing: str | None = None

    def enter(self, name: str, request: Value, kind: str) -> Entry:
        """The recorded result; a recorded failure is raised again."""
        made = self._calls.made(name, request, kind)
        self.seen.append((made.slot.name, made.request_hash))
        entries = self._store.effects_at(made.slot.key)
        for effect in reversed([entry for entry in entries if entry.request_hash == made.request_hash]):
            if effect.status in EffectStatus.ANSWERED:
                return Entry(effect.key, True, result=effect.result)
            if effect.error is not None:
                raise FatalError(f"as recorded: {effect.error}")
        why = "with another request" if entries else "at all"
        raise self._miss(f"{made.slot.name} of {made.slot.node} is not on record {why}: a live replay would call it")

    def outcome(self, entry: Entry) -> Any:
        """Nothing is called, so nothing comes of it."""
        return nullcontext()

    def value(self, name: str, make: Callable[[], Value]) -> Value:
        """The value that was made then."""
        return self.enter(name, None, EffectClass.REPEATABLE).result

    def played(self, name: str, prompt: str) -> Value:
        """As in a live run."""
        return newest_answer(self._store, self._calls.place(name)[0], prompt)

    def statement(self, sql: str, params: list[Value]) -> None:
        """Compared, never executed."""
        self.enter("tx", {"sql": sql, "params": params}, EffectClass.TRANSACTIONAL)

    def part(self, name: str, run: Callable[[], Value]) -> Value:
        """A part runs again like the rest of its node."""
        with self._calls.inside(name):
            return run()

    def kept(self, request: Value, run: Callable[[], Value]) -> Value:
        """What was given to others, as it was then; else the node runs."""
        made = self._calls.kept(request)
        self.seen.append((made.slot.name, made.request_hash))
        kept = [effect for effect in self._store.effects_at(made.slot.key) if effect.status == EffectStatus.DONE]
        return kept[-1].result if kept else run()

    def _miss(self, why: str) -> Stopped:
        self.missing = why
        return Stopped(why)


class Replay:
    """One replay, from the base of a line on."""

    def __init__(self, store: RunStore, workflow: Workflow, job: ReplayJob, tell: Callable[[Event], None]) -> None:
        self._store = store
        self._workflow = workflow
        self._job = job
        self._tell_event = tell
        self._refs = [Ref(thread, "", id) for thread, id in job.line]
        self._run = Run("", job.thread, workflow.hash, business_id=job.business_id)
        self._visits = dict(store.visits(self._refs[0]))
        self._binaries = Binaries(store.blob)
        self._diverged = False
        self._head: Ref | None = None
        self._number = -1

    def go(self, scratch: Writer | None) -> None:
        """Run it, and tell of it as a run tells of itself, with ``diverged`` where it leaves the record."""
        base = self._store.load(self._refs[0])
        state, node = self._binaries.text(base.state), next(iter(base.header.next), None)
        self._number = -1 if base.header.step is None else base.header.step
        self._keep(scratch, state, base.header, base.header.nodes, node)
        name = self._workflow.workflow_id
        self._tell("run_started", workflow=name, version=self._workflow.version, next=[node], base=base.header.ref.id)
        try:
            self._follow(scratch, state, node)
            ending = _Ended(Status.DONE)
        except _Ended as end:
            ending = end
        head = None if self._head is None else self._head.id
        self._tell("run_ended", status=ending.status, head=head, error=ending.error)

    def _follow(self, scratch: Writer | None, state: bytes, node: str | None) -> None:
        recorded = (self._store.load(ref) for ref in self._refs[1:])
        while True:
            then = None if self._diverged else next(recorded, None)
            if then is None and not self._diverged:
                return  # the record ends here
            if then is not None and then.header.source != "step":
                if then.header.source not in ("substep", "suspend"):  # what somebody decided, not what a node did
                    state, node = self._binaries.text(then.state), next(iter(then.header.next), None)
                    self._visits = dict(self._store.visits(then.header.ref))
                    self._keep(scratch, state, then.header, then.header.nodes, node)
                continue
            if node is None:
                return
            ran, like = node, None if then is None else then.header
            state, node = self._step(like, {} if then is None else then.state, state, node)
            self._number += 1
            self._keep(scratch, state, like, (ran,), node)

    def _step(
        self, then: Header | None, expected: Mapping[str, Value], state: bytes, node: str
    ) -> tuple[bytes, str | None]:
        """Run one node; the state and the node after it."""
        step = self._number + 1 if then is None else then.step
        if then is not None and then.nodes != (node,):
            self._diverge(node, step, "node", ", ".join(then.nodes), node)
        done, sequence = _as_recorded(self._store, then)
        if done is not None and done.status == "skipped":
            return self._binaries.text(expected), next(iter(then.next if then else ()), None)
        visit = self._visits.get(node, 0) + 1
        attempt = StepRecord("", 0, node, done.attempt if done else 1, visit)
        ledger = Recorded(self._store, Calls(self._run, self._workflow.workflow_id, attempt))
        self._tell("step_started", node=node, step=step, attempt=attempt.attempt)
        started = time.monotonic()
        result = self._call(node, attempt, state, ledger)
        if then is not None:
            seen = list(dict.fromkeys(ledger.seen))
            if seen != sequence:
                self._diverge(node, step, "effects", *_first_difference(sequence, seen))
            found = codec.loads(result.state)
            wanted = self._binaries.taken(dict(expected))
            if digest(found) != digest(wanted):
                self._diverge(node, step, "output", *_different(wanted, found))
        following = self._next(node, codec.loads(result.state))
        if then is not None and (following,) != (then.next or (None,)):
            self._diverge(node, step, "next", ", ".join(then.next) or None, following)
        self._visits[node] = visit
        took = round((time.monotonic() - started) * 1000, 3)
        self._tell("step_finished", node=node, step=step, duration_ms=took, next=[following] if following else [])
        return result.state, following

    def _call(self, name: str, attempt: StepRecord, state: bytes, ledger: Recorded) -> NodeResult:
        node = self._workflow.node(name)
        if node is None or node.type == "human_task":
            raise _Ended(Status.PAUSED, f"{name} asks a human, and the record has no answer on this way")

        def say(text: str) -> None:
            self._tell("log", node=name, text=storable(text))

        context = Context(
            "", self._run.thread, name, attempt.visit, attempt.attempt, say, ledger, self._binaries.bytes_in
        )
        try:
            result = call_node(self._workflow, node, state, context, self._binaries)
        except BaseException as error:  # user code: whatever it raises is its failure, never ours
            if ledger.missing is None:
                failure = classify(error)
                self._tell("step_failed", node=name, attempt=attempt.attempt, error=failure.error, retry_in=None)
                raise _Ended(Status.FAILED, failure.error) from error
        if ledger.missing is not None:
            self._diverge(name, None, "effects", "on record", ledger.missing)
            raise _Ended(Status.PAUSED, ledger.missing)
        return result

    def _next(self, node: str, state: Mapping[str, Value]) -> str | None:
        try:
            return next_node(self._workflow, node, state)
        except NoWayOn as error:
            raise _Ended(Status.FAILED, str(error)) from error

    def _keep(
        self, scratch: Writer | None, state: bytes, like: Header | None, nodes: tuple[str, ...], node: str | None
    ) -> None:
        """Append a state to the scratch thread, where there is one."""
        if scratch is None:
            return
        ref = Ref(self._job.thread, "", new_id(self._number, None if self._head is None else self._head.id))
        origin = {} if like is None else {"replay_of": [like.ref.thread, like.ref.id]}
        source = "input" if self._head is None else "step"
        following = () if node is None else (node,)
        new = NewCheckpoint(
            ref, self._head, codec.loads(state), source, origin, self._number, nodes, following,
            blobs=self._binaries.of(state),
        )  # fmt: skip
        self._head = scratch.append(new).ref

    def _diverge(self, node: str, step: int | None, what: str, recorded: Value, replayed: Value) -> None:
        """Tell of the first divergence; a verification ends there."""
        if not self._diverged:
            self._tell("diverged", node=node, step=step, what=what, recorded=recorded, replayed=replayed)
        self._diverged = True
        if self._job.mode == "verify":
            raise _Ended(Status.DONE)

    def _tell(self, kind: str, **fields: Value) -> None:
        self._tell_event(Event(kind, "", self._job.thread, datetime.now(UTC).isoformat(), fields))


def _as_recorded(store: RunStore, then: Header | None) -> tuple[StepRecord | None, list[tuple[str, str]]]:
    """The attempt that led to a checkpoint, and the effects of its step in the order they were first come to."""
    if then is None:
        return None, []
    steps = [record for record in store.steps(ref=then.ref) if not record.substep]
    done = next((record for record in reversed(steps) if record.checkpoint), None)
    if done is None:
        return None, []
    uses = (use for use in store.effects(run_id=done.run_id) if use.ordinal == done.ordinal)
    sequence: dict[tuple[str, str], None] = {}
    for use in uses:
        sequence[use.effect.slot.name, use.effect.request_hash] = None
        if use.effect.slot.name == CACHE and use.effect.status == EffectStatus.DONE:
            break  # what came after it made the result that is given from then on
    return done, list(sequence)


def _first_difference(recorded: Sequence[tuple[str, str]], found: Sequence[tuple[str, str]]) -> tuple[Value, Value]:
    """The first effect that is another one, by its name, and by its request where the names are the same."""
    pairs = zip([*recorded, None], [*found, None], strict=False)
    one, other = next(((one, other) for one, other in pairs if one != other), (None, None))
    if one is not None and other is not None and one[0] == other[0]:
        return f"{one[0]} asked for {one[1][:12]}", f"{other[0]} asked for {other[1][:12]}"
    return one and one[0], other and other[0]


def _different(expected: Mapping[str, Value], found: Mapping[str, Value]) -> tuple[Value, Value]:
    """The keys of the two states whose values differ."""
    keys = [key for key in {**expected, **found} if not _same(expected, found, key)]
    return tuple({key: side.get(key) for key in keys if key in side} for side in (expected, found))  # type: ignore[return-value]


def _same(expected: Mapping[str, Value], found: Mapping[str, Value], key: str) -> bool:
    return key in expected and key in found and digest(expected[key]) == digest(found[key])


def line_of(refs: Iterable[Ref]) -> list[list[str]]:
    """A line as a job carries it."""
    return [[ref.thread, ref.id] for ref in refs]
