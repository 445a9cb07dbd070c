"""What a clone must not contain: paths of a machine, and names of documents it does not ship."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MACHINE = re.compile(r"/(work|home/[a-z]+|root)/|https?://[\w.-]*(pypi|registry|artifactory)[\w.-]*/")
ELSEWHERE = re.compile(r"\b(DESIGN|EXECUTOR|FORMATS|UX|FIELD|STYLE|PERFORMANCE)\.md\b")


def _sources() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    texts = {".py", ".md", ".toml", ".yaml", ".tcss", ".json", ""}
    return [ROOT / name for name in listed.split("\0") if name and Path(name).suffix in texts and "data" not in name]


def _lines(pattern: re.Pattern[str]) -> list[str]:
    own = Path(__file__)
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in _sources()
        if path != own and path.is_file()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_path_of_a_machine() -> None:
    assert len(_sources()) > 50
    assert _lines(MACHINE) == []


def test_no_document_that_a_clone_does_not_have() -> None:
    assert _lines(ELSEWHERE) == []


def test_the_readme_shows_pictures_that_are_there() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert shown
    assert [name for name in shown if not (ROOT / name).is_file()] == []


def test_the_top_level_stays_small() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {name.split("/")[0] for name in listed.splitlines() if not name.startswith(".")}
    assert top <= {"pyproject.toml", "Makefile", "README.md", "LICENSE", "tt_debug", "stores", "tests", "screenshots"}
