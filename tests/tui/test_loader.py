"""The loader in an app: order, replacement, errors, and what becomes of a bug."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest
from textual.message import Message

from stores.errors import Corrupt
from tests.tui.conftest import app_over, settled, wait_for
from tests.tui.fakes import FakeSession
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.loader import Loader
from tt_debug.tui.messages import Bug, Failed
from tt_debug.tui.screens.home import HomeScreen


class Got(Message):
    """An answer of a test's call."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class Desk(HomeScreen):
    """A screen that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[object] = []

    def on_got(self, event: Got) -> None:
        self.got.append(event.value)

    def on_failed(self, event: Failed) -> None:
        self.got.append((event.kind, event.text, event.hint))


async def desk(pilot: Any, app: TtDebugApp) -> Desk:
    """A desk on top."""
    screen = Desk()
    await settled(pilot, app)
    await app.push_screen(screen)
    await settled(pilot, app)
    screen.got.clear()
    return screen


async def test_a_newer_demand_replaces_an_older_one(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot, app)
        go = threading.Event()

        def slow() -> int:
            go.wait()
            return 1

        app.loader.call(screen, "state", slow, Got)
        app.loader.call(screen, "state", lambda: 2, Got)
        app.loader.call(screen, "other", lambda: 3, Got)
        await wait_for(pilot, lambda: set(screen.got) == {2, 3})
        go.set()
        await settled(pilot, app)
        assert sorted(map(str, screen.got)) == ["2", "3"]


async def test_writes_are_all_done_one_after_the_other_even_when_nobody_waits(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot, app)
        go = threading.Event()
        done: list[int] = []

        def write(number: int) -> int:
            go.wait()
            done.append(number)
            return number

        def fails() -> None:
            raise Corrupt("row 7 is torn", hint="try doctor")

        app.loader.write(screen, "answer", partial(write, 1), Got)
        app.loader.write(screen, "answer", partial(write, 2), Got)
        app.loader.write(screen, "answer", fails, Got)
        app.loader.write(screen, "other", partial(write, 3), Got)
        app.loader.call(screen, "answer", lambda: "read", Got)
        await wait_for(pilot, lambda: screen.got == ["read"])
        go.set()
        await settled(pilot, app)
        assert screen.got == ["read", 1, 2, ("answer", "row 7 is torn", "try doctor"), 3]
        go.clear()
        app.loader.write(screen, "answer", partial(write, 4), Got)
        app.loader.write(screen, "answer", partial(write, 5), Got)
        app.pop_screen()
        await pilot.pause()
        go.set()
        await settled(pilot, app)
        assert done == [1, 2, 3, 4, 5]


async def test_demand_goes_before_prefetch(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot, app)
        go = threading.Event()
        held = threading.Semaphore(0)

        def hold() -> str:
            held.release()
            go.wait()
            return "held"

        for number in range(4):
            app.loader.call(screen, f"hold {number}", hold, Got)
        for _ in range(4):
            await wait_for(pilot, lambda: held.acquire(blocking=False))
        order: list[str] = []
        for number in range(3):
            app.loader.call(
                screen, f"ahead {number}", lambda number=number: order.append(f"ahead {number}"), Got, prefetch=True
            )
        app.loader.call(screen, "now", lambda: order.append("now"), Got)
        go.set()
        await settled(pilot, app)
        assert order[0] == "now"
        assert len(order) == 4


async def test_named_errors_become_failed_messages_for_whoever_asked(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot, app)

        def fails() -> None:
            raise Corrupt("row 7 is torn", hint="try doctor")

        app.loader.call(screen, "state", fails, Got)
        await wait_for(pilot, lambda: screen.got)
        assert screen.got == [("state", "row 7 is torn", "try doctor")]


async def test_an_answer_for_a_screen_that_is_gone_is_dropped(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot, app)
        go = threading.Event()
        app.loader.call(screen, "state", go.wait, Got)
        app.pop_screen()
        await pilot.pause()
        go.set()
        await settled(pilot, app)
        assert screen.got == []


def test_a_bug_goes_to_the_app_and_an_ended_app_is_no_error() -> None:
    told: list[object] = []
    done = threading.Event()

    class Pump:
        def post_message(self, message: object) -> bool:
            told.append(message)
            done.set()
            if len(told) > 1:
                raise RuntimeError("Event loop is closed")
            return True

    pump: Any = Pump()
    loader = Loader(pump)
    loader.call(pump, "state", lambda: 1 // 0, Got)
    done.wait()
    assert isinstance(told[0], Bug)
    assert isinstance(told[0].error, ZeroDivisionError)
    loader.post(pump, Got(1))
    loader.close()


def _buggy() -> float:
    url = "postgresql://me:s3cr3t".replace("r3t", "r3t-word@db")
    return len(url) / 0


async def _call_with_a_bug(app: TtDebugApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        app.loader.call(app.screen, "state", _buggy, Got)
        await settled(pilot, app)


async def test_a_bug_ends_the_app_and_is_raised(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        await _call_with_a_bug(app_over(session))
    told = "".join(capsys.readouterr())
    assert "ZeroDivisionError" in told
    assert "s3cr3t-word" not in told, "the values of variables are nobody else's business"
