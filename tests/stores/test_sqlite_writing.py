"""Writing to SQLite files: one locked transaction, bounded waits, nothing made beside what is not there."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

import stores.locks
import stores.sqlite
from stores import open_store
from stores.conformance import folder_as_it_is
from stores.errors import Busy, Conflict, Corrupt, Unreachable
from stores.locks import FileLock
from stores.sqlite import foreign_lock, open_reading, open_writing
from tests.builders import native_file, table_file
from tests.left_behind import running
from tests.stores.peers import INSERT, count, peer


def test_an_error_in_a_transaction_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db")
    with closing(open_writing(path, tmp_path / "lock")) as writing, closing(open_reading(path)) as reader:
        with pytest.raises(Conflict), writing.transaction() as db:  # noqa: PT012 (the first write is what must go)
            db.execute(INSERT)
            db.execute("CREATE UNIQUE INDEX one_of_each ON history (run)")
        assert count(reader) == 8
        with writing.transaction() as db:
            db.execute(INSERT)
        assert count(reader) == 9


def test_writing_makes_no_file(tmp_path: Path) -> None:
    writing = open_writing(tmp_path / "absent.db", tmp_path / "lock")
    with pytest.raises(Unreachable), writing.transaction():
        pass
    writing.close()
    assert not (tmp_path / "absent.db").exists()


def test_a_file_that_was_emptied_since_the_last_write_is_not_written_to(tmp_path: Path) -> None:
    path = table_file(tmp_path / "a.sqlite")
    with closing(open_writing(path, tmp_path / "lock")) as writing:
        with writing.transaction() as db:
            db.execute(INSERT)
        os.truncate(path, 0)
        with pytest.raises(Corrupt, match="is an empty file"), writing.transaction() as db:
            db.execute(INSERT)


def test_a_lock_that_is_held_is_named_after_a_bounded_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores.sqlite, "BUSY_SECONDS", 0.05)
    path = table_file(tmp_path / "app.db", journal_mode="wal")
    lock = FileLock(tmp_path / "lock")
    lock.take(0)
    with closing(open_writing(path, tmp_path / "lock")) as writing:
        with pytest.raises(Busy, match=f"process {os.getpid()}"), writing.transaction():
            pass
        lock.free()
        with peer(path) as other:
            other("BEGIN IMMEDIATE")
            with pytest.raises(Busy, match="locked by another process"), writing.transaction():
                pass
            other("COMMIT")
            with writing.transaction() as db:
                db.execute(INSERT)
    lock.close()


def test_who_never_finds_a_lock_free_gets_it_by_the_order_of_coming(
    unlucky: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    lock.take(60)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(other.take, 60)
        lock.free()
        waiting.result()
    monkeypatch.undo()
    with pytest.raises(Busy):
        lock.take(0)
    lock.close()
    other.close()


def test_who_queues_for_a_lock_gets_it_when_its_holder_is_killed(unlucky: None, tmp_path: Path) -> None:
    holder = (
        "import sys\n"
        "from pathlib import Path\n"
        "from stores.locks import FileLock\n"
        "lock = FileLock(Path(sys.argv[1]))\n"
        "lock.take(0)\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    argv = [sys.executable, "-c", holder, str(tmp_path / "lock")]
    with running(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child, ThreadPoolExecutor() as pool:
        assert child.stdout is not None
        assert child.stdout.readline() == "locked\n"
        lock = FileLock(tmp_path / "lock")
        waiting = pool.submit(lock.take, 60)
        child.kill()
        waiting.result()
        lock.close()


def test_who_waited_too_long_for_a_lock_does_not_get_it_afterwards(unlucky: None, tmp_path: Path) -> None:
    lock, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    lock.take(60)
    files = len(os.listdir("/dev/fd"))
    with pytest.raises(Busy, match=f"process {os.getpid()}"):
        other.take(0.001)
    lock.free()
    nobody_queues()
    assert len(os.listdir("/dev/fd")) == files
    for each in (lock, other):
        each.take(60)
        each.close()


@pytest.mark.parametrize("when", ["as it begins to", "while it waits"])
def test_who_is_interrupted_while_it_waits_for_a_lock_does_not_get_it_afterwards(
    unlucky: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    lock, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    lock.take(60)
    if when == "while it waits":
        monkeypatch.setattr(concurrent.futures, "wait", interrupted)
    else:
        start = threading.Thread.start
        monkeypatch.setattr(threading.Thread, "start", lambda thread: (start(thread), interrupted()))
    with pytest.raises(KeyboardInterrupt):
        other.take(60)
    lock.close()
    nobody_queues()
    monkeypatch.undo()
    lock.take(0)
    lock.close()


@pytest.fixture
def unlucky(monkeypatch: pytest.MonkeyPatch) -> None:
    """No try at a lock meets the moment in which it is free."""
    monkeypatch.setattr(stores.locks, "_try", lambda fd: False)
    monkeypatch.setattr(stores.locks, "TRYING", 0.0)


def interrupted(*_: object) -> None:
    """What Ctrl-C does to whoever waits."""
    raise KeyboardInterrupt


def nobody_queues() -> None:
    """Return once no thread of this process stands in a queue any more."""
    for thread in threading.enumerate():
        if thread.name == "lock":
            thread.join()


def test_the_last_to_close_leaves_no_log_behind(tmp_path: Path) -> None:
    path = native_file(tmp_path / "native.sqlite")
    assert sorted(folder_as_it_is(tmp_path)) == ["native.sqlite", "native.sqlite.wlock"]
    with closing(open_store(str(path), read_only=False)) as store:
        store.fork(store.head("trip"), "fork")  # type: ignore[attr-defined]
        assert store.head("fork").thread == "fork"
    assert sorted(folder_as_it_is(tmp_path)) == ["native.sqlite", "native.sqlite.wlock"]


def test_a_strangers_file_is_locked_in_our_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    lock = foreign_lock(tmp_path / "app.db")
    assert lock.is_relative_to(tmp_path / "home")
    assert lock == foreign_lock(tmp_path / "x" / ".." / "app.db")
    assert lock != foreign_lock(tmp_path / "other.db")


def test_looking_does_not_drop_the_locks_of_this_process(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db")
    with ExitStack() as stack:
        writing = stack.enter_context(closing(open_writing(path, tmp_path / "lock")))
        other = stack.enter_context(peer(path))
        with writing.transaction() as db:
            db.execute(INSERT)
            with closing(open_reading(path)) as reader:
                assert count(reader) == 8
            assert "locked" in other("BEGIN IMMEDIATE")
        assert other("BEGIN IMMEDIATE") == "[]"


def test_a_lock_let_go_is_free_though_a_forked_copy_of_its_holder_lives(tmp_path: Path) -> None:
    lock, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    lock.take(0)
    with forked_copy(lambda: None):
        lock.close()
        other.take(0)
    other.close()


def test_a_forked_copy_cannot_let_go_of_its_holders_lock(tmp_path: Path) -> None:
    lock, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    lock.take(0)
    with forked_copy(lambda: (lock.free(), lock.close())), pytest.raises(Busy):
        other.take(0)
    lock.close()


def test_a_holder_that_dies_lets_go_though_a_forked_copy_of_it_lives(tmp_path: Path) -> None:
    holder = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from stores.locks import FileLock\n"
        "lock = FileLock(Path(sys.argv[1]))\n"
        "lock.take(0)\n"
        "if os.fork(): os._exit(0)\n"
        "print('alive', flush=True)\n"
        "sys.stdin.read()\n"
    )
    argv = [sys.executable, "-c", holder, str(tmp_path / "lock")]
    with running(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as copy:
        assert copy.stdout is not None
        assert copy.stdout.readline() == "alive\n"
        assert copy.wait() == 0
        lock = FileLock(tmp_path / "lock")
        lock.take(0)
        lock.close()


@contextmanager
def forked_copy(act: Callable[[], object]) -> Iterator[None]:
    """A copy of this process that has done ``act``, and lives for the length of the block."""
    ready, done = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        act()
        os.close(done[1])
        os.write(ready[1], b".")
        os.read(done[0], 1)
        os._exit(0)
    try:
        assert os.read(ready[0], 1) == b"."
        yield
    finally:
        os.close(done[1])
        os.waitpid(child, 0)
        for each in (*ready, done[0]):
            os.close(each)
