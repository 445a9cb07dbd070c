"""``pick``: the interface as a way to name a checkpoint; its REF goes to stdout, the screen is drawn beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import click

from tt_debug.cli.completing import THREAD
from tt_debug.cli.exits import ExitCode
from tt_debug.cli.front import Front, Screen
from tt_debug.cli.options import gathered, store_argument
from tt_debug.cli.output import Output
from tt_debug.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class PickOptions:
    """Where to choose."""

    store: str
    thread: str | None


@click.command()
@store_argument
@click.argument("thread", metavar="[THREAD]", required=False, type=THREAD)
@gathered(PickOptions)
def pick(front: Front, options: PickOptions) -> ExitCode:
    """Choose a checkpoint on screen and print its REF.

    Enter on a checkpoint chooses it; leaving without a choice prints nothing and ends with 130.
    """
    if not front.someone_to_ask() or os.environ.get("TERM") == "dumb":
        raise UsageError(
            "the interface needs a terminal it can draw on, and there is none",
            hint=f"as text: tt-debug log {options.store}",
        )
    with stdout_on_screen():
        picked = front.pick(Screen((options.store,), read_only=True), options.thread)
    if picked is None:
        return ExitCode.INTERRUPTED
    Output(False).text([picked])
    return ExitCode.OK


@contextmanager
def stdout_on_screen() -> Iterator[None]:
    """Inside, what is stdout is the terminal: that is where the size of the screen is asked for. A pipe comes back."""
    try:
        out, err = sys.__stdout__.fileno(), sys.__stderr__.fileno()  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):
        yield  # no files below, as in a test
        return
    kept = os.dup(out)
    try:
        os.dup2(err, out)
        yield
    finally:
        os.dup2(kept, out)
        os.close(kept)
