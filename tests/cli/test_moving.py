"""export and import from the command line: what is written, what is refused, and the forms of other programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pytest

from stores.conformance import SAMPLE, sample_ref
from stores.model import NewCheckpoint
from tests.builders import native_file
from tests.cli.conftest import Ran, Run
from tt_debug.cli.front import Front
from tt_debug.cli.main import main

HOSTILE = 'a "b" <c> & `d` # \x1b[31m \u202e ]\n'


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Command lines on real stores; what belongs to the user lies in the test's own folder."""
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TT_DEBUG_REDACT", raising=False)

    def call(*words: object) -> Ran:
        code = main([str(word) for word in words], Front(lambda screen: 0))
        written = capsys.readouterr()
        return Ran(code, written.out, written.err)

    return call


@pytest.fixture
def store(tmp_path: Path) -> Path:
    secret = NewCheckpoint(
        sample_ref(9, 1), SAMPLE[5].ref, {"user": "ada", "apiKey": "hunter2", "n": 1}, "step", nodes=(HOSTILE,)
    )
    return native_file(tmp_path / "trip.db", [*SAMPLE, secret])


def test_an_export_taken_back_is_the_same_export(command: Run, store: Path, tmp_path: Path) -> None:
    lines = command("export", store, "trip", "--reveal")
    (tmp_path / "trip.jsonl").write_text(lines.out, encoding="utf-8")
    done = command("import", tmp_path / "new.db", tmp_path / "trip.jsonl", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.data == {"threads": [{"thread": "trip", "checkpoints": 7}], "notes": []}
    assert command("export", tmp_path / "new.db", "trip", "--reveal").out == lines.out
    said = command("import", tmp_path / "new.db", tmp_path / "trip.jsonl")
    assert (said.code, said.out) == (4, "")
    assert "'trip' is in" in said.err


def test_secrets_are_hidden_unless_they_are_asked_for(command: Run, store: Path, tmp_path: Path) -> None:
    hidden = command("export", store, "trip")
    assert "hunter2" not in hidden.out
    assert "--reveal" in hidden.err
    last = hidden.lines[-1]
    assert (last["state"]["apiKey"], last["state"]["user"], last["redacted"]) == ({"$redacted": "text"}, "ada", True)
    assert [line for line in hidden.lines if "redacted" in line] == [last]
    (tmp_path / "trip.jsonl").write_text(hidden.out, encoding="utf-8")
    refused = command("import", tmp_path / "new.db", tmp_path / "trip.jsonl")
    assert refused.code == 2
    assert "trip.jsonl:7 was written with its secrets hidden" in refused.err
    assert "--reveal" in refused.err
    assert not (tmp_path / "new.db").exists()


def test_import_says_which_line_is_wrong(command: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"thread": "t", "id": "a", "state": {}}\n{"thread": 1}\n')
    refused = command("import", tmp_path / "new.db", tmp_path / "bad.jsonl")
    assert refused.code == 2
    assert "bad.jsonl:2: thread must be a text" in refused.err
    assert command("import", tmp_path / "new.db", tmp_path / "nowhere.jsonl").code == 2
    assert command("import", tmp_path / "new.db", tmp_path / "bad.jsonl", "--read-only").code == 7
    assert not (tmp_path / "new.db").exists()


def test_networkx_reads_its_own_forms(command: Run, store: Path, tmp_path: Path) -> None:
    wanted = {(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 6)}
    linked = nx.node_link_graph(
        json.loads(command("export", store, "trip", "--format", "node-link").out), edges="edges"
    )
    file = tmp_path / "trip.graphml"
    file.write_text(command("export", store, "trip", "--format", "graphml").out, encoding="utf-8")
    for graph in (linked, nx.read_graphml(file)):
        assert {(int(a[1:]), int(b[1:])) for a, b in graph.edges} == wanted
        assert graph.nodes["n5"]["checkpoint"] == SAMPLE[5].ref.id
        assert graph.nodes["n5"]["step"] == 1
    assert linked.nodes["n6"]["nodes"] == HOSTILE
    assert ElementTree.parse(file).getroot().tag.endswith("graphml")


@pytest.mark.parametrize("form", ["graphml", "dot", "mermaid", "node-link"])
def test_no_form_lets_a_name_out(command: Run, store: Path, form: str) -> None:
    ran = command("export", store, "trip", "--format", form)
    assert ran.code == 0
    assert not {"\x1b", "\u202e"} & set(ran.out)
    assert "hunter2" not in ran.out


def test_the_graph_as_graphviz_and_mermaid_draw_it(command: Run, store: Path) -> None:
    drawn = command("export", store, "trip", "--format", "dot").out.splitlines()
    assert drawn[0] == "digraph checkpoints {"
    assert '    label="trip";' in drawn
    assert f'    n1 [label="0 plan", tooltip="{SAMPLE[1].ref.id}"];' in drawn
    assert '    n6 [label="2 a \\"b\\" <c> & `d` # ␛[31m \ufffd ]\\n", tooltip=' in "\n".join(drawn)
    assert drawn[-2:] == ["  n5 -> n6;", "}"]
    flow = command("export", store, "trip", "--format", "mermaid").out.splitlines()
    assert flow[:3] == ["flowchart TD", '  subgraph t0["trip"]', '    n0["-1 input"]']
    assert '    n6["2 a #quot;b#quot; #lt;c#gt; #amp; #96;d#96; #35; ␛[31m \ufffd ]<br/>"]' in flow
    assert flow[-1] == "  n5 --> n6"


def test_a_graph_holds_the_whole_family_and_says_what_is_missing(command: Run, tmp_path: Path) -> None:
    store = native_file(tmp_path / "trip.db", SAMPLE)
    command("fork", store, "trip@1", "--to", "other")
    drawn = command("export", store, "other", "--format", "dot").out
    assert drawn.count("subgraph cluster_") == 2
    lines = command("export", store, "trip", "--reveal").lines
    orphan: dict[str, Any] = {**lines[1], "thread": "orphan"}
    (tmp_path / "orphan.jsonl").write_text(json.dumps(orphan))
    done = command("import", store, tmp_path / "orphan.jsonl")
    assert (done.code, f"the parent {lines[0]['id']}" in done.err) == (0, True)
    assert f"its parent {lines[0]['id']} is missing" in command("export", store, "orphan", "--format", "dot").out


@pytest.mark.crash
@pytest.mark.parametrize("where", ["native.past-inserted#3", "sqlite.written", "sqlite.committed"])
def test_a_process_killed_within_leaves_all_or_nothing(command: Run, store: Path, tmp_path: Path, where: str) -> None:
    (tmp_path / "trip.jsonl").write_text(command("export", store, "trip", "--reveal").out, encoding="utf-8")
    target = native_file(tmp_path / "new.db", [])
    words = [sys.executable, "-m", "tt_debug", "import", str(target), str(tmp_path / "trip.jsonl")]
    points = {"TT_DEBUG_POINTS": str(tmp_path / "points"), "TT_DEBUG_KILL_AT": where}
    assert subprocess.run(words, check=False, env={**os.environ, **points}).returncode == -signal.SIGKILL
    done = where == "sqlite.committed"
    assert [found["thread"] for found in command("threads", target, "--json").data] == (["trip"] if done else [])
    assert command("import", target, tmp_path / "trip.jsonl").code == (4 if done else 0)
    assert command("export", target, "trip", "--reveal").out == (tmp_path / "trip.jsonl").read_text(encoding="utf-8")
