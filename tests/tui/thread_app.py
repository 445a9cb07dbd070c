"""A Thread screen over a fake session: opening it, and waiting until it shows what the cursor is on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from textual.pilot import Pilot

from stores.model import Ref
from tests.tui.conftest import app_over, screen_text, settled, wait_for
from tests.tui.thread_fakes import TripSession
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.screens.thread import ThreadScreen


@dataclass
class Opened:
    """An open Thread screen. ``session`` is the fake one below it."""

    app: TtDebugApp
    pilot: Pilot[Any]
    screen: ThreadScreen
    session: TripSession

    async def rest(self) -> None:
        """Until everything that was asked for is shown, whichever screen is on top."""
        await wait_for(self.pilot, lambda: not self.screen.running)
        await settled(self.pilot, self.app)

    async def press(self, *keys: str) -> None:
        """Keys, each once what the one before asked for is shown."""
        for key in keys:
            await self.pilot.press(key)
            await self.rest()

    async def until(self, condition: Any) -> None:
        """Wait for a condition."""
        await wait_for(self.pilot, condition)

    @property
    def text(self) -> str:
        """What the terminal shows."""
        return screen_text(self.app)

    @property
    def told(self) -> str:
        """Every toast so far."""
        return "\n".join(notice.message for notice in self.app._notifications)

    @property
    def step(self) -> int | None:
        """The step under the cursor."""
        header = self.screen.header()
        return header.step if header is not None else None

    def ref(self, thread: str, step: int) -> Ref:
        """The checkpoint of a thread at a step."""
        return self.session.resolve(f"{thread}@{step}")


@asynccontextmanager
async def thread_screen(
    thread: str = "trip-planner",
    size: tuple[int, int] = (80, 24),
    session: TripSession | None = None,
    **options: Any,
) -> AsyncIterator[Opened]:
    """The screen of a thread, read and at rest."""
    session = session or TripSession()
    app = app_over(cast(Any, session), **options)
    async with app.run_test(size=size) as pilot:
        screen = app.show_thread(app.stores[0], thread)
        await wait_for(pilot, lambda: screen.view is not None and screen.is_mounted)
        opened = Opened(app, pilot, screen, session)
        await opened.rest()
        yield opened
