"""turns: the human messages of a thread as REFs, to fork at and say something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tt_debug.demo import prepare


@pytest.mark.parametrize("kind", ["native", "langgraph"])
def test_a_turn_is_listed_and_forked_with_another_message(shell: Shell, tmp_path: Path, kind: str) -> None:
    demo = prepare(tmp_path / "demo")
    store, thread = (demo.native, "trip-planner") if kind == "native" else (demo.langgraph, "trip-kyoto")
    (only,) = shell.data("turns", store, thread)
    assert (only["turn"], only["path"]) == (1, "messages[0].content")
    assert shell.data("show", store, only["before"])["step"] == only["step"] - 1
    assert "messages" not in shell.data("show", store, only["before"])["state"]
    listed = shell("turns", store, thread, "--limit", "1")
    assert "plan_days" in listed.stdout
    assert f"{thread}@turn:-1" in listed.stderr
    words = json.dumps("Plan a trip to 奈良")
    made = shell("fork", store, f"{thread}@turn:1", "--set", f"messages[0].content={words}").stdout.strip()
    assert shell.data("turns", store, made)[0]["text"] == "Plan a trip to 奈良"
    shell("show", store, f"{thread}@turn:2", code=3)
