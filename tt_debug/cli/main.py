"""The command line: finds the command, runs it, turns every end into an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from stores.errors import StoreError
from tt_debug import __version__
from tt_debug.cli import commands, exits, output
from tt_debug.cli.exits import ExitCode
from tt_debug.cli.front import Front, Screen
from tt_debug.errors import DebuggerError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

DEEPEST = 5_000
HELP_WORDS = frozenset({"-h", "--help", "--version"})


class LazyGroup(click.Group):
    """The commands of `commands`, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the help."""
        return commands.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """None for a word that is no command."""
        return commands.load(cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands, and files: a first word that is no command is a STORE."""
        from click.shell_completion import CompletionItem

        return [*super().shell_complete(ctx, incomplete), CompletionItem(incomplete, type="file")]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Both forms."""
        formatter.write_usage("tt-debug", "[STORE] [--graph G | --workflow FILE] [--read-only] [--ascii]")
        formatter.write_usage("tt-debug", "COMMAND STORE …", prefix="       ")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """By section."""
        for title, section in commands.SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, place.help) for name, place in section.items()], col_max=12)


EPILOG = """\b
STORE   a file, sqlite:///FILE, or any table by its columns:
        sqlite:///app.db?table=T&thread=C&id=C&parent=C&state=C
REF     THREAD[@SELECTOR]: @head, @~2 (two before the head), @15 (a step),
        @failed, an id or its beginning; id: and step: force a kind
PATH    plan.steps[2]["odd.key"], or /plan/steps/2
exits   0 ok  1 the run failed  2 usage  3 not found or unreadable
        4 conflict  5 waiting, paused or held  6 needs --yes  7 read-only
        10 differences  130 interrupted
"""


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="tt-debug", message="%(prog)s %(version)s")
def group() -> None:
    """A time-travel debugger for agent checkpoints.

    A first word that is no command is a STORE: it opens in the interface. Without any word the stores of this
    folder are offered.
    """


def open_screen(screen: Screen) -> int:
    """The door from here to the UI; importing it costs 250 ms, so only when it opens."""
    from tt_debug.tui.app import run_app

    return run_app(
        screen.stores or None,
        read_only=screen.read_only,
        graph=screen.graph,
        workflow=screen.workflow,
        tour=screen.tour,
        ascii_only=screen.ascii or None,
    )


def pick_on_screen(screen: Screen, thread: str | None) -> str | None:
    """The other door to it: what is looked for is one checkpoint."""
    from tt_debug.tui.picking import run_pick

    ref = run_pick(screen.stores, thread)
    return f"{ref.thread}@{ref.id}" if ref is not None else None


def main(arguments: Sequence[str] | None = None, front: Front | None = None) -> int:
    """Run one command line; answers the exit code and never raises."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # msgpack holds 1,024 levels; the writer of JSON takes up to three calls for each.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST))
    output.prepare_streams()
    return int(_guarded(words, front or Front(open_screen, pick=pick_on_screen)))


def _guarded(words: list[str], front: Front) -> ExitCode:
    try:
        code = _dispatch(words, front)
        output.flush()
        return code
    except output.CannotPrint as error:
        output.silence()
        return exits.report(error)
    except (StoreError, DebuggerError, click.ClickException) as error:
        return exits.report(error, _store_of(words))
    except (click.Abort, KeyboardInterrupt):
        exits.narrate("interrupted")
        return ExitCode.INTERRUPTED
    except output.ReaderGone:
        output.silence()
        return ExitCode.OK
    # The process boundary: whatever else comes is a fault of ours, and its traceback is kept, not shown.
    except Exception as error:  # noqa: BLE001
        return exits.report_bug(error)


def _store_of(words: list[str]) -> str:
    """The store that a command line names, as far as that can be seen without reading its options."""
    named = len(words) > 1 and words[0] in commands.names() and not words[1].startswith("-")
    return words[1] if named else "STORE"


def _dispatch(words: list[str], front: Front) -> ExitCode:
    # The shell asks for completions with an empty command line.
    is_shell = "_TT_DEBUG_COMPLETE" in os.environ
    if is_shell or (words and (words[0] in HELP_WORDS or words[0] in commands.names())):
        command: click.Command = group
        if is_shell:
            from tt_debug.cli import completing

            completing.prepare()
    else:
        from tt_debug.cli.screen import open_store

        command = open_store
    done = command.main(args=words, prog_name="tt-debug", obj=front, standalone_mode=False)
    return ExitCode(done or 0)
