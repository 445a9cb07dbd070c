"""``compare``: two lines side by side, where they part, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from stores.model import Diff, Header, Value
from tt_debug.cli.completing import REF
from tt_debug.cli.exits import ExitCode
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, looking_options, ref_argument, reveal_option, store_argument
from tt_debug.cli.output import Output, line_width
from tt_debug.cli.progress import Progress, interruptible
from tt_debug.cli.records import change_record
from tt_debug.cli.tables import Column, table
from tt_debug.diff_text import format_diff
from tt_debug.divergence import Cause, Row, sign, who
from tt_debug.session.comparisons import Compared, hidden_step
from tt_debug.session.comparisons import compare as compared
from tt_debug.session.records import Record, log_record

if TYPE_CHECKING:
    from tt_debug.redaction import Redaction
    from tt_debug.session.session import Session

_COLUMNS: Final = (Column(""), Column("A"), Column("B"), Column("differs in"), Column(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(Target):
    """Which two."""

    ref: str
    other: str
    exit_code: bool
    reveal: bool


@dataclass(frozen=True, slots=True)
class Parting:
    """The row at which two lines part, why, and what either of them changed there."""

    row: Row
    cause: Cause
    a: Diff
    b: Diff


@click.command()
@store_argument
@ref_argument
@click.argument("other", metavar="REF", type=REF)
@click.option("--exit-code", is_flag=True, help="Exit 10 when the two part.")
@reveal_option
@looking_options
@gathered(CompareOptions)
def compare(front: Front, options: CompareOptions) -> ExitCode:
    """Two lines side by side: where they part, and why.

    The lines that end at the two REFs, of one thread or of two, are paired by node and visit: = both steps changed the
    same, ~ something else, < and > only one has it.
    """
    output, progress = Output(options.as_json), Progress()
    with front.looking(options.store) as session:
        found = compared(session, session.resolve(options.ref), session.resolve(options.other))
        with interruptible(progress):
            rows = list(found.rows(progress))
        told = _told(session, found, rows, front.hiding(options.reveal))
    if output.as_json:
        output.document("compare", _record(found, rows, told))
    else:
        output.text(_lines(found, rows, told))
    return ExitCode.DIFFERENCES if options.exit_code and told is not None else ExitCode.OK


def _told(session: Session, found: Compared, rows: Iterable[Row], hiding: Redaction) -> Parting | None:
    """Where the lines part, why, and what either changed there, secrets hidden; None where they do not."""
    row, cause = next((row for row in rows if row.is_parting), None), found.comparison.cause
    return None if row is None or cause is None else Parting(row, cause, *hidden_step(session, row, hiding))


def _lines(found: Compared, rows: Sequence[Row], told: Parting | None) -> list[str]:
    lines = [f"{name}  {ref.thread}@{ref.id}" for name, ref in (("A", found.a), ("B", found.b))]
    base = found.base
    lines.append(
        "nothing in common"
        if base is None
        else f"in common up to {_step(base).strip()}  {base.ref.thread}@{base.ref.id}"
    )
    cells = ((sign(row), _step(row.a), _step(row.b), _keys(row), "they part here" * row.is_parting) for row in rows)
    lines += ["", *table(_COLUMNS, cells, line_width())] if rows else []
    if told is None:
        return [*lines, "", "they do not part"]
    row, cause = told.row, told.cause
    where = ", ".join(
        f"{name} {_step(header).strip()}" for name, header in (("A", row.a), ("B", row.b)) if header is not None
    )
    lines += ["", f"they part at {where}: {cause.words}", *(f"  {note}" for note in cause.notes)]
    for name, changes in (("A", told.a), ("B", told.b)):
        lines += [f"  {name} changed", *(f"    {line}" for line in format_diff(changes))] if changes else []
    return lines


def _keys(row: Row) -> str:
    return "but for ids" if row.mark == "ids" else ", ".join(row.keys)


def _step(header: Header | None) -> str:
    return "" if header is None else f"{'?' if header.step is None else header.step:>4} {who(header)}"


def _record(found: Compared, rows: Iterable[Row], told: Parting | None) -> Record:
    parting: Value = None
    if told is not None:
        row, cause = told.row, told.cause
        parting = {
            "a": None if row.a is None else row.a.ref.id,
            "b": None if row.b is None else row.b.ref.id,
            "cause": cause.kind,
            "words": cause.words,
            "notes": list(cause.notes),
            "changes": {"a": _changes(told.a), "b": _changes(told.b)},
        }
    base = None if found.base is None else log_record(found.base)
    return {"base": base, "steps": [_step_record(row) for row in rows], "parting": parting}


def _changes(changes: Diff) -> list[Record]:
    return [change_record(change) for change in changes]


def _step_record(row: Row) -> Record:
    problem = {} if row.problem is None else {"problem": row.problem}
    sides = {name: None if side is None else log_record(side) for name, side in (("a", row.a), ("b", row.b))}
    return {"mark": row.mark, "keys": list(row.keys), **sides, **problem}
