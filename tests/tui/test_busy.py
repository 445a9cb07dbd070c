"""A store that another process keeps locked: reading waits and says so, writing says so and is not repeated."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from stores.errors import Busy
from tests.builders import native_file
from tests.tui.conftest import app_over, screen_lines, screen_text, settled, wait_for
from tests.tui.fakes import FakeSession
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.session.session import Session
from tt_debug.tui import loader
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.loader import Loader
from tt_debug.tui.messages import Failed, ThreadsRead, Waiting
from tt_debug.tui.watch import Watch


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "AGAIN", 0.001)


class Owner:
    """Hears what the loader posts."""

    def __init__(self) -> None:
        self.heard: list[object] = []
        self.done = threading.Event()

    def post_message(self, message: object) -> None:
        self.heard.append(message)
        if not isinstance(message, Waiting):
            self.done.set()


def locked(times: int) -> list[int]:
    """How often it is still locked, counted down by `read`."""
    return [times]


def read(left: list[int]) -> int:
    if left[0]:
        left[0] -= 1
        raise Busy("x.db is locked by another process", hint="wait")
    return 7


def answer(number: int) -> ThreadsRead:
    return ThreadsRead(number, Watch(), ())


def test_a_patient_call_is_made_until_it_works() -> None:
    owner = Owner()
    calls = Loader(owner)  # type: ignore[arg-type]
    left = locked(3)
    calls.call(owner, "reading", lambda: read(left), answer)  # type: ignore[arg-type]
    assert owner.done.wait(30)
    kinds = [(type(each).__name__, getattr(each, "over", None)) for each in owner.heard]
    assert kinds == [*[("Waiting", False)] * 3, ("Waiting", True), ("ThreadsRead", None)]
    while calls.busy:
        pass
    calls.close()


def test_one_that_is_not_patient_fails_at_once() -> None:
    owner = Owner()
    calls = Loader(owner)  # type: ignore[arg-type]
    left = locked(1)
    calls.call(owner, "writing", lambda: read(left), answer, patient=False)  # type: ignore[arg-type]
    assert owner.done.wait(30)
    (only,) = owner.heard
    assert isinstance(only, Failed)
    assert isinstance(only.error, Busy)
    calls.close()


def test_one_that_nobody_wants_any_more_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "AGAIN", 3600)
    owner = Owner()
    calls = Loader(owner)  # type: ignore[arg-type]
    stuck, free = locked(10**9), locked(0)
    calls.call(owner, "reading", lambda: read(stuck), answer)  # type: ignore[arg-type]
    while not owner.heard:
        threading.Event().wait(0.001)
    calls.call(owner, "reading", lambda: read(free), answer)  # type: ignore[arg-type]
    assert owner.done.wait(30)
    kinds = [(type(each).__name__, getattr(each, "over", None)) for each in owner.heard]
    assert kinds == [("Waiting", False), ("Waiting", True), ("ThreadsRead", None)], "it does not wait any more"
    while calls.busy:
        pass
    calls.close()


def test_a_screen_that_is_gone_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "AGAIN", 3600)
    owner: Any = Owner()
    calls = Loader(owner)
    calls.call(owner, "reading", lambda: read(locked(1)), answer)
    while not owner.heard:
        threading.Event().wait(0.001)
    calls.leave(owner)
    while calls.busy:
        pass
    calls.close()


def test_it_is_at_work_until_it_has_told() -> None:
    owner: Any = Owner()
    calls = Loader(owner)
    told = owner.post_message
    busy: list[bool] = []
    owner.post_message = lambda message: (busy.append(calls.busy), told(message))
    calls.call(owner, "reading", lambda: 7, answer)
    assert owner.done.wait(30)
    assert busy == [True]
    calls.close()


async def test_the_title_says_so_while_a_checkpoint_waits() -> None:
    session = TripSession()
    async with thread_screen("trip-planner", (200, 60), session) as it:
        ref = it.ref("trip-planner", 22)
        session.failing[ref] = Busy("demo.db is locked by another process", hint="wait")
        await it.pilot.press("comma", "comma")
        await it.until(lambda: "another process is writing, retrying" in it.text.splitlines()[0])
        assert it.screen.views.diff.stale, "the old state stays"
        del session.failing[ref]
        await it.rest()
        assert "another process" not in it.text


async def test_a_base_that_is_locked_is_waited_for_too() -> None:
    """Neither the diff nor the keys that rows changed may take a lock for a failure."""
    session = TripSession()
    base = session.resolve("trip-planner@23")
    session.failing[base] = Busy("demo.db is locked by another process", hint="wait")
    app = app_over(session)  # type: ignore[arg-type]
    async with app.run_test(size=(200, 60)) as pilot:
        screen = app.show_thread(app.stores[0], "trip-planner")
        await wait_for(pilot, lambda: "another process is writing" in screen_text(app))
        assert "is locked" not in screen_text(app)
        del session.failing[base]
        await settled(pilot, app)
        await wait_for(pilot, lambda: screen.details is not None)
        await settled(pilot, app)
        assert "another process" not in screen_text(app)
        assert "23 summarize → 24 agent" in screen_text(app)
        assert screen.facts.changed[base].startswith("~messages"), "what the row changed was looked up again"


async def test_in_a_narrow_terminal_it_is_two_words() -> None:
    session = TripSession()
    async with thread_screen("trip-planner", (80, 24), session) as it:
        ref = it.ref("trip-planner", 22)
        session.failing[ref] = Busy("demo.db is locked by another process", hint="wait")
        await it.pilot.press("comma", "comma")
        await it.until(lambda: "BUSY, retrying" in it.text.splitlines()[0])
        del session.failing[ref]
        await it.rest()


async def test_a_listing_that_waits_says_so_in_the_list(session: FakeSession) -> None:
    left = locked(5)
    real = session.threads
    gate = threading.Event()

    def threads(**options: object) -> object:
        gate.wait(60)
        read(left)
        return real()

    session.threads = threads  # type: ignore[method-assign,assignment]
    app = app_over(session)
    heard: list[str] = []
    shown = app._set_listing
    app._set_listing = lambda number, listing: (heard.append(listing.problem), shown(number, listing))  # type: ignore[method-assign]
    async with app.run_test(size=(80, 24)) as pilot:
        gate.set()
        await settled(pilot, app)
        await wait_for(pilot, lambda: len(app.listings[0].threads) == 5)
        assert "another process is writing, retrying" in heard
        assert "another process" not in screen_text(app)


async def test_a_store_that_is_locked_for_good_never_ends_the_interface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer in the old journal mode keeps readers out; a real one, with a short wait."""
    monkeypatch.setattr("stores.sqlite.BUSY_SECONDS", 0.05)
    path = native_file(tmp_path / "x.db")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = DELETE")
    session = Session.open(str(path), read_only=True)
    app = TtDebugApp([OpenStore(str(path), path.name, session)], read_only=True)
    assert isinstance(app, App)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        db.execute("BEGIN EXCLUSIVE")
        await pilot.press("r")
        await wait_for(pilot, lambda: "another process is writing, retrying" in screen_text(app))
        assert screen_lines(app)[-1].rstrip().endswith("? keys")
        db.execute("COMMIT")
        await settled(pilot, app)
        assert "another process" not in screen_text(app)
    session.close()
    db.close()
