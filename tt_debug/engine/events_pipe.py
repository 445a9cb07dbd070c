"""A child's end of its events pipe. Runs in the user's interpreter too: stdlib only, Python 3.9, nothing of ours.

Owns writing events and prints in their order, and outliving whoever listened; refuses to know what an event means.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import select
import stat
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

Tell = Callable[[Mapping[str, Any]], None]

_LONGEST = 65536  # bytes of a printed line; a longer one arrives in pieces


def open_events() -> Tell:
    """The function that writes one event; from now on Python's own prints go the same way, as "output" events.

    So a node's prints stand between its start and its end, which two pipes could not promise. What a library or a
    subprocess writes to descriptors 1 and 2 is left to whoever started us. When nobody listens any more (the front
    end was closed, the run left alone) all of it goes nowhere, and the run goes on. KeyError without a pipe.
    """
    pipe = int(os.environ.pop("TT_DEBUG_EVENTS_FD"))
    os.set_inheritable(pipe, False)
    _outlive_listener(pipe)
    lock = threading.Lock()

    def write(event: Mapping[str, Any]) -> None:
        line = json.dumps(event).encode() + b"\n"
        with lock, contextlib.suppress(BrokenPipeError):
            while line:
                line = line[os.write(pipe, line) :]

    sys.stdout, sys.stderr = _Printed.as_stream(1, "stdout", write), _Printed.as_stream(2, "stderr", write)
    return write


class _Printed(io.RawIOBase):
    """A standard stream of this process whose lines become events; in a forked copy of it, the plain descriptor."""

    def __init__(self, descriptor: int, name: str, tell: Tell) -> None:
        self._descriptor, self._name, self._tell = descriptor, name, tell
        self._owner = os.getpid()
        self._rests: dict[int, bytes] = {}  # by thread: two nodes that print at once do not mix within a line
        atexit.register(self._end)

    @classmethod
    def as_stream(cls, descriptor: int, name: str, tell: Tell) -> io.TextIOWrapper:
        """What `print` writes to, unbuffered as with ``python -u``: every write arrives here at once."""
        raw: Any = cls(descriptor, name, tell)
        return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any, /) -> int:
        if os.getpid() != self._owner:
            return os.write(self._descriptor, data)
        thread = threading.get_ident()
        *lines, rest = (self._rests.pop(thread, b"") + bytes(data)).split(b"\n")
        while len(rest) > _LONGEST:
            lines.append(rest[:_LONGEST])
            rest = rest[_LONGEST:]
        if rest:
            self._rests[thread] = rest
        for line in lines:
            self._line(line)
        return len(data)

    def _line(self, line: bytes) -> None:
        at = datetime.now(timezone.utc).isoformat()  # noqa: UP017 - Python 3.9
        text = line.decode("utf-8", "replace").rstrip("\r")
        self._tell({"event": "output", "stream": self._name, "text": text, "at": at})

    def _end(self) -> None:
        for rest in self._rests.values() if os.getpid() == self._owner else ():
            self._line(rest)


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
