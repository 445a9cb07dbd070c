"""Runs beside others on one store: an application that writes, a reader that stays, a person who takes two weeks."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from stores.native.sqlite import NativeStore
from stores.protocol import Writer
from stores.registry import open_store
from stores.runs import RunStatus
from tests.builders import langgraph_file
from tests.crash.forks import KILLED, begun, ended, forgetting, forked
from tests.crash.scenes import RAN, Scene, place
from tests.crash.stories import STORIES
from tests.engine.flows import bench, python
from tt_debug.cli.front import Front
from tt_debug.cli.main import main
from tt_debug.engine.surroundings import StopFlag
from tt_debug.engine.worker import WorkflowJob, run_here
from tt_debug.session.pruning import Policy
from tt_debug.session.session import Session

__all__ = ["place"]

pytestmark = pytest.mark.crash


def application(path: Path, told: Path) -> None:
    """Commits every few milliseconds, keeps a transaction open now and then, and writes down what goes wrong."""
    done = 0
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        while not told.with_suffix(".stop").exists():
            try:
                db.execute("BEGIN IMMEDIATE")
                db.execute("UPDATE notes SET n = n + 1")
                time.sleep(0.3 if done % 20 == 10 else 0.0)
                db.execute("COMMIT")
                done += 1
            except sqlite3.Error as error:
                told.write_text(f"{error}\n")
                return
            time.sleep(0.01)
    told.write_text(str(done))


def written_by(path: Path) -> int:
    """How many commits of the application's are in the file."""
    with closing(sqlite3.connect(path)) as db:
        (count,) = db.execute("SELECT n FROM notes").fetchone()
    return int(count)


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_an_application_that_writes_all_the_time_meets_no_error_of_ours(place: Path, mode: str) -> None:
    path, told = langgraph_file("writes_without_task_path.sqlite", place), place / "told"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("CREATE TABLE notes (n INTEGER)")
        db.execute("INSERT INTO notes VALUES (0)")
    writer = begun(lambda: application(path, told), {})
    try:
        with closing(open_store(str(path), read_only=False)) as store:
            assert isinstance(store, Writer)
            (thread, *others) = [info.thread for info in store.threads().items]
            made = 0
            while made < 40 or written_by(path) <= 5:
                newest = store.headers(thread).items[0]
                assert store.load(newest.ref).state
                store.fork(newest.ref, f"fork {made}")
                made += 1
            forks = [info.thread for info in store.threads().items]
        told.with_suffix(".stop").touch()
        assert ended(writer) == 0
    except BaseException:
        os.kill(writer, signal.SIGKILL)
        raise
    assert len(forks) == 1 + made + len(others)
    assert written_by(path) == int(told.read_text())
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_reader_that_stays_keeps_no_run_from_going_on(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = STORIES["rejection"].begin(place / "run")
    with closing(sqlite3.connect(scene.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        (before,) = reader.execute("SELECT count(*) FROM checkpoints").fetchone()
        assert scene.work() == 0
        assert reader.execute("SELECT count(*) FROM checkpoints").fetchone() == (before,)
        with closing(NativeStore(Path(scene.path))) as store:  # ours are short: they see it at once
            assert len(store.headers("t").items) > before
        main(["doctor", scene.path], Front(lambda screen: 0))
        assert "keep both files together" in capsys.readouterr().out
        monkeypatch.setattr("tt_debug.cli.store_checkup.MUCH_LOG", 100)
        main(["doctor", scene.path], Front(lambda screen: 0))
        assert "a reader that stays in one transaction keeps it growing" in capsys.readouterr().out


def test_an_approval_that_takes_two_weeks_is_kept_and_taken_up_by_another_process(tmp_path: Path) -> None:
    ask = {"id": "ask", "type": "human_task", "next": "b"}
    on = bench(tmp_path, [python("a", "trail", "ask"), ask, python("b", "trail", None)])
    on.start({})
    assert on.go().status == "waiting"
    on.store.close()
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as db, db:
        for table, column in (("checkpoints", "created_at"), ("inbox", "created_at"), ("runs", "created_at")):
            db.execute(f"UPDATE {table} SET {column} = {column} - ?", (14 * 86_400 * 1_000_000,))
    with closing(Session.open(str(tmp_path / "store.sqlite"), read_only=True)) as session:
        (advice,) = session.pruning.advice(Policy(age=timedelta(days=7)))
        assert (advice.freed, advice.checkpoints) == (0, 3)
    scene = Scene(tmp_path)

    def answered() -> None:
        with scene.store() as store:
            store.answer(store.approvals()[0].id, "yes", "Bob")

    assert forked(answered, {}) == 0
    on.store = NativeStore(tmp_path / "store.sqlite", read_only=False)
    assert on.go().status == "done"
    assert on.state() == {"trail": ["a1", "b1"], "ask": "yes"}
    on.store.close()


def test_attempts_are_counted_on_through_a_death_between_them(place: Path) -> None:
    nodes = """
def thrice(state, ctx):
    ran(ctx)
    if (Path(__file__).parent / "ran.txt").read_text().count("A") < 4:
        raise TimeoutError("again")
    return {"attempt": ctx.attempt}
"""
    retry = {"max": 4, "backoff": "fixed", "first": 0}
    flow = [{"id": "A", "type": "python", "run": "crash_nodes:thrice", "next": None, "retry": retry}]
    for number, at in enumerate(("run.step-failed#2", "sqlite.committed#4", "run.step-started#2", "sqlite.begun#5")):
        scene = Scene(place / str(number))
        scene.write("crash_nodes", RAN + nodes, {"workflow_id": "w", "version": "1", "nodes": flow}, {})
        points = {"TT_DEBUG_POINTS": str(place / f"{number} points"), "TT_DEBUG_KILL_AT": at}
        assert scene.work(**points) == KILLED, at
        with forgetting(scene.folder):
            scene.run_here()
        assert scene.ran() == Counter({"A1": 4}), at
        assert scene.status() == RunStatus.COMPLETED, at
        failed = scene.rows("steps", "attempt", "status = 'failed'", order="attempt")
        assert [attempt for (attempt,) in failed] == sorted({attempt for (attempt,) in failed})


@pytest.mark.parametrize(
    "name", ['it\'s "quoted"', "two\nlines\t", "\u202eright to left", "long " * 200, "../../up", "ö😀"]
)
def test_a_thread_of_any_name_is_run_locked_and_shown(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    on = bench(tmp_path, [python(name, "trail", "b"), python("b", "trail", None)])
    on.start({}, name, until=None)
    killed: dict[str, Any] = {"TT_DEBUG_KILL_AT": "run.step-committed"}
    on.store.close()
    scene = Scene(tmp_path)
    job = WorkflowJob(scene.path, f"run-{name}")
    assert forked(lambda: run_here(job, StopFlag(), lambda event: None), killed) == KILLED
    assert {path.name for path in tmp_path.iterdir()} >= {"store.sqlite.locks"}
    assert all(len(path.name) == 32 and path.name.isalnum() for path in Path(f"{scene.path}.locks").iterdir())
    run_here(job, StopFlag(), lambda event: None)
    with closing(NativeStore(Path(scene.path))) as store:
        assert store.load(store.head(name)).state == {"trail": [f"{name}1", "b1"]}
        assert store.run(f"run-{name}").status == RunStatus.COMPLETED
    assert main(["log", scene.path, name], Front(lambda screen: 0)) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1 + 3  # a head, and three checkpoints
    assert "\u202e" not in out
