"""Breakpoints: set, list and clear them. They are kept in the store, and stop every run that meets them."""

from __future__ import annotations

from dataclasses import dataclass

import click

from stores.supervision import Breakpoint
from tt_debug.cli.completing import THREAD
from tt_debug.cli.exits import ExitCode, narrate
from tt_debug.cli.front import Front
from tt_debug.cli.inbox import os_user
from tt_debug.cli.options import Target, gathered, store_argument, writing_options
from tt_debug.cli.output import Output, line_width
from tt_debug.cli.tables import Column, clock, table
from tt_debug.errors import UsageError
from tt_debug.session.operating import breakpoint_words
from tt_debug.session.records import Record, timestamp

BREAKPOINTS = (
    Column("id"),
    Column("stops"),
    Column("when"),
    Column("thread"),
    Column("hits", right=True),
    Column("set by"),
    Column("at (UTC)"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakOptions(Target):
    """What to set or clear; neither lists."""

    before: str | None
    after: str | None
    on_error: bool
    before_effect: str | None
    node: str | None
    when: str | None
    thread: str | None
    clear: tuple[str, ...]
    clear_all: bool

    def wanted_breakpoint(self) -> tuple[str, str | None, str | None] | None:
        """Place, node and effect; None where nothing is to be set. Raises UsageError for two at once."""
        places = {
            "before": self.before,
            "after": self.after,
            "effect": self.before_effect,
            "error": "" if self.on_error else None,
        }
        given = [(place, name) for place, name in places.items() if name is not None]
        if len(given) > 1:
            raise UsageError("one breakpoint at a time", hint="call it once for each")
        if not given:
            if self.when is not None or self.node is not None:
                raise UsageError("--when and --node belong to a breakpoint", hint="--before NODE --when EXPR")
            return None
        place, name = given[0]
        if place in ("before", "after"):
            return place, None if name == "*" else name, None
        return place, self.node, None if name in ("", "*") else name


@click.command(name="break")
@store_argument
@click.option("--before", metavar="NODE", help="Stop before NODE; * is every node.")
@click.option("--after", metavar="NODE", help="Stop after NODE; * is every node.")
@click.option("--on-error", is_flag=True, help="Stop where a node fails, instead of trying again.")
@click.option("--before-effect", metavar="NAME", help="Stop before an effect is called; * is every one.")
@click.option("--node", metavar="NODE", help="With --on-error and --before-effect: of NODE only.")
@click.option("--when", metavar="EXPR", help="Only where this holds of the state, in JMESPath.")
@click.option("--thread", metavar="T", type=THREAD, help="Only in this thread; in the list: what counts there.")
@click.option("--clear", metavar="ID", multiple=True, help="Take it away; repeatable.")
@click.option("--clear-all", is_flag=True, help="Take all of them away.")
@writing_options
@gathered(BreakOptions)
def break_(front: Front, options: BreakOptions) -> ExitCode:
    """Set, list and clear breakpoints, where runs stop.

    A run that meets one is paused durably, and goes on with resume; a crash forgets none.
    """
    wanted = options.wanted_breakpoint()
    if wanted is not None and (options.clear or options.clear_all):
        raise UsageError("set and clear one after the other")
    if wanted is None and not options.clear and not options.clear_all:
        with front.looking(options.store) as session:
            _show(session.operations.breakpoints(options.thread), options)
        return ExitCode.OK
    with front.writing(options.wanted()) as session:
        if wanted is not None:
            place, node, name = wanted
            made = session.operations.set_breakpoint(
                Breakpoint("", place, node, name, options.when, options.thread, by=os_user())
            )
            narrate(f"breakpoint {made.id}: {breakpoint_words(made)}")
        for id in options.clear or tuple(each.id for each in session.operations.breakpoints()):
            if wanted is None:
                session.operations.clear_breakpoint(id)
        _show(session.operations.breakpoints(), options)
    return ExitCode.OK


def _show(found: tuple[Breakpoint, ...], options: BreakOptions) -> None:
    output = Output(options.as_json)
    if output.as_json:
        output.document("break", [_record(each) for each in found])
        return
    rows = (
        (
            each.id, breakpoint_words(each), each.condition or "", each.thread or "", str(each.hits), each.by or "",
            clock(each.created),
        )
        for each in found
    )  # fmt: skip
    output.text(table(BREAKPOINTS, rows, line_width()))


def _record(each: Breakpoint) -> Record:
    """One item of ``break``."""
    return {
        "id": each.id,
        "place": each.place,
        "node": each.node,
        "effect": each.name,
        "when": each.condition,
        "thread": each.thread,
        "hits": each.hits,
        "by": each.by,
        "created": timestamp(each.created),
    }
