"""The command line: finds the command, runs it, turns every end into an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tt_debug import __version__
from tt_debug.cli import commands, help, output

if TYPE_CHECKING:
    import click

    from tt_debug.cli.front import Front, Screen

DEEPEST = 5_000


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
    output.prepare_streams()
    try:
        code = _answer(words, front)
        output.flush()
    except output.ReaderGone:
        output.silence()
        return 0
    except output.CannotPrint as error:
        output.silence()
        return _ended(error)
    # The process boundary: what each error means is told in one place, the unforeseen too.
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001
        return _ended(error, _store_of(words))
    return code


def _ended(error: BaseException, store: str = "STORE") -> int:
    from tt_debug.cli import exits  # with click, 25 ms

    return exits.ended(error, store)


def _answer(words: list[str], front: Front | None) -> int:
    if "_TT_DEBUG_COMPLETE" in os.environ:  # the shell asks, with an empty command line
        from tt_debug.cli import bash, other_shells
        from tt_debug.cli.group import group

        bash.prepare()
        other_shells.prepare()
        return _run(group, words, front)
    first = words[0] if words else ""
    if first in help.WORDS:
        return _say(help.lines())
    if first == "--version":
        return _say([f"tt-debug {__version__}"])
    return _run(_command(first), words, front)


def _command(first: str) -> click.Command:
    if first in commands.names():
        from tt_debug.cli.group import group

        return group
    from tt_debug.cli.screen import open_store

    return open_store


def _say(lines: Iterable[str]) -> int:
    output.Output(as_json=False).text(lines)
    return 0


def _run(command: click.Command, words: list[str], front: Front | None) -> int:
    from tt_debug.cli.front import Front

    # msgpack holds 1,024 levels; the writer of JSON takes up to three calls for each.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST))
    front = front or Front(open_screen, pick=pick_on_screen)
    return command.main(args=words, prog_name="tt-debug", obj=front, standalone_mode=False) or 0


def _store_of(words: list[str]) -> str:
    """The store that a command line names, as far as that can be seen without reading its options."""
    named = len(words) > 1 and words[0] in commands.names() and not words[1].startswith("-")
    return words[1] if named else "STORE"
