"""Histories that no release writes, from the command line: what the reader must be told about them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.stores.handmade import Row, handmade, uuid
from tt_debug.cli.main import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


def test_changes_that_deepdiff_passes_over_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Row(uuid(1), None, {"l": [2, 1], "e": "10"}), Row(uuid(2, 1), uuid(1), {"l": [2.0, True], "e": 10})]
    store = str(handmade(tmp_path / "numbers.sqlite", rows))
    assert main(("diff", store, "t", "--format", "deepdiff")) == 0
    ran = capsys.readouterr()
    assert "root['l']" not in ran.out
    assert ran.err.startswith("note: deepdiff passes over 2 changes:")
    assert main(("diff", store, "t")) == 0
    ran = capsys.readouterr()
    assert "~ l[0]  2 → 2.0  int → float\n~ l[1]  1 → true  int → bool\n" in ran.out
    assert ran.err == ""


def test_an_orphan_is_not_drawn_as_the_next_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Row(uuid(n, n), uuid(n - 1, n - 1) if n > 1 else None, {"a": n}, step=n) for n in (1, 2, 4, 5)]
    store = str(handmade(tmp_path / "orphan.sqlite", rows))
    assert main(("log", store, "t", "--graph", "--all")) == 0
    drawn = capsys.readouterr().out.splitlines()
    assert [line[0] for line in drawn] == ["●", "●", "○", "●"]
    assert drawn[2].endswith("! its parent is not in the store")
    assert drawn[3].endswith("← head")


def test_a_table_tells_of_a_missing_parent_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE steps (run INTEGER, seq INTEGER PRIMARY KEY, prev INTEGER, payload TEXT)")
        db.executemany("INSERT INTO steps VALUES (7, ?, ?, '{}')", [(1, None), (2, 1), (4, 3), (5, 4)])
    assert main(("log", str(path), "7", "--all", "--json")) == 0
    rows = json.loads(capsys.readouterr().out)["data"]
    assert {row["id"]: row.get("problem") for row in rows} == {
        "1": None, "2": None, "4": "its parent is not in the store", "5": None,
    }  # fmt: skip


@pytest.fixture
def backwards(tmp_path: Path) -> str:
    """A thread whose ids and times run against its parents."""
    clock = [{"ts": f"2026-01-02T03:0{minute}:00+00:00"} for minute in (5, 3, 1)]
    ids = [uuid(9), uuid(5, 1), uuid(3, 2)]
    rows = [
        Row(id, ids[step - 1] if step else None, {"a": step}, step=step, next=["n"], content=clock[step])
        for step, id in enumerate(ids)
    ]
    return str(handmade(tmp_path / "backwards.sqlite", rows))


def test_the_head_and_the_tip_of_its_line_are_both_marked(backwards: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("log", backwards, "t", "--graph")) == 0
    drawn = capsys.readouterr().out.splitlines()
    assert "0  loop  1f000009  ← head  ! LangGraph goes on from here" in drawn[0]
    assert [line.split("  ")[0] for line in drawn] == ["● 0", "● 1", "● 2"]
    assert "←" not in drawn[1]
    assert "← newest of its line" in drawn[2]


def test_a_copy_in_another_thread_is_no_tip_of_this_one(backwards: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("fork", backwards, "t", "--to", "copy")) == 0
    capsys.readouterr()
    assert main(("log", backwards, "copy", "--graph", "--all")) == 0
    drawn = capsys.readouterr().out
    assert drawn.count("← head") == 1
    assert "newest" not in drawn


def test_no_line_of_an_export_comes_before_its_parents(backwards: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("export", backwards, "t")) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["step"] for row in rows] == [0, 1, 2]


@pytest.mark.parametrize("command", ["fork", "replay"])
def test_an_empty_name_is_not_taken_as_none_given(
    backwards: str, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    more = ("--graph", "nowhere:graph", "--yes") if command == "replay" else ()
    assert main((command, backwards, "t", "--to", "", *more)) == 2
    assert "cannot be empty" in capsys.readouterr().err
    assert main(("threads", backwards, "--json")) == 0
    assert [row["thread"] for row in json.loads(capsys.readouterr().out)["data"]] == ["t"]


def test_a_fork_that_cannot_run_on_is_not_made(backwards: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("fork", backwards, "t", "--run")) == 2
    assert "needs its graph" in capsys.readouterr().err
    assert main(("threads", backwards, "--json")) == 0
    assert [row["thread"] for row in json.loads(capsys.readouterr().out)["data"]] == ["t"]
