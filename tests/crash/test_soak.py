"""Many runs, three workers, and something that kills and stops them at random: all of them end as they should.

``TT_DEBUG_SOAK_RUNS`` says how many runs (1,000; a fifth of that on a server that restarts), ``TT_DEBUG_SOAK_SEED``
which dice. A small part runs every time.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stores import create_native, open_store
from stores.ids import new_id
from stores.model import NewCheckpoint, Ref
from stores.runs import Run, RunStatus
from tests.postgres import fresh_database, postgres_server, restart
from tt_debug.definition.load import load_workflow
from tt_debug.engine.ownership import is_alive
from tt_debug.session.figures import figures

__all__ = ["postgres_server"]

pytestmark = pytest.mark.crash

NODES = """
import time
from pathlib import Path

def trail(state, ctx):
    time.sleep(0.1)  # work, in which it can be met
    with open(Path(__file__).parent / "ran" / state["name"], "a") as file:
        file.write(f"{ctx.node}\\n")
    return {"trail": [*state.get("trail", []), ctx.node]}

def flaky(state, ctx):
    if ctx.attempt % 2:
        raise TimeoutError("once")
    return trail(state, ctx)
"""
LINE = ("a", "b", "c", "d")
LEASE = 1.0
MARK = "TT_DEBUG_SOAK_STORE"
# One worker: sweeps, recovers, runs what is ready, until nothing is left. Its leases are short, so that one that is
# stopped is taken over soon. With a word more each run is a copy of the worker's process, not a fresh interpreter.
WORKER = f"""
import sys
from tests.crash import copies
copies.lease({LEASE})
if len(sys.argv) > 2:
    copies.instead_of_children()
from tt_debug.cli.main import main
sys.exit(main(["worker", sys.argv[1], "--once", "--yes", "--mode", "auto", "--every", "0.1"]))
"""


def prepared(folder: Path, count: int, url: str | None = None) -> str:
    """A store, by default a file, with that many runs waiting, each of four nodes, one of which fails at first."""
    (folder / "ran").mkdir()
    (folder / "soak_nodes.py").write_text(NODES)
    nodes = [
        {
            "id": name, "type": "python", "run": f"soak_nodes:{'flaky' if name == 'c' else 'trail'}",
            "next": following, "retry": {"max": 50, "backoff": "fixed", "first": 0},
        }
        for name, following in zip(LINE, [*LINE[1:], None], strict=True)
    ]  # fmt: skip
    (folder / "flow.json").write_text(json.dumps({"workflow_id": "soak", "version": "1", "nodes": nodes}))
    workflow = load_workflow(folder / "flow.json")
    path = url or str(folder / "store.sqlite")
    create_native(path)
    with opened(path, read_only=False) as store:
        store.put_definition(workflow.definition())
        for number in range(count):
            first = NewCheckpoint(
                Ref(f"t{number}", "", new_id(-1)), None, {"name": f"t{number}"}, "input", step=-1, next=("a",)
            )
            store.create_run(Run(f"r{number}", f"t{number}", workflow.hash), first)
    return path


def opened(path: str, *, read_only: bool = True) -> closing[Any]:
    """The store, for the length of a block."""
    return closing(open_store(path, read_only=read_only))


@contextmanager
def workers(path: str, count: int, copies: bool) -> Iterator[list[subprocess.Popen[bytes]]]:
    """That many workers; a place in the list may be given to another one."""
    found = [_worker(path, copies) for _ in range(count)]
    try:
        yield found
    finally:
        for each in found:
            each.kill()
            each.wait()


def _worker(path: str, copies: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, path, *(["copies"] if copies else [])],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, MARK: path},
    )


def _signal(pid: int, what: signal.Signals, path: str) -> bool:
    """Only to a process of this very soak: a number may have been given to another since."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        if f"{MARK}={path}".encode() not in environment.split(b"\0"):
            return False
        os.kill(pid, what)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    return True


def shake(
    path: str, dice: random.Random, *, copies: bool = False, restart: Callable[[str], None] | None = None
) -> Counter[str]:
    """Kill and stop owners of runs at random until every run has ended. What was done, counted.

    ``restart`` is the server's, where there is one.
    """
    done: Counter[str] = Counter()
    stopped: list[tuple[float, int]] = []
    with workers(path, 3, copies) as busy, opened(path) as store:
        while any(run.status in RunStatus.ACTIVE and not run.hold_reason for run in store.runs()):
            for place, each in enumerate(busy):
                if each.poll() is not None:
                    busy[place] = _worker(path, copies)
            owners = [run.owner_pid for run in store.runs() if is_alive(store, run) and run.owner_pid]
            if owners and dice.random() < 0.4:
                pid = dice.choice(owners)
                what = dice.choice((signal.SIGKILL, signal.SIGSTOP))
                sent = _signal(pid, what, path)
                done[what.name] += sent
                if sent and what is signal.SIGSTOP:
                    stopped.append((time.monotonic() + dice.uniform(0.1, 6 * LEASE), pid))
            if restart is not None and dice.random() < 0.03:
                mode = dice.choice(("fast", "immediate"))
                restart(mode)
                done[f"restarts {mode}"] += 1
            for waking in [each for each in stopped if each[0] <= time.monotonic()]:
                stopped.remove(waking)
                _signal(waking[1], signal.SIGCONT, path)
            time.sleep(dice.uniform(0.0, 0.4))  # how long nothing happens is part of the dice
        for _, pid in stopped:
            _signal(pid, signal.SIGCONT, path)
    return done


def judged(path: str, count: int) -> dict[str, Any]:
    """The invariants after it all, and the figures."""
    with opened(path) as store:
        runs = store.runs()
        assert len(runs) == count
        for run in runs:
            assert run.status == RunStatus.COMPLETED or run.hold_reason, run
            if run.status != RunStatus.COMPLETED:
                continue
            head = store.head(run.thread)
            assert store.load(head).state["trail"] == list(LINE), run
            assert store.fault(head) is None
            headers = store.headers(run.thread).items[::-1]
            assert [header.parent for header in headers[1:]] == [header.ref for header in headers[:-1]]
            ordinals = sorted({step.ordinal for step in store.steps(run.run_id)})
            assert ordinals == list(range(len(LINE)))
        found = figures(store)
    held = sum(bool(run.hold_reason) for run in runs)
    return {
        "runs": count,
        "held": held,
        "recoveries": found.recoveries,
        "taken over": found.taken_over,
        "rate": found.success_rate,
    }


def test_a_few_runs_end_as_they_should_whatever_is_killed(tmp_path: Path) -> None:
    path = prepared(tmp_path, 4)
    done = shake(path, random.Random(7))
    assert judged(path, 4)["runs"] == 4
    assert sum(done.values()) > 0


COUNT = int(os.environ.get("TT_DEBUG_SOAK_RUNS", "1000"))
SEED = int(os.environ.get("TT_DEBUG_SOAK_SEED", "1"))


def report(path: str, count: int, done: Counter[str], began: float) -> None:
    found = judged(path, count)
    print({**found, **done, "minutes": round((time.monotonic() - began) / 60, 1)})  # noqa: T201
    assert done["SIGKILL"] > 0
    assert done["SIGSTOP"] > 0
    assert (found["runs"] - found["held"]) / found["runs"] >= 0.95
    assert found["rate"] >= 0.95
    assert found["taken over"] > 0


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
def test_a_thousand_runs_end_as_they_should_whatever_is_killed(tmp_path: Path) -> None:
    began, path = time.monotonic(), prepared(tmp_path, COUNT)
    report(path, COUNT, shake(path, random.Random(SEED), copies=True), began)


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
def test_so_do_those_on_a_server_that_restarts(postgres_server: str, tmp_path: Path) -> None:
    count = COUNT // 5
    with fresh_database(postgres_server) as url:
        began, path = time.monotonic(), prepared(tmp_path, count, url)
        again = partial(restart, postgres_server)
        done = shake(path, random.Random(SEED), copies=True, restart=again)
        report(path, count, done, began)
        assert done["restarts fast"] + done["restarts immediate"] > 0
