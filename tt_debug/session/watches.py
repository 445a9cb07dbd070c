"""Watched expressions of a thread: which ones, in our own record, and what a checkpoint answers to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stores.errors import Busy, StoreError
from stores.model import Ref, Value
from tt_debug.equality import strict_equal
from tt_debug.query import Failed, compile_expr, evaluate
from tt_debug.session.journal import Journal
from tt_debug.session.questions import OnProgress, Stopped

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
    here: Mapping[str, Value | Failed] = answers(session, line[-2], expressions) if len(line) > 1 else {}
    for at in range(len(line) - 2, -1, -1):
        _go_on(len(line) - 1 - at, len(line), on_progress)
        earlier = answers(session, line[at - 1], expressions) if at else dict.fromkeys(expressions)
        if _differ(here, earlier):
            return line[at]
        here = earlier
    return None


def changed_after(
    session: Session, line: Sequence[Ref], expressions: tuple[str, ...], on_progress: OnProgress | None = None
) -> Ref | None:
    """The nearest one after the beginning of ``line`` at which one of them becomes another. Raises Stopped."""
    before: Mapping[str, Value | Failed] | None = None
    for at, ref in enumerate(line):
        _go_on(at, len(line), on_progress)
        here = answers(session, ref, expressions)
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


def answers(session: Session, ref: Ref, expressions: tuple[str, ...]) -> dict[str, Value | Failed]:
    """What a checkpoint answers to each; one that cannot be read answers with the reason. Raises Busy, and UsageError
    for what is not JMESPath."""
    compiled = {text: compile_expr(text) for text in expressions}
    try:
        state = session.load(ref).state
    except Busy:
        raise
    except StoreError as error:
        return dict.fromkeys(expressions, Failed(str(error)))
    return {text: evaluate(expression, state) for text, expression in compiled.items()}
