"""Looking at LangGraph's files from the command line."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

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
