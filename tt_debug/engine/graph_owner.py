"""What a driver asks of the process that owns its run (`graph_keeper`). Runs in the user's interpreter: stdlib only,
Python 3.9.

Owns the line between the two: one JSON object asks, one answers. When the owner dies the driver ends with it, and with
everything that it started: nobody could take what it does any more. Refuses to know what an answer means for LangGraph.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .graph_lock import WriteLock
from .graph_target import Refused

OWNER_FD = "TT_DEBUG_OWNER_FD"


class Halt(BaseException):
    """The run cannot go on, through no fault of a node. No Exception, so that no node catches it."""


class Lost(Halt):
    """Another process runs the thread now: nothing more may be written."""


class Owner:
    """The line to the owner, for every thread of this process. Raises Lost once the run is somebody else's."""

    def __init__(self, line: socket.socket, lock: Path) -> None:
        self._line = line
        self._turn = threading.Lock()
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._lock = WriteLock(lock)
        self.lost: str | None = None
        threading.Thread(target=self._listen, name="owner", daemon=True).start()

    @classmethod
    def of_this_process(cls, lock: Path) -> Owner:
        """On the descriptor that the owner has left open for us. KeyError without one."""
        descriptor = int(os.environ.pop(OWNER_FD))
        os.set_inheritable(descriptor, False)
        return cls(socket.socket(fileno=descriptor), lock)

    def _listen(self) -> None:
        with contextlib.suppress(OSError), self._line.makefile("r", encoding="utf-8") as answers:
            for answer in answers:
                self._answers.put(json.loads(answer))
        os.killpg(os.getpgrp(), signal.SIGKILL)  # the owner made a session of its own for us

    def ask(self, what: str, **about: Any) -> dict[str, Any]:
        """One question and its answer. Raises Lost."""
        with self._turn:
            if self.lost is not None:
                raise Lost(self.lost)
            self._line.sendall(json.dumps({"ask": what, **about}).encode() + b"\n")
            answer = self._answers.get()
            if "lost" in answer:
                self.lost = answer["lost"]
                raise Lost(self.lost)
            return answer

    def look(self) -> None:
        """Raises Refused where somebody else owns the thread."""
        self._owning("look")

    def begin(self, **about: Any) -> str:
        """Own the thread from now on; gives the run's id. Raises Refused where somebody else does."""
        return str(self._owning("begin", pid=os.getpid(), **about)["run"])

    def _owning(self, what: str, **about: Any) -> dict[str, Any]:
        answer = self.ask(what, **about)
        refused = answer.get("refused")
        if refused is not None:
            raise Refused(refused["kind"], refused["text"], refused["hint"])
        return answer

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Around one write to the thread's store: nobody else can take the run before it ends. Raises Lost."""
        with self._lock.held(lambda: self.ask("fence")):
            yield


def fenced(saver_class: Any, owner: Owner) -> type:
    """A saver of ours around LangGraph's: a write is refused once the run is somebody else's.

    Each looks as the saver's own does: LangGraph asks what parameters it has.
    """

    @functools.wraps(saver_class.put)
    def put(self: Any, *given: Any, **named: Any) -> Any:
        with owner.writing():
            return saver_class.put(self, *given, **named)

    @functools.wraps(saver_class.put_writes)
    def put_writes(self: Any, config: Any, writes: Any, *given: Any, **named: Any) -> Any:
        kept = _kept(writes)
        if writes and not kept:
            return None
        with owner.writing():
            return saver_class.put_writes(self, config, kept, *given, **named)

    return _around(saver_class, put=put, put_writes=put_writes)


def fenced_async(saver_class: Any, owner: Owner) -> type:
    """The same for a saver that is awaited; its other writes end in these."""

    @functools.wraps(saver_class.aput)
    async def aput(self: Any, *given: Any, **named: Any) -> Any:
        with owner.writing():
            return await saver_class.aput(self, *given, **named)

    @functools.wraps(saver_class.aput_writes)
    async def aput_writes(self: Any, config: Any, writes: Any, *given: Any, **named: Any) -> Any:
        kept = _kept(writes)
        if writes and not kept:
            return None
        with owner.writing():
            return await saver_class.aput_writes(self, config, kept, *given, **named)

    return _around(saver_class, aput=aput, aput_writes=aput_writes)


def _around(saver_class: Any, **methods: Any) -> type:
    return type(saver_class.__name__, (saver_class,), {"__module__": saver_class.__module__, **methods})


def _kept(writes: Any) -> list[Any]:
    """Without the errors that are ours: a task that we halted has not failed."""
    return [pair for pair in writes if not (pair[0] == "__error__" and isinstance(pair[1], Halt))]
