"""undo: what it would do is said first, and done with --yes; nothing is deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Ran
from tt_debug.cli.main import main
from tt_debug.demo import DemoFiles, prepare


class Shell:
    """Command lines in this process, without a terminal."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str | Path, code: int = 0) -> Ran:
        """Run one; its exit code must be ``code``."""
        found = main(tuple(map(str, words)))
        written = self._capsys.readouterr()
        assert found == code, written.err
        return Ran(found, written.out, written.err)


@pytest.fixture
def here(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TT_DEBUG_DEMO_PACE", "0")
    return Shell(capsys)


@pytest.fixture
def demo(tmp_path: Path) -> DemoFiles:
    return prepare(tmp_path / "demo")


def test_a_fork_and_an_edit_are_taken_back(here: Shell, demo: DemoFiles) -> None:
    store = demo.native
    here("undo", store, code=3)
    here("fork", store, "trip-planner@15", "--to", "mine", "--set", "budget.per_night=32000")
    said = here("undo", store, code=6)
    assert said.out.startswith("Undo the fork mine\n")
    assert "Nothing is deleted" in said.out
    assert here("undo", store, "--list", "--json").data[0]["undone"] is False
    assert "trip-planner@" in here("undo", store, "--list").out
    assert here("undo", store, "mine", "--yes", "--json").data["made"] is None

    def names(*words: str) -> list[str]:
        return [info["thread"] for info in here("threads", store, "--json", *words).data]

    assert "mine" not in names()
    assert "mine" in names("--all")
    assert here("show", store, "mine", "--path", "budget.per_night", "--json").data["value"] == 32000
    here("undo", store, "mine", "--back")
    assert "mine" in names()
    here("edit", store, "mine", "--set", "budget.per_night=1")
    made = here("undo", store, "--yes").out.strip()
    assert here("show", store, made, "--path", "budget.per_night", "--json").data["value"] == 32000
    here("undo", store, "--back", code=2)
    here("undo", store, "mine", "--yes", "--read-only", code=7)
    here("fork", store, "trip-planner@15", "--to", "origin")
    here("fork", store, "origin", "--to", "child")
    refused = here("undo", store, "origin", "--yes", code=4)
    assert "'child' was forked from 'origin': it stays" in refused.err
