"""One run, from its claim to its end: call a node, make its result durable, go on.

Owns the order of things: what happens to a step found running, attempts and the waits between them, stopping.
What runs next is `plan`, calling a node is `nodes`, every durable transition is `transitions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from stores.effects import EffectCall
from stores.errors import Busy, Conflict, Invalid, LeaseLost, StoreError
from stores.model import Header, Ref, Status
from stores.points import point
from stores.runs import Run, RunStatus, StepRecord, shown
from stores.supervision import BreakpointHit
from tt_debug.definition.prompts import MissingName, fill
from tt_debug.definition.workflow import HumanNode, Node, Workflow
from tt_debug.engine.context import Context
from tt_debug.engine.effects import Hold, Ledger
from tt_debug.engine.nodes import NodeResult, call_node
from tt_debug.engine.plan import NoWayOn
from tt_debug.engine.recover import Standing, standing
from tt_debug.engine.retry import Failure, classify, wait_before_next
from tt_debug.engine.surroundings import Orders, Surroundings
from tt_debug.engine.traces import storable, trace_lines
from tt_debug.engine.transitions import LOST, Ended, Question, Transitions

_SLICE: Final = 0.25  # seconds of a wait after which a request to stop is looked for
_LONGEST_WAIT: Final = 3600.0  # seconds; a clock that jumped back must not keep a run waiting for days

INTERRUPTED: Final = ("retry", "skip", "fail")
"""The answers to what to do with a step whose process died while it ran."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended. ``status`` is a `stores.model.Status`, or LOST."""

    status: str
    head: Ref
    error: str | None = None


class Runner:
    """Runs one claimed run until it ends, waits, pauses or fails."""

    def __init__(self, run: Run, workflow: Workflow, orders: Orders, around: Surroundings) -> None:
        self._workflow = workflow
        self._around = around
        self._on = Transitions(run, workflow, orders, around)

    def go(self) -> Ending:
        """Run. Raises StoreError when the store fails for good; the run then stands where it was last durable."""
        try:
            status, error = self._ended()
        except LeaseLost as lost:
            # Others go on with it, by what the store holds: this process knows nothing about the run any more.
            status, error = LOST, f"the run is not this process's any more: {lost}"
        except Busy as busy:
            status, error = Status.PAUSED, f"{busy}; not even that could be written down, so it is found as crashed"
        ending = Ending(status, self._on.place.head, error)
        self._on.tell("run_ended", status=ending.status, head=ending.head.id, error=ending.error)
        return ending

    def _ended(self) -> tuple[str, str | None]:
        """How the run ended durably. Raises Busy where the store cannot even be told that it stops."""
        try:
            try:
                record, failed = self._start()
                while True:
                    record = self._step(record, failed)
                    failed = 0
            except Busy as busy:
                self._on.finish(RunStatus.PAUSED, f"store busy: {busy}")
        except Ended as end:
            self._on.keep_figures()
            # The one way in which a run ends itself as crashed is that it is held.
            return Status.HELD if end.status == RunStatus.CRASHED else shown(end.status), end.error

    def _start(self) -> tuple[StepRecord, int]:
        """The first step, durably running, and how often it failed before in this series of attempts."""
        header, log = self._on.load()
        following = header.next[0] if header.next else None
        name, version = self._workflow.workflow_id, self._workflow.version
        self._on.tell("run_started", workflow=name, version=version, next=list(header.next), base=header.ref.id)
        if following is None:
            self._on.finish(RunStatus.COMPLETED)
        if self._workflow.node(following) is None:
            why = f"the next node is {following!r}, and {name} {version} has none of that name"
            self._on.finish(RunStatus.FAILED, why)
        stopped = self._on.stop_before(following)
        if stopped is not None:
            self._on.finish(stopped)
        run = self._on.run
        if header.source == "input" and run.token - run.recoveries == 1:  # it died before, but never stopped
            self._on.stop_at_first(following)
        found = standing(log)
        return self._first(header, following, found), found.failed

    def _first(self, header: Header, node: str, found: Standing) -> StepRecord:
        record = self._on.record(node, found.ordinal, found.attempt)
        match self._policy(header, record, found):
            case "skip":
                return self._skip(record._replace(status="skipped", ended=record.started))
            case "fail":
                error = f"{node} was running when its process died, and is not to run again"
                self._on.failed(record, Failure(error, "Interrupted", False), None)
            case "ask":
                prompt = f"{node} was running when its process died: retry it, skip it, or fail the run?"
                ended = record._replace(status="abandoned", ended=record.started)
                self._on.suspend(ended, Question(prompt, {"enum": list(INTERRUPTED)}, "question"))
        if found.wait_until is not None:
            self._wait(found.wait_until)
            record = record._replace(started=self._on.now())
        self._on.begin(record)
        return record

    def _policy(self, header: Header, record: StepRecord, found: Standing) -> str:
        """What to do with the first step: only one that was found running is not simply run."""
        if header.source == "answer" and header.meta.get("kind") == "question":
            answer = header.meta.get("answer")
            return answer if answer in INTERRUPTED else "fail"
        node = self._node(record)
        same = found.interrupted is not None and found.interrupted.node == record.node
        return node.on_interrupt if same and not isinstance(node, HumanNode) else "retry"

    def _step(self, record: StepRecord, failed: int) -> StepRecord:
        """Run one node to its durable end, through its retries. Gives the next step, which is running already."""
        node = self._node(record)
        while True:
            self._on.tell("step_started", node=node.id, step=self._on.place.step + 1, attempt=record.attempt)
            if isinstance(node, HumanNode):
                outcome: StepRecord | Failure = self._ask(node, record)
            else:
                record, outcome = self._call(node, record)
            if isinstance(outcome, StepRecord):
                return outcome
            failed += 1
            record = self._again(node, record, outcome, failed)

    def _call(self, node: Node, record: StepRecord) -> tuple[StepRecord, StepRecord | Failure]:
        """The attempt as it ended, and the next step, or why the attempt failed."""
        lines: list[str] = []
        ledger = self._on.ledger(record)
        outcome = self._called(node, record, lines, ledger)
        ended, log = self._on.now(), tuple(lines)
        if ledger.stopped is None and isinstance(outcome, NodeResult):
            point("run.node-returned")
            record = record._replace(status="completed", output=outcome.output, ended=ended, log=log)
            return record, self._committed(record, outcome.state, ledger.statements())
        record = record._replace(ended=ended, log=log)
        if isinstance(ledger.stopped, Hold):
            self._on.hold(record, ledger.stopped)
        if isinstance(ledger.stopped, BreakpointHit):
            self._on.pause(record, ledger.stopped)
        if ledger.stopped is not None:
            return record, self._lost(record, ledger.stopped)
        assert isinstance(outcome, Failure)
        return record, outcome

    def _committed(
        self, record: StepRecord, state: bytes, statements: tuple[EffectCall, ...] = ()
    ) -> StepRecord | Failure:
        """The next step, or why this one's result cannot be kept: another attempt would end the same way."""
        try:
            return self._on.commit(record, state, statements)
        except NoWayOn as error:
            return Failure(str(error), "NoWayOn", False)
        except StoreError as error:
            return self._lost(record, error)

    def _lost(self, record: StepRecord, error: StoreError) -> Failure:
        """Why what the node did cannot be kept; raises ``error`` where that is no fault of the run's."""
        if isinstance(error, Invalid):
            return Failure(f"the result of {record.node} cannot be saved: {error}", "Invalid", False)
        if isinstance(error, Conflict) and not isinstance(error, LeaseLost):  # another head while the node ran
            return Failure(f"the result of {record.node} has no place: {error}", "Conflict", False)
        raise error

    def _skip(self, record: StepRecord) -> StepRecord:
        committed = self._committed(record, self._on.place.state)
        if isinstance(committed, Failure):
            return self._on.failed(record, committed, None)
        return committed

    def _called(self, node: Node, record: StepRecord, lines: list[str], ledger: Ledger) -> NodeResult | Failure:
        def say(text: str) -> None:
            lines.append(storable(text))
            self._on.tell("log", node=node.id, text=lines[-1])

        run = self._on.run
        given = self._on.binaries.bytes_in
        context = Context(run.run_id, run.thread, node.id, record.visit, record.attempt, say, ledger, given)
        try:
            return call_node(self._workflow, node, self._on.place.state, context, self._on.binaries)
        except BaseException as error:  # noqa: BLE001  user code: whatever it raises is its failure, never ours
            for line in trace_lines(error) if ledger.stopped is None else ():
                lines.append(line)
                self._on.tell("output", stream="stderr", text=line)
            return classify(error)

    def _ask(self, node: HumanNode, record: StepRecord) -> Failure:
        """End the run at a human task; comes back only when the question cannot even be asked."""
        try:
            prompt = f"{node.id}: approve?" if node.prompt is None else fill(node.prompt, self._on.state())
        except MissingName as error:
            return Failure(f"the prompt of {node.id} cannot be filled: {error}", "MissingName", False)
        question = Question(prompt, node.response_schema, due=node.time_to_answer, on_timeout=node.on_timeout)
        return self._on.suspend(record._replace(status="waiting"), question)

    def _again(self, node: Node, record: StepRecord, failure: Failure, failed: int) -> StepRecord:
        """The next attempt, durably running, after its wait; raises Ended when there is none."""
        ended = self._on.failed(record, failure, wait_before_next(node.retry, failed, failure))
        if ended.next_attempt_at is not None:
            self._wait(ended.next_attempt_at)
        record = self._on.record(node.id, record.ordinal, record.attempt + 1)
        self._on.begin(record)
        return record

    def _wait(self, until: datetime) -> None:
        """Sleep until then; a request to stop ends the run at once, and the rest of the wait is kept for later."""
        clock = self._around.clock
        end = clock.now().timestamp() + min(_LONGEST_WAIT, (until - clock.now()).total_seconds())
        while (rest := end - clock.now().timestamp()) > 0:
            stopped = self._on.wished()
            if stopped is not None:
                self._on.finish(stopped)
            clock.sleep(min(rest, _SLICE))

    def _node(self, record: StepRecord) -> Node:
        node = self._workflow.node(record.node)
        assert node is not None  # every edge was checked when the definition was read
        return node
