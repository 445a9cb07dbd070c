"""The command that follows a thread while another process writes it."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from stores.errors import NotFound
from stores.model import Header, Status
from tt_debug.cli import tables
from tt_debug.cli.completing import THREAD
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, limit, looking_options, store_argument
from tt_debug.cli.output import Output
from tt_debug.leaving import promptly
from tt_debug.session.records import log_record

if TYPE_CHECKING:
    from tt_debug.session.tailing import Tail

_FIRST: Final = 10
_WIDTHS: Final = (">4", "<18", "<6", "<18", "<10", "<19", ">6", "", "", "", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TailOptions(Target):
    """What is followed, and for how long."""

    thread: str
    limit: int | None
    until: tuple[str, ...]


@click.command()
@store_argument
@click.argument("thread", metavar="THREAD", type=THREAD)
@click.option(
    "--until", type=click.Choice(Status.ALL), metavar="S", multiple=True, help="End when the head has this status."
)
@limit
@looking_options
@gathered(TailOptions)
def tail(front: Front, options: TailOptions) -> ExitCode:
    """Follow a thread that another process writes.

    The newest checkpoints first (ten, or --limit), then each as it comes, until Ctrl-C or --until.
    """
    from tt_debug.session.tailing import Tail  # opens stores, which --help does not

    del front
    output = Output(options.as_json)
    with promptly(), closing(Tail(options.store, options.thread)) as following:
        _tell(output, _begin(following, _FIRST if options.limit is None else options.limit))
        while not _ended(following, options.until):
            while not following.changed():
                time.sleep(following.pause)
            _tell(output, following.fresh())
        _tell(output, following.fresh())  # what was written between the last look and the answer that ended it
    return ExitCode.OK


def _begin(following: Tail, count: int) -> list[Header]:
    """What is there already. A thread that is still to be begun is waited for."""
    waits = False
    while True:
        try:
            return following.last(count)
        except NotFound:
            if not waits:
                narrate("no thread of that name yet: waiting for its first checkpoint")
            waits = True
            time.sleep(following.pause)


def _ended(following: Tail, until: tuple[str, ...]) -> bool:
    return bool(until) and following.status() in until


def _tell(output: Output, headers: list[Header]) -> None:
    for header in headers:
        if output.as_json:
            output.line(log_record(header))
        else:
            cells = tables.log_cells(header, header.ref.thread, lambda ref: ref.id)
            # A line at a time: no later row can widen a column.
            output.text(["  ".join(f"{cell:{form}}" for cell, form in zip(cells, _WIDTHS, strict=True)).rstrip()])
            output.flush()
