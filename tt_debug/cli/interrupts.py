"""Noticing what asks us to stop while a child process sees to it: it stops after its step, and we exit afterwards."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tt_debug.engine.child import STOPPING, handled


@contextmanager
def noticed() -> Iterator[Callable[[], bool]]:
    """Yields whether something asked us to stop since. Only on the main thread, whose wake-up descriptor it borrows.

    Whoever runs a child replaces the signals' Python handlers, so a handler of ours would not be called. While no child
    runs, Ctrl-C goes on being a KeyboardInterrupt, and the others wait until they are asked about.
    """
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    seen = False

    def interrupted() -> bool:
        nonlocal seen
        try:
            seen = bool(set(os.read(reader, 4096)) & set(STOPPING)) or seen
        except BlockingIOError:
            return seen
        return seen

    try:
        with handled(lambda *_: None, signals=(signal.SIGTERM, signal.SIGHUP)):
            yield interrupted
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)
