"""Messages that cross from the loader's threads to a screen or widget. Those of one widget live in that widget."""

from __future__ import annotations

from textual.message import Message

from stores.model import ThreadInfo
from tt_debug.tui.watch import Watch


class Failed(Message, bubble=False):
    """A call of the loader failed in a way its author named. ``kind`` is the caller's word for what it asked for.

    It goes to whoever asked, who shows it in the panel it was for.
    """

    def __init__(self, kind: str, error: Exception, hint: str) -> None:
        super().__init__()
        self.kind = kind
        self.error = error
        self.hint = hint

    @property
    def text(self) -> str:
        """What and where, one sentence; not yet safe to draw."""
        return str(self.error) or type(self.error).__name__

    @property
    def told(self) -> str:
        """What failed and what to do, as two sentences; not yet safe to draw."""
        return told(self.text, self.hint)


def told(text: str, hint: str) -> str:
    """What failed and what to do, as two sentences."""
    stop = "" if not hint or text.endswith((".", "!", "?", ":")) else "."
    return f"{text}{stop} {hint}".strip()


class Waiting(Message, bubble=False):
    """A call of the loader waits for another process to let go of the store, or has ended that wait (``over``)."""

    def __init__(self, kind: str, *, over: bool = False) -> None:
        super().__init__()
        self.kind = kind
        self.over = over


class ThreadsRead(Message, bubble=False):
    """The threads of the store number ``store``; ``watch`` is the reading they come from.

    With ``read`` they are the first ones, and so many have been read so far.
    """

    def __init__(self, store: int, watch: Watch, threads: tuple[ThreadInfo, ...], read: int | None = None) -> None:
        super().__init__()
        self.store = store
        self.watch = watch
        self.threads = threads
        self.read = read


class Bug(Message):
    """An exception nobody named came out of a call: the app writes it down and stops."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error
