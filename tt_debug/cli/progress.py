"""How far a search or a count over a whole history has come, and that one which was stopped is not the whole answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from tt_debug.cli.exits import narrate
from tt_debug.text import counted

_BETWEEN: Final = 5.0  # seconds between two words about it


@dataclass(slots=True)
class Progress:
    """Tells a person on stderr how far it is, now and then; keeps the count for whoever stops it."""

    asked: int = 0
    _told: float = field(default_factory=time.monotonic)

    def __call__(self, done: int, of: int | None) -> bool:
        self.asked += 1
        if time.monotonic() - self._told > _BETWEEN and sys.stderr.isatty():
            self._told = time.monotonic()
            narrate(f"… {done:,}{f' of {of:,}' if of else ''} checkpoints asked")
        return True


@contextmanager
def interruptible(progress: Progress) -> Iterator[None]:
    """Ctrl-C says how far it had come before it ends the command: what was printed is not all."""
    try:
        yield
    except KeyboardInterrupt:
        narrate(f"stopped after {counted(progress.asked, 'checkpoint')}: there may be more")
        raise
