"""Opening SQLite files: looking leaves no trace, writing is one locked transaction, errors are sentences."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

import stores.sqlite
from stores import open_store
from stores.conformance import folder_as_it_is
from stores.errors import Busy, Corrupt, ReadOnly, StoreError, Unreachable
from stores.sqlite import open_reading
from tests.builders import langgraph_file, native_file, table_file
from tests.stores.peers import COUNT, INSERT, Peer, count, peer


def left_wal(folder: Path) -> Path:
    """A WAL file with a log that nobody has open and no -shm, as after copying two files of a running program."""
    source = folder / "source"
    source.mkdir()
    path = table_file(source / "app.db", journal_mode="wal")
    with peer(path) as other:
        other(INSERT)
        for suffix in ("", "-wal"):
            (folder / f"app.db{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    for left in source.iterdir():
        left.unlink()
    source.rmdir()
    return folder / "app.db"


@pytest.mark.parametrize("name", ["app.db", "with space.db", "q?mark.db", "h#sh.db", "per%41cent.db", "名 🚀.db"])
@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_looking_at_a_file_nobody_has_open_leaves_no_trace(tmp_path: Path, journal_mode: str, name: str) -> None:
    path = table_file(tmp_path / name, journal_mode=journal_mode)
    before = folder_as_it_is(tmp_path)
    assert list(before) == [name]
    with closing(open_reading(path)) as reader:
        assert count(reader) == 8
        assert folder_as_it_is(tmp_path) == before
    assert folder_as_it_is(tmp_path) == before


def test_a_symbolic_link_leads_to_the_file_and_its_log(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    path = left_wal(folder)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    before = folder_as_it_is(tmp_path)
    with closing(open_reading(link)) as reader:
        assert count(reader) == 9
    assert folder_as_it_is(tmp_path) == before
    native = native_file(folder / "native.sqlite")
    (tmp_path / "native").symlink_to(native)
    with closing(open_store(str(tmp_path / "native"), read_only=False)) as store:
        assert store.info.path == str(native)
        store.fork(store.head("trip"), "fork")  # type: ignore[attr-defined]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.db", "native", "real"]


def test_a_log_that_was_left_behind_is_read_and_left_as_it_was(tmp_path: Path) -> None:
    path = left_wal(tmp_path)
    before = folder_as_it_is(tmp_path)
    assert sorted(before) == ["app.db", "app.db-wal"]
    with closing(open_reading(path)) as reader:
        assert count(reader) == 9
        assert folder_as_it_is(tmp_path) == before
    assert folder_as_it_is(tmp_path) == before


def test_the_rows_of_a_log_are_seen_through_a_store(tmp_path: Path) -> None:
    path = langgraph_file("wal_uncheckpointed.sqlite", tmp_path)
    langgraph_file("wal_uncheckpointed.sqlite-wal", tmp_path)
    before = folder_as_it_is(tmp_path)
    with closing(open_store(str(path))) as store:
        assert len(store.threads().items) == 4
    assert folder_as_it_is(tmp_path) == before


def test_the_log_of_a_process_that_was_killed_is_read(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db", journal_mode="wal")
    with peer(path) as other:
        other(INSERT)
    before = folder_as_it_is(tmp_path)
    assert sorted(before) == ["app.db", "app.db-shm", "app.db-wal"]
    with closing(open_reading(path)) as reader:
        assert count(reader) == 9
    after = folder_as_it_is(tmp_path)
    assert {name: after[name] for name in ("app.db", "app.db-wal")} == {
        name: before[name] for name in ("app.db", "app.db-wal")
    }


def test_a_journal_to_be_rolled_back_is_read_as_before_the_crash(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db")
    with peer(path) as other:
        other("PRAGMA cache_size = 1")
        other("BEGIN IMMEDIATE")
        other("INSERT INTO history (run, payload) SELECT hex(randomblob(2000)), '{}' FROM history, history, history")
    before = folder_as_it_is(tmp_path)
    assert sorted(before) == ["app.db", "app.db-journal"]
    with closing(open_reading(path)) as reader:
        assert count(reader) == 8
    assert folder_as_it_is(tmp_path) == before


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_what_another_process_commits_is_seen(tmp_path: Path, journal_mode: str) -> None:
    path = table_file(tmp_path / "app.db", journal_mode=journal_mode)
    with closing(open_reading(path)) as reader:
        assert count(reader) == 8
        with peer(path) as other:
            for number in range(9, 12):
                other(INSERT)
                assert count(reader) == number
            other.end()
        assert count(reader) == 11
        with peer(path) as other:
            other(INSERT)
            assert count(reader) == 12


def test_a_writer_that_opened_and_closed_between_two_looks_is_seen(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db", journal_mode="wal")
    with closing(open_reading(path)) as reader:
        assert count(reader) == 8
        other = Peer(path)
        other(INSERT)
        other.end()
        assert sorted(folder_as_it_is(tmp_path)) == ["app.db"]
        assert count(reader) == 9
        assert sorted(folder_as_it_is(tmp_path)) == ["app.db"]


def test_a_file_rewritten_during_a_look_is_looked_at_again(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db", journal_mode="wal")
    asked = 0

    def question(db: sqlite3.Connection) -> int:
        nonlocal asked
        asked += 1
        first = db.execute(COUNT).fetchone()[0]
        if asked == 1:
            other = Peer(path)
            other(INSERT)
            other.end()  # the last to close writes the log into the file
        return int(first)

    with closing(open_reading(path)) as reader:
        assert reader.read(question) == 9
        assert asked == 2


def test_a_question_within_a_question_is_asked_of_the_same_snapshot(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db", journal_mode="wal")
    with closing(open_reading(path)) as reader, peer(path) as other:
        with reader.connection() as db:
            other(INSERT)  # a log stands beside the file now, which is open as one without
            with reader.connection() as within:
                assert within.execute(COUNT).fetchone() == (8,)
            assert db.execute(COUNT).fetchone() == (8,)
        assert count(reader) == 9


def test_a_snapshot_does_not_move(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db", journal_mode="wal")
    with peer(path) as other:
        other(INSERT)
        with closing(open_reading(path)) as reader:
            with reader.connection() as db:
                assert db.execute(COUNT).fetchone() == (9,)
                other(INSERT)
                assert db.execute(COUNT).fetchone() == (9,)
            assert count(reader) == 10


def test_a_file_put_in_the_place_of_another_is_opened(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db")
    with closing(open_reading(path)) as reader:
        assert count(reader) == 8
        path.unlink()
        with pytest.raises(Unreachable, match="does not exist"):
            count(reader)
        table_file(path, ())
        assert count(reader) == 0


def test_a_reading_connection_cannot_write(tmp_path: Path) -> None:
    for mode in ("delete", "wal"):
        path = table_file(tmp_path / f"{mode}.db", journal_mode=mode)
        with closing(open_reading(path)) as reader, pytest.raises(ReadOnly), reader.connection() as db:
            db.execute(INSERT)


def nothing(folder: Path) -> Path:
    return folder / "absent" / "app.db"


def empty(folder: Path) -> Path:
    (folder / "app.db").touch()
    return folder / "app.db"


def text(folder: Path) -> Path:
    (folder / "app.db").write_text("thread,id,state\n" * 100)
    return folder / "app.db"


def cut(folder: Path, size: int) -> Path:
    path = table_file(folder / "app.db")
    os.truncate(path, size)
    return path


def garbled(folder: Path) -> Path:
    """A file whose damaged schema SQLite quotes in an error that is no UTF-8."""
    path = table_file(folder / "app.db")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET name = CAST(x'e861' AS TEXT), sql = 'no'")
    return path


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (nothing, Unreachable, "does not exist"),
        (lambda folder: folder, Unreachable, "is a folder"),
        (lambda folder: Path("/dev/null"), Unreachable, "is a special file"),
        (empty, Corrupt, "is an empty file"),
        (text, Corrupt, "is not an SQLite database"),
        (lambda folder: cut(folder, 57), Corrupt, "is damaged"),
        (garbled, Corrupt, "is damaged"),
    ],
)
def test_what_is_no_store_is_told_in_a_sentence(tmp_path: Path, make, error: type[StoreError], said: str) -> None:  # type: ignore[no-untyped-def]
    path = make(tmp_path)
    before = folder_as_it_is(tmp_path)
    with pytest.raises(error) as raised:
        open_store(str(path))
    assert said in str(raised.value)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.hint
    assert folder_as_it_is(tmp_path) == before
    assert not (tmp_path / "absent").exists()


UNPRIVILEGED = """
import os, sys
import shutil, tempfile  # another user may not be let to the interpreter's own files
from pathlib import Path
from stores.sqlite import open_reading, open_writing
path = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
reader = open_reading(path)
print(reader.read(lambda db: db.execute("SELECT count(*) FROM history").fetchone()[0]))
reader.close()
try:
    with open_writing(path, path.with_name("lock")).transaction() as db:
        db.execute("DELETE FROM history")
except Exception as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("kind", ["delete", "wal", "left", "live"])
def test_a_folder_that_may_not_be_written_can_be_looked_at(kind: str) -> None:
    with ExitStack() as stack:
        # Below tmp_path another user would not be let in.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if kind == "left":
            path = left_wal(folder)
        else:
            path = table_file(folder / "app.db", journal_mode="delete" if kind == "delete" else "wal")
        if kind == "live":
            stack.enter_context(peer(path))(INSERT)
        os.chmod(folder, 0o555)
        stack.callback(os.chmod, folder, 0o755)
        before = folder_as_it_is(folder)
        said = subprocess.run([sys.executable, "-c", UNPRIVILEGED, str(path)], capture_output=True, text=True)
        assert said.stdout.split() == ["9" if kind in ("left", "live") else "8", "ReadOnly"], said.stderr
        assert {name: told[0] for name, told in folder_as_it_is(folder).items() if not name.endswith("-shm")} == {
            name: told[0] for name, told in before.items() if not name.endswith("-shm")
        }


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_a_file_that_may_only_be_read_is_not_opened_for_writing(journal_mode: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = table_file(folder / "app.db", journal_mode=journal_mode)
        os.chmod(folder, 0o777)
        os.chmod(path, 0o444)
        before = folder_as_it_is(folder)
        said = subprocess.run([sys.executable, "-c", UNPRIVILEGED, str(path)], capture_output=True, text=True)
        assert said.stdout.split() == ["8", "ReadOnly"], said.stderr
        assert folder_as_it_is(folder) == before


def test_a_locked_file_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores.sqlite, "BUSY_SECONDS", 0.0)
    connections: list[Path] = []
    real = stores.sqlite.connect
    monkeypatch.setattr(stores.sqlite, "connect", lambda path, query: connections.append(path) or real(path, query))
    path = table_file(tmp_path / "app.db", journal_mode="delete")
    with peer(path) as other:
        other("BEGIN EXCLUSIVE")
        with pytest.raises(Busy, match="locked by another process"):
            open_reading(path)
        assert connections == [path]
        other("ROLLBACK")
        with closing(open_reading(path)) as reader:
            assert count(reader) == 8
