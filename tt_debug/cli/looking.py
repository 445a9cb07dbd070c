"""Commands that only look: threads, log, show, diff. None of them can write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from stores.model import MISSING, Checkpoint, Header, Status
from stores.paths import format_path, parse_path, settle_path
from tt_debug.cli import comparing, listing, records, tables
from tt_debug.cli.completing import REF
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import (
    Target,
    gathered,
    limit,
    looking_options,
    path,
    ref_argument,
    reveal_option,
    store_argument,
    thread_argument,
)
from tt_debug.cli.output import Output, json_text, line_width
from tt_debug.cli.watching import watched
from tt_debug.diff_text import format_diff
from tt_debug.errors import RefNotFound, UsageError
from tt_debug.redaction import SHOWN, Hidden
from tt_debug.session.hiding import hidden_changes, hidden_task
from tt_debug.session.records import Form, Pen, form_of, log_record, show_record
from tt_debug.session.thread_view import ThreadView
from tt_debug.text import format_state, safe_text
from tt_debug.unfinished import untouched
from tt_debug.values import to_json


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
    output = Output(options.as_json)
    if options.graph and options.watch:
        raise UsageError("--watch makes columns of the list, and --graph draws none", hint="leave one of them out")
    with front.looking(options.store) as session:
        ref = session.resolve(options.thread)
        view = session.open_thread(ref.thread)
        if options.ns is not None:
            headers = listing.in_namespace(view, options.ns, all_threads=options.all)
        else:
            headers = listing.everything(view) if options.all else listing.line_of(view, ref, options.limit)
        headers = _newest(headers, options.limit)
        asked = watched(session, headers, options.watch, front.hiding(options.reveal)) if options.watch else None
        drawn = _drawn(view, headers, options) if options.graph and not output.as_json else []
    if view.head.ns:
        narrate(f"{view.thread} has no checkpoint of its root graph in this store; its newest is in {view.head.ns}")
    if output.as_json:
        records_of = ((header, asked.record(header.ref) if asked is not None else {}) for header in headers)
        output.document("log", [log_record(header) | more for header, more in records_of])
    elif options.graph:
        output.text(drawn)
    else:
        output.text(tables.log_lines(headers, view.thread, line_width(), asked))
    return ExitCode.OK


def _newest(headers: list[Header], count: int | None) -> list[Header]:
    return headers if count is None else headers[len(headers) - min(count, len(headers)) :]


def _drawn(view: ThreadView, headers: list[Header], options: LogOptions) -> list[str]:
    """The graph's rows of the chosen checkpoints; folded branches stand where their first checkpoint would."""
    rows = view.rows(unfolded=frozenset(view.headers) if options.all else frozenset())
    chosen = {header.ref for header in headers}
    whole = options.limit is None and options.ns is None
    wanted = [at for at, node in enumerate(rows.shape.nodes) if whole or view.refs[node] in chosen]
    return tables.graph_lines([rows[at] for at in wanted], view)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions(Target):
    """Which checkpoint, or which part of it."""

    ref: str
    path: str | None
    reveal: bool


@click.command()
@store_argument
@ref_argument
@path
@reveal_option
@looking_options
@gathered(ShowOptions)
def show(front: Front, options: ShowOptions) -> ExitCode:
    """One checkpoint: state, tasks, what the executor logged.

    REF is THREAD[@SELECTOR]; selectors: head, ~2, a step, failed, an id or its beginning.
    """
    output, hiding = Output(options.as_json), front.hiding(options.reveal)
    where = path_of(options.path)
    with front.looking(options.store) as session:
        ref = session.resolve(options.ref)
        checkpoint, steps, completed = session.load(ref), session.steps(ref), session.executor.completed(ref)
        form = form_of(session.info.kind, hiding)
    if options.path is not None:
        _show_part(output, checkpoint, where, form)
    elif output.as_json:
        output.document("show", show_record(checkpoint, steps, form, completed))
    else:
        output.text(_card(checkpoint.header, completed or {}))
        output.text(["", "state", *(f"  {line}" for line in format_state(hiding.hide(checkpoint.state)))])
        tasks = tables.task_lines(hidden_task(task, hiding) for task in checkpoint.tasks)
        rebuilt = [f"{safe_text(key)}  {how}" for key, how in checkpoint.rebuilt.items()]
        for title, lines in (("rebuilt", rebuilt), ("tasks", tasks), ("steps", tables.step_lines(steps))):
            if lines:
                output.text(["", title, *(f"  {line}" for line in lines)])
        if told := untouched(checkpoint):
            output.text(["", told])
    return ExitCode.OK


def path_of(text: str | None) -> tuple[str | int, ...]:
    """A PATH as typed; none is the whole state. Raises UsageError."""
    try:
        return parse_path(text or "")
    except ValueError as error:
        raise UsageError(f"--path: {error}", hint="""PATH is plan.steps[2]["odd.key"], or /plan/steps/2""") from error


def _show_part(output: Output, checkpoint: Checkpoint, where: tuple[str | int, ...], form: Form) -> None:
    value = comparing.value_at(checkpoint.state, where)
    if value is MISSING:
        ref = checkpoint.header.ref
        raise RefNotFound(f"the state of {ref.thread}@{ref.id} has no {format_path(where)}")
    secret = form.hiding.at(checkpoint.state, settle_path(checkpoint.state, where))
    pen = Pen(form)
    plain = pen.json(value, secret=secret)
    if output.as_json:
        part = {**log_record(checkpoint.header), "path": to_json(where), "value": plain}
        output.document("show", pen.mark(part))
    elif isinstance(form.hiding.hide(value, secret=secret), Hidden):
        output.text([SHOWN])
    else:
        output.text(json_text(plain, indent=2).split("\n"))


def _card(header: Header, completed: Mapping[str, int]) -> list[str]:
    ref, parent = header.ref, header.parent
    facts = {
        "checkpoint": f"{ref.thread}@{ref.id}",
        "namespace": ref.ns,
        "parent": "" if parent is None else f"{parent.thread}@{parent.id}",
        "step": tables.number(header.step),
        "source": header.source,
        "written by": ", ".join(header.nodes),
        "completed": ", ".join(name if times == 1 else f"{name} ×{times}" for name, times in completed.items()),
        "next": ", ".join(header.next),
        "status": header.status,
        "created": f"{tables.clock(header.created)} UTC" if header.created else "",
        "size": "" if header.size is None else f"{header.size:,} bytes",
        "problem": header.problem or "",
    }
    return [f"{name:<12}{value}" for name, value in facts.items() if value]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions(Target):
    """What is compared, and how the answer is said."""

    ref: str
    other: str | None
    path: str | None
    format: str
    exit_code: bool
    reveal: bool


@click.command()
@store_argument
@ref_argument
@click.argument("other", metavar="[REF]", required=False, type=REF)
@path
@click.option(
    "--format",
    type=click.Choice(["text", "json-patch", "deepdiff"]),
    default="text",
    metavar="FORM",
    help="text (default), json-patch (RFC 6902), or deepdiff.",
)
@click.option("--exit-code", is_flag=True, help="Exit 10 when there are differences.")
@reveal_option
@looking_options
@gathered(DiffOptions)
def diff(front: Front, options: DiffOptions) -> ExitCode:
    """What changed since the parent, or from one REF to another.

    The two may stand in different threads. --path narrows it to what lies there.
    """
    output, hiding = Output(options.as_json), front.hiding(options.reveal)
    where = path_of(options.path)
    with front.looking(options.store) as session:
        pair = comparing.pair_of(session, options.ref, options.other)
        changes = comparing.changes_between(session, pair, where)
        changes = hidden_changes(changes, comparing.states(session, pair, ()), hiding)
        if options.format == "deepdiff":
            answer = comparing.in_deepdiff_terms(session, pair, where, hiding)
        elif options.format == "json-patch":
            answer = comparing.as_json_patch(changes, comparing.states(session, pair, ())[0])
        else:
            answer = [records.change_record(change) for change in changes]
        lines = format_diff(changes, *(comparing.states(session, pair, ()) if not where else ()))
    if output.as_json:
        output.document("diff", answer)
    elif options.format != "text":
        output.text(json_text(answer, indent=2).split("\n"))
    else:
        output.text(lines)
    return ExitCode.DIFFERENCES if options.exit_code and changes else ExitCode.OK
