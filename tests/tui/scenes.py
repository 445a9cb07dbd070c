"""The screens and states that `test_snapshots` keeps pictures of: what is open, and what is done until it looks so."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from stores.errors import Busy, Corrupt, Unreachable
from stores.model import MISSING, Opaque, Partial, Status, StoreInfo, Tagged, Task, ThreadInfo, Value, Write
from tests.stores.langgraph_files import CURRENT, unpack
from tests.tui.conftest import app_over, is_following, settled, wait_for
from tests.tui.fakes import FakeSession, demo_session
from tests.tui.thread_fakes import START, TripSession, message
from tt_debug.engine.events import Event
from tt_debug.session.session import Session
from tt_debug.tui.app import Listing, OpenStore, TtDebugApp
from tt_debug.tui.rows.sizes import HUGE
from tt_debug.tui.screens.base import BaseScreen
from tt_debug.tui.screens.thread import ThreadScreen
from tt_debug.tui.screens.thread_parts import PartRead
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


# --- screens


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


# --- states


@scene("state-empty", SMALL, made=lambda _: FakeSession())
async def empty(stage: Stage) -> None:
    """A store without a thread."""
    await stage.rest()


@scene("state-first-load", WIDE)
async def first_load(stage: Stage) -> None:
    """A long thread of which nothing has come yet."""
    await stage.rest()
    many = replace(stage.session.threads()[0], thread="trip-planner", checkpoints=48_310)
    stage.app._set_listing(0, Listing(stage.app.stores[0], (many,), read=True))
    gate = stage.gate()
    real = stage.session.open_thread
    stage.session.open_thread = lambda *asked: (gate.wait(60), real(*asked))[1]
    screen = stage.app.show_thread(stage.app.stores[0], "trip-planner")
    await wait_for(stage.pilot, lambda: screen.is_mounted and screen.reading is not None)
    assert screen.reading is not None
    screen.post_message(PartRead(screen.reading, 20_000))
    await stage.still()


@scene("state-reading", SMALL, made=lambda _: demo_session())
async def reading(stage: Stage) -> None:
    """A listing on its way."""
    await stage.rest()
    before = stage.app.listings[0]
    stage.app._set_listing(0, Listing(before.store, before.threads, reading=20_000))
    await stage.still()


@scene("state-slow", WIDE)
async def slow(stage: Stage) -> None:
    """A checkpoint that takes long: the one before stays, dimmed, and the title says what is read."""
    screen = await stage.thread()
    stage.session.gate = stage.gate()
    await stage.pilot.press("comma")
    await wait_for(stage.pilot, lambda: screen.pending.startswith("◐"))
    await stage.still()


@scene("state-error-row", WIDE)
async def error_row(stage: Stage) -> None:
    """A row that cannot be read whole, and values nobody can decode."""
    session: TripSession = stage.session
    ref = session.resolve("review@1")
    point = session.checkpoints[ref]
    state = {
        **point.state,
        "pickled": Opaque("pickle", b"\x80\x04\x95 app.Foo"),
        "broken": Opaque("undecodable", b"\xc1\xff" * 1000),
        "counter": Partial(4, ([1], [2])),
        "unset": Partial(MISSING, ([1],)),
        "money": Tagged("app.models.Money", {"amount": 96_000, "currency": "JPY"}),
    }
    header = replace(point.header, problem="its metadata is no JSON: step and source are not known")
    session.checkpoints[ref] = replace(point, header=header, state=state)
    await stage.thread("review")
    await stage.press("2")


@scene("state-rebuilt", WIDE)
async def rebuilt(stage: Stage) -> None:
    """Values put together from other rows."""
    session: TripSession = stage.session
    head = session.heads["trip-planner"]
    session.checkpoints[head] = replace(
        session.checkpoints[head], rebuilt={"messages": "messages merged by id", "usage": "lists joined"}
    )
    await stage.thread()


@scene("state-failed-read", SMALL)
async def failed_read(stage: Stage) -> None:
    """A checkpoint that cannot be read."""
    error = Corrupt("page 7 of demo.db cannot be read", hint="tt-debug doctor demo.db says more.")
    stage.session.failing[stage.session.resolve("trip-planner@24")] = error
    screen = stage.app.show_thread(stage.app.stores[0], "trip-planner")
    await wait_for(stage.pilot, lambda: bool(screen.failures))
    await stage.rest()


@scene("state-read-only", SMALL, options={"read_only": True})
async def read_only(stage: Stage) -> None:
    """Keys that write are dimmed and say why."""
    await stage.thread()
    await stage.press("e")


@scene("state-huge", WIDE)
async def huge(stage: Stage) -> None:
    """Of a state of many megabytes only keys and sizes, until more is asked for."""
    session: TripSession = stage.session
    talk = [message("human", "x" * 5000, f"m{number}") for number in range(300)]
    state = {"messages": talk, "small": {"a": 1}, "text": "y" * 1_234_567}
    session.add("big", state, source="input", next=("load",))
    head = session.add("big", {**state, "small": {"a": 2}}, node="load")
    point = session.checkpoints[head]
    session.checkpoints[head] = replace(point, header=replace(point.header, size=HUGE + 1))
    await stage.thread("big")


@scene("state-long-list", SMALL)
async def long_list(stage: Stage) -> None:
    """Lists in chunks of a hundred, long texts cut with their size."""
    items = [{"id": f"d{number}", "score": number / 7} for number in range(1234)]
    state = {"docs": items, "note": "a long note " * 2000, "vector": [0.25] * 1536, "blob": Opaque("bytes", b"\0" * 99)}
    stage.session.add("many", state, source="input")
    screen = await stage.thread("many")
    await stage.press("2")
    screen.views.state.go_to(("docs", 1))
    await stage.rest()


@scene("state-offline", SMALL)
async def offline(stage: Stage) -> None:
    """A store that went out of reach 12 s ago, and is tried again in 4."""
    await stage.thread()
    error = Unreachable("demo.db does not exist", hint="Give the path of an SQLite file that holds checkpoints.")

    def gone(**_: object) -> tuple[ThreadInfo, ...]:
        raise error

    stage.session.threads = gone
    stage.app.check(stage.app.stores)
    await wait_for(stage.pilot, lambda: bool(stage.app.outages))
    stage.app.outages[0].again = stage.clock[0] + 16
    stage.clock[0] += 12
    stage.app._tell()
    await stage.rest()


@scene("state-busy", SMALL)
async def busy(stage: Stage) -> None:
    """Another process keeps the store locked."""
    screen = await stage.thread()
    ref = stage.session.resolve("trip-planner@22")
    stage.session.failing[ref] = Busy("demo.db is locked by another process", hint="wait")
    await stage.pilot.press("comma", "comma")
    await wait_for(stage.pilot, lambda: bool(screen.waits) and screen.pending.startswith("◐"))
    await stage.still()


class Noticed(FakeSession):
    """A store that has something to say."""

    notices: tuple[str, ...] = ()

    @property
    def info(self) -> StoreInfo:
        return replace(super().info, notices=self.notices)


def noticed(*notices: str) -> Callable[[Path], FakeSession]:
    """The demo's threads in a store that says these."""

    def made(_: Path) -> FakeSession:
        demo = demo_session()
        session = Noticed(checkpoints=demo.checkpoints, heads=demo.heads)
        session.notices = notices
        return session

    return made


@scene(
    "state-foreign-schema", SMALL, made=noticed("The file has schema 5, known up to 4: it is open for reading only.")
)
@scene(
    "state-damaged",
    SMALL,
    made=noticed(
        "The file is damaged: 3 pages cannot be read. What can be read is shown; 12 checkpoints are missing.",
        "2 threads have rows whose parents are not in the file.",
    ),
)
async def notice(stage: Stage) -> None:
    """What a store has to tell stands above its list."""
    await stage.rest()


@scene("state-encrypted", WIDE)
async def encrypted(stage: Stage) -> None:
    """Values that are encrypted, and what lies in clear text."""
    session: TripSession = stage.session
    secret = Opaque("encrypted", b"\x01" * 480)
    writes = (Write("draft", secret), Write("stage", "clear text"))
    tasks = (Task("t-1", "ask", "", Status.PENDING, writes),)
    session.add("sealed", {"messages": secret, "count": 3}, source="input", next=("ask",))
    session.add("sealed", {"messages": secret, "count": 4}, node="ask", next=("ask",), tasks=tasks)
    await stage.thread("sealed")
    await stage.press("5")


@scene("state-too-small", (50, 10))
async def too_small(stage: Stage) -> None:
    """One sentence."""
    await stage.rest()
