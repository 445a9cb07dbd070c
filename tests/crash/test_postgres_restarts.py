"""Restart the PostgreSQL server, orderly and as in a crash, under runs and sweeps: every step is there once."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

import stores.postgres_writing
from stores import create_native
from stores.errors import StoreError
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.runs import Run, RunStatus
from tests.crash.forks import KILLED, begun, ended, forked
from tests.crash.test_postgres import opened
from tests.postgres import fresh_database, postgres_server, restart
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.definition.load import load_workflow
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here

__all__ = ["postgres_server"]

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif("TT_DEBUG_TEST_POSTGRES" in os.environ, reason="that server is not ours to restart"),
]

NODES = """
from pathlib import Path

def count(state, ctx):
    def call(key):
        with open(Path(__file__).parent / f"{ctx.thread}.calls", "a") as file:
            file.write(f"{key}\\n")
        return state["n"]
    return {"n": state["n"] + 1, "got": ctx.effect("call", call, state["n"], cls="idempotent")}
"""
MODES = ("fast", "immediate")


@pytest.fixture
def store_url(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        create_native(url)
        yield url


def start(url: str, folder: Path, names: list[str], steps: int) -> None:
    """A pending run of that many steps for each name, on a thread of that name."""
    (folder / "restarts_nodes.py").write_text(NODES)
    edges = [{"when": f"n >= `{steps}`", "to": None}, {"to": "count"}]
    nodes = [{"id": "count", "type": "python", "run": "restarts_nodes:count", "next": edges}]
    (folder / "flow.json").write_text(json.dumps({"workflow_id": "restarts", "version": "1", "nodes": nodes}))
    workflow = load_workflow(folder / "flow.json")
    with closing(opened(url)) as store:
        store.put_definition(workflow.definition())
        for name in names:
            first = NewCheckpoint(Ref(name, "", new_id(-1)), None, {"n": 0}, "input", step=-1, next=("count",))
            store.create_run(Run(name, name, workflow.hash), first)


def persist(url: str, folder: Path, name: str) -> None:
    """Run it to its end, taking it up again whenever the server was away for too long. Writes down what it met."""
    ask = stores.postgres_writing.WriteConnection._ask_for

    def asked(self: Any, commit: str) -> None:
        note("lost in a commit")
        ask(self, commit)
        note("which had landed")

    def note(what: str) -> None:
        with open(folder / f"{name}.met", "a") as file:
            file.write(f"{what}\n")

    stores.postgres_writing.WriteConnection._ask_for = asked  # type: ignore[method-assign]
    while True:
        try:
            run_here(WorkflowJob(url, name, folder=str(folder)), StopFlag(), lambda event: None)
            with closing(opened(url)) as store:
                if store.run(name).status == RunStatus.COMPLETED:
                    return
        except StoreError as error:
            note(type(error).__name__)
            time.sleep(0.02)


def wait_for(url: str, count: int, children: list[int]) -> None:
    """Until so many steps are done. Fails once every worker has ended before."""
    while steps_done(url) < count:
        assert any(os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None for child in children)


def steps_done(url: str) -> int:
    with psycopg.connect(url) as db:
        row = db.execute("SELECT count(*) FROM tt_debug.steps WHERE status = 'completed'").fetchone()
    assert row is not None
    return int(row[0])


def check(url: str, folder: Path, name: str, steps: int) -> None:
    """Gap-free: every step once, each the child of the one before; every call under a key of its own."""
    with closing(opened(url)) as store:
        run = store.run(name)
        assert (run.status, run.hold_reason) == (RunStatus.COMPLETED, None)
        headers = store.headers(name).items[::-1]
        assert [header.parent for header in headers[1:]] == [header.ref for header in headers[:-1]]
        assert [store.load(header.ref).state["n"] for header in headers] == list(range(steps + 1))
        done = Counter(step.ordinal for step in store.steps(name) if step.status == "completed")
        assert done == Counter(range(steps))
        assert store.fault(headers[-1].ref) is None
        effects = {use.effect.key: use.effect for use in store.effects(run_id=name)}
        assert {effect.status for effect in effects.values()} == {"done"}
        assert sorted(effect.result for effect in effects.values()) == list(range(steps))
    assert set((folder / f"{name}.calls").read_text().split()) == set(effects)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("workers", "steps", "restarts"), [(2, 40, 4), pytest.param(4, 400, 26, marks=pytest.mark.soak)]
)
def test_a_server_that_restarts_under_runs_costs_no_step(
    store_url: str, postgres_server: str, tmp_path: Path, workers: int, steps: int, restarts: int
) -> None:
    names = [f"w{number}" for number in range(workers)]
    start(store_url, tmp_path, names, steps)
    children = [begun(lambda name=name: persist(store_url, tmp_path, name), {}) for name in names]
    every = workers * steps // (restarts + 1)
    for number, mode in zip(range(restarts), itertools.cycle(MODES)):
        wait_for(store_url, every * (number + 1), children)
        restart(postgres_server, mode)
    assert [ended(child) for child in children] == [0] * workers
    for name in names:
        check(store_url, tmp_path, name, steps)
    met = Counter(line for file in tmp_path.glob("*.met") for line in file.read_text().splitlines())
    print(f"{restarts} restarts, {workers} × {steps} steps, 0 gaps; met {dict(met)}")  # noqa: T201


def sweep(url: str) -> None:
    words = ["worker", url, "--yes", "--mode", "auto", "--every", "0.1"]
    main(words, Front(lambda screen: 0))


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("runs", "restarts"), [(3, 2), pytest.param(30, 12, marks=pytest.mark.soak)])
def test_a_server_that_restarts_under_a_sweep_strands_no_run(
    store_url: str, postgres_server: str, tmp_path: Path, runs: int, restarts: int
) -> None:
    names = [f"r{number}" for number in range(runs)]
    start(store_url, tmp_path, names, 2)
    for name in names:
        job = WorkflowJob(store_url, name, folder=str(tmp_path))
        kill = {"TT_DEBUG_KILL_AT": "run.step-started"}
        assert forked(lambda job=job: run_here(job, StopFlag(), lambda event: None), kill) == KILLED
    sweeper = begun(lambda: sweep(store_url), {})
    try:
        for number, mode in zip(range(restarts), itertools.cycle(MODES)):
            wait_for(store_url, 1 + 2 * runs * number // restarts, [sweeper])
            restart(postgres_server, mode)
        wait_for(store_url, 2 * runs, [sweeper])
    finally:
        os.kill(sweeper, signal.SIGINT)
        ended(sweeper)
    for name in names:
        check(store_url, tmp_path, name, 2)
    print(f"{restarts} restarts during sweeps of {runs} runs, 0 stranded")  # noqa: T201
