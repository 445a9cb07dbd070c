"""What the tests of driven graphs share: threads written by stock LangGraph, targets, runs."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from stores.model import Value
from stores.native.sqlite import create_native
from stores.places import state_folder
from tests.applications import run_application
from tt_debug.engine.events import Event
from tt_debug.engine.graph_run import GraphJob, run_graph
from tt_debug.engine.worker import RunEnd
from tt_debug.session.plans import GraphTarget

AGENTS = Path(__file__).parent.parent / "data" / "agents"


def target(graph: str, **how: Any) -> GraphTarget:
    """A target in the folder of the sample agents."""
    return GraphTarget(graph, **{"folder": AGENTS, **how})


KINDS: Final = ("letters:graph", pytest.param("awaited:graph", marks=pytest.mark.soak))
"""A graph that is called, and in the long runs one that is awaited too; some of test_graph_runs ask both every time."""


def started(store: Path, graph: str, thread: str = "t", value: Mapping[str, Value] | None = None, **how: Any) -> Path:
    """A thread of ``module:builder`` begun by stock LangGraph in another process, and left where ``how`` stops it."""
    code = """
import importlib, json, sys
from langgraph.checkpoint.sqlite import SqliteSaver
store, graph, thread, value, how = json.loads(sys.argv[1])
module, _, attr = graph.partition(":")
builder = getattr(importlib.import_module(module), attr)
with SqliteSaver.from_conn_string(store) as saver:
    try:
        builder.compile(checkpointer=saver).invoke(value, {"configurable": {"thread_id": thread}}, **how)
    except ValueError as error:
        print(error)
"""
    job = json.dumps([str(store), graph, thread, value or {"log": ["in"]}, how])
    run_application(code, job, folder=AGENTS)
    return store


@contextmanager
def stock(store: Path, builder: Any) -> Iterator[Any]:
    """The graph as its application has it, on the store."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(str(store)) as saver:
        yield builder.compile(checkpointer=saver)


def stored_log(store: Path, thread: str = "t") -> list[Value]:
    """The log in the newest checkpoint, decoded by LangGraph's own serializer."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    query = (
        "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
        " ORDER BY checkpoint_id DESC LIMIT 1"
    )
    with closing(sqlite3.connect(store)) as connection:
        row = connection.execute(query, (thread,)).fetchone()
    values: list[Value] = JsonPlusSerializer().loads_typed(row)["channel_values"]["log"]
    return values


@dataclass
class Outcome:
    """How a run ended and everything it told."""

    end: RunEnd
    events: list[Event] = field(default_factory=list)

    @property
    def printed(self) -> list[str]:
        return [event.fields["text"] for event in self.events if event.kind == "output"]

    def nodes(self, kind: str = "step_finished") -> list[str]:
        return [event.fields["node"] for event in self.events if event.kind == kind]

    def the(self, kind: str) -> Event:
        [event] = [event for event in self.events if event.kind == kind]
        return event


def records() -> Path:
    """Where the runs of these tests are kept: a copy of an empty file, which takes a tenth of a second to make."""
    path = state_folder() / "tests-runs.sqlite"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_empty())
    return path


@cache
def _empty() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.sqlite"
        create_native(path)
        return path.read_bytes()


def run(store: Path, graph: GraphTarget, on_event: Callable[[Event], None] = lambda _: None, **how: Any) -> Outcome:
    """One run of thread "t" (or ``thread``), in a real child process."""
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        on_event(event)

    job = {"thread": "t", "records": records(), **how}
    end = run_graph(GraphJob(graph, str(store), **job), listen)
    return Outcome(end, events)


def listing(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))
