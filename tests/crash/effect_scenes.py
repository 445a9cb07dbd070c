"""Runs whose effects reach a world outside, in processes that are really killed: forked from a warm one, so that
hundreds of them take a minute.

Owns the workflow, the world and the invariants that hold after every kill; the tests choose where to kill.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stores.effects import EffectClass
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native
from stores.runs import Run, RunStatus
from tt_debug.definition.load import load_workflow
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here

NODES = """
import os
from pathlib import Path

WORLD = Path(__file__).parent / "world.txt"

def world(name):
    def call(key):
        with open(WORLD, "a") as file:
            file.write(f"{name} {key}\\n")
            file.flush()
            os.fsync(file.fileno())
        return {"did": name}
    return call

def known(key):
    lines = WORLD.read_text().splitlines() if WORLD.exists() else []
    return {"did": "act"} if f"act {key}" in lines else None

def act(state, ctx):
    kind = state["cls"]
    if kind == "transactional":
        ctx.tx("CREATE TABLE IF NOT EXISTS orders (n INTEGER)")
        ctx.tx("INSERT INTO orders VALUES (?)", [7])
        return {"acted": "by tx"}
    probe = {"probe": known} if kind == "probe" else {}
    return {"acted": ctx.effect("act", world("act"), {"n": 7}, cls=kind, **probe), "id": len(ctx.uuid())}

def parts(state, ctx):
    kind = "at_most_once" if state["cls"] == "at_most_once" else "idempotent"
    def part(name):
        return lambda: ctx.effect("ask", world(name), name, cls=kind)
    return {"parts": [ctx.substep(name, part(name)) for name in ("one", "two")]}
"""
FLOW: Mapping[str, Any] = {
    "workflow_id": "crash",
    "version": "1",
    "nodes": [
        {"id": "act", "type": "python", "run": "crash_effect_nodes:act", "next": "parts"},
        {"id": "parts", "type": "python", "run": "crash_effect_nodes:parts", "next": "say"},
        {"id": "say", "type": "llm_call", "prompt": "{acted} {parts}", "next": None},
    ],
}
KILLED = -9


@dataclass(frozen=True)
class Scene:
    """One thread in a store of its own, and the world beside it."""

    folder: Path

    @property
    def path(self) -> str:
        return str(self.folder / "store.sqlite")

    def make(self, kind: str) -> None:
        """A pending run."""
        self.folder.mkdir()
        (self.folder / "crash_effect_nodes.py").write_text(NODES)
        (self.folder / "flow.json").write_text(json.dumps(FLOW))
        workflow = load_workflow(self.folder / "flow.json")
        create_native(self.path)
        with closing(NativeStore(Path(self.path), read_only=False)) as store:
            store.put_definition(workflow.definition())
            ref = Ref("t", "", new_id(-1))
            first = NewCheckpoint(ref, None, {"cls": kind}, "input", step=-1, next=(workflow.start,))
            store.create_run(Run("r", "t", workflow.hash), first)

    def copy(self, folder: Path) -> Scene:
        """The same elsewhere; no process has it open."""
        shutil.copytree(self.folder, folder)
        return Scene(folder)

    def work(self, **env: str) -> int:
        """Run the run in a process of its own; how that ended, below 0 the signal that killed it."""
        return forked(lambda: run_here(WorkflowJob(self.path, "r", folder=str(self.folder)), StopFlag(), print), env)

    def resolve(self) -> bool:
        """Say of a held effect what the world knows of it; False when nothing is held."""
        with closing(NativeStore(Path(self.path), read_only=False)) as store:
            held = [asked for asked in store.approvals() if asked.kind == "unknown_effect"]
            for asked in held:
                (key, name) = self.rows("effects", "key, name", where=f"asked = '{asked.id}'")[0]
                lines = [line.split() for line in self.world()]
                did = next((word for word, known in lines if known == key), None)
                store.answer(asked.id, {"as": "retry"} if did is None else {"as": "done", "result": {"did": did}}, "op")
                assert name
        return bool(held)

    def world(self) -> list[str]:
        file = self.folder / "world.txt"
        return file.read_text().splitlines() if file.exists() else []

    def rows(self, table: str, columns: str = "*", where: str = "1", order: str = "rowid") -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
            return db.execute(f"SELECT {columns} FROM {table} WHERE {where} ORDER BY {order}").fetchall()

    def line(self) -> list[tuple[Any, ...]]:
        """Every checkpoint but its id and what was answered: exactly one child each, in the order of the steps."""
        rows = self.rows("checkpoints", "checkpoint_id, parent_id, step, source, nodes, visit, next, state")
        assert [row[1] for row in rows] == [None, *(row[0] for row in rows[:-1])]
        return [row[2:] for row in rows if row[3] != "answer"]

    def orders(self) -> list[tuple[Any, ...]]:
        made = self.rows("sqlite_master", "name", where="name = 'orders'")
        return self.rows("orders", "n") if made else []


def forked(work: Any, env: Mapping[str, str]) -> int:
    """Do it in a copy of this process, which ends there: 0, 1 after an exception, below 0 the signal that killed it."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        signal.alarm(300)  # a copy that hangs ends by itself, and its test fails
        try:
            os.environ.update(env)
            with open(os.devnull, "w") as nowhere:
                sys.stdout = sys.stderr = nowhere
                work()
                code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def finish(scene: Scene, at: str) -> int:
    """Run to the end, as an operator would who never guesses; how often the run was held."""
    for holds in range(8):
        if scene.rows("runs", "status") != [(RunStatus.COMPLETED,)]:
            assert scene.work() == 0, at
        if not scene.resolve():
            return holds
    raise AssertionError(f"{at}: held again and again")


def check(scene: Scene, expected: Scene, history: list[tuple[Any, ...]], kind: str, at: str) -> None:
    """The invariants: nothing lost, nothing twice, nothing changed, and the end of a run that nobody disturbed."""
    assert scene.rows("pragma_integrity_check") == [("ok",)], at
    assert scene.line() == expected.line(), at
    assert scene.rows("checkpoints")[: len(history)] == history, at
    assert scene.rows("runs", "status") == [(RunStatus.COMPLETED,)], at
    assert scene.rows("steps", "1", where="status = 'completed' AND output IS NULL") == [], at
    tokens = [token for (token,) in scene.rows("checkpoints", "token", where="token IS NOT NULL")]
    assert tokens == sorted(tokens), at
    ledgers = [
        found.rows("effects", "key, status, result", where="name <> 'uuid'", order="key") for found in (scene, expected)
    ]
    assert ledgers[0] == ledgers[1], at
    calls = Counter(scene.world())
    assert set(calls) == set(expected.world()), at
    again = (EffectClass.REPEATABLE, EffectClass.IDEMPOTENT)
    allowed = {line for line in calls if kind in again or not (line.startswith("act") or kind == "at_most_once")}
    assert all(count == 1 for line, count in calls.items() if line not in allowed), (at, calls)
    assert scene.orders() == expected.orders(), at
