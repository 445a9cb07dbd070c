"""One thread in a store of its own, which processes work on and are killed at; the end is compared with a clean run's.

Owns the folder, the acts of a story and the invariants after a kill. Whatever may be killed is a process of its own.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import pytest

from stores.errors import Conflict
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.native.sqlite import NativeStore, create_native
from stores.runs import Run
from tests.crash.forks import KILLED, forgetting, forked
from tt_debug.definition.load import load_workflow
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here

DURABLE = ("sqlite.committed", "run.")
"""How points outside of a transaction begin: a kill at each leaves another store."""

RAN = """
from pathlib import Path

def ran(ctx):
    with open(Path(__file__).parent / "ran.txt", "a") as file:
        file.write(f"{ctx.node}{ctx.visit}\\n")
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """In memory where there is such a place: a kill of a process loses nothing of what was written, synced or not."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@dataclass(frozen=True)
class Scene:
    """The store, the workflow and its nodes, in one folder; the run is "r" on the thread "t"."""

    folder: Path

    @property
    def path(self) -> str:
        return str(self.folder / "store.sqlite")

    def write(self, name: str, nodes: str, flow: Mapping[str, Any], state: Mapping[str, Any]) -> None:
        """The workflow, its module ``name``, the store and a pending run."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / f"{name}.py").write_text(nodes)
        (self.folder / "flow.json").write_text(json.dumps(flow))
        workflow = load_workflow(self.folder / "flow.json")
        create_native(self.path)
        with self.store() as store:
            store.put_definition(workflow.definition())
            ref = Ref("t", "", new_id(-1))
            first = NewCheckpoint(ref, None, dict(state), "input", step=-1, next=(workflow.start,))
            store.create_run(Run("r", "t", workflow.hash), first)

    def copy(self, folder: Path) -> Self:
        """The same elsewhere; no process has it open."""
        shutil.copytree(self.folder, folder)
        return type(self)(folder)

    def store(self) -> closing[NativeStore]:
        """Open for writing, for the length of a block."""
        return closing(NativeStore(Path(self.path), read_only=False))

    def run_here(self, **orders: Any) -> None:
        """Run the run in this very process."""
        job = WorkflowJob(self.path, "r", folder=str(self.folder), **orders)
        run_here(job, StopFlag(), lambda event: None)

    def work(self, **env: str) -> int:
        """Run the run in a process of its own; how that ended, below 0 the signal that killed it."""
        return forked(self.run_here, env)

    def status(self) -> str:
        # Not by `rows`: a journal that was left is rolled back in a copy of the store's own, or by a writer.
        with closing(NativeStore(Path(self.path))) as store:
            return store.run("r").status

    def state(self) -> Mapping[str, Any]:
        with closing(NativeStore(Path(self.path))) as store:
            return store.load(store.head("t")).state

    def rows(self, table: str, columns: str = "*", where: str = "1", order: str = "rowid") -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
            return db.execute(f"SELECT {columns} FROM {table} WHERE {where} ORDER BY {order}").fetchall()

    def line(self, thread: str = "t") -> list[tuple[Any, ...]]:
        """Every checkpoint of the thread but its id: exactly one child each, in the order of the steps."""
        columns = "checkpoint_id, parent_id, step, source, nodes, visit, next, state, parent_thread"
        rows = self.rows("checkpoints", columns, f"thread_id = '{thread}'")
        assert [row[1] for row in rows[1:]] == [row[0] for row in rows[:-1]]
        return [row[2:-1] for row in rows]

    def ran(self) -> Counter[str]:
        """How often each visit of each node was begun."""
        file = self.folder / "ran.txt"
        return Counter(file.read_text().split()) if file.exists() else Counter()

    def standing(self) -> tuple[Any, ...]:
        """All that an operator sees of it, whatever number of attempts it took."""
        return (
            [self.line(thread) for (thread,) in self.rows("threads", "thread_id", order="thread_id")],
            self.rows("runs", "status, hold_reason, workflow_hash, error IS NULL"),
            self.rows("inbox", "kind, node, status, answer"),
            self.rows("breakpoints", "place, node, hits"),
            self.rows("effects", "key, status, result", order="key"),
            self.rows("steps", "DISTINCT ordinal, substep", order="ordinal, substep"),
            self.rows("threads", "thread_id, protected", order="thread_id"),
        )


@dataclass(frozen=True)
class Story:
    """A workflow, and what an operator and workers do about a run of it, one act after the other."""

    nodes: str
    flow: Sequence[Mapping[str, Any]]
    acts: Mapping[str, Callable[[Scene], Any]]
    end: str
    points: frozenset[str]
    """Points that only this story passes, or that it is there for."""

    def begin(self, folder: Path) -> Scene:
        """The run, pending."""
        scene = Scene(folder)
        flow = {"workflow_id": "crash", "version": "1", "nodes": list(self.flow)}
        scene.write("crash_nodes", RAN + self.nodes, flow, {})
        return scene


@dataclass(frozen=True)
class Told:
    """A story in which nobody was killed: the scene before and after each act, and the points that the act passes."""

    story: Story
    before: Mapping[str, Scene]
    after: Mapping[str, Scene]
    points: Mapping[str, tuple[str, ...]]


def told(story: Story, folder: Path) -> Told:
    """Tell it once."""
    folder.mkdir(exist_ok=True)
    scene = story.begin(folder / "run")
    before, after, points = {}, {}, {}
    for name in story.acts:
        before[name] = scene.copy(folder / f"{name} before")
        passed = folder / f"{name} points"
        passed.touch()
        assert play(story, scene, name, TT_DEBUG_POINTS=str(passed)) == 0, name
        after[name] = scene.copy(folder / f"{name} after")
        points[name] = numbered(passed)
    assert scene.status() == story.end
    return Told(story, before, after, points)


def play(story: Story, scene: Scene, act: str, **env: str) -> int:
    """Do one act in a process of its own; how that ended, below 0 the signal that killed it."""
    return forked(lambda: story.acts[act](scene), env)


def play_again(story: Story, scene: Scene, act: str) -> None:
    """Do an act whose process was killed, in this one; that it was done by then is no fault."""
    with forgetting(scene.folder), suppress(Conflict):
        story.acts[act](scene)


def numbered(file: Path) -> tuple[str, ...]:
    """The points that were passed, each as name#pass."""
    counted: Counter[str] = Counter()
    found = []
    for name in file.read_text().splitlines():
        counted[name] += 1
        found.append(f"{name}#{counted[name]}")
    return tuple(found)


def kills(whole: Told, every: bool = True) -> list[tuple[str, str]]:
    """Where the acts can be killed, (act, point).

    Without ``every``: the last pass of each point of an act, and of those that are rolled back alike, of the story.
    """
    found = [(act, at) for act, points in whole.points.items() for at in points]
    if every:
        return found
    last: dict[tuple[str, str], tuple[str, str]] = {}
    for act, at in found:
        name = at.partition("#")[0]
        last["" if not name.startswith(DURABLE) else act, name] = (act, at)
    return list(last.values())


def killed_at(whole: Told, act: str, at: str, folder: Path) -> None:
    """Kill the act there, do it again where it is not done, and check that nothing tells it from the clean story."""
    scene, expected, where = whole.before[act].copy(folder), whole.after[act], f"{act}: {at}"
    code = play(whole.story, scene, act, TT_DEBUG_POINTS=str(folder / "points"), TT_DEBUG_KILL_AT=at)
    assert code == KILLED, f"{where}: not killed, {code}"
    assert scene.rows("pragma_integrity_check") == [("ok",)], where
    history, begun = scene.rows("checkpoints"), scene.ran()
    done = scene.rows("steps", "node || visit", "status = 'completed' AND substep = ''")
    if scene.standing() != expected.standing():
        play_again(whole.story, scene, act)
    for found, wanted in zip(scene.standing(), expected.standing(), strict=True):
        assert found == wanted, where
    assert scene.rows("pragma_integrity_check") == [("ok",)], where
    assert scene.rows("checkpoints")[: len(history)] == history, where
    assert all(scene.ran()[name] == begun[name] for (name,) in done), where
    assert set(scene.ran()) == set(expected.ran()), where
    assert scene.rows("steps", "1", "status = 'completed' AND output IS NULL") == [], where
    tokens = [token for (token,) in scene.rows("checkpoints", "token", "token IS NOT NULL AND thread_id = 't'")]
    assert tokens == sorted(tokens), where
    shutil.rmtree(folder)
