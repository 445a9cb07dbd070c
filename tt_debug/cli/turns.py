"""The command that lists the human messages of a thread, each with the checkpoint to go back to."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from stores.model import Value
from stores.paths import format_path
from tt_debug.cli.completing import REF
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, limit, looking_options, store_argument
from tt_debug.cli.output import Output, line_width
from tt_debug.cli.progress import Progress, interruptible
from tt_debug.cli.tables import Column, number, table
from tt_debug.shell import argument
from tt_debug.text import clip

if TYPE_CHECKING:
    from tt_debug.session.turns import HumanTurn

MESSAGE: Final = 200
"""Cells of a message."""
TURNS = (Column("turn", right=True), Column("step", right=True), Column("next"), Column("text at"), Column("message"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsOptions(Target):
    """Whose."""

    thread: str
    limit: int | None


@click.command()
@store_argument
@click.argument("thread", metavar="THREAD", type=REF)
@limit
@looking_options
@gathered(TurnsOptions)
def turns(front: Front, options: TurnsOptions) -> ExitCode:
    """List the human messages of a thread: THREAD@turn:N is a REF.

    That is where the message has come in and nothing has answered it. With --limit they are counted from the end.
    """
    from tt_debug.session import turns as rewinding

    output, progress = Output(options.as_json), Progress()
    with front.looking(options.store) as session, interruptible(progress):
        ref = session.resolve(options.thread)
        newest = list(islice(rewinding.turns(session, ref, progress), options.limit))
    count = 0 if options.limit is not None else len(newest) + 1
    found = [(at - len(newest) - 1 + count, each) for at, each in enumerate(reversed(newest), 1)]
    if output.as_json:
        output.document("turns", [_record(number, each) for number, each in found])
        return ExitCode.OK
    output.text(table(TURNS, (_cells(number, each) for number, each in found), line_width()))
    if not found and options.limit != 0:
        narrate(f"no human message on the line of {options.thread}")
    for number_of_last, last in found[-1:]:
        wanted = argument(f"{last.ref.thread}@turn:{number_of_last}")
        change = argument(f'{format_path(last.path)}="…"')
        narrate(f"to say it otherwise: tt-debug fork {options.word} {wanted} --set {change}")
    return ExitCode.OK


def _cells(turn_number: int, turn: HumanTurn) -> tuple[str, ...]:
    note = f"  (came in with {turn.answers} more)" if turn.answers else ""
    note += f"  (may have come in earlier: {turn.unsure})" if turn.unsure else ""
    text = clip(" ".join(turn.text.split()), MESSAGE)
    return str(turn_number), number(turn.step), ", ".join(turn.next), format_path(turn.path), text + note


def _record(turn_number: int, turn: HumanTurn) -> dict[str, Value]:
    before = turn.before
    return {
        "turn": turn_number,
        "thread": turn.ref.thread,
        "ns": turn.ref.ns,
        "id": turn.ref.id,
        "step": turn.step,
        "before": None if before is None else f"{before.thread}@{before.id}",
        "next": list(turn.next),
        "path": format_path(turn.path),
        "text": turn.text,
        "came_in_with": turn.answers,
        **({"unsure": turn.unsure} if turn.unsure else {}),
    }
