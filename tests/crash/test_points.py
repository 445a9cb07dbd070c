"""Kill a real process at every write point of a run, go on in another, and compare with a run nobody disturbed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native
from stores.runs import Run, RunStatus
from tt_debug.definition.load import load_workflow
from tt_debug.engine.child import run_child
from tt_debug.engine.worker import WorkflowJob

pytestmark = pytest.mark.crash

PARTS = ("first", "answer", "second")
"""Up to the question, the answer, and what comes after it."""

NODES = """
from pathlib import Path

def ran(ctx):
    with open(Path(__file__).parent / "ran.txt", "a") as file:
        file.write(f"{ctx.node}{ctx.visit}\\n")

def trail(state, ctx):
    ran(ctx)
    return {"trail": [*state.get("trail", []), f"{ctx.node}{ctx.visit}"]}

def flaky(state, ctx):
    ran(ctx)
    if ctx.attempt == 1:
        raise TimeoutError("once")
    return {"flaky": True}
"""
FLOW: Mapping[str, Any] = {
    "workflow_id": "crash",
    "version": "1",
    "nodes": [
        {
            "id": "A", "type": "python", "run": "crash_nodes:trail",
            "next": [{"when": "length(trail) == `2`", "to": "B"}, {"to": "A"}],
        },
        {"id": "B", "type": "python", "run": "crash_nodes:flaky", "next": "ask", "retry": {"max": 3, "first": 0}},
        {"id": "ask", "type": "human_task", "next": "C"},
        {"id": "C", "type": "python", "run": "crash_nodes:trail", "next": None},
    ],
}  # fmt: skip
ANSWER = """
import sys
from stores.registry import open_store
store = open_store(sys.argv[1], read_only=False)
store.answer(sys.argv[2], "yes", "Ada")
store.close()
"""


@dataclass(frozen=True)
class Scene:
    """One thread in a store of its own. Whatever may be killed happens in a child process."""

    folder: Path

    @property
    def path(self) -> str:
        return str(self.folder / "store.sqlite")

    def make(self) -> None:
        """The workflow, the store and a pending run, with the log still open, as a running application leaves it."""
        (self.folder / "crash_nodes.py").write_text(NODES)
        (self.folder / "flow.json").write_text(json.dumps(FLOW))
        workflow = load_workflow(self.folder / "flow.json")
        create_native(self.path)
        with closing(NativeStore(Path(self.path), read_only=False)) as store:
            store.put_definition(workflow.definition())
            ref = Ref("t", "", new_id(-1))
            first = NewCheckpoint(ref, None, {}, "input", step=-1, next=(workflow.start,))
            store.create_run(Run("r", "t", workflow.hash), first)

    def work(self, **env: str) -> int:
        """Run the run in a child; its exit code."""
        argv = [sys.executable, "-P", "-m", "tt_debug.engine.worker"]
        job = asdict(WorkflowJob(self.path, "r", folder=str(self.folder)))
        return run_child(argv, job, lambda _line: None, {**os.environ, **env}).code

    def answer(self, **env: str) -> int:
        """Answer the open question in a child, if there is one; its exit code."""
        with closing(NativeStore(Path(self.path))) as store:
            asked = store.approvals()
        if not asked:
            return 0
        argv = [sys.executable, "-c", ANSWER, self.path, asked[0].id]
        return subprocess.run(argv, env={**os.environ, **env}, check=False).returncode

    def status(self) -> str:
        with closing(NativeStore(Path(self.path))) as store:
            return store.run("r").status

    def state(self) -> Mapping[str, Any]:
        with closing(NativeStore(Path(self.path))) as store:
            return store.load(store.head("t")).state

    def rows(self, table: str, columns: str = "*", where: str = "1", order: str = "rowid") -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
            return db.execute(f"SELECT {columns} FROM {table} WHERE {where} ORDER BY {order}").fetchall()

    def ran(self) -> Counter[str]:
        """How often each visit of each node was begun."""
        file = self.folder / "ran.txt"
        return Counter(file.read_text().split()) if file.exists() else Counter()


@dataclass(frozen=True)
class Clean:
    """A run that nobody disturbed: the store before and after each part, and the points that the part passes."""

    before: Mapping[str, Scene]
    after: Mapping[str, Scene]
    points: Mapping[str, tuple[str, ...]]


def numbered(file: Path) -> tuple[str, ...]:
    """The points of a part, each as name#pass."""
    counted: Counter[str] = Counter()
    found = []
    for name in file.read_text().splitlines():
        counted[name] += 1
        found.append(f"{name}#{counted[name]}")
    return tuple(found)


def act(scene: Scene, part: str, **env: str) -> int:
    """Do one part of the run in a child process."""
    return scene.answer(**env) if part == "answer" else scene.work(**env)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Clean:
    folder = tmp_path_factory.mktemp("clean")
    scene = Scene(folder / "run")
    scene.folder.mkdir()
    scene.make()
    before, after, points = {}, {}, {}
    for part in PARTS:
        before[part] = copy(scene, folder / f"{part}-before")
        assert act(scene, part, TT_DEBUG_POINTS=str(folder / part)) == 0
        after[part] = copy(scene, folder / f"{part}-after")
        points[part] = numbered(folder / part)
    assert scene.status() == RunStatus.COMPLETED
    return Clean(before, after, points)


def copy(scene: Scene, folder: Path) -> Scene:
    """The same scene elsewhere; no process has it open."""
    shutil.copytree(scene.folder, folder)
    return Scene(folder)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_kill_at_any_point_changes_nothing_in_the_end(clean: Clean, tmp_path: Path, part: str, every: bool) -> None:
    # Every time the last pass of each point; the long runs take all.
    passes = {at.partition("#")[0]: at for at in clean.points[part]}
    chosen = clean.points[part] if every else tuple(passes.values())

    def one(numbered: tuple[int, str]) -> None:
        number, at = numbered
        scene = copy(clean.before[part], tmp_path / str(number))
        code = act(scene, part, TT_DEBUG_POINTS=str(scene.folder / "points"), TT_DEBUG_KILL_AT=at)
        assert code == -9, f"{at}: not killed, {code}"
        go_on(scene, clean.after[part], part, at)
        shutil.rmtree(scene.folder)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(one, enumerate(chosen)))


def go_on(scene: Scene, expected: Scene, part: str, at: str) -> None:
    """Finish the part after the kill; nothing durable is done again or changed, and the end is the clean run's."""
    assert scene.rows("pragma_integrity_check") == [("ok",)], at
    history, ran = scene.rows("checkpoints"), scene.ran()
    done = scene.rows("steps", "node || visit", where="status = 'completed'")
    if scene.status() != expected.status():
        assert act(scene, part) == 0, at
    assert scene.status() == expected.status(), at
    assert scene.state() == expected.state(), at
    assert list(line(scene)) == list(line(expected)), at
    assert scene.rows("checkpoints")[: len(history)] == history, at
    assert all(scene.ran()[name] == ran[name] for (name,) in done), at
    assert set(scene.ran()) == set(expected.ran()), at
    ordinals = [found.rows("steps", "DISTINCT ordinal", order="ordinal") for found in (scene, expected)]
    assert ordinals[0] == ordinals[1], at
    tokens = [token for (token,) in scene.rows("checkpoints", "token", where="token IS NOT NULL")]
    assert tokens == sorted(tokens), at
    assert scene.rows("inbox", "status") == expected.rows("inbox", "status"), at


def line(scene: Scene) -> Iterator[tuple[Any, ...]]:
    """Every checkpoint but its id: exactly one child each, in the order of the steps."""
    rows = scene.rows("checkpoints", "checkpoint_id, parent_id, step, source, nodes, visit, next, state")
    parents = [row[1] for row in rows]
    assert parents == [None, *(row[0] for row in rows[:-1])]
    for row in rows:
        yield row[2:]


def test_the_points_cover_every_transition(clean: Clean) -> None:
    names = {point.split("#")[0] for points in clean.points.values() for point in points}
    assert names >= {
        "sqlite.begun", "sqlite.written", "sqlite.committed", "native.claimed", "native.step-started",
        "native.checkpoint-inserted", "native.step-completed", "native.run-moved", "native.step-failed",
        "native.answered", "native.answer-inserted", "run.step-started", "run.node-returned", "run.step-before-commit",
        "run.step-committed", "run.step-failed", "run.suspend-before-commit", "run.suspended",
    }  # fmt: skip
