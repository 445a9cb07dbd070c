"""Effects of runs: effects lists them; and what is to be done about one that nobody is sure of. Runs no code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from stores.errors import NotFound
from stores.model import Value
from tt_debug.cli import records
from tt_debug.cli.completing import REF
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.inbox import os_user
from tt_debug.cli.options import (
    Target,
    gathered,
    looking_options,
    reveal_option,
    store_argument,
)
from tt_debug.cli.output import Output, line_width
from tt_debug.cli.tables import Column, clock, number, table
from tt_debug.errors import UsageError
from tt_debug.session.answers import verdict
from tt_debug.session.executor import Duplicate, PlacedUse
from tt_debug.session.records import Form, Pen, Record, form_of, timestamp
from tt_debug.shell import argument
from tt_debug.text import one_line

if TYPE_CHECKING:
    from tt_debug.session.session import Session

EFFECTS = (
    Column("thread"),
    Column("step", right=True),
    Column("node"),
    Column("effect"),
    Column("class"),
    Column("status"),
    Column("how"),
    Column("result"),
    Column("key"),
    Column("at (UTC)"),
)
DUPLICATES = (Column("thread"), Column("node"), Column("attempts"), Column("effect"), Column("key"), Column("why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectsOptions(Target):
    """Whose effects, or which of them may have been done twice."""

    thread: str | None
    duplicates: bool
    reveal: bool


@click.command()
@store_argument
@click.argument("thread", metavar="[THREAD]", required=False, type=REF)
@click.option("--duplicates", is_flag=True, help="Only what may have been done twice: node, attempts, missing key.")
@reveal_option
@looking_options
@gathered(EffectsOptions)
def effects(front: Front, options: EffectsOptions) -> ExitCode:
    """What runs asked of the world, called or from the record."""
    output, hiding = Output(options.as_json), front.hiding(options.reveal)
    with front.looking(options.store) as session:
        if options.thread is not None:
            session.open_thread(options.thread)  # an unknown one is told
        if options.duplicates:
            return _duplicates(session, options.thread, output)
        found = session.executor.effects(options.thread)
        form = form_of(session.info.kind, hiding)
    if output.as_json:
        output.document("effects", [effect_record(use, form) for use in found])
    else:
        output.text(effect_lines(found, options.thread, form, line_width()))
    return ExitCode.OK


def effect_lines(uses: Iterable[PlacedUse], here: str | None, form: Form, width: int | None) -> list[str]:
    """One use of an effect a line. The thread is named only where it is not ``here``."""
    pen = Pen(form)
    rows = (
        (
            "" if placed.thread == here else placed.thread,
            number(placed.step),
            use.effect.slot.node + (f" #{use.effect.slot.visit}" if use.effect.slot.visit > 1 else ""),
            use.effect.slot.name + (f" #{use.effect.slot.call_no}" if use.effect.slot.call_no > 1 else ""),
            use.effect.kind,
            use.effect.status,
            "called" if use.called else "recorded",
            use.effect.error or (one_line(pen.json(use.effect.result), 40) if use.effect.answered else ""),
            use.effect.key,
            clock(use.at),
        )
        for placed in uses
        for use in (placed.use,)
    )
    return table(EFFECTS, rows, width)


def effect_record(placed: PlacedUse, form: Form) -> Record:
    """One item of ``effects``."""
    use, pen = placed.use, Pen(form)
    effect = use.effect
    return {
        "thread": placed.thread,
        "step": placed.step,
        "run": use.run_id,
        "attempt": use.attempt,
        "node": effect.slot.node,
        "visit": effect.slot.visit,
        "name": effect.slot.name,
        "call_no": effect.slot.call_no,
        "business_id": effect.slot.business_id,
        "class": effect.kind,
        "status": effect.status,
        "called": use.called,
        "key": effect.key,
        "request": pen.json(effect.request),
        "result": pen.json(effect.result),
        "error": effect.error,
        "at": timestamp(use.at),
        "done": timestamp(effect.done),
    }


def _duplicates(session: Session, thread: str | None, output: Output) -> ExitCode:
    found = session.executor.duplicates(thread)
    if output.as_json:
        output.document("effects", [_duplicate_record(each) for each in found])
        return ExitCode.OK
    rows = (
        (each.thread, each.node, ", ".join(each.attempts), each.effect or "", each.key or "none", each.why)
        for each in found
    )
    output.text(table(DUPLICATES, rows, line_width()))
    if not found:
        narrate("nothing was done twice, as far as the ledger tells")
    return ExitCode.OK


def _duplicate_record(each: Duplicate) -> Record:
    return {
        "thread": each.thread,
        "node": each.node,
        "visit": each.visit,
        "attempts": list(each.attempts),
        "name": each.effect,
        "key": each.key,
        "why": each.why,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveOptions(Target):
    """Which held run's question, and what is to be done."""

    id: str
    verdict: str
    result: Value = None
    by: str | None = None


def resolve_effect(session: Session, options: ResolveOptions) -> None:
    """Say what to do about an effect or a step that holds a run; running stays with resume."""
    if options.result is not None and options.verdict != "done":
        raise UsageError("--result belongs to --as done")
    output = Output(options.as_json)
    held = [asked for asked in session.approvals() if asked.kind != "approval" and asked.id.startswith(options.id)]
    if len(held) > 1 and options.id not in {asked.id for asked in held}:
        raise NotFound(f"{options.id!r} fits {len(held)} open questions", hint="give more of the id")
    id = held[0].id if len(held) == 1 else options.id
    answer = verdict(held[0], options.verdict) if len(held) == 1 else {"as": options.verdict}
    if options.verdict == "done":
        answer = {"as": "done", "result": options.result}
    by = options.by or os_user()
    made = session.answer(id, answer, by)
    words = (options.word, argument(made.ref.thread))
    narrate(f"recorded as {by}; go on with: tt-debug resume {' '.join(words)}")
    if output.as_json:
        output.document("resolve", {"approval": id, "by": by, **records.new_head_record(made)})
    else:
        output.text([f"{made.ref.thread}@{made.ref.id}"])
