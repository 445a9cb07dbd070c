"""Looking at LangGraph's files from the command line."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores.langgraph import outline, steps
from stores.langgraph.outline import Outline
from stores.langgraph.rows import CheckpointRow
from tests.stores.handmade import Row, handmade, uuid
from tests.stores.langgraph_files import CURRENT, unpack
from tt_debug.cli.main import main


def test_a_thread_without_rows_of_its_root_graph_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unpack(CURRENT, tmp_path)
    assert main(("log", str(path), "subgraph-nested")) == 0
    assert capsys.readouterr().err == ""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM checkpoints WHERE thread_id = 'subgraph-nested' AND checkpoint_ns = ''")
    assert main(("log", str(path), "subgraph-nested")) == 0
    said = capsys.readouterr().err
    assert "subgraph-nested has no checkpoint of its root graph in this store; its newest is in mid:" in said


@pytest.fixture
def tenants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    inner = [Row(uuid(4 + n), None, {}, ns="sub:00000000-0000-4000-8000-000000000000", step=n) for n in range(2)]
    rows = [
        Row(uuid(1), None, {}, meta={"tenant": "acme", "a.b": "dotted"}),
        Row(uuid(2, 1), uuid(1), {}, meta={"tenant": "acme", "a.b": "dotted"}, step=1),
        *inner,
        Row(uuid(3), None, {}, thread="other", meta={"tenant": "globex", "a": {"b": "nested"}}),
    ]
    return str(handmade(tmp_path / "tenants.sqlite", rows))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("tenant=acme", ["t"]),
        ("tenant=globex", ["other"]),
        ("tenant=nobody", []),
        ("nothing=acme", []),
        ("a.b=dotted", ["t"]),  # a key is taken as it is written
        ("a') OR 1=1 --=x", []),
        ('a"b=x', []),
        ("x'; DROP TABLE writes;--=x", []),
    ],
)
def test_threads_by_what_their_metadata_say(
    tenants: str, capsys: pytest.CaptureFixture[str], asked: str, found: list[str]
) -> None:
    assert main(("threads", tenants, "--meta", asked, "--json")) == 0
    assert [one["thread"] for one in json.loads(capsys.readouterr().out)["data"]] == found
    assert main(("threads", tenants, "--meta", asked)) == 0
    assert capsys.readouterr().err == ("" if found else "no thread fits\n")


def test_the_root_namespace_is_not_all_of_them(tenants: str, capsys: pytest.CaptureFixture[str]) -> None:
    for ns, count in (("", 2), ("sub:00000000-0000-4000-8000-000000000000", 2)):
        assert main(("log", tenants, "t", "--all", f"--ns={ns}", "--json")) == 0
        assert len(json.loads(capsys.readouterr().out)["data"]) == count
    assert main(("log", tenants, "t", "--all", "--json")) == 0
    assert len(json.loads(capsys.readouterr().out)["data"]) == 4


def test_what_is_put_together_from_other_rows_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(unpack(CURRENT, tmp_path))
    assert main(("show", path, "delta-snap5")) == 0
    card = capsys.readouterr().out
    assert "\nrebuilt\n  log  lists joined, as snapshots prove\n" in card
    assert main(("show", path, "delta-snap5", "--json")) == 0
    record = json.loads(capsys.readouterr().out)["data"]
    assert record["rebuilt"] == {"log": "lists joined, as snapshots prove"}
    assert main(("show", path, "delta-snap5@-1")) == 0
    assert "\nrebuilt\n" not in capsys.readouterr().out


@pytest.mark.parametrize("how", [(), ("--graph",), ("--all",), ("--graph", "--all"), ("--json",), ("--ns", "")])
def test_of_a_history_only_what_is_shown_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]
) -> None:
    history = [uuid(at, at - 1) for at in range(12)]
    rows = [Row(id, history[at - 1] if at else None, {}, step=at - 1) for at, id in enumerate(history)]
    store = str(handmade(tmp_path / "history.sqlite", rows))
    read: list[str] = []

    def outline_of(row: CheckpointRow) -> Outline:
        read.append(row.id)
        return outline.outline_of(row)

    monkeypatch.setattr(steps, "outline_of", outline_of)
    assert main(("log", store, "t", "--limit", "3", *how)) == 0
    assert history[-1][:8] in capsys.readouterr().out
    assert sorted(read) == history[-4:]  # with the step that led to the first of them
