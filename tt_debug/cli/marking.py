"""Commands for bookmarks: mark, marks. They write into our own record about a store, never into the store."""

from __future__ import annotations

from dataclasses import dataclass

import click

from stores.model import Ref, Value
from tt_debug.cli import tables
from tt_debug.cli.completing import THREAD
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, looking_options, ref_argument, store_argument
from tt_debug.cli.output import Output
from tt_debug.errors import UsageError
from tt_debug.session.records import timestamp

MARKS = (tables.Column("name"), tables.Column("checkpoint"), tables.Column("made (UTC)"), tables.Column("note"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkOptions(Target):
    """What is named, and how."""

    ref: str
    name: str | None
    note: str
    remove: bool


@click.command()
@store_argument
@ref_argument
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--note", metavar="TEXT", default="", help="A few words to it.")
@click.option("--remove", is_flag=True, help="Take its name away.")
@looking_options
@gathered(MarkOptions)
def mark(front: Front, options: MarkOptions) -> ExitCode:
    """Name a checkpoint: THREAD@NAME is a REF then.

    Kept in our own record about the store, which stays as it is.
    """
    if options.remove == (options.name is not None):
        raise UsageError("give a NAME, or --remove")
    with front.looking(options.store) as session:
        ref = session.resolve(options.ref)
        if options.name is None:
            if not session.marks.drop(ref):
                narrate(f"{ref.thread}@{ref.id} has no bookmark")
            return ExitCode.OK
        made = session.marks.put(ref, options.name, options.note)
    output = Output(options.as_json)
    if output.as_json:
        output.document("mark", _record(made.ref, made.name, made.note, timestamp(made.at)))
    else:
        output.text([f"{ref.thread}@{made.name}"])
    return ExitCode.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class MarksOptions(Target):
    """Whose."""

    thread: str | None


@click.command()
@store_argument
@click.argument("thread", metavar="[THREAD]", required=False, type=THREAD)
@looking_options
@gathered(MarksOptions)
def marks(front: Front, options: MarksOptions) -> ExitCode:
    """List bookmarks, oldest first."""
    output = Output(options.as_json)
    with front.looking(options.store) as session:
        found = session.marks.all(options.thread)
    if output.as_json:
        output.document("marks", [_record(each.ref, each.name, each.note, timestamp(each.at)) for each in found])
    else:
        rows = ((each.name, f"{each.ref.thread}@{each.ref.id}", tables.clock(each.at), each.note) for each in found)
        output.text(tables.table(MARKS, rows))
    return ExitCode.OK


def _record(ref: Ref, name: str, note: str, made: str | None) -> dict[str, Value]:
    return {"name": name, "thread": ref.thread, "ns": ref.ns, "id": ref.id, "note": note, "made": made}
