"""fork and edit of LangGraph threads from the command line: what is left behind, and edits as a node's update."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import ormsgpack
import pytest

from tests.cli.shell import Shell
from tests.engine.graph_threads import AGENTS, started

GRAPH = f"{AGENTS}/steered.py:builder"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def steered(tmp_path: Path) -> Path:
    return started(tmp_path / "t.sqlite", "steered:builder", value={"mood": "bad", "log": ["in"]})


def test_what_an_edit_leaves_behind_is_said_with_the_way_to_keep_it(shell: Shell, tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "crossing:builder", value={"topic": "rain", "log": ["in"]})
    kept = shell("fork", path, "t", "--to", "kept", "--set", 'topic="snow"', "--keep-results")
    assert "left behind" not in kept.stderr
    assert len(shell.data("approvals", path, "kept")) == 2
    for command in ("fork", "edit"):
        told = shell(command, path, "t", "--set", 'topic="snow"').stderr
        assert "which still has it" in told
        assert "--keep-results" in told
        assert "2 open questions (deep, left)" in told
        assert "1 finished result (quick)" in told
    assert "left behind" not in shell("edit", path, "t", "--set", 'topic="hail"').stderr  # nothing has run on that one


def test_without_a_yes_the_plan_is_printed_and_nothing_runs(shell: Shell, steered: Path) -> None:
    words = ("edit", steered, "t", "--set", 'mood="good"', "--as-node", "look", "--graph", GRAPH)
    refused = shell(*words, code=6)
    assert "no node; the branches of look, which are the graph's code" in refused.stdout
    assert "--preview" in refused.stderr
    assert shell.data(*words, code=6)["does"][1] == "values        mood replaced"
    assert [row["step"] for row in shell.data("log", steered, "t")] == [-1, 0, 1, 2]


def test_a_preview_and_a_yes(shell: Shell, steered: Path) -> None:
    words = ("edit", steered, "t", "--set", 'mood="good"', "--as-node", "look", "--graph", GRAPH)
    assert shell(*words, "--preview").stdout.splitlines() == ['~ mood  "bad" → "good"', "next          party"]
    shown = shell.data(*words, "--preview")
    assert (shown["next"], shown["changes"][0]["new"], shown["notes"]) == (["party"], "good", [])
    assert len(shell.data("log", steered, "t")) == 4
    saved = shell(*words, "--yes")
    assert "next          party" in saved.stderr
    [*_, head] = shell.data("log", steered, "t")
    assert (saved.stdout.strip(), head["next"], head["source"]) == (f"t@{head['id']}", ["party"], "update")


def test_a_fork_as_a_node_and_on_with_it(shell: Shell, steered: Path) -> None:
    words = ("fork", steered, "t@1", "--to", "other", "--set", 'mood="good"', "--as-node", "look", "--graph", GRAPH)
    shell(*words, "--yes", "--run")
    assert shell.data("show", steered, "other")["state"]["log"] == ["in", "look", "party"]
    by_reducer = ("edit", steered, "t", "--set", 'log=["z"]', "--as-node", "rest", "--graph", GRAPH, "--by-reducer")
    shell(*by_reducer, "--yes")
    assert shell.data("show", steered, "t")["state"]["log"] == ["in", "look", "rest", "z"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--preview",), "belong to --as-node"),
        (("--graph", GRAPH), "without --as-node none is"),
        (("--as-node", "look"), "the graph's to make"),
    ],
)
def test_options_that_need_others(shell: Shell, steered: Path, more: tuple[str, ...], said: str) -> None:
    assert said in shell("edit", steered, "t", "--set", 'mood="good"', *more, code=2).stderr


@pytest.mark.soak  # the session's own test of it runs every time
def test_a_changed_graph_exits_4_with_its_differences(shell: Shell, tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "steered:builder", value={"mood": "good"}, interrupt_before=["look"])
    shell("resume", path, "t", "--graph", GRAPH, "--until", "party", "--yes", code=5)
    changed = ("resume", path, "t", "--graph", f"{AGENTS}/steered.py:longer", "--yes")
    refused = shell(*changed, code=4)
    assert "  node sweep is new" in refused.stderr
    assert "--accept-graph" in refused.stderr
    shell(*changed, "--accept-graph")


def test_a_name_in_a_row_exits_4_with_how_to_trust_it(shell: Shell, tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "steered:builder", value={"mood": "good"}, interrupt_before=["look"])
    value = ormsgpack.packb(ormsgpack.Ext(0, ormsgpack.packb(["os", "mkdir", str(tmp_path / "CANARY")])))
    with closing(sqlite3.connect(path)) as db, db:
        names = "thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value"
        newest = "SELECT 't', '', MAX(checkpoint_id), 'task', 0, 'log', 'msgpack', ? FROM checkpoints"
        db.execute(f"INSERT INTO writes ({names}) {newest}", (value,))
    asked = shell("resume", path, "t", "--graph", GRAPH, code=6)
    assert "note          will be refused: the stored state names os.mkdir" in asked.stdout
    for command in (("resume", path, "t"), ("replay", path, "t@0"), ("edit", path, "t", "--as-node", "look")):
        refused = shell(*command, "--graph", GRAPH, "--yes", code=4)
        assert "in thread 't' holds os.mkdir, and nothing is built but values" in refused.stderr
        assert "--trust os.mkdir" in refused.stderr
    assert not (tmp_path / "CANARY").exists()
    shell("resume", path, "t", "--graph", GRAPH, "--yes", "--trust", "os.mkdir")
    assert (tmp_path / "CANARY").exists()
