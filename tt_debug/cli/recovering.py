"""Looking after runs that nobody works on: recover, and a worker that does it all the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from stores.errors import Busy, Conflict, StoreError, Unreachable
from stores.runs import Run
from tt_debug.cli import interrupts, records
from tt_debug.cli.completing import THREAD
from tt_debug.cli.exits import ExitCode, NeedsYes, narrate, report
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, store_argument, together, writing_options
from tt_debug.cli.output import Output, line_width
from tt_debug.cli.runner import code_for, event_lines
from tt_debug.cli.tables import Column, table
from tt_debug.engine.events import Event
from tt_debug.engine.recovery import RecoveryPlan
from tt_debug.errors import ChildFailed, UsageError
from tt_debug.redaction import Redaction
from tt_debug.session.hiding import hidden_event
from tt_debug.session.operating import MODES, Mode, Swept
from tt_debug.session.records import Record

if TYPE_CHECKING:
    from tt_debug.session.session import Session

PLANS = (Column("run"), Column("thread"), Column("found"), Column("then"), Column("calls whose end is unknown"))
SECONDS = click.FloatRange(0.1, 3600)
SLICE = 0.2  # seconds between two looks at whether Ctrl-C was pressed


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverOptions(Target):
    """What is recovered, and how much is done about it."""

    thread: tuple[str, ...] = ()
    yes: bool = False
    watch: bool = False
    mode: Mode = "log_only"
    every: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions(RecoverOptions):
    """The same for a worker; ``once`` ends it when nothing is left to do."""

    once: bool = False


of_threads = click.option("--thread", metavar="T", multiple=True, type=THREAD, help="Of this thread only; repeatable.")
sweeping_options = together(
    click.option(
        "--mode",
        type=click.Choice(MODES),
        metavar="MODE",
        default="log_only",
        show_default=True,
        help="What a sweep does: off, log_only, confirm, auto.",
    ),
    click.option(
        "--every", type=click.FloatRange(0.1, 3600), default=10.0, metavar="S", help="Seconds between sweeps."
    ),
)


@click.command()
@store_argument
@of_threads
@click.option("--yes", is_flag=True, help="Do it: run what can be run, hold what must be held.")
@click.option("--watch", is_flag=True, help="Look again and again until Ctrl-C.")
@sweeping_options
@writing_options
@gathered(RecoverOptions)
def recover(front: Front, options: RecoverOptions) -> ExitCode:
    """Go on with runs that nobody works on any more.

    Says what was found and what would be done.

    With --yes it is done now. With --watch a sweep looks every few seconds, and does as --mode says.
    """
    if options.watch and options.yes:
        raise UsageError("--yes acts once, --watch as --mode says", hint="--watch --mode auto acts all the time")
    output, hiding = Output(options.as_json), front.hiding(False)
    if options.watch:
        with front.writing(options.wanted()) as session, interrupts.noticed() as interrupted:
            sweeps = _Sweeps(front, session, output, options, hiding)
            while not interrupted():
                with sweeps.going_on():
                    sweeps.once()
                _rest(options.every, interrupted)
        return ExitCode.INTERRUPTED
    if not options.yes:
        with front.looking(options.store) as session:
            _show(output, session.operations.plans(options.thread))
        return ExitCode.OK
    with front.writing(options.wanted()) as session, interrupts.noticed() as interrupted:
        code = _Sweeps(front, session, output, options, hiding).act()
        return ExitCode.INTERRUPTED if interrupted() else code


def _show(output: Output, plans: tuple[RecoveryPlan, ...]) -> None:
    if output.as_json:
        output.document("recover", [plan_record(plan) for plan in plans])
        return
    rows = ((plan.run.run_id, plan.run.thread, plan.evidence, plan.then, "; ".join(plan.calls)) for plan in plans)
    output.text(table(PLANS, rows, line_width()))
    if any(plan.action != "wait" for plan in plans):
        narrate("nothing was done; --yes does it")


def plan_record(plan: RecoveryPlan) -> Record:
    """One item of ``recover``."""
    return {
        "run": plan.run.run_id,
        "thread": plan.run.thread,
        "status": plan.run.shown,
        "action": plan.action,
        "evidence": plan.evidence,
        "then": plan.then,
        "calls": list(plan.calls),
        "case": plan.case,
        "recoveries": plan.run.recoveries,
    }


class _Sweeps:
    """Sweeps of one command: what they say, and on which output."""

    def __init__(
        self, front: Front, session: Session, output: Output, options: RecoverOptions, hiding: Redaction
    ) -> None:
        self._front = front
        self._operations = session.operations
        self._output = output
        self._options = options
        self._hiding = hiding
        self._away = False
        self._told: set[tuple[str, str]] = set()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """A store that cannot be reached in the block is told of once, and looked for again with the next sweep."""
        try:
            yield
        except (Unreachable, Busy) as error:
            if not self._away:
                report(error, self._options.store)
            self._away = True
        else:
            self._away = False

    def once(self) -> bool:
        """Whether anything was done."""
        acted = False
        for swept in self._operations.sweep(
            self._options.mode, self.tell, threads=self._options.thread, agree=self._agree, due=True
        ):
            self._say(swept)
            acted = acted or (swept.acted and swept.error is None)
        return acted

    def act(self) -> ExitCode:
        """Do what is planned, one run after the other; the worst end is the exit code."""
        worst = ExitCode.OK
        for swept in self._operations.sweep("auto", self.tell, threads=self._options.thread):
            self._say(swept)
            if swept.error is not None:
                worst = ExitCode.CONFLICT if isinstance(swept.error, Conflict) else ExitCode.NOT_FOUND
            elif swept.result is not None and worst is ExitCode.OK:
                worst = code_for(swept.result.status)
        return worst

    def run_on(self, run: Run) -> bool:
        """Run what is ready to be run; somebody who was faster is no fault. Whether it was run; why not, once."""
        try:
            result = self._operations.run_on(run, self.tell)
        except (StoreError, ChildFailed) as error:
            if (run.run_id, str(error)) not in self._told:
                report(error, self._options.store)
            self._told.add((run.run_id, str(error)))
            return False
        if self._output.as_json:
            self._output.line({"event": "worked", **records.result_record(result)})
        return True

    def tell(self, event: Event) -> None:
        """One event of a run."""
        if self._output.as_json:
            self._output.line(records.event_record(event, self._hiding))
        else:
            self._output.text(event_lines(hidden_event(event, self._hiding)))
        self._output.flush()

    def _say(self, swept: Swept) -> None:
        done = "" if swept.acted else "would: " if swept.plan.action != "wait" else ""
        if self._output.as_json:
            error = None if swept.error is None else str(swept.error)
            self._output.line({"event": "plan", "acted": swept.acted, "failed": error, **plan_record(swept.plan)})
            self._output.flush()
        else:
            narrate(f"{done}{swept.plan.line()}")
        if swept.error is not None:
            report(swept.error, self._options.store)

    def _agree(self, plan: RecoveryPlan) -> bool:
        return self._front.someone_to_ask() and self._front.ask(f"{plan.line()}. Do it?")


@click.command()
@store_argument
@of_threads
@click.option("--once", is_flag=True, help="End when nothing is left to do, instead of waiting for more.")
@click.option("--yes", is_flag=True, help="Run code without asking.")
@sweeping_options
@writing_options
@gathered(WorkerOptions)
def worker(front: Front, options: WorkerOptions) -> ExitCode:
    """Run what was answered, retried or decided, until Ctrl-C.

    It also sweeps for runs that nobody works on.

    Runs one at a time; start several workers for more. A run just begun elsewhere is left to whoever began it.
    """
    question = "Run the code of every run that waits for it in this store?"
    if not options.yes and not (front.someone_to_ask() and front.ask(question)):
        raise NeedsYes("nothing has run", hint="add --yes to let the worker run code")
    output, hiding = Output(options.as_json), front.hiding(False)
    with front.writing(options.wanted()) as session, interrupts.noticed() as interrupted:
        session.operations.refuse_copy()
        sweeps = _Sweeps(front, session, output, options, hiding)
        seen: set[tuple[str, int]] = set()
        if not options.once:
            narrate("waits for runs; Ctrl-C ends it after the step it is at")
        while not interrupted():
            acted = False
            with nullcontext() if options.once else sweeps.going_on():
                acted, swept = sweeps.once(), time.monotonic()
                ready = session.operations.ready(options.thread)
                for run in ready:
                    if interrupted() or time.monotonic() - swept > options.every:
                        break  # many that are ready must not keep those that crashed waiting
                    # Whoever begins a run takes it within moments: only what nobody took is ours.
                    if options.once or (run.run_id, run.token) in seen:
                        acted = sweeps.run_on(run) or acted
                seen = {(run.run_id, run.token) for run in ready}
            if options.once and not acted and not session.operations.awaits(options.thread):
                return ExitCode.OK
            if not acted:
                _rest(SLICE if options.once else options.every, interrupted)
    return ExitCode.INTERRUPTED


def _rest(seconds: float, interrupted: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not interrupted() and (left := end - time.monotonic()) > 0:
        time.sleep(min(left, SLICE))
