"""The lines of Home's preview: last messages or state, and what waits or failed. Pure: values in, pieces out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stores.model import Checkpoint
from tt_debug.conversation import conversation
from tt_debug.text import safe_text
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.message import summary
from tt_debug.tui.rows.pieces import Line, Piece, wrap
from tt_debug.tui.rows.values import question_line, value_line

MESSAGES = 12
"""The newest messages shown; the Thread screen has them all."""

MATTER_LINES = 4
"""The most lines of one question or error."""


class Preview(NamedTuple):
    """``lines`` of the newest ``messages``, or of the state where it has none."""

    messages: bool
    lines: list[Line]


def preview(checkpoint: Checkpoint, width: int, glyphs: Glyphs = UNICODE) -> Preview:
    """The newest messages, or the state's keys where there are none; last what waits or failed, wrapped."""
    _, turns = conversation(checkpoint.state)
    lines = [summary(turn.message, glyphs) for turn in turns[-MESSAGES:]]
    if not turns:
        lines = [
            (Piece(f"{safe_text(str(key))}  ", "key"), *value_line(value, glyphs))
            for key, value in checkpoint.state.items()
        ]
    matters = (wrap(matter, width)[:MATTER_LINES] for matter in _open_matters(checkpoint, glyphs))
    return Preview(bool(turns), [*lines, *(line for matter in matters for line in matter)])


def _open_matters(checkpoint: Checkpoint, glyphs: Glyphs) -> Iterable[Line]:
    for task in checkpoint.tasks:
        node = safe_text(task.node)
        for interrupt in task.interrupts:
            yield (
                Piece(f"{glyphs.waiting} {node} waits for an answer  ", "warning"),
                *question_line(interrupt.value, glyphs),
            )
        if task.error:
            yield (Piece(f"{glyphs.failed} {node} failed  ", "error"), Piece(safe_text(task.error[:400]), "error"))
