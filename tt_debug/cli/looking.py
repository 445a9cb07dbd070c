"""Lists to look at: threads, and the checkpoints of one. Neither can write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from stores.model import Status
from tt_debug.cli import tables
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import (
    Target,
    gathered,
    limit,
    looking_options,
    reveal_option,
    store_argument,
    thread_argument,
)
from tt_debug.cli.output import Output, line_width
from tt_debug.errors import UsageError

if TYPE_CHECKING:
    from stores.model import Ref
    from tt_debug.session.thread_view import ThreadView


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsOptions(Target):
    """Which threads."""

    filter: str
    status: str | None
    meta: tuple[str, ...]
    all: bool
    brief: bool
    limit: int | None


@click.command()
@store_argument
@click.option("--filter", metavar="TEXT", default="", help="Only names that contain TEXT, in any case.")
@click.option("--status", type=click.Choice(Status.ALL), metavar="S", help=f"Only {', '.join(Status.ALL)}.")
@click.option("--meta", metavar="K=V", multiple=True, help="Only where the metadata has V under K; repeatable.")
@click.option("--all", is_flag=True, help="With the forks of yours that were taken back.")
@click.option("--brief", is_flag=True, help="At once: status and node are left unknown where they lie in states.")
@limit
@looking_options
@gathered(ThreadsOptions)
def threads(front: Front, options: ThreadsOptions) -> ExitCode:
    """List threads, newest write first."""
    meta = dict(_key_value(text) for text in options.meta)
    if options.brief and (options.status or meta or options.all):
        raise UsageError("--brief does not know status and metadata", hint="leave out --brief, or the filter")
    output = Output(options.as_json)
    with front.looking(options.store) as session:
        found = session.threads(
            text=options.filter,
            status=options.status,
            meta=meta,
            limit=options.limit,
            hidden=options.all,
            brief=options.brief,
        )
    if output.as_json:
        from tt_debug.cli import records  # with values and what is secret in them, 5 ms

        output.document("threads", [records.thread_record(info) for info in found])
    else:
        output.text(tables.thread_lines(found, line_width()))
        if not found and (options.filter or options.status or meta) and options.limit != 0:
            narrate("no thread fits")
    return ExitCode.OK


def _key_value(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"--meta {text!r} is not KEY=VALUE", hint="--meta user=ada")
    return key, value


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions(Target):
    """Which checkpoints, and how."""

    thread: str
    graph: bool
    all: bool
    ns: str | None
    watch: tuple[str, ...]
    limit: int | None
    reveal: bool


@click.command()
@store_argument
@thread_argument
@click.option("--graph", is_flag=True, help="Draw forks beside the line; with --all unfolded.")
@click.option("--all", is_flag=True, help="Every branch and namespace, not only the head's line.")
@click.option("--ns", metavar="NS", help='One namespace; "" is the root. Task ids may be left out.')
@click.option("--watch", metavar="EXPR", multiple=True, help="A column of what EXPR is at each; repeatable.")
@limit
@reveal_option
@looking_options
@gathered(LogOptions)
def log(front: Front, options: LogOptions) -> ExitCode:
    """The history of a thread, oldest first.

    THREAD may be any REF: the line then ends there.
    """
    from tt_debug.session import addresses

    output = Output(options.as_json)
    if options.graph and options.watch:
        raise UsageError("--watch makes columns of the list, and --graph draws none", hint="leave one of them out")
    with front.looking(options.store) as session:
        view, ref = addresses.locate(session, options.thread)
        # The whole graph is drawn from its rows.
        is_whole = options.graph and not options.as_json and options.limit is None and options.ns is None
        refs = () if is_whole else _chosen(view, ref, options)
        asked = None
        if options.watch:
            from tt_debug.cli.watching import watched  # with expressions and questions, 15 ms

            asked = watched(session, refs, options.watch, front.hiding(options.reveal))
        if view.head.ns:
            narrate(f"{view.thread} has no checkpoint of its root graph in this store; its newest is in {view.head.ns}")
        if output.as_json:
            from tt_debug.session.records import log_record

            headers = (header for part in tables.in_parts(view, refs) for header in part)
            records_of = ((header, asked.record(header.ref) if asked is not None else {}) for header in headers)
            output.document("log", [log_record(header) | more for header, more in records_of])
        elif options.graph:
            output.text(_drawn(view, None if is_whole else refs, options))
        else:
            output.text(tables.log_lines(view, refs, line_width(), asked))
    return ExitCode.OK


def _chosen(view: ThreadView, ref: Ref, options: LogOptions) -> Sequence[Ref]:
    from tt_debug.cli import listing

    if options.ns is not None:
        refs = listing.in_namespace(view, options.ns, all_threads=options.all)
    else:
        refs = listing.everything(view) if options.all else view.line(ref, newest=options.limit)
    return refs if options.limit is None else refs[max(0, len(refs) - options.limit) :]


def _drawn(view: ThreadView, chosen: Collection[Ref] | None, options: LogOptions) -> Iterator[str]:
    """The graph's rows, or those of the chosen checkpoints; folded branches stand where their first would."""
    rows = view.rows(unfolded=None if options.all else ())
    wanted: Sequence[int] = range(len(rows))
    if chosen is not None:
        chosen = frozenset(chosen)
        wanted = [at for at, node in enumerate(rows.shape.nodes) if view.refs[node] in chosen]
    return tables.graph_lines(view, rows, wanted)
