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
import re
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Our folder leaves the path, so that a module of the user's named like one of ours wins, and stands in for
    # the package that this interpreter does not have.
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _here]
    __package__ = "_tt_debug_engine"
    sys.modules[__package__] = types.ModuleType(__package__)
    sys.modules[__package__].__path__ = [_here]

from .events_pipe import Tell, open_events
from .graph_fingerprint import differences, fingerprint
from .graph_guard import Guard
from .graph_lock import running_alone
from .graph_saver import alone_in_postgres, writing, writing_async
from .graph_standing import Standing, as_graph, async_only, facts, require_langgraph
from .graph_target import Refused, load, prepare, produce
from .graph_update import update

_CONFIG_KEYS = ("configurable", "context", "recursion_limit", "metadata", "tags", "max_concurrency", "run_name")
_EXIT_GRACE = 2.0  # seconds that exit hooks of user code have; a thread left behind must not hold the run's end


class Run:
    """One run: what LangGraph streams, told as events; and whether to stop."""

    def __init__(self, job: Mapping[str, Any], tell: Tell, graph: Any, release: str, stop: threading.Event) -> None:
        self.job, self.graph, self.release = job, graph, release
        self.guard = Guard(job["trust"])
        self.before = self._standing()
        self.driven = False
        self._tell, self._stop = tell, stop
        self._open: dict[str, tuple[str, int, float]] = {}  # task id -> node, step, start
        self._steps: dict[str, tuple[str, int, float]] = {}  # task id -> node, step, milliseconds it took
        self._stored: list[str] = []  # the checkpoints that are this run's own

    def _standing(self) -> Standing:
        return Standing(self.graph, self.job["store"], self.job["thread"], self.guard)

    def tell(self, kind: str, **fields: Any) -> None:
        at = datetime.now(timezone.utc).isoformat()  # noqa: UP017 - Python 3.9
        self._tell({"event": kind, "run": self.job["run"], "thread": self.job["thread"], "at": at, **fields})

    def take(self, chunk: Mapping[str, Any]) -> bool:
        """One "debug" chunk of the stream. False when the run is to stop before the tasks it announces."""
        kind, payload = chunk["type"], chunk["payload"]
        if kind == "task" and payload["id"] not in self.before.finished:
            if self._stop.is_set():
                return False
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
        if payload.get("error"):
            error = payload["error"]
            self.fail(payload["id"], _said(error) if isinstance(error, BaseException) else str(error))
        elif payload.get("interrupts"):
            del self._open[payload["id"]]
        else:
            self._steps[payload["id"]] = (node, step, round((time.monotonic() - started) * 1000, 3))

    def _finish(self, checkpoint: str, following: list[str]) -> None:
        """The results of the finished tasks are stored: in the superstep's checkpoint, or beside the one before it."""
        for task, (node, step, duration) in self._steps.items():
            self.tell(
                "step_finished", node=node, step=step, checkpoint=checkpoint, duration_ms=duration, next=following
            )
            del self._open[task]
        self._steps = {}

    def fail(self, task: str, error: str) -> None:
        node, _, _ = self._open.pop(task)
        self.tell("step_failed", node=node, attempt=1, error=error, retry_in=None)

    def end(self, error: str | None) -> None:
        """Tell what is unfinished, then how the run ended."""
        after, stopped = self._standing(), self._stop.is_set()
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


def run_config(job: Mapping[str, Any]) -> dict[str, Any]:
    """The config on the thread alone, not on a checkpoint: with an id LangGraph runs again what has finished."""
    asked = {key: value for key, value in job["config"].items() if key != "context"}
    own = {key: value for key, value in (asked.get("configurable") or {}).items() if not key.startswith("checkpoint_")}
    return {**asked, "configurable": {**own, "thread_id": job["thread"]}}


def arguments(job: Mapping[str, Any], graph: Any) -> dict[str, Any]:
    """How ``stream`` is called: every step is stored before the next one starts."""
    context = job["config"].get("context")
    offered = inspect.signature(graph.stream).parameters
    given: dict[str, Any] = {"config": run_config(job), "stream_mode": "debug"}
    if context is not None and "context" not in offered:
        raise Refused("usage", "this release of LangGraph has no context", "langgraph 0.6 brought it")
    if context is not None:
        given["context"] = context
    if "durability" in offered:
        given["durability"] = "sync"
    if job["single_step"]:
        given["interrupt_after"] = "*"
    if job["until"] is not None:
        own = graph.interrupt_before_nodes
        given["interrupt_before"] = own if own == "*" else [*own, job["until"]]
    return given


def answer(job: Mapping[str, Any], before: Standing) -> Any:
    """What goes in: nothing, or answers by the id of their question. Refuses an answer that nobody asked for."""
    answers = dict(job["answers"])
    ids = [question["approval"] for question in before.questions]
    if not answers and not job["has_answer"]:
        return None
    from langgraph.types import Command, Interrupt  # not there yet in the first releases of 0.2

    if job["has_answer"]:
        if len(ids) > 1:
            raise Refused("usage", f"{len(ids)} questions are open: {', '.join(ids)}", "answer each by its id")
        if not ids and len(before.next) != 1:
            raise Refused("usage", "there is an answer, and no question is open")
        if not ids:  # a copied checkpoint has the node that asks, and not yet its question
            return Command(resume=job["answer"])
        answers[ids[0]] = job["answer"]
    unknown = [identity for identity in answers if identity not in ids]
    if unknown:
        raise Refused("usage", f"no open question has the id {', '.join(unknown)}", f"open: {', '.join(ids) or 'none'}")
    by_id = hasattr(Interrupt, "interrupt_id") and all(re.fullmatch("[0-9a-f]{32}", identity) for identity in answers)
    # Before langgraph 0.6 an answer by id is forgotten when its task asks again.
    if len(ids) == 1 and not (by_id and hasattr(Interrupt, "id")):
        return Command(resume=answers[ids[0]])
    if by_id:
        return Command(resume=answers)
    raise Refused("usage", f"{len(ids)} questions are open, and this release of LangGraph answers only one")


def nothing_to_run(run: Run) -> bool:
    """Whether the thread stands already where the run would end."""
    before, answered = run.before, run.job["answers"] or run.job["has_answer"]
    # With every task finished nothing is next, but their results are still to be applied.
    ended = not before.next and not before.finished
    return ended or run.job["until"] in before.next or (before.asking and not answered)


def checked(graph: Any, job: Mapping[str, Any], before: Standing) -> None:
    """Refuse what LangGraph would do silently or never, and what nobody has agreed to."""
    if job["head"] not in (None, before.head):
        text = f"thread {job['thread']!r} has moved on since this was planned, to checkpoint {before.head}"
        raise Refused("conflict", text, "look at it again: its application went on with it")
    if before.lost:
        lost = ", ".join(before.lost)
        text = f"{lost} would run next, and this graph has no such node: LangGraph would end the thread silently"
        raise Refused("changed", text, "use the version of the graph that wrote the thread", tuple(before.lost))
    if job["until"] is not None and job["until"] not in graph.nodes:
        nodes = ", ".join(node for node in graph.nodes if not node.startswith("__"))
        raise Refused("usage", f"this graph has no node {job['until']!r}", f"it has: {nodes}")
    changed = differences(job["known"], fingerprint(graph)) if job["known"] is not None else []
    if changed:
        text = f"{job['graph']} has changed since it last ran thread {job['thread']!r}"
        raise Refused("graph", text, "agree to the change, or run the graph as it was", tuple(changed))


def call(run: Run) -> tuple[Any, dict[str, Any]]:
    """What goes in, and how ``stream`` is called."""
    given, how = answer(run.job, run.before), arguments(run.job, run.graph)
    if not nothing_to_run(run):
        how["config"] = run.before.memories.config(how["config"], run.release, given is not None)
    return given, how


@contextlib.contextmanager
def told(run: Run) -> Iterator[None]:
    """From the start of a run to its end, whatever the user's code does in between."""
    run.tell("run_started", workflow=run.job["graph"], version=run.release, next=run.before.next, base=run.before.head)
    error = None
    try:
        yield
    except BaseException as raised:  # noqa: BLE001 - the boundary to user code: a node may raise anything
        traceback.print_exception(type(raised), raised, raised.__traceback__)
        error = _said(raised)
    run.end(error)


def _said(error: BaseException) -> str:
    if type(error).__name__ == "GraphRecursionError":
        return f"{str(error).splitlines()[0]} Here: --config '{{\"recursion_limit\": N}}'"
    return f"{type(error).__name__}: {error}"


def run_sync(run: Run) -> None:
    """Drive a graph whose nodes are called."""
    given, how = call(run)
    with told(run):
        if nothing_to_run(run):
            return
        with writing(run.graph, run.job["store"], run.guard) as twin:
            run.driven = True
            with contextlib.closing(twin.stream(given, **how)) as stream:
                for chunk in stream:
                    if not run.take(chunk):
                        break


async def run_async(run: Run) -> None:
    """Drive a graph of which something has to be awaited."""
    given, how = call(run)
    with told(run):
        if nothing_to_run(run):
            return
        async with writing_async(run.graph, run.job["store"], run.guard) as twin:
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
        self._stop = threading.Event()
        signal.signal(signal.SIGINT, lambda *_: self._stop.set())

    def drive(self) -> None:
        """Find the graph, make it where a factory has to, and do the job. Raises Refused."""
        folder, config = Path(self._job["folder"]), self._job["config"]
        strange = [key for key in config if key not in _CONFIG_KEYS]
        if strange:
            raise Refused("usage", f"--config has {', '.join(strange)}", f"it takes: {', '.join(_CONFIG_KEYS)}")
        target = prepare(self._job["graph"], folder, self._job["env_file"])
        self._release = f"langgraph {require_langgraph(self._job['store'])}"
        value = produce(load(target, folder), run_config(self._job))
        if inspect.isawaitable(value) or hasattr(value, "__aenter__"):
            asyncio.run(self._awaited(value))
            return
        with contextlib.ExitStack() as stack:
            graph = as_graph(stack.enter_context(value) if hasattr(value, "__enter__") else value)
            if self._job["do"] == "describe":
                self._describe(graph)
            elif self._job["do"] == "update" or async_only(graph):
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
        with self._alone():
            run = Run(self._job, self._tell, graph, self._release, self._stop)
            checked(graph, self._job, run.before)
            self._tell({"event": "graph", "fingerprint": fingerprint(graph)})
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
