"""Addresses that are kept from one opening of a file to the next: as good as reading it, or not used."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.langgraph import kept
from stores.langgraph.skeleton import Skeleton
from stores.langgraph.sqlite import LangGraphStore
from stores.langgraph.sqlite_tables import SqliteTables
from stores.model import Addresses
from stores.places import cache_folder
from tests.stores.handmade import Row, handmade, uuid

NEVER = -(10**30)
STEPS = 6
CLOCK = count(10**18, 10**9)


@pytest.fixture(autouse=True)
def short_threads_of_quiet_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(kept, "SHORTEST", 2)
    monkeypatch.setattr(kept, "QUIET_NS", NEVER)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads that were read from their file."""
    asked: list[str] = []
    read = SqliteTables.skeleton

    def noted(self: SqliteTables, thread: str) -> Skeleton:
        asked.append(thread)
        return read(self, thread)

    monkeypatch.setattr(SqliteTables, "skeleton", noted)
    return asked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "agent.sqlite")


def made(path: Path, thread: str = "t") -> Path:
    rows = [Row(uuid(at), uuid(at - 1) if at else None, thread=thread) for at in range(STEPS)]
    return handmade(path, rows)


def told(path: Path, thread: str = "t") -> tuple[object, ...]:
    """What a store that is opened now says, in values that can be compared."""
    store = LangGraphStore(path)
    try:
        found: Addresses = store.addresses(thread)
        return list(found.refs), list(found.parents), dict(found.missing), store.head(thread)
    finally:
        store.close()


def kept_files() -> list[Path]:
    folder = cache_folder() / "addresses"
    return sorted(folder.iterdir()) if folder.exists() else []


def changed(path: Path, *statements: str) -> None:
    """With a time of change of its own: the clock of a file system may tick rarely."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)
    os.utime(path, ns=(0, next(CLOCK)))


def test_a_file_is_read_once_while_nobody_writes_to_it(path: Path, reads: list[str]) -> None:
    first = told(path)
    assert told(path) == told(path) == first
    assert reads == ["t"]
    changed(path, "DELETE FROM checkpoints WHERE rowid = 2")
    later = told(path)
    assert told(path) == later != first
    assert reads == ["t", "t"]


def insert(at: int, parent: int) -> str:
    return (
        f"INSERT OR REPLACE INTO checkpoints VALUES ('t', '', '{uuid(at)}', '{uuid(parent)}', 'msgpack', x'80', '{{}}')"
    )


PLACES = st.integers(0, 9)
WRITES = st.one_of(
    st.builds(insert, PLACES, PLACES),
    st.builds(lambda at: f"DELETE FROM checkpoints WHERE checkpoint_id = '{uuid(at)}'", PLACES.filter(bool)),
    st.builds(
        lambda at, parent: (
            f"UPDATE checkpoints SET parent_checkpoint_id = '{uuid(parent)}' WHERE checkpoint_id = '{uuid(at)}'"
        ),
        PLACES,
        PLACES,
    ),
    st.sampled_from(["VACUUM", "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = WAL", "another file"]),
)


@settings(max_examples=12)
@given(st.lists(WRITES, max_size=4))
def test_whatever_was_written_is_told_as_without_it(writes: list[str]) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TT_DEBUG_HOME", folder)
        path = made(Path(folder) / "agent.sqlite")
        for write in ["VACUUM", *writes]:
            if write == "another file":
                made(Path(folder) / "other.sqlite").replace(path)
            changed(path, *([] if write == "another file" else [write]))
            both = told(path), told(path)
            patch.setattr(kept, "LONGEST", 0)
            for each in kept_files():
                each.unlink()
            assert both == (told(path), told(path))
            patch.setattr(kept, "LONGEST", 100)
            told(path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b" 1 ", b" 0 ", 1),
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: content.replace(b"\n", b"\r", 1),
        lambda content: b"\xff" * len(content),
    ],
)
def test_what_is_damaged_is_read_anew(path: Path, reads: list[str], damage: Callable[[bytes], bytes]) -> None:
    whole = told(path)
    (file,) = kept_files()
    good = file.read_bytes()
    file.write_bytes(damage(good))
    assert told(path) == whole
    assert reads == ["t", "t"]
    assert file.read_bytes() == good


@pytest.fixture(params=["a file", "full"])
def unwritable(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param == "a file":
        cache_folder().mkdir(parents=True)
        (cache_folder() / "addresses").write_text("not a folder")
        yield
        return

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "replace", full)
    yield
    assert kept_files() == []


@pytest.mark.usefixtures("unwritable")
def test_a_folder_that_takes_nothing_is_no_trouble(path: Path, reads: list[str]) -> None:
    assert told(path) == told(path)
    assert reads == ["t", "t"]


def test_what_is_kept_is_its_owners_alone_and_names_no_thread(tmp_path: Path) -> None:
    told(made(tmp_path / "secret-file.sqlite", "secret-thread"), "secret-thread")
    (file,) = kept_files()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert b"secret" not in file.read_bytes() + os.fsencode(file)


def test_a_file_that_was_just_written_is_not_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "QUIET_NS", -NEVER)
    told(path)
    assert kept_files() == []


def test_a_file_does_not_become_quiet_by_being_read_for_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, read = [path.stat().st_ctime_ns], SqliteTables.skeleton

    def slow(self: SqliteTables, thread: str) -> Skeleton:
        clock[0] += 10**10
        return read(self, thread)

    monkeypatch.setattr(SqliteTables, "skeleton", slow)
    monkeypatch.setattr(kept.time, "time_ns", lambda: clock[0])
    monkeypatch.setattr(kept, "QUIET_NS", 10**9)
    told(path)
    assert kept_files() == []
    told(path)
    assert len(kept_files()) == 1


def test_another_file_than_the_open_one_is_not_taken_for_it(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        tables = SqliteTables.of(db)
        read = kept.skeleton(path, (0, 0), tables, "t")
        assert read.columns == tables.skeleton("t").columns
    assert kept_files() == []


def test_only_so_many_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 2)
    for name in "abcd":
        told(made(tmp_path / f"{name}.sqlite"))
    assert len(kept_files()) == 2


READER = """
import sys
from pathlib import Path
from stores.langgraph import kept
from tests.stores.test_langgraph_kept import NEVER, kept_files, told
kept.SHORTEST, kept.QUIET_NS = 2, NEVER
for _ in range(20):
    told(Path(sys.argv[1]))
    for file in kept_files():
        file.unlink(missing_ok=True)
print(len(told(Path(sys.argv[1]))[0]))
"""


def test_two_processes_keep_at_once(path: Path) -> None:
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, str(path)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [each.communicate()[0].strip() for each in readers] == [str(STEPS)] * 2
    assert len(kept_files()) <= 1
