"""Textual calls ``on_…`` of every class of a hierarchy itself: one that also calls its base's runs it twice."""

from __future__ import annotations

import re
from pathlib import Path

TUI = Path(__file__).parents[2] / "tt_debug" / "tui"


def test_no_event_is_dealt_with_twice() -> None:
    # `on_event` is the one that Textual does not call of every class: it hands all the others out.
    calls = re.compile(r"super\(\)\.on_(?!event\b)")
    assert [str(path.relative_to(TUI)) for path in sorted(TUI.rglob("*.py")) if calls.search(path.read_text())] == []
