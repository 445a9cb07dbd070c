"""What Home reads of the thread under its cursor: its head, and what its messages tell of model calls."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

from stores.model import Ref
from tt_debug.session.hiding import hidden_checkpoint
from tt_debug.tui.rows.spent import Used, used_by

if TYPE_CHECKING:
    from tt_debug.redaction import Redaction
    from tt_debug.session.session import Session
    from tt_debug.tui.glyphs import Glyphs
    from tt_debug.tui.rows.preview import Preview
    from tt_debug.usage import Prices


class Wanted(NamedTuple):
    """Whose preview, ``width`` cells wide, with what hidden, and what tokens cost."""

    ref: Ref
    width: int
    glyphs: Glyphs
    hiding: Redaction
    prices: Prices


class PreviewRead(Message):
    """The head of the thread under the cursor, its secrets hidden, and what was used for it."""

    def __init__(self, store: int, thread: str, found: tuple[Ref, Preview, Used | None]) -> None:
        super().__init__()
        self.store = store
        self.thread = thread
        self.ref, self.preview, self.used = found


def read_preview(session: Session, wanted: Wanted) -> tuple[Ref, Preview, Used | None]:
    """A checkpoint with its secrets hidden, and what its messages tell, of which names of tokens hide nothing.

    Of 50 MB of messages this takes a second."""
    from tt_debug.tui.rows.preview import preview

    checkpoint = session.load(wanted.ref)
    shown = preview(hidden_checkpoint(checkpoint, wanted.hiding), wanted.width, wanted.glyphs)
    used = used_by(dict(checkpoint.state), wanted.prices)
    # Enter opens it: 85 ms less that keep the keys waiting then.
    import_module("tt_debug.tui.screens.thread")
    return wanted.ref, shown, used
