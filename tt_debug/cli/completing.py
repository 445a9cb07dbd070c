"""What a shell proposes behind the name of a store: threads, checkpoints, open questions.

Owns the proposals, which each command's arguments know; silent about every error, and it loads no state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from stores.errors import StoreError
from tt_debug.cells import safe_text
from tt_debug.cli.front import Front, Wanted
from tt_debug.errors import DebuggerError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tt_debug.session.session import Session

MOST: Final = 200
SHORTEST_ID: Final = 4
Found = Iterator[tuple[str, str]]


class StoreName(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases of click only
    """A store: a file's name, as far as a shell can complete it."""

    name = "STORE"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave it to the shell."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class InStore(click.ParamType):  # type: ignore[type-arg]
    """A name of something in the store that stands before it on the line."""

    def __init__(self, name: str, find: Callable[[Session, str], Found]) -> None:
        self.name = name
        self._find = find

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Those that begin so, each with a word about it."""
        from click.shell_completion import CompletionItem

        front, store = ctx.find_object(Front), ctx.params.get("store")
        # What cannot be shown was cut within a character.
        if front is None or not store or safe_text(incomplete) != incomplete:
            return []
        try:
            with front.session(Wanted(store, read_only=True)) as session:
                # A name that a shell or a terminal would take for something else is not proposed.
                found = (pair for pair in self._find(session, incomplete) if safe_text(pair[0]) == pair[0])
                return [CompletionItem(value, help=said) for value, said in islice(found, MOST)]
        except (StoreError, DebuggerError):
            return []


def threads(session: Session, start: str) -> Found:
    """Threads, newest write first."""
    for info in session.threads(text=start):
        if info.thread.startswith(start):
            yield info.thread, safe_text(" ".join(filter(None, (info.last_node, info.status))))


def refs(session: Session, start: str) -> Found:
    """Threads; behind a thread's ``@`` its checkpoints."""
    thread, at, selector = start.rpartition("@")
    if not at or not any(name == thread for name, _ in threads(session, thread)):
        yield from threads(session, start)
        return
    view = session.open_thread(thread)
    line = [view.headers[ref] for ref in reversed(view.line())]
    words = [("head", line[0].status)] if line else []
    words += [("failed", "the last that failed")] if any(header.status == "failed" for header in line) else []
    words += [
        (str(header.step), ", ".join(header.nodes) or header.source) for header in line if header.step is not None
    ]
    words += [(mark.name, mark.note or "bookmark") for mark in session.marks.all(thread)]
    if len(selector) >= SHORTEST_ID:
        words += [(ref.id, ", ".join(header.nodes) or header.source) for ref, header in view.headers.items()]
    for word, said in dict(words).items():
        if word.startswith(selector):
            yield f"{thread}@{word}", safe_text(said)


def questions(session: Session, start: str) -> Found:
    """Open questions by their ids, oldest first."""
    for asked in session.approvals():
        if asked.id.startswith(start):
            yield asked.id, safe_text(f"{asked.node} of {asked.thread}")


THREAD: Final = InStore("THREAD", threads)
REF: Final = InStore("REF", refs)
QUESTION: Final = InStore("ID", questions)
