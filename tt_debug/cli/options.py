"""Arguments and options that commands share, their types, and how a command gets them: as one value.

Owns the words on the command line but for those of running (`run_options`); refuses to open or write anything.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from tt_debug.cli.completing import REF, THREAD, StoreName
from tt_debug.cli.exits import ExitCode, masked
from tt_debug.cli.front import Front, Wanted
from tt_debug.errors import UsageError
from tt_debug.shell import word

T = TypeVar("T")
Callback = TypeVar("Callback", bound=Callable[..., Any])

COUNT = click.IntRange(min=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What every command on a store gets."""

    store: str
    as_json: bool = False
    read_only: bool = False

    @property
    def word(self) -> str:
        """The store as a word of a command line that is shown: without its passwords."""
        return word(masked(self.store))

    def wanted(self) -> Wanted:
        """How it wants the store opened."""
        return Wanted(self.store, read_only=self.read_only)


def path_of(text: str | None) -> tuple[str | int, ...]:
    """A PATH as typed; none is the whole state. Raises UsageError."""
    from stores.paths import parse_path

    try:
        return parse_path(text or "")
    except ValueError as error:
        raise UsageError(f"--path: {error}", hint="""PATH is plan.steps[2]["odd.key"], or /plan/steps/2""") from error


def gathered(kind: Callable[..., T]) -> Callable[[Callable[[Front, T], ExitCode]], Callable[..., ExitCode]]:
    """Hand a command the surroundings and its parameters as one ``kind``."""

    def wrap(command: Callable[[Front, T], ExitCode]) -> Callable[..., ExitCode]:
        @click.pass_obj
        @functools.wraps(command)
        def callback(front: Front, /, **given: Any) -> ExitCode:
            return command(front, kind(**given))

        return callback

    return wrap


def together(*decorators: Callable[[Callback], Callback]) -> Callable[[Callback], Callback]:
    """Several options as one decorator, listed in the order given."""

    def wrap(callback: Callback) -> Callback:
        for decorate in reversed(decorators):
            callback = decorate(callback)
        return callback

    return wrap


store_argument = click.argument("store", metavar="STORE", type=StoreName())
thread_argument = click.argument("thread", metavar="THREAD", type=THREAD)
ref_argument = click.argument("ref", metavar="REF", type=REF)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
limit = click.option("--limit", type=COUNT, metavar="N", help="At most N; 0 gives none.")
path = click.option("--path", metavar="PATH", help='Only what lies at PATH: plan.steps[2]["odd.key"] or /plan/steps/2.')
reveal_option = click.option("--reveal", is_flag=True, help="Show secrets, which are hidden by their names otherwise.")
looking_options = together(as_json, click.option("--read-only", is_flag=True, hidden=True))
writing_options = together(as_json, click.option("--read-only", is_flag=True, help="Refuse to write: exit 7 instead."))
