"""What a command needs from around it: a way to open stores, the UI, and a person to ask.

Owns the seams that a test replaces; refuses to know commands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from stores.errors import ReadOnly
from tt_debug.cli import exits
from tt_debug.leaving import promptly

if TYPE_CHECKING:
    from pathlib import Path

    from tt_debug.redaction import Redaction
    from tt_debug.session.plans import GraphTarget
    from tt_debug.session.session import Session


class Wanted(NamedTuple):
    """How a store is to be opened."""

    store: str
    read_only: bool = False
    graph: GraphTarget | None = None
    workflow: Path | None = None


class Screen(NamedTuple):
    """What the UI shall show; no store: those that the folder holds are offered. ``ascii``: by letters and signs of
    ASCII alone, which it does by itself where the locale has no others."""

    stores: tuple[str, ...] = ()
    read_only: bool = False
    graph: GraphTarget | None = None
    workflow: Path | None = None
    tour: bool = False
    ascii: bool = False


def open_session(wanted: Wanted) -> Session:
    """The real store. The import is deferred: ``--help`` and usage errors need no session (60 ms and more)."""
    from tt_debug.session.session import Session

    return Session.open(wanted.store, read_only=wanted.read_only, graph=wanted.graph, workflow=wanted.workflow)


def someone_to_ask() -> bool:
    """Whether a person sits at both ends: the question goes to stderr, the answer comes from stdin."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def has_screen() -> bool:
    """Whether the UI can be drawn and would be seen: on a terminal, or in the browser that serves as one."""
    if os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"):
        return True
    return someone_to_ask() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def pick_nothing(screen: Screen, thread: str | None) -> str | None:
    """Where there is no interface nothing is chosen in it."""
    return None


class Front(NamedTuple):
    """The surroundings of one invocation."""

    open_screen: Callable[[Screen], int]
    open_session: Callable[[Wanted], Session] = open_session
    has_screen: Callable[[], bool] = has_screen
    someone_to_ask: Callable[[], bool] = someone_to_ask
    ask: Callable[[str], bool] = exits.ask
    pick: Callable[[Screen, str | None], str | None] = pick_nothing
    """The REF that is chosen on screen, None for none; the second is the thread it starts at."""

    def hiding(self, reveal: bool) -> Redaction:
        """Which names are secret, as the user's configuration says; none with ``--reveal``. Raises UsageError."""
        from tt_debug import config, redaction  # not for a help text

        return redaction.NOTHING if reveal else config.hiding()

    @contextmanager
    def looking(self, store: str) -> Iterator[Session]:
        """A session that cannot write; what there is to know about the store is said, once a day."""
        with promptly(), self.session(Wanted(store, read_only=True)) as session:
            if session.info.notices:
                from tt_debug.cli.hearing import unheard

                for notice in unheard(session.info.store_id, session.info.notices):
                    exits.narrate(f"note: {notice}")
            yield session

    @contextmanager
    def writing(self, wanted: Wanted) -> Iterator[Session]:
        """A session for a command that will write; raises ReadOnly before it does anything when it may not."""
        if wanted.read_only:
            raise ReadOnly(f"{wanted.store} was opened with --read-only", hint="leave --read-only out to write")
        with self.session(wanted) as session:
            yield session

    @contextmanager
    def session(self, wanted: Wanted) -> Iterator[Session]:
        """A session that is closed whatever happens."""
        session = self.open_session(wanted)
        try:
            yield session
        finally:
            session.close()
