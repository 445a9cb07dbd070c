"""Commands that move threads between stores: export and import."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stores.errors import ReadOnly
from tt_debug.cli.completing import REF
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, reveal_option, store_argument, writing_options
from tt_debug.cli.output import Output
from tt_debug.cli.run_options import FILE, graph_target
from tt_debug.files import write_new
from tt_debug.redaction import SHOWN
from tt_debug.session.plans import GraphTarget

if TYPE_CHECKING:
    from tt_debug.session.importing import Imported
    from tt_debug.session.session import Session

FORMATS = ("jsonl", "graphml", "dot", "mermaid", "node-link")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions(Target):
    """Which thread, and as what."""

    thread: str
    format: str
    bundle: Path | None
    test: Path | None
    node: str | None
    graph: str | None
    reveal: bool


@click.command()
@store_argument
@click.argument("thread", metavar="THREAD", type=REF)
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="jsonl",
    metavar="FORM",
    help="jsonl (default); the graph as graphml, dot, mermaid or node-link.",
)
@click.option(
    "--bundle",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.zip",
    help="All of it in one new file, for a bug report: states, diffs, graph, versions.",
)
@click.option(
    "--pytest",
    "test",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.py",
    help="A test of the node whose step ended at THREAD, any REF here: its state, and what it gave.",
)
@click.option("--node", metavar="NODE", help="For --pytest: which, where several ran in one step.")
@click.option("--graph", metavar="G", help="For --pytest of a LangGraph store: module:attr or ./file.py:attr.")
@reveal_option
@click.option("--json", "as_json", is_flag=True, hidden=True)
@click.option("--read-only", is_flag=True, hidden=True)
@gathered(ExportOptions)
def export(front: Front, options: ExportOptions) -> ExitCode:
    """Write a thread as JSON lines, or its graph.

    JSON lines: one `show` object a checkpoint, oldest first, all namespaces, steps included; import takes them back.
    A graph has the thread's whole family of forks, and no states.
    """
    output = Output(as_json=True)
    with front.looking(options.store) as session:
        if options.test is not None:
            _write_test(front, session, options, options.test)
            return ExitCode.OK
        if options.bundle is not None:
            from tt_debug.cli.bundling import write_bundle

            hiding = front.hiding(options.reveal)
            write_bundle(session, options.thread, options.bundle, hiding, revealed=options.reveal)
            narrate(f"wrote {options.bundle}")
            return ExitCode.OK
        if options.format != "jsonl":
            output.text(_graph_lines(session, options))
            return ExitCode.OK
        hidden = False
        for record in session.export(options.thread, front.hiding(options.reveal)):
            hidden = hidden or "redacted" in record
            output.line(record)
    if hidden:
        narrate("secrets are hidden: import takes an export back that was made with --reveal only")
    return ExitCode.OK


def _write_test(front: Front, session: Session, options: ExportOptions, file: Path) -> None:
    from tt_debug.session.node_tests import Wanted, node_test

    graph = graph_target(options.graph, None, GraphTarget(""))
    hiding = front.hiding(options.reveal)
    ref = session.resolve(options.thread)
    test = node_test(session, Wanted(ref, file, options.node, graph, hiding, options.reveal))
    write_new(file, test.text())
    narrate(f"wrote {file}: python -m pytest {shlex.quote(str(file))} runs {test.node} alone")
    if test.hides_secrets:
        narrate(f"secrets are left out: the node gets {SHOWN} in their place; --reveal writes them")


def _graph_lines(session: Session, options: ExportOptions) -> list[str]:
    from tt_debug.graph import CheckpointGraph
    from tt_debug.graph_formats import WRITERS

    view = session.open_thread(options.thread)
    return list(WRITERS[options.format](CheckpointGraph(view.headers.values())))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions(Target):
    """From which file."""

    file: Path


@click.command("import")
@store_argument
@click.argument("file", metavar="FILE", type=FILE)
@writing_options
@gathered(ImportOptions)
def import_(front: Front, options: ImportOptions) -> ExitCode:
    """Take the threads of an export into a store of ours.

    Every thread of FILE whole, or nothing: a thread that exists, or a line that is wrong, ends it before anything is
    written. Makes the store when there is no such file yet.
    """
    if options.read_only:
        raise ReadOnly(f"{options.store} was opened with --read-only", hint="leave --read-only out to write")
    from tt_debug.session.importing import import_into

    _tell(options, import_into(options.store, options.file))
    return ExitCode.OK


def _tell(options: ImportOptions, done: Imported) -> None:
    for note in done.notes:
        narrate(f"note: {note}")
    if options.as_json:
        threads = [{"thread": thread, "checkpoints": count} for thread, count in done.threads.items()]
        Output(as_json=True).document("import", {"threads": threads, "notes": list(done.notes)})
    else:
        Output(as_json=False).text(f"{thread}  {count} checkpoints" for thread, count in done.threads.items())
