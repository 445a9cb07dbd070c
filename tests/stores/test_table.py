"""Mapped tables: the contract, and what strangers' tables do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stores import open_store
from stores.conformance import SAMPLE, EffectsConformance, RunStoreConformance, StoreConformance, WriterConformance
from stores.errors import NotFound, Unsupported
from stores.model import Opaque, Ref, Status
from stores.protocol import Store
from stores.table import TableMapping, TableStore
from tests.builders import sql_file, table_file

HISTORY = TableMapping("history", thread="run", id="id", parent="prev", state="payload", created="at")


@pytest.fixture
def sample(tmp_path: Path) -> Iterator[TableStore]:
    with closing(TableStore(table_file(tmp_path / "app.db"), HISTORY, read_only=False)) as store:
        yield store


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[TableStore]:
    with closing(TableStore(table_file(tmp_path / "app.db"), HISTORY)) as store:
        yield store


class TestTable(StoreConformance, WriterConformance, RunStoreConformance, EffectsConformance):
    pass


def opened(path: Path, query: str) -> Store:
    return open_store(f"sqlite:///{path}?{query}")


NUMBERED = """
CREATE TABLE log (run INTEGER, seq INTEGER, payload TEXT, node TEXT, status TEXT, note TEXT, raw BLOB);
INSERT INTO log VALUES (7, 1, '{"a": 1}', 'plan', 'completed', 'first', x'00'),
                       (7, 2, '{"a": 2}', 'book', 'failed', NULL, NULL),
                       (8, 1, '[1, 2]', NULL, NULL, NULL, NULL), (NULL, 1, '{}', NULL, NULL, NULL, NULL);
"""


def test_whole_numbers_are_names_like_any(tmp_path: Path) -> None:
    path = sql_file(tmp_path / "app.db", NUMBERED)
    with closing(opened(path, "table=log&thread=run&id=seq&state=payload&node=node&status=status")) as store:
        threads = store.threads().items
        assert [(info.thread, info.head) for info in threads] == [
            ("", Ref("", "", "1")),
            ("8", Ref("8", "", "1")),
            ("7", Ref("7", "", "2")),
        ]
        assert (threads[2].status, threads[2].last_node) == (Status.FAILED, "book")
        newest, oldest = store.headers("7").items
        assert (newest.parent, oldest.parent) == (oldest.ref, None)
        assert (newest.nodes, newest.status, oldest.status) == (("book",), Status.FAILED, Status.DONE)
        assert oldest.meta == {"note": "first"}
        assert store.load(newest.ref).state == {"a": 2}
        assert store.load(Ref("8", "", "1")).state == {"payload": [1, 2]}
        assert store.headers("").items[0].ref == Ref("", "", "1")
        for unknown in (Ref("7", "", "02"), Ref("7", "", "3"), Ref("07", "", "1")):
            with pytest.raises(NotFound):
                store.load(unknown)


def test_numbers_in_columns_without_a_type_are_found_too(tmp_path: Path) -> None:
    path = sql_file(tmp_path / "app.db", "CREATE TABLE t (run, id, state); INSERT INTO t VALUES (5, 10, '{\"a\": 1}')")
    with closing(opened(path, "table=t&thread=run&id=id&state=state")) as store:
        assert store.load(store.head("5")).state == {"a": 1}


def test_numbers_tell_the_order_where_rows_were_copied_backwards(tmp_path: Path) -> None:
    rows = ", ".join(f"('r', {n}, {n - 1 if n > 1 else 'NULL'}, '{{}}')" for n in (3, 2, 1))
    script = f"CREATE TABLE t (run TEXT, id INTEGER, prev INTEGER, state TEXT); INSERT INTO t VALUES {rows}"
    with closing(
        opened(sql_file(tmp_path / "app.db", script), "table=t&thread=run&id=id&parent=prev&state=state")
    ) as s:
        assert [header.ref.id for header in s.headers("r").items] == ["3", "2", "1"]
        assert s.head("r").id == "3"


def test_the_head_is_the_newest_tip_and_not_the_newest_row(tmp_path: Path) -> None:
    script = """CREATE TABLE t (run TEXT, id TEXT, prev INTEGER, state TEXT);
                INSERT INTO t VALUES ('r', '1', NULL, '{}'), ('r', '3', 2, '{}'), ('r', '2', 1, '{}')"""
    with closing(
        opened(sql_file(tmp_path / "app.db", script), "table=t&thread=run&id=id&parent=prev&state=state")
    ) as s:
        assert s.head("r").id == s.threads().items[0].head.id == "3"


def test_what_is_no_json_keeps_its_bytes_and_says_so(tmp_path: Path) -> None:
    script = """CREATE TABLE t (run TEXT, id TEXT, state);
                INSERT INTO t VALUES ('r', 'text', 'not json'), ('r', 'blob', x'80ff'), ('r', 'null', NULL),
                                     ('r', 'json blob', CAST('{"a": 1}' AS BLOB)), ('r', 'number', 7)"""
    with closing(opened(sql_file(tmp_path / "app.db", script), "table=t&thread=run&id=id&state=state")) as store:
        loaded = {header.ref.id: store.load(header.ref) for header in store.headers("r").items}
    assert loaded["text"].state == {"state": Opaque("undecodable", b"not json")}
    assert loaded["blob"].state == {"state": Opaque("bytes", b"\x80\xff")}
    assert "not JSON" in str(loaded["text"].header.problem)
    assert "NULL" in str(loaded["null"].header.problem)
    assert (loaded["json blob"].state, loaded["number"].state) == ({"a": 1}, {"state": 7})


def test_a_table_without_rowid_and_a_view_are_tables(tmp_path: Path) -> None:
    script = """CREATE TABLE t (run TEXT, id TEXT, state TEXT, PRIMARY KEY (run, id)) WITHOUT ROWID;
                INSERT INTO t VALUES ('r', 'a', '{}'), ('r', 'b', '{}'), ('q', 'c', '{}');
                CREATE VIEW v AS SELECT run, id, state FROM t;"""
    path = sql_file(tmp_path / "app.db", script)
    for name in ("t", "v"):
        with closing(opened(path, f"table={name}&thread=run&id=id&state=state")) as store:
            assert [header.ref.id for header in store.headers("r").items] == ["b", "a"]
            assert [header.ref.id for header in store.headers("r", store.headers("r", limit=1).next).items] == ["a"]
            assert {info.thread for info in store.threads().items} == {"r", "q"}


def test_names_with_quotes_are_only_names(tmp_path: Path) -> None:
    script = """CREATE TABLE "a""b; DROP TABLE x" ("the run" TEXT, "id'" TEXT, "st ate" TEXT);
                INSERT INTO "a""b; DROP TABLE x" VALUES ('r', '1', '{"k": 1}')"""
    path = sql_file(tmp_path / "app.db", script)
    with closing(TableStore(path, TableMapping('a"b; DROP TABLE x', "the run", "id'", "st ate"))) as store:
        assert store.load(store.head("r")).state == {"k": 1}


@pytest.mark.parametrize(
    ("cell", "moment"),
    [
        ("'2026-01-02 03:04:05'", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("'2026-01-02T05:04:05+02:00'", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("1767323045", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("1767323045000", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("1767323045000000", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("'yesterday'", None),
        ("NULL", None),
    ],
)
def test_times_in_the_usual_writings(tmp_path: Path, cell: str, moment: datetime | None) -> None:
    script = f"CREATE TABLE t (run TEXT, id TEXT, state TEXT, at); INSERT INTO t VALUES ('r', '1', '{{}}', {cell})"
    with closing(opened(sql_file(tmp_path / "app.db", script), "table=t&thread=run&id=id&state=state&created=at")) as s:
        assert s.headers("r").items[0].created == moment


def test_a_mapping_that_does_not_fit_says_what_there_is(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db")
    with pytest.raises(Unsupported, match="no table 'nope'") as missing:
        opened(path, "table=nope&thread=run&id=id&state=payload")
    assert "history" in missing.value.hint
    with pytest.raises(Unsupported, match="no column nope") as column:
        opened(path, "table=history&thread=run&id=id&state=nope")
    assert "payload" in column.value.hint
    for query in ("table=history&thread=run&id=id", "table=history&thread=run&id=id&state=payload&colour=red"):
        with pytest.raises(Unsupported, match="mapping"):
            opened(path, query)


def test_rows_written_by_the_application_meanwhile_are_seen(tmp_path: Path) -> None:
    path = table_file(tmp_path / "app.db", SAMPLE[:2])
    with closing(TableStore(path, HISTORY)) as store:
        assert len(store.headers("trip").items) == 2
        path.unlink()
        table_file(path, SAMPLE)
        assert len(store.headers("trip").items) == 6
