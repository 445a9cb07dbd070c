"""More scenes that `test_snapshots` keeps pictures of: every state that a list, a panel or a store can be in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from stores.errors import Busy, Corrupt, Unreachable
from stores.model import MISSING, Opaque, Partial, Status, StoreInfo, Tagged, Task, ThreadInfo, Write
from tests.tui.conftest import wait_for
from tests.tui.fakes import FakeSession, demo_session
from tests.tui.sample_threads import message
from tests.tui.scenes import SCENES, SMALL, WIDE, Stage, scene
from tests.tui.thread_fakes import TripSession
from tt_debug.tui.app import Listing
from tt_debug.tui.rows.sizes import HUGE
from tt_debug.tui.screens.thread_parts import PartRead

__all__ = ["SCENES", "SMALL", "WIDE", "Stage", "scene"]


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
