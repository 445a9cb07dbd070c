"""Running a thread through a user's graph: our side of it.

Owns the job's shape, what the run's owner (`graph_keeper`) is told, and stopping; how a graph is found is `graph`'s.
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from stores.errors import NotFound
from stores.leases import LEASE_SECONDS
from stores.model import Ref, Value
from stores.native.elsewhere import RunsElsewhere, open_for_runs
from stores.runs import Run, RunStatus
from tt_debug.engine.child import ChildExit
from tt_debug.engine.events import Event
from tt_debug.engine.graph import Target, common, died, drive, lock_of
from tt_debug.engine.ownership import is_alive
from tt_debug.engine.recover import stop
from tt_debug.engine.worker import RunEnd
from tt_debug.errors import ChildFailed
from tt_debug.shell import argument


@dataclass(frozen=True, slots=True)
class GraphJob:
    """One run of a thread from its newest checkpoint. ``store_path`` may be a database's URL with its password.

    ``until`` stops before a node, ``single_step`` after one superstep. ``answers`` go by the id of their question;
    ``answer`` is for the one question that is open, and counts only when ``has_answer``. ``head`` is the checkpoint
    that the run was planned for; ``known`` the graph's fingerprint when it last ran the thread: with another head, or
    another graph, nothing runs.

    ``records`` is the file of our own in which the run is kept (`stores.native.elsewhere`), under ``run`` unless the
    thread has one that goes on. ``business_id`` says whose effects it has, ``visits`` how often each node was completed
    before, by namespace; ``on_conflict`` is `stores.effects.OnConflict`. ``allow`` are the classes of effects that may
    be called, all of them when empty. ``lease`` is for how many seconds without a
    sign of life nobody else takes the run.
    """

    target: Target
    store_path: str = field(repr=False)
    thread: str
    until: str | None = None
    single_step: bool = False
    answer: Value = None
    has_answer: bool = False
    answers: Mapping[str, Value] = field(default_factory=dict)
    head: str | None = None
    known: Mapping[str, Value] | None = None
    records: Path = field(kw_only=True)
    business_id: str | None = None
    visits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    on_conflict: str | None = None
    allow: tuple[str, ...] = ()
    lease: float = LEASE_SECONDS
    run: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass(frozen=True, slots=True)
class GraphEnd(RunEnd):
    """How a run of a graph ended: with the checkpoints it stored, and the graph's fingerprint (`graph_fingerprint`)."""

    stored: tuple[str, ...] = ()
    fingerprint: Mapping[str, Value] = field(default_factory=dict)


class _Listener:
    """What is remembered of the lines of one run."""

    def __init__(self, job: GraphJob, on_event: Callable[[Event], None]) -> None:
        self._job, self._on_event = job, on_event
        self._told: dict[str, dict[str, Value]] = {"graph": {}, "stored": {}, "died": {}}
        self.ended: GraphEnd | None = None

    def take(self, line: dict[str, Value]) -> None:
        """One line; an event of the run goes on to whoever listens."""
        if line["event"] in self._told:
            self._told[line["event"]] = line
            return
        event = Event.from_json({"run": self._job.run, "thread": self._job.thread, **line})
        if event.kind == "run_ended":
            stored, known = tuple(self._told["stored"].get("checkpoints", ())), self._told["graph"]["fingerprint"]
            head, status, error = (event.fields[name] for name in ("head", "status", "error"))
            at = Ref(event.thread, "", head)
            self.ended = GraphEnd(event.run, event.thread, status, at, error, stored=stored, fingerprint=known)
        self._on_event(event)

    def missing(self, end: ChildExit) -> ChildFailed:
        """The error of a run that has not told its end."""
        last = self._told["died"]
        exit = ChildExit(last.get("code", end.code), end.last_words)
        words = f"{argument(self._job.thread)} --graph {argument(self._job.target.graph)}"
        hint = f"what it has stored is kept, of parallel tasks too; go on with: tt-debug resume STORE {words}"
        return died(exit, "before the run ended", hint if last.get("began", True) else "")


def run_graph(job: GraphJob, on_event: Callable[[Event], None]) -> GraphEnd:
    """Run it to its end in a child process; ``on_event`` is called on this thread.

    A node that fails is an end too. Raises Conflict when another run of ours drives the thread or its head is not
    ``job.head``, DefinitionChanged when the graph lacks a node that would run next, GraphChanged when it is not
    the known one, Untrusted where its rows name more than the graph has imported, NotFound, UsageError, and ChildFailed
    with its last words.
    """
    listener = _Listener(job, on_event)
    lock = str(lock_of(job.store_path, job.thread))
    wishes = {
        "do": "run",
        "run": job.run,
        "lock": lock,
        "visits": {ns: dict(counts) for ns, counts in job.visits.items()},
        "until": job.until,
        "single_step": job.single_step,
        "answer": job.answer,
        "has_answer": job.has_answer,
        "answers": dict(job.answers),
        "head": job.head,
        "known": job.known,
    }
    child = {**common(job.target, job.store_path, job.thread), **wishes}
    end = drive(child, job.target, listener.take, _owning(job, lock))
    if listener.ended is None:
        raise listener.missing(end)
    return listener.ended


def _owning(job: GraphJob, lock: str) -> dict[str, Value]:
    """What the owner of the run is told beside the driver's job (`graph_keeper`)."""
    target = job.target
    graph = {
        "graph": target.graph,
        "folder": str((target.folder or Path.cwd()).absolute()),
        "python": target.python,
        "env_file": None if target.env_file is None else str(target.env_file.absolute()),
        "trust": list(target.trust),
        "has_config": bool(target.config),
    }
    return {
        "records": str(job.records),
        "lock": lock,
        "thread": job.thread,
        "run": job.run,
        "graph": graph,
        "business_id": job.business_id,
        "until": job.until,
        "on_conflict": job.on_conflict,
        "allow": list(job.allow),
        "lease": job.lease,
    }


def driven(records: RunsElsewhere, thread: str) -> Run | None:
    """The run that somebody works on at this moment, None when there is none."""
    return next((run for run in records.runs(thread) if is_alive(records, run)), None)


def stop_graph(path: Path, thread: str, what: str, *, force: bool = False) -> Run:
    """Ask the thread's run to "pause" or "cancel" after its step; at once where nobody works on it.

    ``force`` takes it over first: its owner's next write is refused. Raises NotFound where the thread has no such run.
    """
    records = open_for_runs(path)
    try:
        active = next((run for run in records.runs(thread) if run.status in RunStatus.ACTIVE), None)
        if active is None:
            raise NotFound(f"no run of ours drives {thread!r}", hint="only runs that tt-debug started can be stopped")
        asked = stop(records, active.run_id, what, force=force)
        if asked.status == RunStatus.RUNNING and asked.owner_pid is not None:
            with suppress(ProcessLookupError):
                os.kill(asked.owner_pid, signal.SIGINT)
        return asked
    finally:
        records.close()
