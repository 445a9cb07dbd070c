"""What is in a checkpoint, and what changed since another: show, diff. Neither can write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from stores.model import MISSING, Checkpoint, Header
from stores.paths import format_path, settle_path
from tt_debug.cli import comparing, records, tables
from tt_debug.cli.completing import REF
from tt_debug.cli.exits import ExitCode
from tt_debug.cli.front import Front
from tt_debug.cli.options import (
    Target,
    gathered,
    looking_options,
    path,
    path_of,
    ref_argument,
    reveal_option,
    store_argument,
)
from tt_debug.cli.output import Output, json_text
from tt_debug.diff_text import format_diff
from tt_debug.errors import RefNotFound
from tt_debug.redaction import SHOWN, Hidden
from tt_debug.session.hiding import hidden_changes, hidden_task
from tt_debug.session.records import Form, Pen, form_of, log_record, show_record
from tt_debug.text import format_state, safe_text
from tt_debug.unfinished import untouched
from tt_debug.values import to_json


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
