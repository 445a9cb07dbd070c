"""``tt-debug [STORE]``: the way from the command line into the UI."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

import click

from tt_debug.cli import commands
from tt_debug.cli.exits import ExitCode
from tt_debug.cli.front import Front, Screen
from tt_debug.cli.options import gathered
from tt_debug.cli.run_options import RunTarget, graph_options, workflow_option
from tt_debug.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenOptions(RunTarget):
    """What to show. ``store`` is "" for none; ``more`` are words that do not belong here."""

    more: tuple[str, ...] = ()
    ascii: bool = False


@click.command("tt-debug", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("store", metavar="[STORE]", default="")
@click.argument("more", nargs=-1, metavar="")
@workflow_option
@graph_options
@click.option("--read-only", is_flag=True, help="Make writing and running impossible.")
@click.option("--ascii", is_flag=True, help="Draw by ASCII alone, as by itself where the locale is not UTF-8.")
@gathered(ScreenOptions)
def open_store(front: Front, options: ScreenOptions) -> ExitCode:
    """Open the interface on a store, or on those that the folder holds."""
    _refuse_slip(options)
    require_screen(front, f"tt-debug threads {options.word if options.store else 'STORE'}")
    stores = (options.store,) if options.store else ()
    screen = Screen(stores, options.read_only, options.graph_target(), options.workflow, ascii=options.ascii)
    return ExitCode(front.open_screen(screen))


def require_screen(front: Front, instead: str) -> None:
    """Raises UsageError naming the command that says the same as text."""
    if not front.has_screen():
        raise UsageError("the interface needs a terminal it can draw on, and there is none", hint=f"as text: {instead}")


def _refuse_slip(options: ScreenOptions) -> None:
    """A mistyped command looks like a store: say so rather than look for a file of that name. Raises UsageError."""
    word = options.store
    if not ("/" in word or Path(word).exists()):
        close = difflib.get_close_matches(word, commands.names(), n=1)
        if close:
            raise UsageError(f"{word!r} is neither a command nor a store", hint=f"did you mean: tt-debug {close[0]}")
    if options.more:
        raise UsageError(
            f"the interface opens one store; {options.more[0]!r} is one word too many", hint="tt-debug --help"
        )
