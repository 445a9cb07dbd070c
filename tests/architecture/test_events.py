"""Textual calls ``on_…`` of every class of a hierarchy itself: one that also calls its base's runs it twice."""

from __future__ import annotations

from pathlib import Path

TUI = Path(__file__).parents[2] / "tt_debug" / "tui"


def test_no_event_is_dealt_with_twice() -> None:
    twice = [str(path.relative_to(TUI)) for path in sorted(TUI.rglob("*.py")) if "super().on_" in path.read_text()]
    assert twice == []
