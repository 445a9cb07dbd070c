"""Draws the pictures of the README from the demo, by pressing the keys of its tour: `make screenshots`."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Final
from unittest import mock

from textual.pilot import Pilot

from stores.native.sqlite import NativeStore
from stores.runs import RunStatus, StepRecord
from tests import browser
from tt_debug.demo import DemoFiles, prepare
from tt_debug.session.plans import GraphTarget
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp, label_of
from tt_debug.tui.dialogs.base import Dialog

FOLDER = Path(__file__).parents[1] / "screenshots"
SMALL, WIDE, ULTRA = (80, 24), (120, 40), (200, 60)
AGO: Final = timedelta(minutes=12)
"""What the newest write of the demo is old in every picture."""
CLOCKS: Final = ("screens.home", "screens.thread_base", "screens.approvals")
"""The modules that reckon ages."""

AT_17 = ("enter", "colon", "1", "7", "enter")
AT_15 = (*AT_17, "d", "colon", "1", "5", "enter")
EDITED = (*AT_15, "e", "down", "down", "end", *["backspace"] * 5, *"32000")
ASKED = (*EDITED, "ctrl+r")
RUNNING = (*ASKED, "ctrl+r")
COMPARED = ("1", *"kkkkkkk", "space", "G", "d")
"""From the end of the fork: the old head lies seven rows above it."""
AFTER: Final = {"compared": COMPARED, "compare": (*COMPARED[:-1], "D")}
"""What is pressed when the run has ended."""

PICTURES: dict[str, tuple[Sequence[str], Sequence[tuple[int, int]]]] = {
    "home": ((), (SMALL, WIDE, ULTRA)),
    "thread": (AT_17, (SMALL, WIDE, ULTRA)),
    "edit": (EDITED, (SMALL, WIDE)),
    "confirm": (ASKED, (SMALL, WIDE)),
    "running": (RUNNING, (SMALL, WIDE)),
    "compared": (RUNNING, (SMALL, WIDE, ULTRA)),
    "approvals": (("a",), (SMALL, WIDE)),
    "help": (("enter", "question_mark"), (WIDE,)),
    "column": ((*AT_17, "w", *"budget.per_night", "enter", "L"), (SMALL, WIDE)),
    "turns": (("enter", "T"), (SMALL,)),
    "undo": ((*EDITED, "ctrl+s", "u"), (SMALL, WIDE)),
    "breakpoint": ((*AT_17, "B"), (SMALL,)),
    "metrics": (("M",), (SMALL, WIDE)),
    "recovery": (("v",), (SMALL, WIDE)),
    "effects": ((*AT_17, "8"), (SMALL, WIDE)),
    "answers": ((*AT_17, "d", "j", "j", "W"), (SMALL,)),
    "watches": ((*AT_17, "w", *"length(messages)", "enter", *["left_square_bracket"] * 2), (SMALL, WIDE)),
    "compare": (RUNNING, (WIDE,)),
    "log": ((*EDITED, "ctrl+s", "at"), (SMALL,)),
}
PACES: Final = {"running": "1", "compared": "0.2", "compare": "0.2"}
"""How long the demo's nodes take to a run in a picture."""


async def settled(pilot: Pilot[Any], app: TtDebugApp) -> None:
    """Until nothing is being read, the panels have followed the cursor, and a form has checked its text."""
    for _ in range(25):
        await pilot.pause(0.02)
        while app.loader.busy and not any(screen.running for screen in app._own_screens()):
            await pilot.pause(0.02)


async def press(pilot: Pilot[Any], app: TtDebugApp, keys: Sequence[str]) -> None:
    """One key after the other, as somebody who waits for what each one does."""
    for key in keys:
        await pilot.press(key)
        if not key.isdigit() and key != "backspace":
            await settled(pilot, app)
    await settled(pilot, app)


async def ran(pilot: Pilot[Any], app: TtDebugApp, until: int | None) -> None:
    """Until the run has stored the checkpoint of a step, or has ended."""
    screen: Any = app.screen
    while screen.running and (until is None or screen.header().step != until):
        await pilot.pause(0.02)
    app.clear_notifications()


def strand(files: DemoFiles) -> None:
    """A run whose owner died: the paused one, taken by a process that there is not."""
    with closing(NativeStore(files.native, read_only=False)) as store:
        paused = next(run for run in store.runs() if run.status == RunStatus.PAUSED)
        taken = store.claim(paused.run_id, "agent-7", 4_194_305)
        node = store.load(store.head(paused.thread)).header.next[0]
        store.start_step(taken.run_id, taken.token, StepRecord(taken.run_id, 2, node))


async def draw(name: str, size: tuple[int, int], files: DemoFiles) -> str:
    """The screen of a picture, as SVG."""
    if name == "recovery":
        strand(files)
    sessions = [Session.open(str(files.native)), Session.open(str(files.langgraph), graph=GraphTarget(files.graph))]
    stores = [OpenStore(str(session.info.path), label_of(session), session) for session in sessions]
    app = TtDebugApp(stores, ascii_only=False)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        await press(pilot, app, PICTURES[name][0])
        if name == "running":
            await ran(pilot, app, 19)
            await pilot.pause(0.2)
        elif name in AFTER:
            await ran(pilot, app, None)
            await press(pilot, app, AFTER[name])
            app.clear_notifications()
            await settled(pilot, app)
        picture = app.export_screenshot(title="tt-debug")
        if name == "running":
            app.screen.stop_run()  # type: ignore[attr-defined]
            await ran(pilot, app, None)
        assert isinstance(app.screen, Dialog) is (name in ("edit", "confirm", "undo", "breakpoint"))
    for session in sessions:
        session.close()
    return picture


def clock(files: DemoFiles) -> type[datetime]:
    """A clock that stands a little after the demo's newest write: ages are the same whenever a picture is drawn."""
    session = Session.open(str(files.native), read_only=True)
    newest = max(info.updated for info in session.threads() if info.updated is not None)
    session.close()

    class Then(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return (newest + AGO).astimezone(tz)

    return Then


def write(name: str, size: tuple[int, int], files: DemoFiles) -> Path:
    """One picture, into the folder that the README shows."""
    os.environ["TT_DEBUG_DEMO_PACE"] = PACES.get(name, "0")
    stands = clock(files)
    patches = [mock.patch(f"tt_debug.tui.{module}.datetime", stands) for module in CLOCKS]
    for patch in patches:
        patch.start()
    try:
        picture = asyncio.run(draw(name, size, files))
    finally:
        mock.patch.stopall()
    path = FOLDER / f"{name}-{size[0]}x{size[1]}.svg"
    path.write_text(picture)
    return path


async def in_a_browser(path: Path) -> bytes:
    """The interface as `tt-debug serve` shows it, as PNG."""
    async with browser.serving(path) as (address, _), browser.opened(address, (1000, 640)) as page:
        await page.until("document.body.classList.contains('-first-byte')")
        return await page.still_picture()


def main(report: Callable[[str], None] = print) -> None:
    """Draw every picture, each on a fresh demo. Its folder has one name, because pictures show it."""
    FOLDER.mkdir(exist_ok=True)
    place = Path(tempfile.gettempdir()) / "tt-debug-pictures"
    os.environ |= {"TT_DEBUG_HOME": f"{place}/home", "TZ": "UTC"}
    time.tzset()
    for name, (_, sizes) in PICTURES.items():
        for size in sizes:
            report(write(name, size, prepare(place / "demo", reset=True)).name)
    if browser.installed() is not None:
        picture = FOLDER / "browser.png"
        picture.write_bytes(asyncio.run(in_a_browser(prepare(place / "demo", reset=True).native)))
        report(picture.name)


if __name__ == "__main__":
    main()
