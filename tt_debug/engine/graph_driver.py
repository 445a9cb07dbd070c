"""Drives a user's LangGraph graph, as a script in the user's interpreter: stdlib only, Python 3.9, nothing of ours.

One JSON job on stdin, JSON lines on the pipe in TT_DEBUG_EVENTS_FD; a "refused" line says why nothing was run.
Refuses to fork or edit: it goes on from a thread's newest checkpoint and from no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Tuple  # noqa: UP035 - Python 3.9

if __name__ == "__main__":
    # Our folder leaves the path, so that a module of the user's named like one of ours wins, and stands in for
    # the package that this interpreter does not have.
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _here]
    __package__ = "_tt_debug_engine"
    sys.modules[__package__] = types.ModuleType(__package__)
    sys.modules[__package__].__path__ = [_here]

from .events_pipe import Tell, open_events
from .graph_call import answer, arguments, checked, nothing_to_run, run_config, told_to
from .graph_effects import Effects, Places, install, nowhere
from .graph_fingerprint import fingerprint
from .graph_guard import Guard
from .graph_lock import running_alone
from .graph_owner import Halt, Lost, Owner
from .graph_saver import alone_in_postgres, head_of, writing, writing_async
from .graph_standing import Standing, as_graph, async_only, facts, require_langgraph
from .graph_target import Refused, load, prepare, produce
from .graph_update import update
from .graph_verify import Recorded, Verification

_CONFIG_KEYS = ("configurable", "context", "recursion_limit", "metadata", "tags", "max_concurrency", "run_name")
_EXIT_GRACE = 2.0  # seconds that exit hooks of user code have; a thread left behind must not hold the run's end


World = Tuple[Owner, Places]  # noqa: UP006 - Python 3.9
"""Who owns the run, and which of its nodes asks for an effect."""


class Run:
    """One run: what LangGraph streams, told as events; and whether to stop."""

    def __init__(
        self, job: Mapping[str, Any], tell: Tell, graph: Any, release: str, stop: threading.Event, world: World
    ) -> None:
        self.job, self.graph, self.release = job, graph, release
        self.owner, self.places = world
        self.name: str = job["run"]
        self.guard = Guard(job["trust"])
        self.before = self._standing()
        self.driven = False
        self._tell, self._stop = tell, stop
        self._open: dict[str, tuple[str, int, float]] = {}  # task id -> node, step, start
        self._steps: dict[str, tuple[str, int, float]] = {}  # task id -> node, step, milliseconds it took
        self._stored: list[str] = []  # the checkpoints that are this run's own

    def _standing(self) -> Standing:
        return Standing(self.graph, self.job["store"], self.job["thread"], self.guard)

    def own(self) -> None:
        """Be the thread's only run from now on. Raises Refused where there is one, or has been one since we looked."""
        known, graph = fingerprint(self.graph), self.graph
        self._tell({"event": "graph", "fingerprint": known})
        before = self.before
        standing = {"checkpoint": before.head, "step": before.step, "next": before.next, "nodes": []}
        self.name = self.owner.begin(fingerprint=known, **standing)
        if head_of(graph, self.job["store"], self.job["thread"], self.guard) != before.head:
            self.owner.ask("leave")
            text = f"thread {self.job['thread']!r} has moved on since this run looked at it"
            raise Refused("conflict", text, "look at it again, then resume it")

    def tell(self, kind: str, **fields: Any) -> None:
        at = datetime.now(timezone.utc).isoformat()  # noqa: UP017 - Python 3.9
        self._tell({"event": kind, "run": self.name, "thread": self.job["thread"], "at": at, **fields})

    def take(self, chunk: Mapping[str, Any]) -> bool:
        """One "debug" chunk of the stream. False when the run is to stop before the tasks it announces."""
        kind, payload = chunk["type"], chunk["payload"]
        if kind == "task" and payload["id"] not in self.before.finished:
            if self._stop.is_set():
                return False
            self.owner.ask("start", task=payload["id"], node=payload["name"])
            self._open[payload["id"]] = (payload["name"], chunk["step"], time.monotonic())
            self.tell("step_started", node=payload["name"], step=chunk["step"], attempt=1)
        elif kind == "task_result" and payload["id"] in self._open:
            self._result(payload)
        elif kind == "checkpoint" and payload["config"]["configurable"]["checkpoint_id"] != self.before.head:
            self._stored.append(payload["config"]["configurable"]["checkpoint_id"])
            self._finish(self._stored[-1], list(payload["next"]))
        return True

    def _result(self, payload: Mapping[str, Any]) -> None:
        node, step, started = self._open[payload["id"]]
        error = payload.get("error")
        if isinstance(error, Halt):
            return
        if error:
            self.fail(payload["id"], _said(error) if isinstance(error, BaseException) else str(error))
        elif payload.get("interrupts"):
            del self._open[payload["id"]]
        else:
            self._steps[payload["id"]] = (node, step, round((time.monotonic() - started) * 1000, 3))

    def _finish(self, checkpoint: str, following: list[str]) -> None:
        """The results of the finished tasks are stored: in the superstep's checkpoint, or beside the one before it."""
        nodes = [node for node, _, _ in self._steps.values()]
        for task, (node, step, duration) in self._steps.items():
            self.tell(
                "step_finished", node=node, step=step, checkpoint=checkpoint, duration_ms=duration, next=following
            )
            del self._open[task]
            at = {"checkpoint": checkpoint, "step": step, "next": following, "nodes": nodes}
            self.owner.ask("finish", task=task, **at)
        self._steps = {}

    def fail(self, task: str, error: str) -> None:
        node, _, _ = self._open.pop(task)
        self.owner.ask("fail", task=task, error=error)
        self.tell("step_failed", node=node, attempt=1, error=error, retry_in=None)

    def end(self, error: str | None, *, halted: bool) -> None:
        """Tell what is unfinished, then how the run ended; ``halted`` where a person is asked about an effect."""
        after, stopped = self._standing(), halted or self._stop.is_set()
        self._finish(after.head, after.next)
        if error is not None:
            for task in list(self._open):
                self.fail(task, error)
        elif self.driven and after.head == self.before.head and after.next and not after.questions and not stopped:
            error = f"LangGraph ran nothing, though {', '.join(after.next)} is next"
        for question in after.questions:
            self.tell("waiting", **question)
        self._tell({"event": "stored", "checkpoints": self._stored})
        status = "failed" if error else "waiting" if after.questions else "paused" if after.next else "done"
        self.tell("run_ended", status=status, head=after.head, error=error)


def call(run: Run) -> tuple[Any, dict[str, Any]]:
    """What goes in, and how ``stream`` is called."""
    given, how = answer(run.job, run.before), arguments(run.job, run.graph)
    if not nothing_to_run(run.job, run.before):
        how["config"] = run.before.memories.config(how["config"], run.release, given is not None)
    how["config"]["callbacks"] = told_to(run.graph, run.places.listening())
    return given, how


@contextlib.contextmanager
def told(run: Run) -> Iterator[None]:
    """From the start of a run to its end, whatever the user's code does in between."""
    run.own()
    run.tell("run_started", workflow=run.job["graph"], version=run.release, next=run.before.next, base=run.before.head)
    error, halted = None, False
    try:
        try:
            yield
        except Lost:
            raise
        except Halt:
            halted = True
        except BaseException as raised:  # noqa: BLE001 - the boundary to user code: a node may raise anything
            traceback.print_exception(type(raised), raised, raised.__traceback__)
            error = _said(raised)
        run.end(error, halted=halted)
    except Lost as lost:
        run.tell("run_ended", status="lost", head=run.before.head, error=str(lost))


def _said(error: BaseException) -> str:
    if type(error).__name__ == "GraphRecursionError":
        return f"{str(error).splitlines()[0]} Here: --config '{{\"recursion_limit\": N}}'"
    return f"{type(error).__name__}: {error}"


def run_sync(run: Run) -> None:
    """Drive a graph whose nodes are called."""
    given, how = call(run)
    with told(run):
        if nothing_to_run(run.job, run.before):
            return
        with writing(run.graph, run.job["store"], run.guard, run.owner) as twin:
            run.driven = True
            with contextlib.closing(twin.stream(given, **how)) as stream:
                for chunk in stream:
                    if not run.take(chunk):
                        break


async def run_async(run: Run) -> None:
    """Drive a graph of which something has to be awaited."""
    given, how = call(run)
    with told(run):
        if nothing_to_run(run.job, run.before):
            return
        async with writing_async(run.graph, run.job["store"], run.guard, run.owner) as twin:
            run.driven = True
            stream = twin.astream(given, **how)
            try:
                async for chunk in stream:
                    if not run.take(chunk):
                        break
            finally:
                await stream.aclose()


# --- the job


class Driver:
    """One job, done with whatever the target turns out to be."""

    def __init__(self, job: Mapping[str, Any], tell: Tell) -> None:
        self._job, self._tell, self._release = job, tell, ""
        self._world: World | None = None
        self._record: Any = None  # of a verification
        self._stop = threading.Event()
        signal.signal(signal.SIGINT, lambda *_: self._stop.set())

    def drive(self) -> None:
        """Find the graph, make it where a factory has to, and do the job. Raises Refused."""
        folder, config = Path(self._job["folder"]), self._job["config"]
        strange = [key for key in config if key not in _CONFIG_KEYS]
        if strange:
            raise Refused("usage", f"--config has {', '.join(strange)}", f"it takes: {', '.join(_CONFIG_KEYS)}")
        target = prepare(self._job["graph"], folder, self._job["env_file"])
        if self._job["do"] == "run":
            self._world = Owner.of_this_process(Path(self._job["lock"])), Places(self._job["visits"])
            install(*Effects(*self._world).both)
        elif self._job["do"] == "verify":
            places = Places(self._job["visits"])
            self._record = places, Recorded(places, self._job["effects"])
            install(self._record[1].effect, self._record[1].aeffect)
        else:
            install(nowhere, nowhere)
        self._release = f"langgraph {require_langgraph(self._job['store'])}"
        value = produce(load(target, folder), run_config(self._job))
        if inspect.isawaitable(value) or hasattr(value, "__aenter__"):
            asyncio.run(self._awaited(value))
            return
        with contextlib.ExitStack() as stack:
            graph = as_graph(stack.enter_context(value) if hasattr(value, "__enter__") else value)
            if self._job["do"] == "describe":
                self._describe(graph)
            elif self._job["do"] in ("update", "verify") or async_only(graph):
                asyncio.run(self._run_async(graph))
            else:
                with self._running(graph) as run:
                    run_sync(run)

    async def _awaited(self, value: Any) -> None:
        """With a factory that has to be awaited: its graph runs on the loop that it was made on."""
        async with contextlib.AsyncExitStack() as stack:
            made = await (stack.enter_async_context(value) if hasattr(value, "__aenter__") else value)
            if self._job["do"] == "describe":
                self._describe(as_graph(made))
            else:
                await self._run_async(as_graph(made))

    async def _run_async(self, graph: Any) -> None:
        if self._job["do"] == "run":
            with self._running(graph) as run:
                await run_async(run)
        elif self._job["do"] == "verify":
            await Verification(self._job, self._tell, graph, self._record).run()
        elif self._job["save"]:
            with self._alone():
                await update(self._job, self._tell, graph)
        else:
            await update(self._job, self._tell, graph)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        store, thread = self._job["store"], self._job["thread"]
        with running_alone(Path(self._job["lock"]), thread), alone_in_postgres(store, thread):
            yield

    @contextlib.contextmanager
    def _running(self, graph: Any) -> Iterator[Run]:
        assert self._world is not None
        self._world[0].look()
        with alone_in_postgres(self._job["store"], self._job["thread"]):
            run = Run(self._job, self._tell, graph, self._release, self._stop, self._world)
            checked(graph, self._job, run.before)
            yield run

    def _describe(self, graph: Any) -> None:
        known = {"release": self._release, "fingerprint": fingerprint(graph)}
        self._tell({"event": "facts", **known, **facts(graph, self._job, Guard(self._job["trust"]))})


def main() -> None:
    """Read the job, do it, and leave: what user code left running does not hold the end."""
    job = json.load(sys.stdin)
    tell = open_events()
    try:
        Driver(job, tell).drive()
    except Refused as refusal:
        tell(refusal.line())
    last = threading.Timer(_EXIT_GRACE, os._exit, [0])
    last.daemon = True
    last.start()


if __name__ == "__main__":
    main()
