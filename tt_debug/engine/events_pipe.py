"""A child's end of its events pipe. Runs in the user's interpreter too: stdlib only, Python 3.9, nothing of ours.

Owns writing events and outliving whoever listened; refuses to know what an event means.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import stat
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

Tell = Callable[[Mapping[str, Any]], None]


def open_events() -> Tell:
    """The function that writes one event, flushed after everything printed so far.

    When nobody listens any more (the front end was closed, the run left alone) events and prints go nowhere, and
    the run goes on. Raises KeyError where no events pipe was given.
    """
    pipe = int(os.environ.pop("TT_DEBUG_EVENTS_FD"))
    os.set_inheritable(pipe, False)
    _outlive_listener(pipe)
    lock = threading.Lock()

    def write(event: Mapping[str, Any]) -> None:
        line = json.dumps(event).encode() + b"\n"
        with lock, contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
            sys.stderr.flush()
            while line:
                line = line[os.write(pipe, line) :]

    return write


def _outlive_listener(events: int) -> None:
    """Keep prints from failing a node once the other end is closed.

    While this process holds the reading end of its own stdout and stderr a write never meets a broken pipe; when the
    listener is gone, which the events pipe tells, a thread empties them. Where a pipe cannot be opened by name
    (outside Linux) the thread points them at /dev/null instead, a moment later than a print may come.
    """
    readers: list[int] = []
    with contextlib.suppress(OSError):
        readers += [os.open(f"/dev/fd/{n}", os.O_RDONLY) for n in (1, 2) if stat.S_ISFIFO(os.fstat(n).st_mode)]

    def watch() -> None:
        alone = select.poll()
        alone.register(events, 0)
        alone.poll()
        if not readers:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for n in (1, 2):
                os.dup2(nowhere, n)
        while readers:
            for reader in select.select(readers, [], [])[0]:
                if not os.read(reader, 65536):
                    readers.remove(reader)

    threading.Thread(target=watch, daemon=True).start()


def plain(value: Any) -> Any:
    """A value as JSON; what JSON has no type for is ``{"$type", "value"}``."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    inside = value.model_dump() if hasattr(value, "model_dump") else getattr(value, "__dict__", None) or str(value)
    return {"$type": f"{type(value).__module__}.{type(value).__qualname__}", "value": plain(inside)}
