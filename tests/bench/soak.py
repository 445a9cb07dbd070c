"""A long walk through a large file, as somebody makes it who looks at one checkpoint after the other: does memory grow?

Owns the walk; each step is what the Thread screen asks for: the rows around it, the state, the diff.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView

_PAGE: Final = 4096
_ROWS: Final = 40
_STEPS: Final = 200


def resident() -> float:
    """MiB of this process that are in memory (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * _PAGE / (1 << 20)


def walk(path: Path, seconds: float, every: float) -> Iterator[tuple[float, int, float]]:
    """(seconds, checkpoints looked at, MiB) now and then, until so many seconds have passed."""
    drawn = random.Random(7)
    session = Session.open(str(path), read_only=True)
    start, looked, told = time.monotonic(), 0, 0.0
    try:
        while (passed := time.monotonic() - start) < seconds:
            for info in session.threads(brief=True):
                looked += _stroll(session, session.open_thread(info.thread), drawn)
                passed = time.monotonic() - start
                if passed - told >= every or passed >= seconds:
                    told = passed
                    yield passed, looked, resident()
                if passed >= seconds:
                    break
    finally:
        session.close()


def _stroll(session: Session, view: ThreadView, drawn: random.Random) -> int:
    """Some steps from anywhere on the line; how many."""
    line = view.line()
    at = drawn.randrange(len(line))
    rows = view.rows()
    steps = line[at : at + _STEPS]
    for ref in steps:
        top = drawn.randrange(max(1, len(rows) - _ROWS))
        view.headers.learn(row.ref for row in rows[top : top + _ROWS])
        session.load(ref)
        session.diff(ref)
    return len(steps)
