"""Commands that run code: run, resume, replay. Each shows its plan and asks first."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from stores.errors import Conflict, StoreError
from stores.model import Value
from tt_debug.cli import batch
from tt_debug.cli.exits import ExitCode, narrate, report
from tt_debug.cli.front import Front
from tt_debug.cli.inbox import os_user
from tt_debug.cli.options import gathered, ref_argument, store_argument
from tt_debug.cli.output import Output
from tt_debug.cli.run_options import (
    FILE,
    ClassList,
    JsonObject,
    JsonText,
    RunTarget,
    accepting_option,
    conflict_option,
    graph_options,
    running_options,
    workflow_option,
)
from tt_debug.cli.runner import Runner
from tt_debug.errors import (
    ChildFailed,
    DebuggerError,
    DefinitionChanged,
    NotAHead,
    Untrusted,
    UsageError,
    WaitingForAnswer,
)
from tt_debug.session.plans import RunPlan, RunRequest

if TYPE_CHECKING:
    from tt_debug.session.session import Session

NAMED_IN_PLAN = 8
# What one thread of a batch may be refused with while the others run.
REFUSALS = (Conflict, ChildFailed, DefinitionChanged, NotAHead, Untrusted, WaitingForAnswer)
# The worst end of a batch is its exit code: the first of these that any run had.
WORST_FIRST = (ExitCode.INTERRUPTED, ExitCode.RUN_FAILED, ExitCode.CONFLICT, ExitCode.WAITING)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(RunTarget):
    """What to start."""

    thread: str | None
    input: Mapping[str, Value] | None
    inputs: Path | None
    id_path: str | None
    business_id: str | None

    def requests(self) -> tuple[RunRequest, ...]:
        """One, or one per line of the file. Raises UsageError."""
        if self.inputs is None:
            if self.id_path is not None:
                raise UsageError("--id-path belongs to --inputs")
            return (self._request(self.thread, self.input or {}),)
        if self.input is not None or self.thread is not None:
            raise UsageError(
                "--inputs excludes --input and --thread", hint="the lines are the inputs, the ids the names"
            )
        if self.id_path is None:
            raise UsageError("--inputs needs --id-path: where in a line its id stands", hint="--id-path id")
        found = batch.inputs(self.inputs, self.id_path)
        return tuple(self._request(thread, content, again=True) for thread, content in found.items())

    def _request(self, thread: str | None, content: Mapping[str, Value], *, again: bool = False) -> RunRequest:
        return RunRequest(
            "run",
            thread=thread,
            input=content,
            business_id=self.business_id,
            workflow=self.workflow,
            graph=self.graph_target(),
            again=again,
        )


@click.command()
@store_argument
@workflow_option
@click.option("--thread", metavar="T", help="The new thread's name; made from the workflow's when left out.")
@click.option("--input", type=JsonObject(), metavar="JSON", help="The first state, an object.")
@click.option("--inputs", type=FILE, metavar="F.jsonl", help="One thread per line of a JSON Lines file.")
@click.option("--id-path", metavar="P", help="Where in a line the thread's name stands.")
@click.option("--business-id", metavar="B", help="Your own name for this run.")
@running_options
@gathered(RunOptions)
def run(front: Front, options: RunOptions) -> ExitCode:
    """Start a thread, or one per line of a file.

    Makes the store when there is no such file yet, after you agreed. With --inputs again: what is done stays, what
    stopped goes on.
    """
    from stores.making import create_native, place_of  # opens databases, which --help does not

    requests, output, wanted = options.requests(), Output(options.as_json), options.wanted()
    place = place_of(options.store)
    is_new = place.is_new and not options.read_only
    wanted = wanted._replace(store=place.url)
    with _place_to_plan(is_new) as empty, front.writing(wanted._replace(store=empty or place.url)) as session:
        runner = Runner(front, session, output, yes=options.yes, reveal=options.reveal)
        plan = _first_plan(session, requests)
        if plan is not None:
            runner.agree(plan, _lines(session, plan, requests, place.shown if is_new else None))
        if not is_new:
            return _run_all(runner, session, requests, options.store)
    create_native(place.url)
    with front.writing(wanted) as session:
        return _run_all(
            Runner(front, session, output, yes=True, reveal=options.reveal), session, requests, options.store
        )


@contextmanager
def _place_to_plan(is_new: bool) -> Iterator[str | None]:
    """An empty store in a temporary folder, so that a plan that is refused leaves nothing behind."""
    if not is_new:
        yield None
        return
    from stores.making import create_native

    with tempfile.TemporaryDirectory(prefix="tt-debug-") as folder:
        place = Path(folder) / "new.sqlite"
        create_native(place)
        yield str(place)


def _lines(session: Session, plan: RunPlan, requests: tuple[RunRequest, ...], new: str | None) -> tuple[str, ...]:
    """The plan of the first request that runs something, and what else would happen."""
    lines = list(plan.lines())
    if len(requests) > 1:
        names = [str(request.thread) for request in requests[:NAMED_IN_PLAN]]
        more = f" and {len(requests) - len(names)} more" if len(requests) > len(names) else ""
        lines.append(f"threads       {len(requests)}, each like this: {', '.join(names)}{more}")
        known = {info.thread for info in session.threads(brief=True, hidden=True)}
        before = sum(request.thread in known for request in requests)
        if before:
            lines.append(f"note          of these {before} exist: those that are done stay, the others go on")
    if new is not None:
        lines.append(f"note          makes the new store {new}")
    return tuple(lines)


def _first_plan(session: Session, requests: tuple[RunRequest, ...]) -> RunPlan | None:
    """The plan that stands for all: the first that starts a thread, or goes on; None when nothing is left to run.

    Raises what refuses the one request, or all of them alike.
    """
    refused: list[StoreError | DebuggerError] = []
    going_on: RunPlan | None = None
    for request in requests:
        try:
            plan = session.plan(request)
        except REFUSALS as error:
            refused.append(error)
            continue
        if plan.request.action == "run" and plan.ended is None:
            return plan
        if plan.ended is None:
            going_on = going_on or plan
    if going_on is not None:
        return going_on
    if len(refused) == len(requests) and len({str(error) for error in refused}) == 1:
        raise refused[0]
    return None


def _run_all(runner: Runner, session: Session, requests: tuple[RunRequest, ...], store: str) -> ExitCode:
    """Run them one after the other; one that fails or is refused does not keep the others from running."""
    if len(requests) == 1:
        return runner.run(session.plan(requests[0]))
    codes: set[ExitCode] = set()
    for request in requests:
        try:
            code = runner.run(session.plan(request))
        except REFUSALS as error:
            code = report(error, store)
        codes.add(code)
        if code is ExitCode.INTERRUPTED:
            narrate("interrupted: the lines after this one were not started")
            break
    return next((code for code in WORST_FIRST if code in codes), ExitCode.OK)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeOptions(RunTarget):
    """Where to go on, and how far."""

    ref: str
    until: str | None
    step: bool
    on_conflict: str | None
    check_refs: bool
    answer: Value = field(default=None)
    answered_by: str | None = None


@click.command()
@store_argument
@ref_argument
@workflow_option
@graph_options
@accepting_option
@click.option("--until", metavar="WHERE", help="Stop before a node, at a step (@15), or once when:EXPR holds.")
@click.option("--step", is_flag=True, help="Stop after one step.")
@click.option("--answer", type=JsonText(), metavar="JSON", help="Answer the question it waits with, and go on.")
@click.option("--as", "answered_by", metavar="NAME", help="Who answers; the OS user when left out.")
@click.option("--check-refs", is_flag=True, help="Look first whether what the state refers to on the web is there.")
@conflict_option
@running_options
@gathered(ResumeOptions)
def resume(front: Front, options: ResumeOptions) -> ExitCode:
    """Go on at a head.

    The stored definition serves where --workflow is not given. Anywhere else than at a head: fork first.
    """
    if options.step and options.until:
        raise UsageError("--step and --until exclude each other")
    given = click.get_current_context().get_parameter_source("answer") is click.core.ParameterSource.COMMANDLINE
    with front.writing(options.wanted()) as session:
        request = RunRequest(
            "resume",
            ref=session.resolve(options.ref),
            until=options.until,
            single_step=options.step,
            answer=options.answer,
            has_answer=given,
            answered_by=options.answered_by or os_user(),
            workflow=options.workflow,
            graph=options.graph_target(),
            accept_graph=options.accept_graph,
            on_conflict=options.on_conflict,
            check_refs=options.check_refs,
        )
        return Runner(front, session, Output(options.as_json), yes=options.yes, reveal=options.reveal).go(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions(RunTarget):
    """Where to run again from."""

    ref: str
    to: str | None
    mode: Literal["live", "recorded", "verify"] | None
    allow: tuple[str, ...]
    until: str | None
    step: bool


@click.command()
@store_argument
@ref_argument
@click.option(
    "--mode",
    type=click.Choice(["recorded", "verify", "live"]),
    metavar="M",
    help="recorded (default where effects are on record): nodes run, nothing is called. verify: to the first"
    " divergence. live: everything is called again, on a new thread.",
)
@click.option(
    "--allow",
    metavar="CLASS,…",
    type=ClassList(),
    default=(),
    help="For live: only effects of these classes may be called; another one fails its node.",
)
@click.option("--to", metavar="THREAD", help="The new thread's name; THREAD-fork-N when left out.")
@click.option("--until", metavar="WHERE", help="Stop before a node, at a step (@15), or once when:EXPR holds.")
@click.option("--step", is_flag=True, help="Stop after one step.")
@workflow_option
@graph_options
@accepting_option
@running_options
@gathered(ReplayOptions)
def replay(front: Front, options: ReplayOptions) -> ExitCode:
    """Run again from a checkpoint: by the record, or live."""
    if options.step and options.until:
        raise UsageError("--step and --until exclude each other")
    if options.mode in ("recorded", "verify") and (options.to or options.until or options.step or options.allow):
        raise UsageError("--to, --until, --step and --allow belong to --mode live")
    # Without a mode the session says what it is: from the record nothing is written to the store.
    opened = front.writing if options.mode == "live" else front.session
    with opened(options.wanted()) as session:
        request = RunRequest(
            "replay",
            ref=session.resolve(options.ref),
            thread=options.to,
            until=options.until,
            single_step=options.step,
            workflow=options.workflow,
            graph=options.graph_target(),
            accept_graph=options.accept_graph,
            mode=options.mode,
            allow=options.allow,
        )
        return Runner(front, session, Output(options.as_json), yes=options.yes, reveal=options.reveal).go(request)
