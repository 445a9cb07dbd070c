"""Watched expressions of a thread: which ones, in our own record, and what a checkpoint answers to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stores.errors import Busy, StoreError
from stores.model import Ref, Value
from tt_debug.query import Failed, compile_expr, evaluate
from tt_debug.session.journal import Journal

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
        return self._journal.drop_watch(thread, expression)


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
