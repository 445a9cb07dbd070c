"""The store that the random machine works on, and what is compared with the model and checked after every step."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine, invariant

from stores.codec import json as codec
from stores.native.sqlite import NativeStore, create_native
from tests.crash import machine_nodes
from tests.crash.model import NODES, Place, Row, Thread, way
from tt_debug.definition.load import load_workflow
from tt_debug.engine import recovery
from tt_debug.engine.worker import WorkflowJob


class Watched(RuleBasedStateMachine):
    """Threads, breakpoints and counts as they should be, in a folder of their own."""

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        self.path = self.folder / "store.sqlite"
        (self.folder / "flow.json").write_text(json.dumps({"workflow_id": "any", "version": "1", "nodes": NODES}))
        self.workflow = load_workflow(self.folder / "flow.json")
        create_native(self.path)
        with self.store() as store:
            store.put_definition(self.workflow.definition())
        machine_nodes.CALLS[0] = self.folder / "calls"
        self.threads: dict[str, Thread] = {}
        self.breaks: frozenset[str] = frozenset()
        self.seen: dict[tuple[str, str], tuple[Any, ...]] = {}
        self.repeated = 0
        """How often a worker was stopped in the middle: a call may be made once more for each."""

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def store(self) -> closing[NativeStore]:
        return closing(NativeStore(self.path, read_only=False))

    def pick(self, number: int) -> tuple[str, Thread]:
        name = list(self.threads)[number % len(self.threads)]
        return name, self.threads[name]

    def pick_ready(self, number: int) -> tuple[str, Thread]:
        """One whose run can be run."""
        ready = [(name, thread) for name, thread in self.threads.items() if self.runs(thread)]
        return ready[number % len(ready)]

    @property
    def is_any_ready(self) -> bool:
        return any(map(self.runs, self.threads.values()))

    # --- the model and the store

    def runs(self, thread: Thread) -> bool:
        return thread.place.status in ("pending", "paused", "running")

    def job(self, thread: Thread, single: bool) -> WorkflowJob:
        return WorkflowJob(str(self.path), thread.run, single_step=single, folder=str(self.folder))

    def expected(self, thread: Thread, single: bool) -> list[Place]:
        begun = thread.claims > (thread.place.status == "running")
        return way(thread.place, self.breaks, single, first=not begun)

    def adopt(self, thread: Thread, place: Place) -> None:
        """The run was claimed, and stands there now."""
        thread.claims += thread.place.status in ("pending", "paused")
        thread.place = place

    def rows(self, columns: str = "*", table: str = "checkpoints") -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
            return db.execute(f"SELECT {columns} FROM {table} ORDER BY rowid").fetchall()

    def found(self, name: str, thread: Thread) -> Place:
        rows = [
            Row(source, next(iter(codec.loads(nodes)), None), next(iter(codec.loads(after)), None), codec.loads(state))
            for owner, source, nodes, after, state in self.rows("thread_id, source, nodes, next, state")
            if owner == name
        ]
        (status,) = [status for run, status in self.rows("run_id, status", "runs") if run == thread.run]
        return Place(tuple(rows), status)

    @invariant()
    def the_store_is_as_the_model(self) -> None:
        for name, thread in self.threads.items():
            assert self.found(name, thread) == thread.place

    @invariant()
    def nothing_is_lost_or_done_twice(self) -> None:
        assert self.rows(table="pragma_integrity_check") == [("ok",)]
        rows = self.rows("thread_id, checkpoint_id, parent_thread, parent_id, token, state, checksum, meta")
        known = {row[:2]: row for row in rows}
        assert all(known[key] == row for key, row in self.seen.items())
        self.seen = known
        tokens: dict[str, int] = {}
        heads: dict[str, str | None] = {}
        for thread, id, parent_thread, parent, token, *_ in rows:
            assert parent is None or (parent_thread or thread, parent) in known
            assert thread not in heads or parent == heads[thread]
            heads[thread] = id
            assert token is None or token >= tokens.get(thread, 0)
            tokens[thread] = token or tokens.get(thread, 0)
        self.check_steps()
        self.check_effects()

    def check_steps(self) -> None:
        steps = self.rows("run_id, ordinal, status, output", "steps")
        for thread in self.threads.values():
            mine = [step[1:] for step in steps if step[0] == thread.run]
            done = [ordinal for ordinal, status, _ in mine if status == "completed"]
            assert len(done) == len(set(done))
            assert sorted({ordinal for ordinal, *_ in mine}) == list(range(len({ordinal for ordinal, *_ in mine})))
            assert all(output is not None for _, status, output in mine if status == "completed")

    def check_effects(self) -> None:
        done = Counter(
            (business, visit)
            for business, visit, status in self.rows("business_id, visit, status", "effects")
            if status == "done"
        )
        assert not done or max(done.values()) == 1
        roots = Counter(business for business, _ in done)
        for thread in self.threads.values():
            assert max(roots.values(), default=0) >= thread.visits
        calls = self.folder / "calls"
        counted = Counter(calls.read_text().split() if calls.exists() else ())
        assert sum(counted.values()) - len(counted) <= self.repeated
        assert len(done) <= len(counted)

    @invariant()
    def no_run_is_stranded(self) -> None:
        dead = {thread.run for thread in self.threads.values() if thread.place.status == "running"}
        with closing(NativeStore(self.path)) as store:
            planned = {
                plan.run.run_id for plan in recovery.plans(store, datetime.now(UTC)) if plan.action in ("run", "hold")
            }
            assert planned == dead
            waiting = {asked.run_id for asked in store.approvals()}
        assert waiting == {thread.run for thread in self.threads.values() if thread.place.status == "waiting_human"}
