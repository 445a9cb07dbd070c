"""Histories that no release writes, from the command line: what the reader must be told about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stores.handmade import Row, handmade, uuid
from tt_debug.cli.main import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


def test_changes_that_deepdiff_passes_over_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Row(uuid(1), None, {"l": [2, 1], "e": "10"}), Row(uuid(2, 1), uuid(1), {"l": [2.0, True], "e": 10})]
    store = str(handmade(tmp_path / "numbers.sqlite", rows))
    assert main(("diff", store, "t", "--format", "deepdiff")) == 0
    ran = capsys.readouterr()
    assert "root['l']" not in ran.out
    assert ran.err.startswith("note: deepdiff passes over 2 changes:")
    assert main(("diff", store, "t")) == 0
    ran = capsys.readouterr()
    assert "~ l[0]  2 → 2.0  int → float\n~ l[1]  1 → true  int → bool\n" in ran.out
    assert ran.err == ""
