"""What the executor's tests share: a native store in a folder, a workflow file, a run, a clock that never waits."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native
from stores.runs import Run
from stores.supervision import Takeover
from tt_debug.definition.load import load_workflow
from tt_debug.definition.workflow import Workflow
from tt_debug.engine.effects import Entry
from tt_debug.engine.events import Event
from tt_debug.engine.retry import FatalError
from tt_debug.engine.runner import Ending, Runner
from tt_debug.engine.surroundings import Clock, Orders, StopFlag, Surroundings

HERE = "tests.engine.sample_nodes"


class FakeClock(Clock):
    """Sleeping moves it on at once; what was slept is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.time = datetime(2026, 1, 1, tzinfo=UTC)
        self.slept = 0.0

    def now(self) -> datetime:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.time += timedelta(seconds=seconds)


class NoLedger:
    """Effects of a node that is called outside of a run: nothing is on record, nothing is kept."""

    def enter(self, name: str, request: Any, kind: str) -> Entry:
        return Entry(name, False)

    def outcome(self, entry: Entry) -> Any:
        return contextlib.nullcontext()

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        return make()

    def played(self, name: str, prompt: str) -> Any:
        raise FatalError(f"no answer to {prompt} is on record")

    def statement(self, sql: str, params: list[Any]) -> None:
        raise FatalError("there is no transaction")

    def kept(self, request: Any, run: Callable[[], Any]) -> Any:
        return run()

    def part(self, name: str, run: Callable[[], Any]) -> Any:
        return run()


@dataclass
class Bench:
    """One store and one workflow, run inside the test's own process."""

    folder: Path
    store: NativeStore
    workflow: Workflow
    clock: FakeClock = field(default_factory=FakeClock)
    events: list[Event] = field(default_factory=list)
    stop: StopFlag = field(default_factory=StopFlag)

    def start(self, input: Mapping[str, Any], thread: str = "t", **fields: Any) -> Run:
        """A pending run of a new thread; its id is ``run-<thread>``."""
        self.store.put_definition(self.workflow.definition())
        ref = Ref(thread, "", new_id(-1))
        first = NewCheckpoint(ref, None, dict(input), "input", step=-1, next=(self.workflow.start,))
        run = Run(f"run-{thread}", thread, self.workflow.hash, base=ref, head=ref, **fields)
        return self.store.create_run(run, first)

    def go(
        self,
        run_id: str = "run-t",
        until: str | None = None,
        single_step: bool = False,
        on_conflict: str | None = None,
    ) -> Ending:
        """Claim the run and run it until it stops."""
        before = self.store.run(run_id)
        takeover = Takeover(before.token, "the test says so")
        run = self.store.claim(run_id, "test", 1, on_conflict, takeover=takeover)
        around = Surroundings(self.store, self.events.append, self.stop, self.clock)
        return Runner(run, self.workflow, Orders(until, single_step), around).go()

    def state(self, thread: str = "t") -> dict[str, Any]:
        """The state at the thread's head."""
        return dict(self.store.load(self.store.head(thread)).state)

    def kinds(self) -> list[str]:
        """The kinds of the events so far."""
        return [event.kind for event in self.events]


def write_flow(folder: Path, nodes: Sequence[Mapping[str, Any]], **top: Any) -> Path:
    """A workflow file of these nodes; ``run`` without a module names a function of `sample_nodes`."""
    written = [
        {**node, "run": f"{HERE}:{node['run']}"} if ":" not in node.get("run", ":") else dict(node) for node in nodes
    ]
    file = folder / "flow.json"
    file.write_text(json.dumps({"workflow_id": "flow", "version": "1", "nodes": written, **top}))
    return file


def bench(folder: Path, nodes: Sequence[Mapping[str, Any]], **top: Any) -> Bench:
    """A fresh native store beside the workflow's file."""
    workflow = load_workflow(write_flow(folder, nodes, **top))
    create_native(folder / "store.sqlite")
    return Bench(folder, NativeStore(folder / "store.sqlite", read_only=False), workflow)


def python(id: str, run: str, next: Any, **fields: Any) -> dict[str, Any]:
    """A python node."""
    return {"id": id, "type": "python", "run": run, "next": next, **fields}


def line(*names: str, **fields: Any) -> list[dict[str, Any]]:
    """Nodes that leave their trail, one after the other."""
    following = [*names[1:], None]
    return [python(name, "trail", after, **fields) for name, after in zip(names, following, strict=True)]


def log_of(on: Bench) -> list[tuple[str, int, str]]:
    return [(step.node, step.attempt, step.status) for step in on.store.steps("run-t")]
