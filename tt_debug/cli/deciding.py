"""Decisions about runs: inbox, resolve, retry, protect. None of them runs code."""

from __future__ import annotations

from dataclasses import dataclass

import click

from stores.runs import Approval, Run
from tt_debug.cli import records, tables
from tt_debug.cli.completing import QUESTION, THREAD
from tt_debug.cli.effects import ResolveOptions, resolve_effect
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.inbox import ApprovalsOptions, os_user, some_thread
from tt_debug.cli.options import Target, gathered, looking_options, reveal_option, store_argument, writing_options
from tt_debug.cli.output import Output, line_width
from tt_debug.cli.run_options import JsonText
from tt_debug.cli.tables import Column, clock, prompt_text
from tt_debug.session.answers import decisions
from tt_debug.session.hiding import hidden_question
from tt_debug.session.records import Record, timestamp
from tt_debug.shell import argument

INBOX = (
    Column("id"),
    Column("kind"),
    Column("thread"),
    Column("node"),
    Column("since (UTC)"),
    Column("due (UTC)"),
    Column("asks"),
    Column("decide as"),
)


@click.command()
@store_argument
@some_thread
@reveal_option
@looking_options
@gathered(ApprovalsOptions)
def inbox(front: Front, options: ApprovalsOptions) -> ExitCode:
    """Everything that waits for a person: questions, runs on hold."""
    output, hiding = Output(options.as_json), front.hiding(options.reveal)
    with front.looking(options.store) as session:
        found = tuple(hidden_question(asked, hiding) for asked in session.operations.inbox(options.thread))
    if output.as_json:
        output.document("inbox", [_record(asked) for asked in found])
    else:
        rows = (
            (
                asked.id, asked.kind, asked.thread, asked.node, clock(asked.since), clock(asked.due),
                prompt_text(asked.prompt), " | ".join(_decisions(asked)),
            )
            for asked in found
        )  # fmt: skip
        output.text(tables.table(INBOX, rows, line_width()))
    return ExitCode.OK


def _decisions(asked: Approval) -> tuple[str, ...]:
    return () if asked.kind == "approval" else decisions(asked)


def _record(asked: Approval) -> Record:
    """One item of ``inbox``."""
    return {
        **records.approval_record(asked),
        "kind": asked.kind,
        "run": asked.run_id,
        "due": timestamp(asked.due),
        "on_timeout": asked.on_timeout,
        "decisions": list(_decisions(asked)),
    }


@click.command()
@store_argument
@click.argument("id", metavar="ID", type=QUESTION)
@click.option("--as", "verdict", metavar="HOW", required=True, help="What `inbox` offers: retry, cancel, done, skip, …")
@click.option("--result", type=JsonText(), metavar="JSON", help="With --as done: what came of the call.")
@click.option("--by", metavar="NAME", help="Who decides; the OS user when left out.")
@writing_options
@gathered(ResolveOptions)
def resolve(front: Front, options: ResolveOptions) -> ExitCode:
    """Decide about a run that is held or has failed.

    Running stays with resume or a worker.
    """
    who = options.by or os_user()
    with front.writing(options.wanted()) as session:
        if not session.operations.is_case(options.id):
            resolve_effect(session, options)
            return ExitCode.OK
        run = session.operations.decide(options.id, options.verdict, who)
    _tell("resolve", run, options, f"decided as {options.verdict} by {who}")
    return ExitCode.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOptions(Target):
    """Which run."""

    run: str
    decided_by: str | None


@click.command()
@store_argument
@click.argument("run", metavar="RUN")
@click.option("--by", "decided_by", metavar="NAME", help="Who decides; the OS user when left out.")
@writing_options
@gathered(RetryOptions)
def retry(front: Front, options: RetryOptions) -> ExitCode:
    """Let a failed, paused or crashed run go on.

    RUN is its id, the beginning of that, or its thread.
    """
    who = options.decided_by or os_user()
    with front.writing(options.wanted()) as session:
        run = session.operations.retry(options.run, who)
    _tell("retry", run, options, f"recorded as {who}")
    return ExitCode.OK


def _tell(kind: str, run: Run | None, options: Target, said: str) -> None:
    """How the run stands now, and how it goes on."""
    goes_on = run is not None and run.status == "pending"
    words = f"tt-debug resume {options.word} {argument(run.thread)}" if run is not None else ""
    narrate(f"{said}; go on with: {words}, or leave it to a worker" if goes_on else said)
    if options.as_json:
        Output(as_json=True).document(kind, [] if run is None else [records.run_record(run)])
    elif run is not None:
        Output(as_json=False).text([f"{run.run_id}  {run.thread}  {run.shown}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectOptions(Target):
    """Which thread, and whether."""

    thread: str
    off: bool


@click.command()
@store_argument
@click.argument("thread", metavar="THREAD", type=THREAD)
@click.option("--off", is_flag=True, help="Let cleaning up have it again.")
@writing_options
@gathered(ProtectOptions)
def protect(front: Front, options: ProtectOptions) -> ExitCode:
    """Keep a thread from being cleaned up, whatever its age."""
    with front.writing(options.wanted()) as session:
        session.operations.protect(options.thread, not options.off)
    if options.as_json:
        Output(as_json=True).document("protect", {"thread": options.thread, "protected": not options.off})
    narrate(f"{options.thread} is {'no longer ' if options.off else ''}protected")
    return ExitCode.OK
