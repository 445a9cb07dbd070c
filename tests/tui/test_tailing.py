"""Following a thread that another program writes: its rows come by themselves, and what happens to the line is said."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from stores.model import Header, NewCheckpoint, Ref, Status
from stores.native.sqlite import NativeStore
from tests.builders import native_file
from tests.tui.conftest import screen_text, settled, wait_for
from tt_debug.session.session import Session
from tt_debug.session.tailing import Standing, came_to_rest, news
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.screens import thread_base, thread_tailing
from tt_debug.tui.screens.thread import ThreadScreen
from tt_debug.tui.screens.thread_reading import Asked, Reading


def new(number: int, parent: int | None, thread: str = "t", status: str = Status.UNFINISHED) -> NewCheckpoint:
    before = Ref("t", "", f"{parent:02d}") if parent is not None else None
    following = () if status == Status.DONE else ("a",)
    return NewCheckpoint(
        Ref(thread, "", f"{number:02d}"), before, {"n": number}, "step", nodes=("a",), next=following, status=status
    )


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(thread_tailing, "LATER", 0.01)
    return native_file(tmp_path / "t.db", [new(0, None), new(1, 0), new(2, 1)])


def add(path: Path, *made: NewCheckpoint) -> None:
    with closing(NativeStore(path, read_only=False)) as store:
        for each in made:
            store.append(each)


@asynccontextmanager
async def followed(path: Path) -> AsyncIterator[tuple[TtDebugApp, Pilot[Any], ThreadScreen]]:
    """The thread's screen, its thread followed."""
    session = Session.open(str(path), read_only=True)
    app = TtDebugApp([OpenStore(str(path), "t.db", session)], read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        screen = app.show_thread(app.stores[0], "t")
        await wait_for(pilot, lambda: screen.view is not None and screen.is_mounted)
        await settled(pilot, app)
        await pilot.press("F")
        await wait_for(pilot, lambda: "followed, 0 new" in screen_text(app))
        yield app, pilot, screen
    session.close()


def told(app: TtDebugApp) -> str:
    return "\n".join(notice.message for notice in app._notifications)


async def test_rows_come_by_themselves_and_the_cursor_stays_with_the_newest_or_where_it_was_put(path: Path) -> None:
    async with followed(path) as (app, pilot, screen):
        add(path, new(3, 2))
        await wait_for(pilot, lambda: screen.selected == Ref("t", "", "03"))
        await pilot.press("comma")
        assert not screen.following
        add(path, new(4, 3, status=Status.DONE))
        await wait_for(pilot, lambda: screen.line[-1:] == (Ref("t", "", "04"),))
        assert screen.selected == Ref("t", "", "02")
        await wait_for(pilot, lambda: "followed, 2 new" in screen_text(app))
        await wait_for(pilot, lambda: "t: done" in told(app))
        await pilot.press("F")
        await wait_for(pilot, lambda: "followed" not in screen_text(app).replace("not followed", ""))
        assert screen.tailed == ""


async def test_who_moves_the_cursor_while_it_is_read_stays_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved, read = threading.Event(), thread_base.read_thread

    def slow(session: Session, asked: Asked) -> Reading:
        moved.wait(30)
        return read(session, asked)

    async with followed(path) as (_, pilot, screen):
        monkeypatch.setattr(thread_base, "read_thread", slow)
        add(path, new(3, 2))
        await wait_for(pilot, lambda: screen.reading is not None)
        await pilot.press("comma")
        moved.set()
        await wait_for(pilot, lambda: screen.line[-1:] == (Ref("t", "", "03"),))
        assert screen.selected == Ref("t", "", "01")


async def test_a_moved_head_and_a_fork_are_said(path: Path) -> None:
    async with followed(path) as (app, pilot, screen):
        add(path, new(5, 1))
        await wait_for(pilot, lambda: "the head has moved to another branch, from step 1 to step 1" in told(app))
        add(path, new(6, 5, thread="other"))
        await wait_for(pilot, lambda: "forked as other" in told(app))
        assert screen.view is not None
        assert len(screen.view.headers) == 5


def test_what_is_said_of_a_reading() -> None:
    def stood(id: str, status: str, *threads: str) -> Standing:
        header = Header(Ref("t", "", id), None, int(id), "loop", None, status=status)
        return Standing(header.ref, header.step, status, 3, frozenset(threads or ("t",)))

    here = stood("3", Status.UNFINISHED)
    assert news(here, stood("4", Status.UNFINISHED), [here.head]) == ()
    assert not came_to_rest(here, stood("4", Status.UNFINISHED))
    assert came_to_rest(here, stood("4", Status.WAITING))
    assert not came_to_rest(stood("4", Status.WAITING), stood("4", Status.WAITING))
    (moved,) = news(here, stood("2", Status.UNFINISHED), [])
    assert "from step 3 to step 2" in moved
    assert news(here, stood("3", Status.UNFINISHED, "t", "b\x1b"), [here.head]) == ("forked as b␛",)
