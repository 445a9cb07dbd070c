"""Stop a real process at a write point, let another take its run over, and wake it up: what it writes is refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from stores.errors import Busy
from stores.native.sqlite import NativeStore
from stores.runs import RunStatus
from tests.crash.test_points import Clean, Scene, clean, copy, line  # noqa: F401  (a fixture)
from tt_debug.engine.child import EVENTS_FD
from tt_debug.engine.worker import WorkflowJob

pytestmark = pytest.mark.crash

PARTS = ("first", "second")
WORKER = "import sys; from tt_debug.engine.worker import main; sys.exit(main())"
LATER = (
    "import stores.sqlite, stores.leases as leases; clock = leases.boot_clock;"
    "leases.boot_clock = lambda: clock() + 3_600_000;"  # an hour later: a lease of half a minute is over
    "stores.sqlite.BUSY_SECONDS = 0.05;"  # nobody waits for a process that does not move
)


@dataclass
class Child:
    """A worker of its own, and what it told by its end."""

    process: subprocess.Popen[bytes]
    events: int

    def told(self) -> list[dict[str, Any]]:
        """Wait for its end."""
        self.process.wait()
        with open(self.events, "rb") as pipe:
            return [json.loads(found) for found in pipe.read().splitlines()]

    def wait_until_stopped(self) -> bool:
        """False when it ended instead."""
        found = os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        return found is not None and found.si_code == os.CLD_STOPPED


@contextmanager
def worker(scene: Scene, code: str = WORKER, **env: str) -> Iterator[Child]:
    """A worker on the scene's run; whatever becomes of it, it is gone after the block."""
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as stdin:
        stdin.write(json.dumps(asdict(WorkflowJob(scene.path, "r", folder=str(scene.folder)))).encode())
        stdin.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(writer,),
            env={**os.environ, EVENTS_FD: str(writer), **env},
        )
    os.close(writer)
    try:
        yield Child(process, reader)
    finally:
        process.kill()
        process.wait()


def end_of(told: list[dict[str, Any]]) -> str:
    """How a worker says that it ended: a status, or the class of what refused it."""
    last = told[-1]
    return str(last["status"] if last["event"] == "run_ended" else last["class"])


def wake_up(before: Scene, expected: Scene, at: str, folder: Path) -> str:
    """Stop a worker at a point, take its run over an hour later, wake it up. What came of it, in a word."""
    scene = copy(before, folder)
    points = str(scene.folder / "points")
    with worker(scene, TT_DEBUG_POINTS=points, TT_DEBUG_STOP_AT=at) as zombie:
        assert zombie.wait_until_stopped(), f"{at}: not stopped"
        standing = scene.status()
        with worker(scene, LATER + WORKER) as other:
            told = other.told()
        if end_of(told) == Busy.__name__:
            assert f"locked by process {zombie.process.pid}" in told[-1]["error"], at
            taken = "blocked"
        else:
            taken = "taken over" if standing == RunStatus.RUNNING else "begun" if standing == "pending" else "ended"
            assert scene.status() == expected.status(), at
        rows = [scene.rows(table) for table in ("checkpoints", "steps", "inbox")]
        zombie.process.send_signal(signal.SIGCONT)
        said = end_of(zombie.told())
        if taken == "blocked":
            assert said in ("waiting", "done"), f"{at}: {said}"
        else:
            assert [scene.rows(table) for table in ("checkpoints", "steps", "inbox")] == rows, at
            assert said == {"taken over": "lost", "begun": "Conflict"}.get(taken, said), f"{at}: {taken}, {said}"
    assert scene.rows("pragma_integrity_check") == [("ok",)], at
    assert (scene.status(), scene.state()) == (expected.status(), expected.state()), at
    assert list(line(scene)) == list(line(expected)), at
    tokens = [token for (token,) in scene.rows("checkpoints", "token", where="token IS NOT NULL")]
    assert tokens == sorted(tokens), at
    shutil.rmtree(scene.folder)
    return taken


def wake_up_at(clean: Clean, tmp_path: Path, wanted: list[tuple[str, str]]) -> Counter[str]:  # noqa: F811
    """How often each came of it, over all of these points, each (part, point)."""

    def one(numbered: tuple[int, tuple[str, str]]) -> str:
        number, (part, at) = numbered
        return wake_up(clean.before[part], clean.after[part], at, tmp_path / str(number))

    with ThreadPoolExecutor(3) as pool:
        return Counter(pool.map(one, enumerate(wanted)))


def test_who_was_stopped_and_taken_over_writes_nothing(clean: Clean, tmp_path: Path) -> None:  # noqa: F811
    last = {at.split("#")[0]: (part, at) for part in PARTS for at in clean.points[part]}
    counted = wake_up_at(clean, tmp_path, list(last.values()))
    assert counted["taken over"] >= 3
    assert counted["blocked"] >= 3
    assert sum(counted.values()) == len(last)


@pytest.mark.soak
def test_who_was_stopped_anywhere_and_taken_over_writes_nothing(clean: Clean, tmp_path: Path) -> None:  # noqa: F811
    wanted = [(part, at) for part in PARTS for at in clean.points[part]]
    counted = wake_up_at(clean, tmp_path, wanted)
    print(dict(counted))  # noqa: T201
    assert counted["taken over"] >= 10
    assert sum(counted.values()) == len(wanted)


def test_of_twelve_processes_one_runs_the_run(clean: Clean, tmp_path: Path) -> None:  # noqa: F811
    scene = copy(clean.before["first"], tmp_path / "race")
    with ThreadPoolExecutor(12) as pool:

        def one(_number: int) -> str:
            with worker(scene) as child:
                return end_of(child.told())

        ends = Counter(pool.map(one, range(12)))
    # Who comes when it waits for an answer already is refused too.
    assert ends == {"waiting": 1, "Conflict": 11}
    assert (scene.status(), scene.state()) == (clean.after["first"].status(), clean.after["first"].state())
    assert scene.ran() == clean.after["first"].ran()
    with closing(NativeStore(Path(scene.path))) as store:
        assert store.run("r").token == 1
    assert not Path(f"{scene.path}.locks").exists()
