"""The screens that `test_snapshots` keeps pictures of: what is open, and what is done until it looks so."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from stores.model import Value
from tests.stores.langgraph_files import CURRENT, unpack
from tests.tui.conftest import app_over, is_following, settled, wait_for
from tests.tui.fakes import demo_session
from tests.tui.thread_fakes import START, TripSession
from tt_debug.engine.events import Event
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.screens.thread import ThreadScreen
from tt_debug.tui.screens.thread_running import RunEvent
from tt_debug.tui.widgets.pages_view import PagesView

SMALL, WIDE, ULTRA = (80, 24), (120, 40), (200, 60)


@dataclass
class Stage:
    """An app that runs, and what a scene may turn: its clock in seconds, and gates that its end opens."""

    pilot: Pilot[Any]
    clock: list[float]
    gates: list[threading.Event] = field(default_factory=list)

    @property
    def app(self) -> TtDebugApp:
        """The app."""
        assert isinstance(self.pilot.app, TtDebugApp)
        return self.pilot.app

    @property
    def session(self) -> Any:
        """The fake session of the first store."""
        return self.app.stores[0].session

    def gate(self) -> threading.Event:
        """A gate that is shut until the picture is taken."""
        self.gates.append(threading.Event())
        return self.gates[-1]

    async def rest(self) -> None:
        """Until nothing is being read."""
        await settled(self.pilot, self.app)
        await self.still()

    async def still(self) -> None:
        """Until the screen does not change any more, though something may still be read."""
        await wait_for(self.pilot, lambda: not is_following(self.app))
        for widget in self.app.screen.query("Input, TextArea"):
            cast(Input | TextArea, widget).cursor_blink = False
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        """Keys, each until what it asked for is shown."""
        for key in keys:
            await self.pilot.press(key)
            await self.rest()

    async def thread(self, name: str = "trip-planner") -> ThreadScreen:
        """Open a thread and wait until it is shown."""
        screen = self.app.show_thread(self.app.stores[0], name)
        await wait_for(self.pilot, lambda: screen.is_mounted and screen.details is not None)
        await self.rest()
        return screen


Drive = Callable[[Stage], Awaitable[object]]


@dataclass(frozen=True)
class Scene:
    """``made`` is given a folder and makes the app; ``drive`` brings it there; ``options`` are the app's."""

    drive: Drive
    sizes: tuple[tuple[int, int], ...] = (SMALL,)
    made: Callable[[Path], Any] = lambda _: TripSession()
    theme: str = "textual-dark"
    options: dict[str, Any] = field(default_factory=dict)

    def app(self, folder: Path) -> TtDebugApp:
        """The app over the scene's session."""
        session = self.made(folder)
        if isinstance(session, Session):
            url = session.info.path or session.info.url
            return TtDebugApp([OpenStore(url, Path(url).name, session)], ascii_only=False)
        return app_over(session, **{"ascii_only": False, **self.options})


SCENES: dict[str, Scene] = {}


def scene(name: str, *sizes: tuple[int, int], **more: Any) -> Callable[[Drive], Drive]:
    """Keep pictures of what the function below brings about."""

    def keep(drive: Drive) -> Drive:
        SCENES[name] = Scene(drive, sizes or (SMALL,), **more)
        return drive

    return keep


@scene("home", SMALL, WIDE, ULTRA, made=lambda _: demo_session())
@scene("home-light", WIDE, made=lambda _: demo_session(), theme="textual-light")
@scene("home-ascii", SMALL, made=lambda _: demo_session(), options={"ascii_only": True})
async def home(stage: Stage) -> None:
    """The list with a thread that waits under the cursor."""
    await stage.press("j")


@scene("thread", SMALL, WIDE, ULTRA)
@scene("thread-light", WIDE, theme="textual-light")
@scene("thread-ascii", SMALL, options={"ascii_only": True})
async def thread(stage: Stage) -> None:
    """A fork unfolded, A pinned two steps before the cursor."""
    screen = await stage.thread()
    screen.select_ref(stage.session.resolve("ryokan@13"))
    await stage.rest()
    await stage.press("space", "full_stop", "full_stop")


@scene("thread-failed", WIDE)
async def failed(stage: Stage) -> None:
    """A fork whose last step failed, the reason in its row."""
    await stage.thread("cheap")


@scene("thread-waiting", SMALL)
async def waiting(stage: Stage) -> None:
    """A question that waits, and what its step has written."""
    await stage.thread("review")
    await stage.press("5")


@scene("messages", SMALL)
async def messages(stage: Stage) -> None:
    """The transcript with a tool call."""
    await stage.thread()
    await stage.press("4", "G")


@scene("meta", WIDE)
async def meta(stage: Stage) -> None:
    """Ids, times and the runtime's own values."""
    await stage.thread("review")
    await stage.press("6")


@scene("namespaces", WIDE, made=lambda folder: Session.open(str(unpack(CURRENT, folder)), read_only=True))
async def namespaces(stage: Stage) -> None:
    """Calls of subgraphs, the outermost one open."""
    screen = await stage.thread("subgraph-nested")
    row = next(row for row, item in enumerate(screen.graph.items) if item.call)
    screen.graph.cursor = row
    await stage.press("l", "j")


@scene("edit", SMALL)
async def edit(stage: Stage) -> None:
    """A value being changed, and what the change will be."""
    screen = await stage.thread()
    screen.views.state.go_to(("plan", "status"))
    await stage.press("2")
    screen.views.state.go_to(("plan", "status"))
    await stage.press("e")
    stage.app.screen.query_one("#draft", TextArea).text = '"approved"'
    await stage.rest()


@scene("confirm", SMALL)
async def confirm(stage: Stage) -> None:
    """What will run, before it does."""
    await stage.thread("cheap")
    await stage.press("c")


@scene("running", SMALL)
async def running(stage: Stage) -> None:
    """The second node of a run, 3 s after its start and a minute after the run's."""
    screen = await stage.thread("cheap")
    await stage.press("c")
    stage.session.gate = stage.gate()
    await stage.pilot.press("ctrl+r")
    await wait_for(stage.pilot, lambda: screen.running)

    def tell(kind: str, **fields: Value) -> None:
        screen.post_message(RunEvent(Event(kind, "run-1", "cheap", START.isoformat(), fields)))

    tell("run_started", workflow="trip")
    tell("step_started", node="book_hotel", attempt=1)
    tell("output", stream="stdout", text="trying booking.example")
    tell("step_finished", node="book_hotel", step=14, duration_ms=57_000)
    await wait_for(stage.pilot, lambda: screen.views.live.row_count == 4)
    stage.clock[0] += 60
    tell("step_started", node="invoice", attempt=1)
    await wait_for(stage.pilot, lambda: screen.views.live.row_count == 5)
    stage.clock[0] += 3
    screen._tick()
    await stage.still()


@scene("approvals", SMALL, made=lambda _: demo_session())
async def approvals(stage: Stage) -> None:
    """A question with a secret in it."""
    await stage.press("a")


@scene("answer", SMALL, made=lambda _: demo_session())
async def answer(stage: Stage) -> None:
    """An answer of one's own, while it does not fit the schema."""
    await stage.press("a")
    await stage.press("i")
    stage.app.screen.query_one(TextArea).text = '{"decision": "maybe"}'
    await stage.rest()


@scene("help", SMALL)
async def keys(stage: Stage) -> None:
    """The keys of the Thread screen."""
    await stage.thread()
    await stage.press("question_mark")


@scene("palette", SMALL)
async def palette(stage: Stage) -> None:
    """Commands and threads that fit what was typed."""
    await stage.thread()
    await stage.press("colon")
    stage.app.screen.query_one(Input).value = "fork"
    await stage.pilot.pause()
    await wait_for(stage.pilot, lambda: not any(search.is_running for search in stage.app.workers))
    await stage.rest()


@scene("copy", SMALL)
async def copy(stage: Stage) -> None:
    """What can be copied of a message."""
    screen = await stage.thread()
    await stage.press("2")
    screen.views.state.go_to(("messages", 1))
    await stage.press("y")


@scene("pager", SMALL)
async def pager(stage: Stage) -> None:
    """A long text, its second page."""
    text = "\n".join(f"{number:>5}  a line of a report, 京都 and more" for number in range(3000))
    stage.session.add("long", {"report": text}, source="input")
    await stage.thread("long")
    await stage.press("2", "enter")
    await wait_for(stage.pilot, lambda: bool(stage.app.screen.query(PagesView)))
    await stage.press("full_stop")


@scene("import", SMALL, made=lambda _: demo_session())
async def importing(stage: Stage) -> None:
    """Asking for a file that is not there."""
    assert isinstance(stage.app.screen, BaseScreen)
    stage.app.screen.perform("import")
    await stage.rest()
    stage.app.screen.query_one(Input).value = "nowhere.jsonl"
    await stage.press("enter")
