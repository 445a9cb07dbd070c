"""The inbox and the runs: approvals, answer, approve, reject, runs, pause, cancel. None of them runs code."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from stores.errors import NotFound
from stores.model import MISSING, Header, Value
from stores.runs import Approval, RunStatus
from tt_debug.cli import records, tables
from tt_debug.cli.completing import QUESTION, THREAD
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import (
    Target,
    gathered,
    looking_options,
    reveal_option,
    store_argument,
    thread_argument,
    together,
    writing_options,
)
from tt_debug.cli.output import Output, line_width
from tt_debug.cli.run_options import JsonText
from tt_debug.errors import UsageError
from tt_debug.session.answers import choices, no, yes
from tt_debug.session.hiding import hidden_question
from tt_debug.shell import argument, word

if TYPE_CHECKING:
    from tt_debug.session.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadOptions(Target):
    """One thread, or all of them."""

    thread: str | None = None


SHORTEST_PREFIX = 4

some_thread = click.argument("thread", metavar="[THREAD]", required=False, type=THREAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsOptions(ThreadOptions):
    """Whose, and whether secrets in them are shown."""

    reveal: bool


@click.command()
@store_argument
@some_thread
@reveal_option
@looking_options
@gathered(ApprovalsOptions)
def approvals(front: Front, options: ApprovalsOptions) -> ExitCode:
    """Questions that wait for a person, oldest first."""
    output, hiding = Output(options.as_json), front.hiding(options.reveal)
    with front.looking(options.store) as session:
        found = tuple(hidden_question(asked, hiding) for asked in session.approvals(options.thread))
    if output.as_json:
        output.document("approvals", [records.approval_record(approval) for approval in found])
    else:
        output.text(tables.approval_lines(found, line_width()))
    return ExitCode.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions(Target):
    """Which question, who answers, and what."""

    id: str
    answered_by: str | None
    thread: str | None
    answer: Value = None
    reason: str | None = None

    @property
    def who(self) -> str:
        """The name recorded with the answer."""
        return self.answered_by or os_user()


question = click.argument("id", metavar="ID", type=QUESTION)
answering_options = together(
    click.option("--thread", metavar="T", help="Whose question, where a copy of a thread asks the same."),
    click.option("--as", "answered_by", metavar="NAME", help="Who answers; the OS user when left out."),
    writing_options,
)


@click.command()
@store_argument
@question
@click.argument("answer", metavar="JSON", type=JsonText())
@answering_options
@gathered(AnswerOptions)
def answer(front: Front, options: AnswerOptions) -> ExitCode:
    """Record an answer; running stays with resume."""
    with front.writing(options.wanted()) as session:
        asked = _question(session, options)
        made = session.answer(asked.id, options.answer, options.who, thread=asked.thread or None)
        _tell("answer", made, asked, options)
    return ExitCode.OK


@click.command()
@store_argument
@question
@answering_options
@gathered(AnswerOptions)
def approve(front: Front, options: AnswerOptions) -> ExitCode:
    """Record a yes; running stays with resume."""
    with front.writing(options.wanted()) as session:
        asked = _question(session, options)
        value = yes(asked)
        if value is MISSING:
            wanted = ", ".join(f"{key} {kind}" for key, kind in choices(asked.schema))
            raise UsageError(
                f"a bare yes does not fit what {asked.node} asks for: {wanted}",
                hint=f"{_answer_command(asked, options)} JSON",
            )
        made = session.answer(asked.id, value, options.who, thread=asked.thread or None)
        _tell("approve", made, asked, options)
    return ExitCode.OK


@click.command()
@store_argument
@question
@click.option("--reason", metavar="S", default="", help="Why not.")
@answering_options
@gathered(AnswerOptions)
def reject(front: Front, options: AnswerOptions) -> ExitCode:
    """Record a no; running stays with resume."""
    with front.writing(options.wanted()) as session:
        asked = _question(session, options)
        refusal = no(asked, options.reason or "")
        thread = asked.thread or None
        made = session.answer(asked.id, refusal.value, options.who, reject=refusal.reject, thread=thread)
        _tell("reject", made, asked, options)
    return ExitCode.OK


def _question(session: Session, options: AnswerOptions) -> Approval:
    """The open question of that id, or of the only id that begins so.

    An id that is not open goes on as it is: the store knows who answered it. Raises NotFound, UsageError.
    """
    text = options.id
    found = [asked for asked in session.approvals() if options.thread in (None, asked.thread)]
    fits = [asked for asked in found if asked.id == text]
    if not fits and len(text) >= SHORTEST_PREFIX:
        fits = [asked for asked in found if asked.id.startswith(text)]
    if len({asked.id for asked in fits}) > 1:
        raise NotFound(f"{text!r} fits {len(fits)} open questions", hint="give more of the id")
    if len(fits) > 1:
        threads = ", ".join(sorted(asked.thread for asked in fits))
        raise UsageError(f"{text!r} is asked in several threads: {threads}", hint="say which with --thread T")
    if fits:
        return fits[0]
    return Approval(text, options.thread or "", "", "", "", None)


def _answer_command(asked: Approval, options: AnswerOptions) -> str:
    thread = f" --thread {word(options.thread)}" if options.thread else ""
    return f"tt-debug answer {options.word} {word(asked.id)}{thread}"


def _tell(kind: str, header: Header, asked: Approval, options: AnswerOptions) -> None:
    """Where the answer stands, and how to go on."""
    output = Output(options.as_json)
    words = (options.word, argument(header.ref.thread))
    narrate(f"recorded as {options.who}; go on with: tt-debug resume {' '.join(words)}")
    if output.as_json:
        answered = {"approval": asked.id, "by": options.who}
        output.document(kind, {**answered, **records.new_head_record(header)})
    else:
        output.text([f"{header.ref.thread}@{header.ref.id}"])


@click.command()
@store_argument
@some_thread
@looking_options
@gathered(ThreadOptions)
def runs(front: Front, options: ThreadOptions) -> ExitCode:
    """Runs of the embedded executor, newest first."""
    output = Output(options.as_json)
    with front.looking(options.store) as session:
        found = session.runs(options.thread)
    if output.as_json:
        output.document("runs", [records.run_record(run) for run in found])
    else:
        output.text(tables.run_lines(found, line_width()))
    return ExitCode.OK


@click.command()
@store_argument
@thread_argument
@writing_options
@gathered(ThreadOptions)
def pause(front: Front, options: ThreadOptions) -> ExitCode:
    """Ask a thread's run to stop after its current step."""
    return _ask_to(front, options, "pause")


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOptions(ThreadOptions):
    """Whether a living owner is asked, or taken over."""

    force: bool


@click.command()
@store_argument
@thread_argument
@click.option("--force", is_flag=True, help="Take the run over from whoever works on it; its step is lost.")
@writing_options
@gathered(CancelOptions)
def cancel(front: Front, options: CancelOptions) -> ExitCode:
    """Ask a thread's run to end; only a fork goes on then."""
    return _ask_to(front, options, "cancel", force=options.force)


def _ask_to(front: Front, options: ThreadOptions, what: str, *, force: bool = False) -> ExitCode:
    thread = options.thread or ""
    with front.writing(options.wanted()) as session:
        if force:
            session.operations.cancel_by_force(thread)
        else:
            session.stop(thread, what)
        found = session.runs(thread)
    if options.as_json:
        Output(as_json=True).document(what, [records.run_record(run) for run in found[:1]])
    running = not found or found[0].status == RunStatus.RUNNING
    # Nobody had to be asked where nobody runs it.
    narrate(f"asked the run of {thread} to {what}" if running else f"the run of {thread} is {found[0].shown}")
    return ExitCode.OK


def os_user() -> str:
    """The name of whoever runs this command; the number where the system has no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
