"""Stop a real process at a write point, let another take its run over, and wake it up: what it writes is refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import stores.leases
import stores.sqlite
from stores.errors import Busy, StoreError
from stores.native.sqlite import NativeStore
from stores.runs import RunStatus
from tests.crash.forks import begun, ended
from tests.crash.scenes import Scene, Told, place, told
from tests.crash.stories import STORIES
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here

__all__ = ["place"]

PARTS = ("first", "second")


@pytest.fixture
def clean(place: Path) -> Told:
    return told(STORIES["question"], place / "clean")


@dataclass
class Worker:
    """A process of its own that works on the scene's run, and what it told by its end."""

    pid: int
    events: Path
    gone: bool = False

    def told(self) -> list[dict[str, Any]]:
        """Wait for its end."""
        ended(self.pid)
        self.gone = True
        return [json.loads(found) for found in self.events.read_text().splitlines()]

    def wait_until_stopped(self) -> bool:
        """False when it ended instead."""
        found = os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        return found is not None and found.si_code == os.CLD_STOPPED


@contextmanager
def worker(scene: Scene, name: str, later: bool = False, **env: str) -> Iterator[Worker]:
    """A worker on the scene's run, an hour ``later`` in the eyes of leases; it is gone after the block."""
    events = scene.folder / f"{name}.events"

    def work() -> None:
        if later:
            clock = stores.leases.boot_clock
            stores.leases.boot_clock = lambda: clock() + 3_600_000
            stores.sqlite.BUSY_SECONDS = 0.05  # nobody waits for a process that does not move
        with open(events, "a", buffering=1) as file:
            job = WorkflowJob(scene.path, "r", folder=str(scene.folder))
            try:
                run_here(job, StopFlag(), lambda event: print(json.dumps(event.to_json()), file=file))
            except StoreError as error:
                refused = {"event": "refused", "class": type(error).__name__, "error": str(error)}
                print(json.dumps(refused), file=file)

    found = Worker(begun(work, env), events)
    try:
        yield found
    finally:
        if not found.gone:  # else its number may be another's by now
            os.kill(found.pid, signal.SIGKILL)
            ended(found.pid)


def end_of(told: list[dict[str, Any]]) -> str:
    """How a worker says that it ended: a status, or the class of what refused it."""
    last = told[-1]
    return str(last["status"] if last["event"] == "run_ended" else last["class"])


def wake_up(before: Scene, expected: Scene, at: str, folder: Path) -> str:
    """Stop a worker at a point, take its run over an hour later, wake it up. What came of it, in a word."""
    scene = before.copy(folder)
    points = str(scene.folder / "points")
    with worker(scene, "zombie", TT_DEBUG_POINTS=points, TT_DEBUG_STOP_AT=at) as zombie:
        assert zombie.wait_until_stopped(), f"{at}: not stopped"
        standing = scene.status()
        with worker(scene, "other", later=True) as other:
            told = other.told()
        if end_of(told) == Busy.__name__:
            assert f"locked by process {zombie.pid}" in told[-1]["error"], at
            taken = "blocked"
        else:
            taken = "taken over" if standing == RunStatus.RUNNING else "begun" if standing == "pending" else "ended"
            assert scene.status() == expected.status(), at
        rows = [scene.rows(table) for table in ("checkpoints", "steps", "inbox")]
        os.kill(zombie.pid, signal.SIGCONT)
        said = end_of(zombie.told())
        if taken == "blocked":
            assert said in ("waiting", "done"), f"{at}: {said}"
        else:
            assert [scene.rows(table) for table in ("checkpoints", "steps", "inbox")] == rows, at
            assert said == {"taken over": "lost", "begun": "Conflict"}.get(taken, said), f"{at}: {taken}, {said}"
    assert scene.rows("pragma_integrity_check") == [("ok",)], at
    assert (scene.status(), scene.state()) == (expected.status(), expected.state()), at
    assert scene.line() == expected.line(), at
    tokens = [token for (token,) in scene.rows("checkpoints", "token", where="token IS NOT NULL")]
    assert tokens == sorted(tokens), at
    shutil.rmtree(scene.folder)
    return taken


def wake_up_at(clean: Told, place: Path, wanted: list[tuple[str, str]]) -> Counter[str]:
    """How often each came of it, over all of these points, each (part, point)."""

    return Counter(
        wake_up(clean.before[part], clean.after[part], at, place / str(number))
        for number, (part, at) in enumerate(wanted)
    )


def test_who_was_stopped_and_taken_over_writes_nothing(clean: Told, place: Path) -> None:
    last = {at.split("#")[0]: (part, at) for part in PARTS for at in clean.points[part]}
    counted = wake_up_at(clean, place, list(last.values()))
    assert counted["taken over"] >= 3
    assert counted["blocked"] >= 3
    assert sum(counted.values()) == len(last)


@pytest.mark.soak
def test_who_was_stopped_anywhere_and_taken_over_writes_nothing(clean: Told, place: Path) -> None:
    wanted = [(part, at) for part in PARTS for at in clean.points[part]]
    counted = wake_up_at(clean, place, wanted)
    print(dict(counted))  # noqa: T201
    assert counted["taken over"] >= 10
    assert sum(counted.values()) == len(wanted)


def test_of_twelve_processes_one_runs_the_run(clean: Told, place: Path) -> None:
    scene = clean.before["first"].copy(place / "race")
    with ExitStack() as stack:
        racing = [stack.enter_context(worker(scene, str(number))) for number in range(12)]
        ends = Counter(end_of(each.told()) for each in racing)
    # Who comes when it waits for an answer already is refused too.
    assert ends == {"waiting": 1, "Conflict": 11}
    assert (scene.status(), scene.state()) == (clean.after["first"].status(), clean.after["first"].state())
    assert scene.ran() == clean.after["first"].ran()
    with closing(NativeStore(Path(scene.path))) as store:
        assert store.run("r").token == 1
    assert not Path(f"{scene.path}.locks").exists()
