"""Two lines side by side on screen: from a pin in another thread, from a fork, and what is told of a step."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from stores.memory import MemoryStore
from tests.cli.samples import HOSTILE, checkpoint, ident, sample_store
from tests.tui.conftest import screen_lines, screen_text, settled, unsafe_characters, wait_for
from tt_debug.session.journal import Journal
from tt_debug.session.running import Code
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.screens.comparing import CompareScreen
from tt_debug.tui.screens.thread import ThreadScreen


@dataclass
class Opened:
    """An app over a store in memory."""

    app: TtDebugApp
    pilot: Pilot[Any]

    async def thread(self, name: str) -> ThreadScreen:
        """A thread's screen on top, its cursor on the head."""
        screen = self.app.show_thread(self.app.stores[0], name)
        await self.until(lambda: screen.is_mounted and screen.details is not None)
        return screen

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for it, and for what is being read."""
        await wait_for(self.pilot, lambda: bool(condition()) and not self.app.loader.busy)
        await self.pilot.pause()

    async def compared(self) -> CompareScreen:
        """Until the two lines are there, and the step under the cursor."""
        await self.until(lambda: isinstance(self.app.screen, CompareScreen) and "reading" not in self.text)
        assert isinstance(self.app.screen, CompareScreen)
        return self.app.screen

    @property
    def text(self) -> str:
        return screen_text(self.app)


@asynccontextmanager
async def opened(
    folder: Path, store: MemoryStore | None = None, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Opened]:
    session = Session(store or sample_store(), Journal("sample", folder), Code())
    app = TtDebugApp([OpenStore("memory:", "trip.db", session)])
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        yield Opened(app, pilot)


async def test_a_pin_counts_in_another_thread_and_the_lines_stand_side_by_side(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        await it.thread("trip")
        await it.pilot.press("D")
        assert "nothing to compare with: space pins A" in next(iter(it.app._notifications)).message
        await it.pilot.press("space")
        await it.thread("trip-eu")
        await it.pilot.press("D")
        screen = await it.compared()
        lines = screen_lines(it.app)
        assert "1 A trip@1  ·  B trip-eu@0 " in lines[1]
        assert [line.strip("┃▌ ").split() for line in lines[2:4]] == [
            ["~", "0", "plan", "0", "plan", "plan,", "city", "they", "part", "here"],
            ["<", "1", "book", "city,", "days,", "note,", "plan"],
        ]
        assert "in common up to -1 input" in it.text
        assert "plan started from the same state and wrote something else" in it.text
        assert '+ plan  {hotel: "ryokan", price: 88}' in it.text
        assert '~ city  "京都" → "Kraków"' in it.text
        command = f"tt-debug compare memory: trip@{ident(2)} trip-eu@{ident(11)}"
        assert screen.command_line() == command


async def test_a_fork_stands_beside_the_line_it_left_and_enter_goes_to_a_step(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        thread = await it.thread("trip")
        fork = next(ref for ref in thread.view.headers if ref.thread == "trip-eu") if thread.view else None
        assert fork is not None
        thread.select_ref(fork)
        await it.until(lambda: thread.selected == fork and fork in thread.places)
        await it.pilot.press("D")
        await it.compared()
        await it.pilot.press("down")
        await it.until(lambda: "B has no such step" in it.text)
        assert "A 1 book" in it.text
        await it.pilot.press("enter")
        await it.until(lambda: it.app.screen is thread)
        assert thread.selected is not None
        assert thread.selected.id == ident(2)


async def test_the_same_line_twice_does_not_part(tmp_path: Path) -> None:
    async with opened(tmp_path, size=(80, 24)) as it:
        store, head = it.app.stores[0], it.app.stores[0].session.resolve("trip")
        it.app.push_screen(CompareScreen(store, head, head))
        await it.compared()
        assert "Both end at the same checkpoint." in it.text
        assert "they do not part" in it.text
        await it.pilot.press("enter", "y", "escape")
        await it.until(lambda: not isinstance(it.app.screen, CompareScreen))


async def test_hostile_texts_and_secrets(tmp_path: Path) -> None:
    store = sample_store()
    first = store.append(checkpoint("evil", 30, None, "", {"api_key": "sk-one", HOSTILE: HOSTILE}))
    store.append(checkpoint("evil", 31, first.ref, HOSTILE, {"api_key": "sk-two", HOSTILE: HOSTILE + "!"}))
    async with opened(tmp_path, store, (80, 24)) as it:
        session = it.app.stores[0].session
        screen = CompareScreen(it.app.stores[0], session.resolve("evil"), session.resolve(HOSTILE))
        it.app.push_screen(screen)
        await it.compared()
        assert not unsafe_characters(it.text)
        assert "nothing in common" in it.text
        assert "sk-" not in it.text
        await it.pilot.press("S")
        await it.until(lambda: "sk-one" in it.text)


async def test_a_thread_that_is_gone_says_so_in_its_place(tmp_path: Path) -> None:
    async with opened(tmp_path, size=(80, 24)) as it:
        store, head = it.app.stores[0], it.app.stores[0].session.resolve("trip")
        it.app.push_screen(CompareScreen(store, head, head._replace(thread="gone")))
        await it.until(lambda: "gone" in it.text and "reading" not in it.text)
