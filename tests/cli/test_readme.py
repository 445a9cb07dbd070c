"""The README's workflow is one that runs, with the commands that stand beside it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.shell import Shell

README = Path(__file__).parents[2] / "README.md"


def test_the_workflow_of_the_readme_runs(shell: Shell, tmp_path: Path) -> None:
    for name, text in re.findall(r"^```\w+\n# (\S+)\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S):
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = ("run", "my.db", "--workflow", "flow.yaml", "--input", '{"city": "Kyoto"}', "--yes")
    shell(*words, code=5)
    (asked,) = shell.data("approvals", "my.db")
    assert asked["prompt"] == "Book Kyoto for 720?"
    shell("approve", "my.db", asked["id"])
    assert shell.events("resume", "my.db", asked["thread"], "--yes")[-1]["status"] == "done"
    state = shell.data("show", "my.db", asked["thread"])["state"]
    assert (state["plan"], state["total"], state["booked"]) == ("Three days in Kyoto", 720, True)
