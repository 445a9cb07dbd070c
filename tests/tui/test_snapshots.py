"""Pictures of the screens, and of every state that a panel can be in, as they are meant to look.

A changed picture is looked at before it is accepted: ``python -m pytest tests/tui/test_snapshots.py
--snapshot-update``, then open the changed files of ``__snapshots__``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import screen_lines, unsafe_characters
from tests.tui.power_scenes import SCENES, Stage
from tests.tui.thread_fakes import START
from tt_debug.tui import loader, outages
from tt_debug.tui.screens import approvals, everywhere, home, thread_base, thread_following, thread_running

TEXTUAL = "8.2.8"
"""What the pictures were drawn with; another version draws some things otherwise."""

pytestmark = pytest.mark.skipif(version("textual") != TEXTUAL, reason=f"the pictures are Textual {TEXTUAL}'s")

CASES = [(name, size) for name, scene in SCENES.items() for size in scene.sizes]


class Then(datetime):
    """A clock that stands three hours after the fakes' first write."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return (START + timedelta(hours=3)).astimezone(tz)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Clocks that stand, in UTC: one for ages, and one in seconds, which a scene may turn."""
    seconds = [1000.0]
    for module in (home, thread_base, approvals):
        monkeypatch.setattr(module, "datetime", Then)
    for module in (outages, everywhere, thread_running):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setattr(outages, "RETRIES", (3600,))
    monkeypatch.setattr(loader, "AGAIN", 0.01)
    monkeypatch.setattr(thread_following, "SLOW", 0.01)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield seconds
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(("name", "size"), CASES, ids=[f"{name}-{size[0]}x{size[1]}" for name, size in CASES])
def test_it_looks_as_it_did(
    name: str, size: tuple[int, int], snap_compare: Callable[..., bool], clock: list[float], tmp_path: Path
) -> None:
    scene = SCENES[name]
    app = scene.app(tmp_path)
    stages: list[Stage] = []

    async def drive(pilot: Pilot[Any]) -> None:
        app.theme = scene.theme
        stages.append(Stage(pilot, clock))
        await scene.drive(stages[0])
        lines = screen_lines(app)
        assert unsafe_characters("\n".join(lines)) == set()
        assert str(tmp_path) not in "".join(lines)
        assert os.environ.get("USER", "\0") not in "".join(lines)

    try:
        assert snap_compare(app, terminal_size=size, run_before=drive)
    finally:
        for gate in stages[0].gates:
            gate.set()
        for store in app.stores:
            store.session.close()
