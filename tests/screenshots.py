"""Draws the pictures of the README from the demo, by pressing the keys of its tour: `make screenshots`."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

from textual.pilot import Pilot

from stores.model import Header
from stores.native.sqlite import NativeStore
from stores.runs import RunStatus, StepRecord
from tests import browser
from tt_debug.demo import DemoFiles, prepare
from tt_debug.engine.events import Event
from tt_debug.session.plans import GraphTarget
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp, label_of
from tt_debug.tui.dialogs.base import Dialog
from tt_debug.tui.glyphs import UNICODE, Glyphs
from tt_debug.tui.rows.live import event_line
from tt_debug.tui.rows.pieces import Line

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
    "watches": ((*AT_17, "w", *"length(messages)", "enter"), (SMALL, WIDE)),
    "compare": (RUNNING, (WIDE,)),
    "log": ((*EDITED, "ctrl+s", "at"), (SMALL,)),
}
PACES: Final = {"running": "3", "compared": "0.2", "compare": "0.2"}
"""How long the demo's nodes take to a run in a picture,"""
TOOK: Final = {
    "rank_hotels": 0.5,
    "choose_hotel": 0.9,
    "reserve_hotel": 1.8,
    "invoice": 0.5,
    "check_total": 0.5,
    "write_summary": 0.1,
}
"""and how many seconds it tells of them: pictures are alike whenever they are drawn."""
FORKED: Final = 16
"""The step of the fork that a run in a picture goes on from."""


class Times:
    """The times of a run in a picture, which begins shortly before the picture's time."""

    def __init__(self, newest: datetime) -> None:
        self._newest = newest
        self._begun = newest + AGO - timedelta(seconds=sum(TOOK.values()))
        self.passed = 0.0
        """Seconds since the run began."""

    def at(self, step: int) -> datetime:
        """When the node of a step has ended."""
        return self._begun + timedelta(seconds=sum(list(TOOK.values())[: max(0, step - FORKED)]))

    def header(self, **fields: Any) -> Header:
        """A header as the store makes it, those of the run with their times in the picture."""
        made = Header(**fields)
        is_new = made.created is not None and made.created > self._newest
        return replace(made, created=self.at(made.step or FORKED)) if is_new else made

    def line(self, event: Event, glyphs: Glyphs = UNICODE) -> Line:
        """An event as the log tells it."""
        node, fields = str(event.fields.get("node", "")), dict(event.fields)
        step = list(TOOK).index(node) + FORKED + 1 if node in TOOK else FORKED
        if event.kind == "run_ended":
            step = FORKED + len(TOOK)
        has_ended = event.kind in ("step_finished", "run_ended")
        at = self.at(step if has_ended else step - 1)
        self.passed = (at - self._begun).total_seconds()
        if "duration_ms" in fields and node in TOOK:
            fields["duration_ms"] = TOOK[node] * 1000
        return event_line(replace(event, at=at.isoformat(), fields=fields), glyphs)


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
    while screen.running and (until is None or screen.header().step < until):
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
        if name == "watches" and size == SMALL:
            await press(pilot, app, ["left_square_bracket"] * 2)  # to their tab, which a larger screen has not
        if name == "running":
            await ran(pilot, app, 19)
            await pilot.pause(0.2)
            app.screen._tick()  # type: ignore[attr-defined]
        elif name in AFTER:
            await ran(pilot, app, None)
            await press(pilot, app, AFTER[name])
            app.clear_notifications()
            await settled(pilot, app)
        for field in app.screen.query("Input, TextArea"):
            field.cursor_blink = False  # type: ignore[attr-defined]
        await pilot.pause(0.1)
        picture = app.export_screenshot(title="tt-debug")
        if name == "running":
            app.screen.stop_run()  # type: ignore[attr-defined]
            await ran(pilot, app, None)
        assert isinstance(app.screen, Dialog) is (name in ("edit", "confirm", "undo", "breakpoint"))
    for session in sessions:
        session.close()
    return picture


def newest_write(files: DemoFiles) -> datetime:
    """Of the demo."""
    with closing(Session.open(str(files.native), read_only=True)) as session:
        return max(info.updated for info in session.threads() if info.updated is not None)


def clock(newest: datetime) -> type[datetime]:
    """A clock that stands a little after the demo's newest write: ages are the same whenever a picture is drawn."""

    class Then(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return (newest + AGO).astimezone(tz)

    return Then


def fresh(place: Path) -> DemoFiles:
    """The demo as it is at first: what an earlier picture has watched, named or forked is forgotten."""
    shutil.rmtree(place / "home", ignore_errors=True)
    return prepare(place / "demo", reset=True)


def write(name: str, size: tuple[int, int], files: DemoFiles) -> Path:
    """One picture, into the folder that the README shows."""
    os.environ["TT_DEBUG_DEMO_PACE"] = PACES.get(name, "0")
    newest = newest_write(files)
    stands, times = clock(newest), Times(newest)
    patches: list[Any] = [mock.patch(f"tt_debug.tui.{module}.datetime", stands) for module in CLOCKS]
    patches += [
        mock.patch("stores.native.rows.Header", times.header),
        mock.patch("tt_debug.tui.widgets.live_view.event_line", times.line),
        mock.patch("tt_debug.tui.screens.thread_running.time", SimpleNamespace(monotonic=lambda: times.passed)),
    ]
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
            report(write(name, size, fresh(place)).name)
    if browser.installed() is not None:
        picture = FOLDER / "browser.png"
        picture.write_bytes(asyncio.run(in_a_browser(fresh(place).native)))
        report(picture.name)


if __name__ == "__main__":
    main()
