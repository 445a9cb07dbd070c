"""What Home reads of the thread under its cursor: its head, and what its messages tell of model calls."""

from __future__ import annotations

from textual.message import Message

from stores.model import Checkpoint, Ref
from tt_debug.redaction import Redaction
from tt_debug.session.hiding import hidden_checkpoint
from tt_debug.session.session import Session
from tt_debug.tui.rows.spent import Used, used_by
from tt_debug.usage import Prices


class PreviewRead(Message):
    """The head of the thread under the cursor, its secrets hidden, and what was used for it."""

    def __init__(self, store: int, thread: str, found: tuple[Checkpoint, Used | None]) -> None:
        super().__init__()
        self.store = store
        self.thread = thread
        self.checkpoint, self.used = found


def read_preview(session: Session, ref: Ref, hiding: Redaction, prices: Prices) -> tuple[Checkpoint, Used | None]:
    """A checkpoint with its secrets hidden, and what its messages tell, of which names of tokens hide nothing."""
    checkpoint = session.load(ref)
    return hidden_checkpoint(checkpoint, hiding), used_by(dict(checkpoint.state), prices)
