"""Going on with a thread where its own server runs the graph: what is asked of the server, and what it tells.

Owns the shapes; which requests they become is an adapter's, what a person is asked before is the debugger's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from stores.model import Value


@dataclass(frozen=True, slots=True)
class Assistant:
    """What a server runs a thread with: one of its graphs, configured. ``id`` is the server's name of it."""

    id: str
    name: str
    graph: str


@dataclass(frozen=True, slots=True)
class ServerRun:
    """One run of a thread from its head. ``answers`` go by the id of their question.

    ``until`` stops before a node, ``single_step`` after one superstep. ``config`` is handed on as it is.
    """

    thread: str
    assistant: Assistant
    answers: Mapping[str, Value] = field(default_factory=dict)
    until: str | None = None
    single_step: bool = False
    config: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunNews:
    """One thing a server tells of a run.

    ``kind`` "started": ``id`` is the server's name of the run. "task" and "result": ``id`` is the task, ``node`` its
    node; a result has an ``error``, is ``waiting`` for an answer, or is done. "checkpoint": ``id`` was written, from
    which ``next`` would run. "failed": the run ended with ``error``. ``ns`` is "" for the root graph.
    """

    kind: Literal["started", "task", "result", "checkpoint", "failed"]
    id: str = ""
    ns: str = ""
    node: str = ""
    step: int | None = None
    next: tuple[str, ...] = ()
    error: str | None = None
    waiting: bool = False


@runtime_checkable
class ServerRuns(Protocol):
    """A store whose server runs the graph itself: no code of it is needed, and none is run, on this side."""

    def assistant(self, thread: str) -> Assistant:
        """What the thread was last run with. Raises NotFound when nothing ever ran on it."""
        ...

    def run_on(self, run: ServerRun) -> Iterator[RunNews]:
        """Start it and tell of it until it ends. It goes on on the server when nobody listens any more.

        Raises Conflict when another run is under way on the thread, Unreachable when the connection is lost.
        """
        ...

    def cancel(self, thread: str) -> bool:
        """Interrupt the runs under way on the thread, which can go on from its head; False when there is none."""
        ...
