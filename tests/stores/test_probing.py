"""Strangers' tables: which columns are taken for a history, which are only proposed, and which are left alone."""

from __future__ import annotations

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stores import open_store
from stores.conformance import folder_as_it_is
from stores.errors import Unsupported
from stores.model import Opaque, Status
from stores.registry import proposals
from tests.builders import others_file, sql_file

Rows = list[tuple[Any, ...]]


def made(path: Path, columns: str, rows: Rows, table: str = "verlauf") -> Path:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"CREATE TABLE {table} ({columns})")
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    return path


def lines(count: int = 3, length: int = 5) -> list[tuple[int, int]]:
    return [(line, number) for line in range(count) for number in range(length)]


FOREIGN: dict[str, tuple[str, Rows]] = {
    "numbers in each line": (
        "lauf TEXT, nr INTEGER, davor INTEGER, zustand TEXT",
        [(f"l{line}", n, n - 1 if n else None, json.dumps({"n": n})) for line, n in lines()],
    ),
    "numbers of the whole table": (
        "nr INTEGER PRIMARY KEY, zustand BLOB, lauf INTEGER, davor INTEGER, art TEXT",
        [
            (10 * line + n, json.dumps({"n": n}).encode(), line, 10 * line + n - 1 if n else None, "ok")
            for line, n in lines()
        ],
    ),
    "texts, an empty one for no parent": (
        "zustand TEXT, nr TEXT, davor TEXT, lauf TEXT",
        [(json.dumps({"n": n}), f"u{line}{n}", f"u{line}{n - 1}" if n else "", f"l{line}") for line, n in lines()],
    ),
    "parents as text of numbers": (
        "lauf TEXT, nr INTEGER, davor TEXT, zustand TEXT",
        [(f"l{line}", n, str(n - 1) if n else None, json.dumps({"n": n})) for line, n in lines()],
    ),
    "with times, nodes and notes": (
        "wann TEXT, knoten TEXT, notiz TEXT, lauf TEXT, nr INTEGER, davor INTEGER, zustand TEXT, extra TEXT",
        [
            (f"2026-01-02T03:04:0{n}", "plan", None, f"l{line}", n, n - 1 if n else None, json.dumps({"n": n}), "{}")
            for line, n in lines()
        ],
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_four_columns_under_other_names_are_found_by_what_is_in_them(tmp_path: Path, kind: str) -> None:
    columns, rows = FOREIGN[kind]
    path = made(tmp_path / "app.db", columns, rows)
    with closing(open_store(str(path))) as store:
        (notice,) = store.info.notices
        assert "thread = lauf, id = nr, state = zustand, parent = davor" in notice
        for info in store.threads().items:
            headers = store.headers(info.thread).items
            assert [header.parent and header.parent.id for header in headers] == [
                *(header.ref.id for header in headers[1:]),
                None,
            ]
            assert store.load(headers[0].ref).state == {"n": 4}
            assert (headers[0].created is not None) == ("times" in kind)
    (url,) = proposals(path)
    assert url in notice
    with closing(open_store(url)) as again:
        assert again.info.notices == ()
        assert len(again.threads().items) == 3


def test_branches_and_missing_parents_do_not_hide_the_links(tmp_path: Path) -> None:
    rows: Rows = [("l", n, n - 1, json.dumps({"n": n})) for n in range(3, 40)] + [
        ("l", 40, 5, "{}"),
        ("l", 41, 5, "{}"),
    ]
    path = made(
        tmp_path / "app.db", "lauf TEXT, nr INTEGER, davor INTEGER, zustand TEXT", [*rows, ("m", 1, None, "{}")]
    )
    with closing(open_store(str(path))) as store:
        headers = {header.ref.id: header.parent and header.parent.id for header in store.headers("l").items}
    assert (headers["3"], headers["40"], headers["41"]) == ("2", "5", "5")


UNSURE: dict[str, tuple[str, Rows]] = {
    "no parent, other names": ("lauf TEXT, nr INTEGER, inhalt TEXT", [(f"l{a}", n, '{"n": 1}') for a, n in lines()]),
    "orders of customers": (
        "id INTEGER PRIMARY KEY, customer TEXT, details TEXT",
        [(n, f"c{n % 4}", '{"sum": 1}') for n in range(20)],
    ),
}


@pytest.mark.parametrize("kind", UNSURE)
def test_what_might_be_one_is_proposed_and_not_opened(tmp_path: Path, kind: str) -> None:
    columns, rows = UNSURE[kind]
    path = made(tmp_path / "app.db", columns, rows)
    with pytest.raises(Unsupported, match="no checkpoints that tt-debug knows") as refused:
        open_store(str(path))
    (url,) = proposals(path)
    assert shlex.quote(url) in refused.value.hint
    with closing(open_store(url)) as store:
        assert sum(info.checkpoints for info in store.threads().items) == len(rows)


def test_of_two_histories_each_is_proposed(tmp_path: Path) -> None:
    script = "".join(f"CREATE TABLE {name} (run TEXT, seq INT, payload TEXT);" for name in "ab") + "CREATE TABLE c (x);"
    path = sql_file(tmp_path / "two.db", script)
    with pytest.raises(Unsupported) as refused:
        open_store(str(path))
    assert len(proposals(path)) == 2
    assert all(url in refused.value.hint for url in proposals(path))


NOTHING: dict[str, tuple[str, Rows]] = {
    "a row for each user": (
        "id INTEGER PRIMARY KEY, name TEXT, settings TEXT",
        [(n, f"user {n}", '{"theme": "dark"}') for n in range(20)],
    ),
    "no objects": ("lauf TEXT, nr INTEGER, davor INTEGER, x TEXT", [(f"l{a}", n, n - 1, "text") for a, n in lines()]),
    "fractions and times": ("a REAL, b TEXT, c TEXT", [(n / 7, "2026-01-02", '{"a": 1}') for n in range(9)]),
}


@pytest.mark.parametrize("kind", NOTHING)
def test_what_is_none_is_not_taken_for_one(tmp_path: Path, kind: str) -> None:
    columns, rows = NOTHING[kind]
    path = made(tmp_path / "app.db", columns, rows)
    assert proposals(path) == ()
    with pytest.raises(Unsupported) as refused:
        open_store(str(path))
    assert "?table=…" in refused.value.hint


def test_names_that_a_url_has_to_escape(tmp_path: Path) -> None:
    rows: Rows = [(f"l{line}", n, n - 1 if n else None, json.dumps({"n": n})) for line, n in lines()]
    folder = tmp_path / "a b%?#"
    folder.mkdir()
    path = made(folder / "x&y=1.db", '"the run" TEXT, "n&r" INTEGER, "a=b" INTEGER, "ü+" TEXT', rows, table="\"T '1'\"")
    (url,) = proposals(path)
    with closing(open_store(url)) as store:
        assert store.load(store.head("l0")).state == {"n": 4}


def test_looking_for_columns_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    made(tmp_path / "app.db", *FOREIGN["numbers in each line"])
    before = folder_as_it_is(tmp_path)
    open_store(str(tmp_path / "app.db")).close()
    assert folder_as_it_is(tmp_path) == before


def test_a_history_of_burr(tmp_path: Path) -> None:
    with closing(open_store(str(others_file("burr_0.43.sqlite", tmp_path)))) as store:
        threads = {info.thread: info for info in store.threads().items}
        assert (threads["run-ok"].checkpoints, threads["run-error"].status) == (25, Status.FAILED)
        newest, before = store.headers("run-ok").items[:2]
        assert newest.parent == before.ref
        assert newest.nodes == ("finish",)
        assert store.load(newest.ref).state["__PRIOR_STEP"] == "finish"
        assert store.load(before.ref).header.problem is None


def test_messages_of_openai_agents(tmp_path: Path) -> None:
    path = others_file("openai_agents_0.24.sqlite", tmp_path)
    with closing(open_store(str(path))) as store:
        assert "state = message_data" in store.info.notices[0]
        assert {info.thread: info.checkpoints for info in store.threads().items} == {"chat-1": 31, "chat-2": 8}
        oldest = store.headers("chat-1").items[-1]
        assert oldest.parent is None
        assert oldest.created is not None
        assert store.load(oldest.ref).state == {"role": "user", "content": "question 0 ☂"}
    url = f"sqlite:///{path}?table=agent_messages&thread=session_id&id=id&state=created_at"
    with closing(open_store(url)) as store:
        loaded = store.load(store.head("chat-1"))
        assert loaded.header.problem == "created_at is not JSON"
        assert isinstance(loaded.state["created_at"], Opaque)
