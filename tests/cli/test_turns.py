"""turns: the human messages of a thread as REFs, to fork at and say something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Ran
from tt_debug.cli.main import main
from tt_debug.demo import prepare


@pytest.mark.parametrize("kind", ["native", "langgraph"])
def test_a_turn_is_listed_and_forked_with_another_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    demo = prepare(tmp_path / "demo")
    store, thread = (demo.native, "trip-planner") if kind == "native" else (demo.langgraph, "trip-kyoto")

    def run(command: str, *words: str, code: int = 0) -> Ran:
        found = main((command, str(store), *words))
        written = capsys.readouterr()
        assert found == code, written.err
        return Ran(found, written.out, written.err)

    (only,) = run("turns", thread, "--json").data
    assert (only["turn"], only["path"]) == (1, "messages[0].content")
    assert run("show", only["before"], "--json").data["step"] == only["step"] - 1
    assert "messages" not in run("show", only["before"], "--json").data["state"]
    listed = run("turns", thread, "--limit", "1")
    assert "plan_days" in listed.out
    assert f"{thread}@turn:-1" in listed.err
    words = json.dumps("Plan a trip to 奈良")
    made = run("fork", f"{thread}@turn:1", "--set", f"messages[0].content={words}").out.strip()
    assert run("turns", made, "--json").data[0]["text"] == "Plan a trip to 奈良"
    run("show", f"{thread}@turn:2", code=3)
