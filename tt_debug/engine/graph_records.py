"""What a run of a user's graph leaves in our own records: its tasks, what they asked of the world, how it ended.

Owns which task is which attempt at which step, and the ledger of each; refuses to start or to listen to anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final

from stores.effects import Slot
from stores.errors import LeaseLost, StoreError
from stores.model import NewCheckpoint, Ref, Status, Value
from stores.native.elsewhere import RunsElsewhere
from stores.runs import Approval, Run, RunStatus, StepRecord
from tt_debug.engine.effects import Calls, Entry, Hold, Ledger, Parts, Stopped, verdict_schema
from tt_debug.engine.retry import FatalError, RetryableError

WORKFLOW: Final = "langgraph"
"""Stands in the keys of effects for the workflow: one graph is named in many ways."""

_ENDS: Final[Mapping[str, str]] = {
    Status.DONE: RunStatus.COMPLETED,
    Status.WAITING: RunStatus.WAITING,
    Status.PAUSED: RunStatus.PAUSED,
    Status.FAILED: RunStatus.FAILED,
    Status.CRASHED: RunStatus.CRASHED,
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call at work, and whose it is."""

    ledger: Ledger
    entry: Entry


@dataclass(frozen=True, slots=True)
class Patience:
    """How a write waits for a store that is busy, and what makes sure before a call that the run stays ours."""

    write: Callable[[Callable[[], Any]], Any]
    prolong: Callable[[], None]


class _Calls(Calls):
    """The calls of one attempt at a task; what runs beside it in the same step counts on with it."""

    def __init__(self, run: Run, record: StepRecord, number: Iterator[int], allow: Sequence[str]) -> None:
        super().__init__(run, WORKFLOW, record, allow)
        self._number = number

    def place(self, name: str) -> tuple[Slot, int]:
        slot, _ = super().place(name)
        return slot, next(self._number)


class GraphRecords:
    """The records of one claimed run. Every write may raise LeaseLost."""

    def __init__(
        self, store: RunsElsewhere, run: Run, head: str, patience: Patience, allow: Sequence[str] = ()
    ) -> None:
        """``allow`` are the classes of effects that may be called, all of them when empty."""
        self._allow = allow
        self._store, self._run, self._head, self._patience = store, run, head, patience
        self._tasks: dict[str, StepRecord] = {}
        self._ledgers: dict[int, Ledger] = {}
        self._calls: dict[int, Call] = {}
        self._numbers: dict[tuple[int, int], Iterator[int]] = defaultdict(count)
        self._ids = count(1)
        self._begun: dict[tuple[str, str | None], list[StepRecord]] = defaultdict(list)
        log = store.steps(run.run_id)
        self._next = count(max((record.ordinal for record in log), default=-1) + 1)
        for record in log:
            if record.status in ("running", "abandoned", "failed"):
                self._begun[record.node, record.base].append(record)

    # --- tasks

    def start(self, task: str, node: str) -> None:
        """A task of the root graph starts; one that was begun from this checkpoint before is another attempt at it."""
        if task in self._tasks:
            return
        before = self._again(node)
        ordinal = next(self._next) if before is None else before.ordinal
        attempt = 1 if before is None else before.attempt + 1
        record = StepRecord(self._run.run_id, ordinal, node, attempt, started=datetime.now(UTC), base=self._head)
        self._tasks[task] = record
        self._patience.write(lambda: self._store.start_task(self._run.run_id, self._run.token, record))

    def _again(self, node: str) -> StepRecord | None:
        """The newest try at a task of that node from here that is not begun again yet."""
        tries = self._begun.get((node, self._head), [])
        if not tries:
            return None
        newest = max((record for record in tries if record.ordinal == tries[0].ordinal), key=lambda one: one.attempt)
        self._begun[node, self._head] = [record for record in tries if record.ordinal != newest.ordinal]
        return newest

    def finish(self, task: str, at: NewCheckpoint) -> None:
        """Its results are stored with that checkpoint."""
        self._end(self._tasks.pop(task)._replace(status="completed"), at)
        self._head = at.ref.id

    def fail(self, task: str, error: str) -> None:
        """It raised."""
        kind = error.partition(":")[0]
        self._end(self._tasks.pop(task)._replace(status="failed", error=error, error_class=kind))

    def _end(self, record: StepRecord, at: NewCheckpoint | None = None) -> None:
        self._patience.write(lambda: self._store.end_task(self._run.run_id, self._run.token, record, at))

    # --- effects

    def enter(self, asked: Mapping[str, Value]) -> Mapping[str, Value]:
        """An effect that a node comes to: its result where that is on record, else the key to make the call with."""
        ledger = self._ledger(asked)
        try:
            entry = ledger.enter(asked["name"], asked["request"], asked["cls"])
        except Stopped as stopped:
            return self._stop(ledger, stopped)
        except FatalError as error:
            return {"fatal": str(error)}
        if entry.given:
            return {"result": entry.result}
        number = next(self._ids)
        self._calls[number] = Call(ledger, entry)
        return {"call": number, "key": entry.key, "unsure": entry.unsure}

    def done(self, number: int, result: Value) -> Mapping[str, Value]:
        """What came of a call; gives what counts, which a fork may have got first."""
        call = self._calls.pop(number)
        try:
            with call.ledger.outcome(call.entry):
                call.entry.result = result
        except Stopped as stopped:
            return self._stop(call.ledger, stopped)
        except FatalError as error:
            return {"fatal": str(error)}
        return {"result": call.entry.result}

    def failed(self, number: int, error: Mapping[str, Value], *, made: bool) -> Mapping[str, Value]:
        """A call raised; ``made`` says that it was carried out all the same, and its result cannot be kept."""
        call = self._calls.pop(number)
        raised = _as_raised(error, made=made)
        try:
            with call.ledger.outcome(call.entry):
                raise raised
        except Stopped as stopped:
            return self._stop(call.ledger, stopped)
        except Exception as again:
            if again is not raised:
                raise
        return {}

    def _ledger(self, asked: Mapping[str, Value]) -> Ledger:
        attempt = asked["attempt"]
        if attempt not in self._ledgers:
            root = self._tasks[asked["task"]]
            record = root._replace(node=asked["node"], visit=asked["visit"])
            calls = _Calls(self._run, record, self._numbers[root.ordinal, root.attempt], self._allow)
            self._ledgers[attempt] = Ledger(
                self._store, self._run, calls, Parts({}, lambda *_: None), self._prolonged, self._patience.write
            )
        return self._ledgers[attempt]

    def _prolonged(self, _name: str, _key: str) -> None:
        self._patience.prolong()

    def _stop(self, ledger: Ledger, stopped: Stopped) -> Mapping[str, Value]:
        if isinstance(ledger.stopped, LeaseLost):
            raise ledger.stopped
        return {"stop": str(stopped)}

    # --- the end

    @property
    def stops(self) -> Sequence[Hold | StoreError]:
        """Why attempts could not go on."""
        found = (ledger.stopped for ledger in self._ledgers.values())
        return tuple(stop for stop in found if isinstance(stop, Hold | StoreError))

    def end(self, status: str, error: str | None) -> tuple[str, str | None, Approval | None]:
        """The run ends so, in the words of `stores.model.Status`: unless a person is asked, or our store has failed."""
        held = next((stop for stop in self.stops if isinstance(stop, Hold)), None)
        if held is not None:
            return Status.HELD, held.prompt, self._hold(held)
        broken = next(iter(self.stops), None)
        if broken is not None:
            status, error = Status.CRASHED, f"our own records cannot be kept: {broken}"
        ended = self._store.finish(self._run.run_id, self._run.token, _ENDS[status], error)
        return (Status.CANCELLED if ended.status == RunStatus.CANCELLED else status), error, None

    def _hold(self, held: Hold) -> Approval:
        slot = held.effect.slot
        root = slot.node.partition("/")[0].partition("[")[0].partition("#")[0]
        record = next((one for one in self._tasks.values() if one.node == root), None)
        record = record or StepRecord(self._run.run_id, next(self._next), root)
        asked = Approval(
            id=f"{self._run.run_id}-{record.ordinal}-{record.attempt}", thread=self._run.thread, ns="",
            checkpoint=self._head, node=slot.node, prompt=held.prompt, schema=verdict_schema(held.kind),
            since=datetime.now(UTC), run_id=self._run.run_id, kind=held.kind,
        )  # fmt: skip
        ended = record._replace(status="abandoned", ended=datetime.now(UTC), error=held.prompt, error_class=held.kind)
        self._store.hold(self._run.run_id, self._run.token, ended, asked, held.effect.key)
        return asked


def mark(thread: str, at: Mapping[str, Value]) -> NewCheckpoint:
    """What our records keep of a checkpoint that is in another store: its id, step, who wrote it and what is next."""
    nodes, following = tuple(at.get("nodes", ())), tuple(at["next"])
    return NewCheckpoint(
        ref=Ref(thread, "", at["checkpoint"]), parent=None, state={}, source="step" if nodes else "import",
        step=at["step"], nodes=nodes, next=following, status=Status.UNFINISHED if following else Status.DONE,
    )  # fmt: skip


def _as_raised(told: Mapping[str, Value], *, made: bool) -> Exception:
    """An exception that says of a call what the one in the user's process said (`retry.surely_not_done`)."""
    if made:
        return RuntimeError(told["text"])
    for kind in (RetryableError, FatalError, ConnectionRefusedError):
        if kind.__name__ in told["kinds"]:
            return kind(told["text"])
    names = {} if told["status"] is None else {"status_code": told["status"]}
    raised: Exception = type(str(told["class"]), (Exception,), names)(told["text"])
    return raised
