"""Ctrl-C while a store does not answer.

Owns leaving within a second then; refuses to know what is waited for. For what only looks: nothing is put in order.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

GRACE: Final = 0.5
"""Seconds for the usual way out, by KeyboardInterrupt."""
INTERRUPTED: Final = 128 + signal.SIGINT
"""The exit code, as a shell would tell it."""


@contextmanager
def promptly() -> Iterator[None]:
    """In the block, Ctrl-C ends the process after `GRACE` at the latest.

    Python hears of the key only when what the main thread waits for gives the word back to it: SQLite does so after
    five seconds of somebody's lock, a dead disk never; and psycopg first has a server end the question, ten seconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    over = threading.Event()
    before = signal.set_wakeup_fd(tell)
    threading.Thread(target=_watch, args=(told, over), name="tt-leave", daemon=True).start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(tell)


def _watch(told: int, over: threading.Event) -> None:
    with open(told, "rb", buffering=0) as signals:
        while number := signals.read(1):
            if number[0] == signal.SIGINT and not over.wait(GRACE):
                os._exit(INTERRUPTED)
