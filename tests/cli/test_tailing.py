"""tail: what is there, then what another process writes, until the head stands as wanted."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from stores import open_store
from stores.errors import Unreachable
from stores.model import STUCK, NewCheckpoint, Ref, Status
from stores.native.sqlite import NativeStore
from tests.builders import native_file
from tests.left_behind import running
from tests.stores.handmade import Row, handmade, uuid
from tt_debug.cli.main import main
from tt_debug.session import tailing
from tt_debug.session.tailing import Pulse, Tail


def new(number: int, status: str = Status.UNFINISHED) -> NewCheckpoint:
    parent = Ref("t", "", f"{number - 1}") if number else None
    following = () if status == Status.DONE else ("a",)
    ref = Ref("t", "", f"{number}")
    return NewCheckpoint(ref, parent, {"n": number}, "step", nodes=("a",), next=following, status=status)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_file(tmp_path / "t.db", [new(0), new(1)])


def add(path: Path, *made: NewCheckpoint) -> None:
    with closing(NativeStore(path, read_only=False)) as store:
        for each in made:
            store.append(each)


def settle(tail: Tail, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the last write lie long enough back: until then it is asked for each time."""
    monkeypatch.setattr(tailing, "time", SimpleNamespace(time_ns=lambda: time.time_ns() + 2_000_000_000))
    while tail.changed():
        assert tail.fresh() == []


def test_bytes_that_are_not_committed_yet_are_no_change_and_their_commit_is_one(tmp_path: Path) -> None:
    """The bytes of a transaction stand in the log before readers see it."""
    path = handmade(tmp_path / "lg.sqlite", [Row(uuid(1))])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA cache_size = 1")
        insert = "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)"
        db.execute(insert, Row(uuid(2)).stored())
        with closing(Tail(str(path), "t")) as tail:
            tail.last(1)
            before = Path(f"{path}-wal").stat().st_size
            db.execute("BEGIN")
            db.executemany(insert, [Row(uuid(number)).stored() for number in range(3, 99)])
            assert Path(f"{path}-wal").stat().st_size > before
            assert not tail.changed()
            db.execute("COMMIT")
            assert [tail.changed() for _ in range(2)] == [True, False]


def test_a_commit_that_left_the_bytes_as_old_and_as_many_is_seen(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that starts over has the size it had, and kernels stamp times by a clock of 4 or 10 ms."""
    with closing(NativeStore(path, read_only=True)) as store:
        pulse, at = Pulse(store, "t"), time.time_ns()
        monkeypatch.setattr(tailing, "_stat", lambda file: (1, 4096, at))
        monkeypatch.setattr(tailing, "time", SimpleNamespace(time_ns=lambda: at + 900_000_000))
        assert [pulse.changed() for _ in range(3)] == [True, False, False]
        add(path, new(2))
        assert [pulse.changed() for _ in range(3)] == [True, False, False]


def finish_the_step(path: Path) -> None:
    """Store what the one task of the head gave, as a runtime does just before the checkpoint that takes it in."""
    with closing(open_store(str(path))) as store:
        (task,) = store.load(store.head("t")).tasks
    with closing(sqlite3.connect(path)) as db, db:
        row = ("t", "", uuid(1), task.id, "", 0, "log", "msgpack", b"\x01")
        columns = "thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value"
        db.execute(f"INSERT INTO writes ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def test_a_step_that_has_just_finished_has_not_failed_until_nothing_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    just_written = [True]
    monkeypatch.setattr(tailing, "_fresh", lambda _: just_written[0])
    path = handmade(tmp_path / "lg.sqlite", [Row(uuid(1), next=("a",))])
    with closing(Tail(str(path), "t")) as tail:
        tail.last(1)
        finish_the_step(path)
        assert tail.changed()
        assert tail.status() == Status.UNFINISHED
        assert not tail.changed()
        just_written[0] = False
        assert [tail.changed() for _ in range(2)] == [True, False]
        assert tail.status() == Status.FAILED
        (row,) = tail.last(1)
        assert (row.status, row.problem) == (Status.FAILED, STUCK)
        just_written[0] = True
        (row,) = tail.last(1)
        assert (row.status, row.problem) == (Status.UNFINISHED, None)


def test_only_what_came_since_the_last_look_is_fresh(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Tail(str(path), "t")) as tail:
        assert [header.ref.id for header in tail.last(1)] == ["1"]
        settle(tail, monkeypatch)
        add(path, new(2), new(3, Status.DONE))
        assert tail.changed()
        assert [header.ref.id for header in tail.fresh()] == ["2", "3"]
        assert tail.fresh() == []
        settle(tail, monkeypatch)
        assert tail.status() == Status.DONE


def test_a_branch_from_long_ago_is_seen(tmp_path: Path) -> None:
    rows = [Row(uuid(n, n), uuid(n - 1, n - 1) if n else None, step=n) for n in range(300)]
    path = handmade(tmp_path / "lg.sqlite", rows)
    with closing(Tail(str(path), "t")) as tail:
        assert len(tail.last(5)) == 5
        late = Row(uuid(500, 3), uuid(2, 2), step=3, source="fork")
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", late.stored())
        assert tail.changed()
        assert [header.ref.id for header in tail.fresh()] == [late.id]


def test_looking_writes_nothing(path: Path) -> None:
    before = (path.read_bytes(), sorted(path.parent.iterdir()))
    with closing(Tail(str(path), "t")) as tail:
        tail.last(10)
        tail.changed()
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == before


def test_it_ends_when_the_head_stands_as_wanted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(path, new(2, Status.DONE))
    assert main(("tail", str(path), "t", "--until", "done", "--limit", "2")) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [["0", "a"], ["1", "a"]]


def test_what_came_just_before_the_end_is_told(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status = Tail.status

    def written_before(tail: Tail) -> str:
        add(path, new(2, Status.DONE))
        return status(tail)

    monkeypatch.setattr(Tail, "status", written_before)
    assert main(("tail", str(path), "t", "--json", "--until", "done")) == 0
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ["0", "1", "2"]


def test_a_checkpoint_that_is_the_head_no_longer_does_not_tell_how_the_thread_stands(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, asked = NativeStore.head, []

    def written_behind(store: NativeStore, thread: str) -> Ref:
        found = head(store, thread)
        if not asked:
            add(path, new(2))  # the head so far is a finished step from now on
        asked.append(found.id)
        return found

    monkeypatch.setattr(NativeStore, "head", written_behind)
    with closing(Tail(str(path), "t")) as tail:
        assert tail.status() == Status.UNFINISHED


def test_it_follows_another_process(path: Path) -> None:
    words = [sys.executable, "-m", "tt_debug", "tail", str(path), "t", "--json", "--until", "done"]
    with running(words, stdout=subprocess.PIPE) as following:
        assert following.stdout is not None
        assert [json.loads(following.stdout.readline())["id"] for _ in range(2)] == ["0", "1"]
        add(path, new(2))
        assert json.loads(following.stdout.readline())["id"] == "2"
        add(path, new(3, Status.DONE))
        assert json.loads(following.stdout.readline())["id"] == "3"
        assert following.wait() == 0


def test_a_thread_that_is_still_to_come_is_waited_for(path: Path) -> None:
    words = [sys.executable, "-m", "tt_debug", "tail", str(path), "later", "--json", "--until", "done"]
    with running(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as following:
        assert following.stderr is not None
        assert "waiting for its first checkpoint" in following.stderr.readline()
        add(path, NewCheckpoint(Ref("later", "", "x"), None, {}, "input", status=Status.DONE))
        out, _ = following.communicate()
        assert json.loads(out)["id"] == "x"


def test_a_folder_that_became_a_file_is_a_store_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with closing(Tail(str(native_file(tmp_path / "there" / "t.db", [new(0)])), "t")) as tail:
        tail.last(1)
        (tmp_path / "there").rename(tmp_path / "away")
        (tmp_path / "there").write_text("")
        with pytest.raises(Unreachable):
            tail.changed()


def test_a_store_that_is_not_there_is_not_waited_for(tmp_path: Path) -> None:
    assert main(("tail", str(tmp_path / "none.db"), "t")) == 3
