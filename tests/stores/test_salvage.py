"""What is taken out of a damaged file, page by page, against what SQLite reads of the same file while it is whole."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores.errors import Corrupt, StoreError
from stores.langgraph.sqlite import LangGraphStore
from stores.pages import Broken
from stores.salvage import salvage
from stores.salvaging import SalvagingReader
from stores.sqlite_errors import Damaged
from tests.stores.langgraph_files import CURRENT, fingerprint, unpack

Rows = list[tuple[Any, ...]]


def rows_of(path: Path, table: str, query: str = "mode=ro&immutable=1") -> Rows:
    with closing(sqlite3.connect(f"file:{path}?{query}", uri=True)) as db:
        return sorted(db.execute(f"SELECT * FROM {table}"), key=repr)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "salvaged.sqlite"


@pytest.mark.parametrize("name", [CURRENT, "lg0.1.19_builtin.sqlite", "lg0.2.20_sqlite1.0.3.sqlite"])
def test_every_row_of_a_whole_file_is_found(name: str, tmp_path: Path, target: Path) -> None:
    path = unpack(name, tmp_path)
    found = salvage(path, target)
    for table in ("checkpoints", "writes"):
        assert rows_of(target, table) == rows_of(path, table)
    assert found.partly == 0


def test_what_a_log_holds_is_found_too(tmp_path: Path, target: Path) -> None:
    path = unpack("wal_uncheckpointed.sqlite", tmp_path)
    salvage(path, target)
    (tmp_path / "copy").mkdir()
    copy = unpack("wal_uncheckpointed.sqlite", tmp_path / "copy")
    for table in ("checkpoints", "writes"):
        assert rows_of(target, table) == rows_of(copy, table, "mode=rw")


@pytest.mark.parametrize("page_size", [512, 1024, 4096, 65536])
@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_values_of_every_kind_and_length(page_size: int, encoding: str, tmp_path: Path, target: Path) -> None:
    path = tmp_path / "kinds.sqlite"
    values: list[Any] = [None, 0, 1, -1, 127, 128, -32768, 8_388_607, -(2**31), 2**47 - 1, -(2**63), 2**63 - 1]
    values += [
        1.5,
        -0.0,
        "",
        "é東京",
        "x" * (page_size - 40),
        "y" * 3 * page_size,
        b"",
        bytes(page_size),
        bytes(70_000),
    ]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"PRAGMA page_size = {page_size}")
        db.execute(f"PRAGMA encoding = '{encoding}'")
        db.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, a, b)")
        db.executemany("INSERT INTO t (a, b) VALUES (?, ?)", [(value, index) for index, value in enumerate(values)])
    salvage(path, target)
    assert rows_of(target, "t") == rows_of(path, "t")


def test_what_was_deleted_does_not_come_back(tmp_path: Path, target: Path) -> None:
    path = tmp_path / "deleted.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (a TEXT PRIMARY KEY, b)")
        db.executemany("INSERT INTO t VALUES (?, ?)", [(f"{n:05}", "z" * 500) for n in range(400)])
        db.execute("DELETE FROM t WHERE a >= '00100'")
        db.commit()
    whole = rows_of(path, "t")
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 4] = bytes(4096)
    path.write_bytes(content)
    found = salvage(path, target)
    assert set(rows_of(target, "t")) <= {*whole, *((key, None) for key, _ in whole)}
    assert 0 < found.rows["t"] <= 100


def test_a_lost_page_takes_its_own_rows_only(tmp_path: Path) -> None:
    """The rows of a page in the middle are known by their index; all others are as before."""
    path = unpack(CURRENT, tmp_path)
    whole = LangGraphStore(path)
    before = {one.ref: one for info in whole.threads().items for one in whole.headers(info.thread).items}
    whole.close()
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as db:
        leaves = [at for at in range(3, len(path.read_bytes()) // 4096) if path.read_bytes()[at * 4096] == 13]
        assert db.execute("PRAGMA page_size").fetchone() == (4096,)
    content = bytearray(path.read_bytes())
    content[leaves[4] * 4096 : (leaves[4] + 1) * 4096] = b"\xff" * 4096
    path.write_bytes(content)
    store = LangGraphStore(path)
    after = {one.ref: one for info in store.threads().items for one in store.headers(info.thread).items}
    assert store.info.notices[0].startswith("The file is damaged: 311 rows of checkpoints")
    assert set(after) == set(before)
    lost = [ref for ref in before if after[ref].problem == "its content is lost"]
    assert 0 < len(lost) < 20
    store.close()
    thread = {ref.thread for ref in lost}
    untouched = [ref for ref in before if ref.thread not in thread]
    assert len(untouched) > 100
    assert all(after[ref] == before[ref] for ref in untouched)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with a part overwritten, zeroed, repeated elsewhere or cut off."""
    found = bytearray(content)
    for _ in range(chance.randint(1, 6)):
        at, length = chance.randrange(100, len(found)), chance.choice([1, 4, 64, 4096, 20_000])
        how = chance.randrange(4)
        if how == 0:
            found[at : at + length] = chance.randbytes(len(found[at : at + length]))
        elif how == 1:
            found[at : at + length] = bytes(len(found[at : at + length]))
        elif how == 2:
            start = chance.randrange(len(found) // 4096) * 4096
            found[at // 4096 * 4096 :][:4096] = found[start : start + 4096]
            found[at : at + length] = found[start : start + len(found[at : at + length])]
        elif len(found) > 50_000:
            del found[chance.randrange(20_000, len(found)) :]
    return bytes(found)


def everything(path: Path) -> Iterator[str]:
    """Every thread that can be listed, each row and its state looked at."""
    store = LangGraphStore(path)
    try:
        for info in store.threads().items:
            for header in store.headers(info.thread).items:
                try:
                    store.load(header.ref)
                except Corrupt:
                    assert header.problem
            yield info.thread
    finally:
        store.close()


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_damaged_is_an_error_of_ours_or_read(seed: int, tmp_path: Path) -> None:
    original = unpack("orphan_parent.sqlite", tmp_path).read_bytes()
    (tmp_path / "db").mkdir()
    path = tmp_path / "db" / "damaged.sqlite"
    path.write_bytes(damaged(original, random.Random(seed)))
    before = fingerprint(path.parent)
    said = ""
    threads: list[str] = []
    try:
        threads.extend(everything(path))
    except StoreError as error:
        said = str(error)
    assert threads or str(path) in said
    assert fingerprint(path.parent) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"SQLite format 3\0", "it ends after 16 of the 100 bytes"),
        (b"SQLite format 3\0" + bytes(200), "no page size"),
        (b"SQLite format 3\0\x10\x00" + bytes(4096), "no row of it can be read"),
    ],
)
def test_where_nothing_is_left_it_says_so(content: bytes, said: str, tmp_path: Path, target: Path) -> None:
    path = tmp_path / "nothing.sqlite"
    path.write_bytes(content)
    with pytest.raises(Broken, match=said):
        salvage(path, target)


def test_a_reader_leaves_no_copy_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "copies"))
    path = unpack("truncated_60pct.sqlite", tmp_path)
    reader = SalvagingReader(path)
    assert reader.read(lambda db: db.execute("SELECT count(*) FROM checkpoints").fetchone()) == (31,)
    assert [one.name for one in next((tmp_path / "copies").iterdir()).iterdir()] == ["salvaged"]
    reader.close()
    assert list((tmp_path / "copies").iterdir()) == []
    path.write_bytes(path.read_bytes()[:57])
    with pytest.raises(Damaged, match="57 of the 100"):
        SalvagingReader(path)
    assert list((tmp_path / "copies").iterdir()) == []


def test_a_file_that_is_repaired_meanwhile_is_read_whole_again(tmp_path: Path) -> None:
    path = unpack("orphan_parent.sqlite", tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:200_000])
    store = LangGraphStore(path)
    assert len(store.threads().items) == 2
    assert store.info.notices[0].startswith("The file is damaged and ends after")
    path.write_bytes(whole)
    assert len(store.threads().items) == 5
    assert not any(notice.startswith("The file is damaged") for notice in store.info.notices)
    store.close()
