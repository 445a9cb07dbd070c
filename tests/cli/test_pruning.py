"""gc through the command line: advice, and nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.builders import langgraph_file, table_file
from tests.cli.conftest import Ran, Run
from tests.cli.samples import HOSTILE, sample_session
from tt_debug.cli.front import Front, open_session
from tt_debug.cli.main import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))

    def call(*words: str) -> Ran:
        sample = words[1] == "sample"
        front = Front(
            open_screen=lambda screen: 0,
            open_session=(lambda wanted: sample_session(tmp_path)) if sample else open_session,
        )
        code = main(words, front)
        written = capsys.readouterr()
        return Ran(code, written.out, written.err)

    return call


def test_it_says_what_could_go_and_that_nothing_went(run: Run, tmp_path: Path) -> None:
    path = langgraph_file("lg1.2.24_sqlite3.1.2.sqlite", tmp_path)
    before = hashlib.sha256(path.read_bytes()).hexdigest(), sorted(path.parent.iterdir())
    told = run("gc", str(path))
    assert told.code == 0
    assert "could be freed: " in told.out
    assert "put together from it" in told.out
    assert "nothing was deleted" in told.err
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), sorted(path.parent.iterdir())) == before


def test_json_adds_up(run: Run, tmp_path: Path) -> None:
    found = run("gc", str(langgraph_file("lg1.2.24_sqlite3.1.2.sqlite", tmp_path)), "--json").data
    assert found["deleted"] == 0
    assert found["bytes_of"] == "rows"
    for name in ("checkpoints", "could_free", "bytes", "could_free_bytes"):
        assert found[name] == sum(thread[name] for thread in found["threads"]) > 0
    kept = sum(reason["checkpoints"] for reason in found["kept"].values())
    assert found["checkpoints"] == found["could_free"] + kept


def test_bytes_that_a_store_does_not_tell_are_no_zero(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{table_file(tmp_path / 'a.db')}?table=history&thread=run&id=id&parent=prev&state=payload"
    assert "could be freed: this store does not tell of how many bytes" in run("gc", url).out
    found = run("gc", url, "--json").data
    assert (found["bytes"], found["could_free_bytes"], found["threads"][0]["bytes"]) == (None, None, None)


def test_of_one_thread_each_that_stays_is_told(run: Run) -> None:
    found = run("gc", "sample", "trip", "--json").data
    assert found["bytes_of"] == "states"
    assert [stays["step"] for stays in found["stays"]] == [-1, 1]
    assert [stays["why"] for stays in found["stays"]] == ["fork", "head"]
    assert "stays" not in run("gc", "sample", "--json").data
    assert run("gc", "sample", "nowhere").code == 3


def test_more_can_be_kept(run: Run) -> None:
    assert run("gc", "sample", "trip", "--keep", "3", "--json").data["could_free"] == 0
    assert run("gc", "sample", "--older-than", "1000w", "--json").data["could_free"] == 0
    assert run("gc", "sample", "--older-than", "soon").code == 2


def test_names_from_a_store_do_not_reach_the_terminal(run: Run) -> None:
    told = run("gc", "sample", HOSTILE)
    assert told.code == 0
    assert "\x1b" not in told.out + told.err
    assert "\x1b" not in run("gc", "sample").out
