"""A run as a child process: `python -m tt_debug.engine.worker` runs it, `run_workflow` starts that and listens.

Owns the job's shape on both sides of the pipe. The child alone holds the run's lock and the user's code.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from stores import errors as store_errors
from stores.errors import StoreError
from stores.leases import LEASE_SECONDS
from stores.model import Ref, Status, Value
from tt_debug import errors as debugger_errors
from tt_debug.engine.child import run_child
from tt_debug.engine.events import Event
from tt_debug.engine.events_pipe import open_events
from tt_debug.engine.lasting import lasting_imports
from tt_debug.engine.surroundings import Clock, Orders, StopFlag, Surroundings
from tt_debug.errors import ChildFailed, DebuggerError

if TYPE_CHECKING:
    from stores.protocol import RunStore


@dataclass(frozen=True, slots=True)
class WorkflowJob:
    """Which run to run, and where it stops: ``until`` as in `tt_debug.engine.until`, or after one step.

    The run exists already and is pending, paused or crashed. ``folder`` is where the workflow's modules are looked
    for, by default the folder of the file that the definition came from. ``linger`` is how many seconds threads
    that a node left running may go on once the run has ended. ``on_conflict``: `stores.effects.OnConflict`.
    ``allow`` are the classes of effects that may be called, all of them when empty. ``lease`` is for how many seconds
    without a sign of life nobody else takes the run. ``seen`` is the run's status and token as whoever gives the job
    saw them: a run that has moved since is refused.
    """

    store_url: str = field(repr=False)  # it may hold a password
    run_id: str
    until: str | None = None
    single_step: bool = False
    folder: str | None = None
    linger: float = 5.0
    replay: Mapping[str, Value] | None = None  # the fields of a `tt_debug.engine.replay.ReplayJob`: nothing is run then
    on_conflict: str | None = None
    allow: tuple[str, ...] = ()
    lease: float = LEASE_SECONDS
    adopt: str | None = None
    seen: tuple[str, int] | None = None
    check_refs: bool = False  # whether servers on the web are asked for what the state refers to there


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended. ``status`` is a `stores.model.Status`; ``head`` the thread's newest checkpoint."""

    run: str
    thread: str
    status: str
    head: Ref | None
    error: str | None = None
    diverged: Mapping[str, Value] | None = field(default=None, kw_only=True)


@dataclass(slots=True)
class _Listener:
    """What the parent remembers of the child's lines."""

    run_id: str
    on_event: Callable[[Event], None]
    thread: str = ""
    head: Ref | None = None
    ended: RunEnd | None = None
    diverged: Mapping[str, Value] | None = None
    refused: Mapping[str, Value] = field(default_factory=dict)

    def take(self, line: dict[str, Value]) -> None:
        if line.get("event") == "refused":
            self.refused = line
            return
        self.thread = line.get("thread", self.thread)
        event = Event.from_json({"run": self.run_id, "thread": self.thread, **line})
        head = event.fields.get("checkpoint") or event.fields.get("base") or event.fields.get("head")
        if isinstance(head, str):
            self.head = Ref(self.thread, "", head)
        if event.kind == "diverged":
            self.diverged = event.fields
        if event.kind == "run_ended":
            status, error = event.fields["status"], event.fields["error"]
            self.ended = RunEnd(event.run, event.thread, status, self.head, error, diverged=self.diverged)
        self.on_event(event)


def run_workflow(job: WorkflowJob, on_event: Callable[[Event], None]) -> RunEnd:
    """Run it in a child process and wait for its end; ``on_event`` is called on this thread.

    Raises what the child refused to start with (a StoreError or DebuggerError). A child that dies in the middle
    ends as crashed, with its last words; the run can be resumed at once.
    """
    listener = _Listener(job.run_id, on_event)
    # -P: a file in the working directory must not take the place of a module of ours.
    argv = [sys.executable, "-P", "-m", "tt_debug.engine.worker"]
    child = run_child(argv, asdict(job), listener.take)
    if listener.refused:
        raise _error_of(listener.refused)
    if listener.ended is not None:
        return listener.ended
    if not listener.thread:
        raise ChildFailed(f"the run could not start (exit {child.code}): {child.last_words or 'it said nothing'}")
    why = f"the process of the run died ({_death(child.code)})"
    if child.code > 0 and child.last_words:  # a killed process had no time for last words; these were prints
        why = f"{why}: {child.last_words}"
    ended = {"status": Status.CRASHED, "head": listener.head.id if listener.head else None, "error": why}
    on_event(Event("run_ended", job.run_id, listener.thread, datetime.now(UTC).isoformat(), ended))
    return RunEnd(job.run_id, listener.thread, Status.CRASHED, listener.head, why)


def _death(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit {code}"


def _error_of(line: Mapping[str, Value]) -> StoreError | DebuggerError:
    """The error that the child told of, as the class it had there."""
    name, text, hint = line["class"], line["error"], line["hint"]
    if name == "DefinitionError":
        return debugger_errors.DefinitionError(text, tuple(line["problems"]), hint=hint)
    for module in (store_errors, debugger_errors):
        kind = getattr(module, name, None)
        if isinstance(kind, type) and issubclass(kind, StoreError | DebuggerError):
            return kind(text, hint=hint)
    return ChildFailed(text, hint=hint)


def main() -> int:
    """The child: read the job from stdin, run it, write events to the pipe. 0 unless it was refused."""
    stop = StopFlag()
    stop.listen()
    write = open_events()
    job = WorkflowJob(**json.load(sys.stdin))
    try:
        run_here(job, stop, lambda event: write(event.to_json()))
    except (StoreError, DebuggerError) as error:
        problems = getattr(error, "problems", ())
        write(
            {
                "event": "refused", "class": type(error).__name__, "error": str(error), "hint": error.hint,
                "problems": list(problems),
            }
        )  # fmt: skip
        return 1
    _leave(job.linger)
    return 0


def _leave(linger: float) -> None:
    """Let the interpreter end as it does, but wait for threads that user code left behind only so long."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        main = threading.main_thread()
        names = ", ".join(each.name for each in threading.enumerate() if each is not main and not each.daemon)
        if names:
            print(f"left running by a node, and ended with the run: {names}", file=sys.stderr)  # noqa: T201
            atexit._run_exitfuncs()
            os._exit(0)

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, linger)


def run_here(job: WorkflowJob, stop: StopFlag, tell: Callable[[Event], None]) -> None:
    """Run the job in this very process, which is then the run's owner. Raises what refuses it."""
    with lasting_imports():
        from stores.registry import open_store
        from tt_debug.definition.load import load_body
        from tt_debug.engine.gate import let_pass
        from tt_debug.engine.nodes import look_beside
        from tt_debug.engine.ownership import Heartbeat, claimed
        from tt_debug.engine.patience import patiently
        from tt_debug.engine.runner import Runner
        from tt_debug.engine.until import parse_until

    if job.replay is not None:
        _replay_here(job, tell)
        return
    store = _executor(open_store(job.store_url, read_only=False), job.store_url)
    try:
        run = store.run(job.run_id)
        definition = store.definition(job.adopt or run.workflow_hash)
        workflow = load_body(definition.body, definition.origin)
        until = job.until or run.until
        parse_until(until, workflow)
        origin = Path(definition.origin).parent if definition.origin else None
        look_beside(job.folder or (str(origin) if origin else None))
        if job.seen is not None:  # as JSON it is a list
            run = replace(run, status=job.seen[0], token=job.seen[1])
        taken = claimed(store, run, lease=job.lease, on_conflict=job.on_conflict)
        with taken as mine, Heartbeat(store, mine, job.lease) as heart:
            around = Surroundings(store, tell, stop, Clock(store.time()), heart.prolong)
            passed = patiently(around.clock, lambda: let_pass(mine, around, job.adopt, check_refs=job.check_refs))
            if passed is not None:
                orders = Orders(until, job.single_step, tuple(job.allow))
                Runner(store.owned(mine.run_id, mine.token), passed, orders, around).go()
    finally:
        store.close()


def _replay_here(job: WorkflowJob, tell: Callable[[Event], None]) -> None:
    from stores.protocol import Writer
    from stores.registry import open_store
    from tt_debug.definition.load import load_body
    from tt_debug.engine.nodes import look_beside
    from tt_debug.engine.replay import Replay, ReplayJob

    asked = ReplayJob(**dict(job.replay or {}))
    store = _executor(open_store(job.store_url, read_only=True), job.store_url)
    scratch = open_store(asked.scratch, read_only=False) if asked.scratch else None
    try:
        definition = store.definition(asked.definition)
        look_beside(job.folder or (str(Path(definition.origin).parent) if definition.origin else None))
        workflow = load_body(definition.body, definition.origin)
        Replay(store, workflow, asked, tell).go(scratch if isinstance(scratch, Writer) else None)
    finally:
        store.close()
        if scratch is not None:
            scratch.close()


def _executor(store: object, url: str) -> RunStore:
    from stores.errors import Unsupported
    from stores.protocol import RunStore

    if not isinstance(store, RunStore):
        raise Unsupported(f"{url} keeps no runs: only a native store does", hint="run into a new file")
    return store


if __name__ == "__main__":
    sys.exit(main())
