"""Noticing Ctrl-C while a child process handles it: it stops after its step, and we must exit 130 afterwards."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def noticed() -> Iterator[Callable[[], bool]]:
    """Yields whether SIGINT arrived since. Only on the main thread, whose wake-up descriptor it borrows.

    Whoever runs a child replaces the signal's Python handler, so a handler of ours would not be called.
    """
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    seen = False

    def interrupted() -> bool:
        nonlocal seen
        try:
            seen = seen or signal.SIGINT in os.read(reader, 4096)
        except BlockingIOError:
            return seen
        return seen

    try:
        yield interrupted
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)
