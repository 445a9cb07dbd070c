"""The command that takes back forks and edits of our own: it says what it would do, and does it once agreed to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from stores.model import Ref, Value
from stores.paths import format_path
from tt_debug.cli import records
from tt_debug.cli.completing import THREAD
from tt_debug.cli.exits import ExitCode, NeedsYes, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, store_argument, writing_options
from tt_debug.cli.output import Output, line_width
from tt_debug.cli.tables import Column, clock, table
from tt_debug.errors import UsageError
from tt_debug.session.records import timestamp

if TYPE_CHECKING:
    from tt_debug.session.journal import OwnWrite
    from tt_debug.session.session import Session
    from tt_debug.session.undoing import UndoPlan

WRITES = (Column("made (UTC)"), Column("what"), Column("thread"), Column("from"), Column("taken back"))


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoOptions(Target):
    """Whose write, and whether only to look."""

    thread: str | None
    list: bool
    back: bool
    yes: bool


@click.command()
@store_argument
@click.argument("thread", metavar="[THREAD]", required=False, type=THREAD)
@click.option("--list", is_flag=True, help="List the forks and edits of ours, newest first.")
@click.option("--back", is_flag=True, help="Show the fork THREAD again, which was put out of sight.")
@click.option("--yes", "-y", is_flag=True, help="Do it without asking.")
@writing_options
@gathered(UndoOptions)
def undo(front: Front, options: UndoOptions) -> ExitCode:
    """Take back our last fork or edit on which nothing ran.

    Nothing is deleted: an edit is taken back by one more checkpoint with the values from before it; a fork is put out
    of sight, and its rows stay.
    """
    if options.back and options.thread is None:
        raise UsageError("--back needs a THREAD", hint="tt-debug threads STORE --all lists them")
    if options.list:
        with front.looking(options.store) as session:
            _show(session.undoing.writes(options.thread), options)
        return ExitCode.OK
    with front.writing(options.wanted()) as session:
        if options.back:
            session.undoing.bring_back(options.thread or "")
            narrate(f"{options.thread} is in sight again")
            if options.as_json:
                Output(options.as_json).document("undo", {"thread": options.thread, "back": True})
            return ExitCode.OK
        return _take_back(front, session, options)


def _take_back(front: Front, session: Session, options: UndoOptions) -> ExitCode:
    plan = session.undoing.plan(thread=options.thread)
    output, lines = Output(options.as_json), [plan.title, *plan.lines()]
    if not options.yes:
        if not front.someone_to_ask():
            if options.as_json:
                output.document("undo", _plan_record(plan))
            else:
                output.text(lines)
            raise NeedsYes("nothing is taken back: there is no terminal to ask on", hint="add --yes to do this")
        narrate(*lines)
        if not front.ask(f"{plan.verb}?"):
            raise NeedsYes("nothing is taken back")
    done = session.undoing.do(plan)
    narrate(done.said)
    if options.as_json:
        made = None if done.header is None else records.new_head_record(done.header)
        output.document("undo", {**_plan_record(plan), "made": made})
    elif done.header is not None:
        output.text([f"{done.header.ref.thread}@{done.header.ref.id}"])
    return ExitCode.OK


def _show(found: tuple[OwnWrite, ...], options: UndoOptions) -> None:
    output = Output(options.as_json)
    if output.as_json:
        output.document("undo", [_record(each) for each in found])
        return
    rows = (
        (clock(each.at), each.kind, each.ref.thread, _address(each.base), "yes" if each.undone is not None else "")
        for each in found
    )
    output.text(table(WRITES, rows, line_width()))


def _plan_record(plan: UndoPlan) -> dict[str, Value]:
    paths: list[Value] = [format_path(change.path) for change in plan.changes]
    return {**_record(plan.write), "does": list(plan.lines()), "paths": paths}


def _record(write: OwnWrite) -> dict[str, Value]:
    ref = write.ref
    return {
        "what": write.kind,
        "thread": ref.thread,
        "ns": ref.ns,
        "id": ref.id,
        "from": _address(write.base),
        "made": timestamp(write.at),
        "undone": write.undone is not None,
    }


def _address(ref: Ref) -> str:
    return f"{ref.thread}@{ref.id}"
