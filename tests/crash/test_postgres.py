"""Kill a run on a PostgreSQL store at its write points; the server frees its lock, and another process goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from stores import create_native, open_store
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.protocol import RunStore
from stores.runs import Run, RunStatus
from tests.crash.forks import KILLED, forked
from tests.crash.scenes import numbered
from tests.pooler import pooler
from tests.postgres import fresh_database, postgres_server
from tt_debug.definition.load import load_workflow
from tt_debug.engine.ownership import is_alive
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here

__all__ = ["postgres_server"]

pytestmark = pytest.mark.crash

NODES = """
import os
import psycopg

def add(state, ctx):
    if "END_SESSIONS_OF" in os.environ:
        with psycopg.connect(os.environ["END_SESSIONS_OF"], autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE application_name = 'tt-debug' AND datname = current_database()"
            )
    return {"trail": [*state.get("trail", []), ctx.node]}
"""
FLOW = """
workflow_id: pair
version: "1"
nodes:
  - {id: one, type: python, run: "pair_nodes:add", next: two}
  - {id: two, type: python, run: "pair_nodes:add", next: null}
"""


@pytest.fixture(scope="module")
def store_url(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        create_native(url)
        yield url


def opened(url: str) -> Any:
    store = open_store(url, read_only=False)
    assert isinstance(store, RunStore)
    return store


def start(url: str, folder: Path, name: str) -> None:
    """A pending run of that name, on a thread of that name."""
    (folder / "pair_nodes.py").write_text(NODES)
    (folder / "pair.yaml").write_text(FLOW)
    workflow = load_workflow(folder / "pair.yaml")
    with closing(opened(url)) as store:
        store.put_definition(workflow.definition())
        first = NewCheckpoint(Ref(name, "", new_id(-1)), None, {}, "input", step=-1, next=(workflow.start,))
        store.create_run(Run(name, name, workflow.hash), first)


def work(url: str, folder: Path, name: str, **env: str) -> int:
    """Run it in a process of its own; its exit code."""
    job = WorkflowJob(url, name, folder=str(folder))
    return forked(lambda: run_here(job, StopFlag(), lambda event: None), env)


def locks(url: str) -> int:
    with psycopg.connect(url) as db:
        row = db.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_kill_at_a_write_point_changes_nothing_in_the_end(store_url: str, tmp_path: Path, every: bool) -> None:
    clean = f"clean {every}"  # the two forms share a store
    start(store_url, tmp_path, clean)
    assert work(store_url, tmp_path, clean, TT_DEBUG_POINTS=str(tmp_path / "clean points")) == 0
    passed = numbered(tmp_path / "clean points")
    assert {at.split("#")[0] for at in passed} >= {
        "postgres.begun", "postgres.written", "postgres.committed", "native.claimed", "native.checkpoint-inserted",
        "native.run-moved", "run.node-returned", "run.step-committed",
    }  # fmt: skip
    # Every time the last pass of each point; the long runs take all.
    for at in passed if every else {at.partition("#")[0]: at for at in passed}.values():
        thread = f"{at} {every}"
        start(store_url, tmp_path, thread)
        points = str(tmp_path / f"{at} points")
        assert work(store_url, tmp_path, thread, TT_DEBUG_POINTS=points, TT_DEBUG_KILL_AT=at) == KILLED, at
        while locks(store_url):
            pass  # the server notices that the process is gone
        with closing(opened(store_url)) as store:
            history = [header.ref for header in store.headers(thread).items]
            done = store.run(thread).status == RunStatus.COMPLETED
        assert done or work(store_url, tmp_path, thread) == 0, at
        with closing(opened(store_url)) as store:
            assert store.run(thread).status == RunStatus.COMPLETED, at
            headers = store.headers(thread).items
            assert [header.ref for header in headers[-len(history) :]] == history, at
            assert [header.nodes for header in headers] == [("two",), ("one",), ()], at
            assert store.load(store.head(thread)).state == {"trail": ["one", "two"]}, at
            assert sum(step.status == "completed" for step in store.steps(thread)) == 2, at


def test_a_run_and_its_takeover_need_nothing_that_a_transaction_pooler_forgets(store_url: str, tmp_path: Path) -> None:
    with pooler(store_url) as through:
        start(through.url, tmp_path, "pooled")
        points = str(tmp_path / "points")
        assert (
            work(through.url, tmp_path, "pooled", TT_DEBUG_POINTS=points, TT_DEBUG_KILL_AT="postgres.written#2") == -9
        )
        with closing(opened(through.url)) as store:
            assert is_alive(store, store.run("pooled")) is False
        assert work(through.url, tmp_path, "pooled") == 0
        with closing(opened(through.url)) as store:
            assert store.run("pooled").status == RunStatus.COMPLETED
            assert store.run("pooled").recoveries == 1
            assert store.load(store.head("pooled")).state == {"trail": ["one", "two"]}
    assert through.transactions > 20


def test_sessions_that_an_administrator_ends_in_the_middle_cost_nothing(store_url: str, tmp_path: Path) -> None:
    start(store_url, tmp_path, "ended")
    assert work(store_url, tmp_path, "ended", END_SESSIONS_OF=store_url) == 0
    with closing(opened(store_url)) as store:
        assert (store.run("ended").status, store.run("ended").recoveries) == (RunStatus.COMPLETED, 0)
        assert [header.nodes for header in store.headers("ended").items] == [("two",), ("one",), ()]
        assert [step.status for step in store.steps("ended")] == ["completed", "completed"]
