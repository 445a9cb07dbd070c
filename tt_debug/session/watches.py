"""Watched expressions of a thread: which ones, in our own record, and what a checkpoint answers to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from stores.errors import Busy, StoreError
from stores.model import MISSING, Ref, Value
from tt_debug.equality import strict_equal
from tt_debug.query import Failed, compile_expr, evaluate
from tt_debug.session.journal import Journal
from tt_debug.session.questions import OnProgress, Stopped
from tt_debug.values import Payloads

if TYPE_CHECKING:
    from tt_debug.session.session import Session


class Watches:
    """The watches of one store. Reading makes no file."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def of(self, thread: str) -> tuple[str, ...]:
        """Those of a thread, in the order in which they were added."""
        return self._journal.watches(thread)

    def add(self, thread: str, expression: str) -> None:
        """Watch it; once. Raises UsageError for what is not JMESPath."""
        self._journal.put_watch(thread, compile_expr(expression).text)

    def drop(self, thread: str, expression: str) -> bool:
        """Watch it no more; whether it was watched."""
        if self.column(thread) == expression:
            self._journal.show_watch(thread, None)
        return self._journal.drop_watch(thread, expression)

    def column(self, thread: str) -> str | None:
        """The one that has a column of the thread's graph."""
        return self._journal.shown_watch(thread)

    def show(self, thread: str, expression: str | None) -> None:
        """Give one of them the column, or none."""
        self._journal.show_watch(thread, expression)


def changed_before(
    session: Session, line: Sequence[Ref], expressions: tuple[str, ...], on_progress: OnProgress | None = None
) -> Ref | None:
    """The nearest checkpoint before the end of ``line`` (oldest first) at which one of them became another, or None.
    One that cannot answer is no change. Raises `tt_debug.session.questions.Stopped`."""
    nothing = {text: None if compile_expr(text).path is None else MISSING for text in expressions}
    newer: tuple[Ref, Mapping[str, Value | Failed]] | None = None
    backwards = line[-2::-1] if len(line) > 1 else ()
    for done, (ref, here) in enumerate(zip(backwards, along(session, backwards, expressions), strict=True)):
        _go_on(done + 1, len(line), on_progress)
        if newer is not None and _differ(newer[1], here):
            return newer[0]
        newer = ref, here
    return newer[0] if newer is not None and _differ(newer[1], nothing) else None


def changed_after(
    session: Session, line: Sequence[Ref], expressions: tuple[str, ...], on_progress: OnProgress | None = None
) -> Ref | None:
    """The nearest one after the beginning of ``line`` at which one of them becomes another. Raises Stopped."""
    before: Mapping[str, Value | Failed] | None = None
    for done, (ref, here) in enumerate(zip(line, along(session, line, expressions), strict=True)):
        _go_on(done, len(line), on_progress)
        if before is not None and _differ(here, before):
            return ref
        before = here
    return None


def _go_on(done: int, of: int, on_progress: OnProgress | None) -> None:
    if on_progress is not None and not on_progress(done, of):
        raise Stopped


def _differ(one: Mapping[str, Value | Failed], other: Mapping[str, Value | Failed]) -> bool:
    known = (text for text in one if not isinstance(one[text], Failed) and not isinstance(other[text], Failed))
    return any(not strict_equal(one[text], other[text]) for text in known)


def along(
    session: Session, refs: Sequence[Ref], expressions: tuple[str, ...]
) -> Iterator[Mapping[str, Value | Failed]]:
    """What each of these checkpoints answers to the expressions; one that cannot be read answers with the reason.

    Raises Busy, and UsageError for what is not JMESPath."""
    compiled = {text: compile_expr(text) for text in expressions}
    reads = [expression.reads for expression in compiled.values()]
    only = None if None in reads else frozenset().union(*(keys for keys in reads if keys is not None))
    known: Payloads = {}
    for state in session.scanner.states(refs, only):
        if isinstance(state, Busy):
            raise state
        if isinstance(state, StoreError):
            yield dict.fromkeys(expressions, Failed(str(state)))
        else:
            yield {text: evaluate(expression, state, known) for text, expression in compiled.items()}
