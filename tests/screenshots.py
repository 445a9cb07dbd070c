"""Draws the pictures of the README from the demo, by pressing the keys of its tour: `make screenshots`."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tt_debug.demo import DemoFiles, prepare
from tt_debug.session.plans import GraphTarget
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp, label_of

FOLDER = Path(__file__).parents[1] / "screenshots"
SMALL, WIDE, ULTRA = (80, 24), (120, 40), (200, 60)

AT_15 = ("enter", "colon", "1", "5", "enter")
AT_17 = ("enter", "colon", "1", "7", "enter")
PICTURES: dict[str, tuple[Sequence[str], Sequence[tuple[int, int]]]] = {
    "home": ((), (SMALL, WIDE, ULTRA)),
    "thread": (AT_17, (SMALL, WIDE, ULTRA)),
    "edit": ((*AT_15, "3", "e"), (SMALL, WIDE)),
    "confirm": ((*AT_15, "R"), (SMALL, WIDE)),
    "run": ((*AT_15, "R", "ctrl+r"), (SMALL, WIDE)),
    "approvals": (("a",), (SMALL, WIDE)),
    "help": (("enter", "question_mark"), (WIDE,)),
}


async def settled(pilot: Pilot[Any], app: TtDebugApp) -> None:
    """Until nothing is being read and the panels have followed the cursor."""
    for _ in range(20):
        await pilot.pause(0.02)
        while app.loader.busy:
            await pilot.pause(0.02)


async def draw(files: DemoFiles, keys: Sequence[str], size: tuple[int, int]) -> str:
    """The screen after these keys, as SVG."""
    sessions = [Session.open(str(files.native)), Session.open(str(files.langgraph), graph=GraphTarget(files.graph))]
    stores = [OpenStore(str(session.info.path), label_of(session), session) for session in sessions]
    app = TtDebugApp(stores, ascii_only=False)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        for key in keys:
            await pilot.press(key)
            await settled(pilot, app)
        return app.export_screenshot(title="tt-debug")


def write(name: str, keys: Sequence[str], size: tuple[int, int], files: DemoFiles) -> Path:
    """One picture, into the folder that the README shows."""
    path = FOLDER / f"{name}-{size[0]}x{size[1]}.svg"
    path.write_text(asyncio.run(draw(files, keys, size)))
    return path


def main(report: Callable[[str], None] = print) -> None:
    """Draw every picture, on a fresh demo of its own."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TT_DEBUG_HOME": f"{folder}/home", "TT_DEBUG_DEMO_PACE": "0"}
        for name, (keys, sizes) in PICTURES.items():
            for size in sizes:
                files = prepare(Path(folder) / "demo", reset=True)
                report(write(name, keys, size, files).name)


if __name__ == "__main__":
    main()
