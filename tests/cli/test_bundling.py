"""export --bundle: everything about a thread in one file, without its secrets, whole or not there."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from stores.model import NewCheckpoint, Ref, Value
from tests.builders import native_file
from tests.cli.shell import Shell
from tests.stores.handmade import Row, handmade, uuid


@pytest.fixture
def path(tmp_path: Path) -> Path:
    first: dict[str, Value] = {"city": "Kyoto", "api_key": "sk-live-1"}
    second = {**first, "city": "Nara", "api_key": "sk-live-2"}
    made = [
        NewCheckpoint(Ref("t", "", "1"), None, first, "input"),
        NewCheckpoint(Ref("t", "", "2"), Ref("t", "", "1"), second, "step", nodes=("plan/it",)),
    ]
    return native_file(tmp_path / "b.db", made)


def test_it_holds_states_diffs_graph_and_versions_and_no_secret(shell: Shell, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.zip"
    shell("export", str(path), "t", "--bundle", str(target))
    with zipfile.ZipFile(target) as bundle:
        texts = {name: bundle.read(name).decode() for name in bundle.namelist()}
    diffs = [name for name in texts if name.startswith("diffs/")]
    assert sorted(diffs) == ["diffs/0000-input.txt", "diffs/0001-plan_it.txt"]
    assert '"Kyoto"' in texts["diffs/0001-plan_it.txt"]
    assert '"Nara"' in texts["diffs/0001-plan_it.txt"]
    assert [json.loads(line)["id"] for line in texts["thread.jsonl"].splitlines()] == ["1", "2"]
    assert "tt-debug" in texts["versions.txt"]
    assert "plan/it" in texts["log.txt"]
    assert texts["graph.mmd"].startswith(("graph", "flowchart"))
    assert not any("sk-live" in text for text in texts.values())
    assert str(tmp_path) not in "".join(texts.values())


def test_secrets_are_in_it_when_asked_for(shell: Shell, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.zip"
    shell("export", str(path), "t", "--bundle", str(target), "--reveal")
    with zipfile.ZipFile(target) as bundle:
        assert b"sk-live-2" in bundle.read("thread.jsonl")
        assert b"--reveal was given" in bundle.read("README.txt")


def test_the_same_thread_is_the_same_file(shell: Shell, path: Path, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        shell("export", str(path), "t", "--bundle", str(tmp_path / name))
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_nothing_is_overwritten_and_nothing_half_written(shell: Shell, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.zip"
    target.write_text("mine")
    shell("export", str(path), "t", "--bundle", str(target), code=4)
    assert target.read_text() == "mine"
    shell("export", str(path), "t", "--bundle", str(tmp_path / "none" / "r.zip"), code=3)
    shell("export", str(path), "nobody", "--bundle", str(tmp_path / "r.zip"), code=3)
    assert [each.name for each in tmp_path.iterdir() if "zip" in each.name or "part" in each.name] == ["report.zip"]


def test_a_checkpoint_that_cannot_be_read_is_said_in_its_place(shell: Shell, tmp_path: Path) -> None:
    rows = [Row(uuid(1, 0), values={"a": 1}), Row(uuid(2, 1), uuid(1, 0), step=1, blob=b"\xc1")]
    path = handmade(tmp_path / "lg.sqlite", rows)
    shell("export", str(path), "t", "--bundle", str(tmp_path / "r.zip"))
    with zipfile.ZipFile(tmp_path / "r.zip") as bundle:
        texts = [bundle.read(name).decode() for name in bundle.namelist() if name.startswith("diffs/")]
    assert sum("cannot be read" in text for text in texts) == 1
