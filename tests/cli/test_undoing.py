"""undo: what it would do is said first, and done with --yes; nothing is deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tt_debug.demo import DemoFiles, prepare


@pytest.fixture
def demo(tmp_path: Path) -> DemoFiles:
    return prepare(tmp_path / "demo")


def test_a_fork_and_an_edit_are_taken_back(shell: Shell, demo: DemoFiles) -> None:
    store = demo.native
    shell("undo", store, code=3)
    shell("fork", store, "trip-planner@15", "--to", "mine", "--set", "budget.per_night=32000")
    said = shell("undo", store, code=6)
    assert said.stdout.startswith("Undo the fork mine\n")
    assert "Nothing is deleted" in said.stdout
    assert shell.data("undo", store, "--list")[0]["undone"] is False
    assert shell.data("undo", store, "mine", "--yes")["made"] is None
    assert "mine" not in [info["thread"] for info in shell.data("threads", store)]
    assert "mine" in [info["thread"] for info in shell.data("threads", store, "--all")]
    assert shell.data("show", store, "mine", "--path", "budget.per_night")["value"] == 32000
    shell("undo", store, "mine", "--back")
    assert "mine" in [info["thread"] for info in shell.data("threads", store)]
    shell("edit", store, "mine", "--set", "budget.per_night=1")
    made = shell("undo", store, "--yes").stdout.strip()
    assert shell.data("show", store, made, "--path", "budget.per_night")["value"] == 32000
    shell("undo", store, "--back", code=2)
    shell("undo", store, "mine", "--yes", "--read-only", code=7)
    shell("resume", store, "mine", "--step", "--yes", code=5)
    refused = shell("undo", store, "mine", "--yes", code=4)
    assert "something ran on 'mine'" in refused.stderr or "has gone on since that fork" in refused.stderr
