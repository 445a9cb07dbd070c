"""Expressions as columns of a listing: what each checkpoint answers, as text and as JSON, secrets hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stores.model import MISSING, Ref, Value
from tt_debug.cli.progress import Progress, interruptible
from tt_debug.query import Failed, compile_expr
from tt_debug.redaction import SHOWN, Hidden, Redaction
from tt_debug.session.records import Form, Pen, Record, form_of
from tt_debug.session.watches import along
from tt_debug.text import one_line

if TYPE_CHECKING:
    from tt_debug.session.session import Session

CELLS = 40
"""Of one value in a listing."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What checkpoints answer to expressions."""

    expressions: tuple[str, ...]
    values: Mapping[Ref, Mapping[str, Value | Failed]]
    form: Form

    def cells(self, ref: Ref) -> tuple[str, ...]:
        """A text an expression; what could not be asked says why."""
        return tuple(_cell(self.values[ref][text], text, self.form.hiding) for text in self.expressions)

    def record(self, ref: Ref) -> Record:
        """An object an expression: its value, that it is missing, or its problem."""
        pen = Pen(self.form)
        found: Record = {}
        for text in self.expressions:
            answer = self.values[ref][text]
            secret = self.form.hiding.asks(text)
            if isinstance(answer, Failed):
                found[text] = {"problem": answer.reason}
            else:
                found[text] = {"missing": True} if answer is MISSING else {"value": pen.json(answer, secret=secret)}
        return pen.mark({"watched": found})


def watched(session: Session, refs: Sequence[Ref], expressions: tuple[str, ...], hiding: Redaction) -> Watched:
    """Ask every checkpoint. Raises UsageError for what is not JMESPath, before any is read."""
    progress = Progress()
    found: dict[Ref, Mapping[str, Value | Failed]] = {}
    for text in expressions:
        compile_expr(text)
    with interruptible(progress):
        for done, (ref, answer) in enumerate(zip(refs, along(session, refs, expressions), strict=True)):
            progress(done, len(refs))
            found[ref] = answer
    return Watched(expressions, found, form_of(session.info.kind, hiding))


def _cell(answer: Value | Failed, text: str, hiding: Redaction) -> str:
    if isinstance(answer, Failed):
        return f"! {answer.reason}"[:CELLS]
    shown = hiding.hide(answer, secret=hiding.asks(text))
    return SHOWN if isinstance(shown, Hidden) else one_line(shown, CELLS)
