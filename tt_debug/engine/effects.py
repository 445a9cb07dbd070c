"""The effects of one attempt at a node: intent, call, result; what is on record is given instead of a call.

Owns the order of those three and what each class does about a call whose outcome is unknown. Keys and entries are
`stores.effects`; the durable transitions are the store's. `Recorded` is the same for a replay: nothing is called.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from stores.blobs import referred
from stores.effects import Begun, Effect, EffectCall, EffectClass, EffectStatus, Slot, digest
from stores.errors import Invalid, StoreError
from stores.model import Value
from stores.points import point
from stores.protocol import RunStore
from stores.runs import Run, StepRecord
from stores.supervision import BreakpointHit
from tt_debug.engine.retry import FatalError, classify, surely_not_done

CACHE: Final = "cache"
"""The name of the effect that is a node's whole result."""

UNKNOWN: Final = "unknown_effect"
CONFLICT: Final = "effect_conflict"
VERDICTS: Final = {UNKNOWN: ("done", "retry", "skip", "new-key"), CONFLICT: ("new", "reuse", "skip")}
"""What a human may say about an effect that holds a run, by the kind of the question."""


def verdict_schema(kind: str) -> dict[str, Value]:
    """What an answer to a question of that kind has to look like, as a JSON Schema."""
    result: dict[str, Value] = {"result": {}} if kind == UNKNOWN else {}
    return {
        "type": "object",
        "required": ["as"],
        "properties": {"as": {"enum": list(VERDICTS[kind])}, **result},
        "additionalProperties": False,
    }


class Stopped(BaseException):
    """The attempt cannot go on, through no fault of the node: not an Exception, so that its code does not catch it."""


@dataclass(frozen=True, slots=True)
class Hold:
    """What has to be decided by a human before the run can go on. ``kind`` is that of the question."""

    kind: str
    effect: Effect
    why: str

    @property
    def prompt(self) -> str:
        """The question in words."""
        name, node = self.effect.slot.name, self.effect.slot.node
        return f"{name} in {node} ({self.effect.kind}): {self.why}"


@dataclass(slots=True)
class Entry:
    """A call at work. ``given`` says that ``result`` is on record; ``unsure`` that it may have been made before."""

    key: str
    given: bool
    unsure: bool = False
    kind: str = EffectClass.REPEATABLE
    result: Value = None


class Effects(Protocol):
    """What `tt_debug.engine.context.Context` needs of a ledger."""

    def enter(self, name: str, request: Value, kind: str) -> Entry: ...
    def outcome(self, entry: Entry) -> Any: ...
    def value(self, name: str, make: Callable[[], Value]) -> Value: ...
    def played(self, name: str, prompt: str) -> Value: ...
    def statement(self, sql: str, params: list[Value]) -> None: ...
    def part(self, name: str, run: Callable[[], Value]) -> Value: ...
    def kept(self, request: Value, run: Callable[[], Value]) -> Value: ...


class Calls:
    """Counts the calls of an attempt, so that each has its place; calls inside a part are counted there."""

    def __init__(self, run: Run, workflow_id: str, record: StepRecord, allow: Sequence[str] = ()) -> None:
        self._allow = allow or EffectClass.ALL
        self._run = run
        self._workflow_id = workflow_id
        self._record = record
        self._counts: defaultdict[str, int] = defaultdict(int)
        self._seq = -1
        self._parts: list[str] = []
        self._lock = threading.Lock()

    def made(self, name: str, request: Value, kind: str, **given: Any) -> EffectCall:
        """The next call of that name. Raises FatalError for one that may not be made, or whose request is no JSON."""
        if kind not in EffectClass.ALL:
            raise FatalError(f"the effect {name}: there is no class {kind!r}, only {', '.join(EffectClass.ALL)}")
        if kind not in self._allow and not given:
            raise FatalError(f"the effect {name} is {kind}; this run may call only {', '.join(self._allow)}")
        try:
            hash = digest(request)
        except Invalid as error:
            raise FatalError(f"the request of the effect {name} cannot be recorded: {error}") from error
        slot, seq = self.place(name)
        return EffectCall(slot, kind, request, hash, self._record.ordinal, self._record.attempt, seq, **given)

    def kept(self, request: Value) -> EffectCall:
        """The node's whole result as an effect that every line of work shares: its place is what it was made from."""
        own, seq = self.place(CACHE)
        slot = own._replace(business_id=f"{CACHE}:{digest(request)}", visit=1)
        kind, record = EffectClass.REPEATABLE, self._record
        return EffectCall(slot, kind, request, digest(request), record.ordinal, record.attempt, seq)

    def place(self, name: str) -> tuple[Slot, int]:
        """The next place of that name, and the how-manieth call of the attempt it is."""
        whole = "/".join([*self._parts, name])
        with self._lock:
            self._counts[whole] += 1
            self._seq += 1
            number, seq = self._counts[whole], self._seq
        business_id = self._run.business_id or self._run.thread
        slot = Slot(self._workflow_id, self._record.node, business_id, self._record.visit, whole, number)
        return slot, seq

    @contextmanager
    def inside(self, part: str) -> Iterator[str]:
        """What is called in the block belongs to the part; gives its whole name. Raises FatalError for a second one."""
        whole = "/".join([*self._parts, part])
        self._counts[f"{whole}/"] += 1
        if self._counts[f"{whole}/"] > 1:
            raise FatalError(f"{self._record.node} has two substeps named {whole!r}: each needs a name of its own")
        self._parts.append(part)
        try:
            yield whole
        finally:
            self._parts.pop()


class Ledger:
    """The effects of one attempt of a live run. ``stopped`` is why the attempt cannot go on, once it cannot."""

    def __init__(
        self,
        store: RunStore,
        run: Run,
        calls: Calls,
        parts: Parts,
        stops: Callable[[str, str], BreakpointHit | None] = lambda name, key: None,
        patiently: Callable[[Callable[[], Any]], Any] = lambda write: write(),
    ) -> None:
        """``stops`` says of an effect's name and key whether a breakpoint stands before the call; ``patiently`` calls
        a write again while the store is busy."""
        self._stops = stops
        self._patiently = patiently
        self._store = store
        self._run = run
        self._calls = calls
        self._parts = parts
        self._queued: list[EffectCall] = []
        self._acted = False
        self.stopped: Hold | BreakpointHit | StoreError | None = None

    def enter(self, name: str, request: Value, kind: str) -> Entry:
        """The durable intent of a call, or what is on record of it. Raises Stopped where a human has to decide."""
        made = self._calls.made(name, request, kind)
        self._acted = self._acted or kind != EffectClass.REPEATABLE
        self._stop_at_breakpoint(name, made)
        begun = self._begin(made)
        point("run.effect-begun")
        effect = begun.effect
        if effect.status in EffectStatus.ANSWERED:
            return Entry(effect.key, True, result=effect.result)
        if effect.status == EffectStatus.CONFLICT:
            self._stop(Hold(CONFLICT, effect, f"{effect.key} was done before, with another request"))
        unsure = begun.before in (EffectStatus.INTENT, EffectStatus.UNKNOWN)
        if effect.status == EffectStatus.UNKNOWN or (unsure and kind == EffectClass.AT_MOST_ONCE):
            why = effect.error or "its process died while it was called"
            self._stop(Hold(UNKNOWN, effect, f"it may have been done: {why}"))
        return Entry(effect.key, False, unsure, kind)

    def _stop_at_breakpoint(self, name: str, made: EffectCall) -> None:
        """Before a call that is about to be made; what is on record is given without one."""
        hit = self._write(lambda: self._stops(name, made.slot.key))
        if hit is None:
            return
        known = self._write(lambda: self._store.effects_at(made.slot.key))
        if not any(effect.status in EffectStatus.ANSWERED for effect in known):
            self.stopped = hit
            raise Stopped(hit.said)

    @contextmanager
    def outcome(self, entry: Entry) -> Iterator[None]:
        """Around a call: ``entry.result`` becomes durable, or its failure; what may be done is not called failed.

        Raises Stopped where a call that is made at most once may have been done.
        """
        try:
            yield
            point("run.effect-called")
            try:
                digest(referred(entry.result))
            except Invalid as error:
                raise FatalError(f"the result of an effect cannot be recorded: {error}") from error
        except Stopped:
            raise
        except BaseException as error:
            # A result that cannot be kept was got by a call that was made.
            undone = surely_not_done(error) and not isinstance(error.__cause__, Invalid)
            effect = self._end(entry.key, EffectStatus.FAILED if undone else EffectStatus.INTENT, classify(error).error)
            if not undone and entry.kind == EffectClass.AT_MOST_ONCE:
                self._stop(Hold(UNKNOWN, effect, f"it may have been done: {classify(error).error}"))
            raise
        entry.result = self._end(entry.key, EffectStatus.DONE, None, entry.result).result

    def value(self, name: str, make: Callable[[], Value]) -> Value:
        """A value that is made once and then stands."""
        self._acted = True
        made = self._calls.made(name, None, EffectClass.REPEATABLE, value=make(), has_value=True)
        return self._begin(made).effect.result

    def played(self, name: str, prompt: str) -> Value:
        """The newest recorded answer to ``prompt``. Raises FatalError when there is none."""
        slot, _ = self._calls.place(name)
        return newest_answer(self._store, slot, prompt)

    def statement(self, sql: str, params: list[Value]) -> None:
        """Queue a business statement for the step's transaction, unless it is on record."""
        self._acted = True
        made = self._calls.made("tx", {"sql": sql, "params": params}, EffectClass.TRANSACTIONAL)
        begun = self._begin(made)
        if begun.effect.status == EffectStatus.CONFLICT:
            self._stop(Hold(CONFLICT, begun.effect, f"{begun.effect.key} was done before, with another statement"))
        if begun.effect.status not in EffectStatus.ANSWERED:
            self._queued.append(made)

    def statements(self) -> tuple[EffectCall, ...]:
        """What was queued since the last time it was asked for."""
        queued, self._queued = tuple(self._queued), []
        return queued

    def part(self, name: str, run: Callable[[], Value]) -> Value:
        """Run a part of the node and keep its output with a checkpoint; a part that is kept already is not run."""
        self._acted = True
        with self._calls.inside(name) as whole:
            if whole in self._parts.done:
                return self._parts.done[whole]
            output = run()
            try:
                digest(referred(output))
            except Invalid as error:
                raise FatalError(f"the output of the substep {whole} cannot be saved: {error}") from error
            self._write(lambda: self._parts.keep(whole, output, self.statements()))
            return output

    def kept(self, request: Value, run: Callable[[], Value]) -> Value:
        """What ``run`` gave for the same request before, in whichever thread; else what it gives now.

        It is kept for others where the node did nothing on the way but read: no time, chance, statement or deed.
        """
        made = self._calls.kept(request)
        begun = self._begin(made)
        if begun.effect.status == EffectStatus.DONE:
            return begun.effect.result
        result = run()
        acted = "the node does more than read, so its result is not kept for others" if self._acted else None
        self._end(made.slot.key, EffectStatus.FAILED if acted else EffectStatus.DONE, acted, None if acted else result)
        return result

    def _begin(self, made: EffectCall) -> Begun:
        begun: Begun = self._write(lambda: self._store.begin_effect(self._run.run_id, self._run.token, made))
        return begun

    def _end(self, key: str, status: str, error: str | None, result: Value = None) -> Effect:
        ended: Effect = self._write(
            lambda: self._store.end_effect(self._run.run_id, self._run.token, key, status, result, error)
        )
        point("run.effect-ended")
        return ended

    def _write(self, write: Callable[[], Any]) -> Any:
        """A store that fails is no failure of the node's."""
        try:
            return self._patiently(write)
        except StoreError as error:
            self.stopped = error
            raise Stopped(str(error)) from error

    def _stop(self, hold: Hold) -> None:
        self.stopped = hold
        raise Stopped(hold.prompt)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a node: those that are done, by whole name, and how another one is kept."""

    done: dict[str, Value]
    keep: Callable[[str, Value, tuple[EffectCall, ...]], None]


def newest_answer(store: RunStore, slot: Slot, prompt: str) -> Value:
    """What was answered to ``prompt`` at that place, the newest of them. Raises FatalError when nothing was."""
    for effect in reversed(store.effects_at(slot.key)):
        asked = effect.request.get("prompt") if isinstance(effect.request, dict) else None
        if effect.status == EffectStatus.DONE and asked == prompt:
            return effect.result
    raise FatalError(f"{slot.node}: no answer to this prompt is on record; run it once with another provider")
