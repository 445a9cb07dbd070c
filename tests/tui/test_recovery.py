"""The Recovery screen over a real store: what is found, deciding about it, going on with it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from stores.runs import RunStatus, StepRecord
from stores.supervision import Takeover
from tests.engine import effect_nodes
from tests.engine.flows import Bench, bench, python
from tests.tui.conftest import screen_text, wait_for
from tt_debug.session.session import Session
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.dialogs.answer import AnswerDialog
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.opening import OpenStore
from tt_debug.tui.screens.recovery import RecoveryScreen
from tt_debug.tui.screens.thread import ThreadScreen


@pytest.fixture
def on(tmp_path: Path) -> Bench:
    return bench(tmp_path, [python("a", "fixable", "b"), python("b", "trail", None)])


def crash(on: Bench, thread: str, times: int = 1) -> None:
    on.start({"fixed": True}, thread)
    run = on.store.claim(f"run-{thread}", "dead", 999)
    for _ in range(times - 1):
        run = on.store.claim(run.run_id, "dead", 999, takeover=Takeover(run.token, "death"))
    on.store.start_step(run.run_id, run.token, StepRecord(run.run_id, 0, "a"))


def app_on(on: Bench, **options: Any) -> TtDebugApp:
    path = str(on.folder / "store.sqlite")
    return TtDebugApp([OpenStore(path, "store.sqlite", Session.open(path))], **options)


async def opened(app: TtDebugApp, pilot: Pilot[Any]) -> RecoveryScreen:
    """The Recovery screen, read."""
    await wait_for(pilot, lambda: not app.loader.busy and all(listing.read for listing in app.listings))
    await pilot.press("v")
    await wait_for(pilot, lambda: isinstance(app.screen, RecoveryScreen) and not app.loader.busy)
    await pilot.pause()
    screen = app.screen
    assert isinstance(screen, RecoveryScreen)
    return screen


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_is_wrong_is_listed_with_its_evidence(on: Bench, size: tuple[int, int]) -> None:
    crash(on, "trip")
    on.start({}, "mail")
    on.go("run-mail")
    app = app_on(on)
    async with app.run_test(size=size) as pilot:
        await wait_for(pilot, lambda: "1 to recover" in screen_text(app) or "! 1" in screen_text(app))
        screen = await opened(app, pilot)
        text = screen_text(app)
        assert "1 Recovery  2" in text
        assert "its process 999 is gone" in text
        assert "run a again" in text
        assert screen.current is not None
        await pilot.press("j")
        await pilot.pause()
        assert "a failed: ValueError: not fixed" in screen_text(app)
        assert "retry, cancel, dismiss" in screen_text(app)


async def test_going_on_is_asked_about_where_it_is_shown_what_will_run(on: Bench) -> None:
    crash(on, "trip")
    app = app_on(on)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await pilot.press("c")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert on.store.run("run-trip").token == 1
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: on.store.run("run-trip").status == RunStatus.COMPLETED)
        await wait_for(pilot, lambda: isinstance(app.screen, ThreadScreen) and not app.screen.running)


async def test_a_failed_run_is_decided_about(on: Bench) -> None:
    on.start({}, "mail")
    on.go("run-mail")
    app = app_on(on)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("c")
        assert "decided about first" in "".join(toast.message for toast in app._notifications)
        await pilot.press("i")
        await wait_for(pilot, lambda: isinstance(app.screen, MenuDialog))
        assert "cancel" in screen_text(app)
        await pilot.press("2")
        await wait_for(pilot, lambda: on.store.run("run-mail").status == RunStatus.CANCELLED)
        await wait_for(pilot, lambda: app.screen is screen and screen.current is None)
        assert "Every run is at work or at rest." in screen_text(app)


async def test_a_run_that_was_recovered_too_often_is_held_after_asking(on: Bench) -> None:
    crash(on, "trip", times=6)
    app = app_on(on)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await pilot.press("c")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "never got further" in screen_text(app)
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: on.store.run("run-trip").hold_reason == "recovery_limit")


async def test_a_damaged_line_offers_what_is_sound_to_fork_from(on: Bench) -> None:
    on.start({"fixed": True}, "trip")
    on.go("run-trip", until="b")
    run = on.store.claim("run-trip", "me", 1)
    from stores.runs import Approval

    head = on.store.head("trip")
    case = Approval("c1", "trip", "", head.id, "", "changed", {"enum": ["retry"]}, run_id="run-trip", kind="checksum")
    on.store.finish("run-trip", run.token, RunStatus.CRASHED, "changed", case=case)
    with closing(sqlite3.connect(on.folder / "store.sqlite")) as db, db:
        db.execute("UPDATE checkpoints SET state = '{}' WHERE checkpoint_id = ?", (head.id,))
    app = app_on(on)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await pilot.press("i")
        await wait_for(pilot, lambda: isinstance(app.screen, MenuDialog))
        assert "fork at step -1" in screen_text(app)
        assert "fork at step 0" not in screen_text(app)
        await pilot.press("a")
        await wait_for(pilot, lambda: any(isinstance(screen, ThreadScreen) for screen in app.screen_stack))


async def test_a_run_is_cancelled_by_force_after_asking(on: Bench) -> None:
    crash(on, "trip")
    app = app_on(on)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("X")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("escape")
        await wait_for(pilot, lambda: isinstance(app.screen, RecoveryScreen))
        assert on.store.run("run-trip").status == RunStatus.RUNNING
        await pilot.press("X")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: on.store.run("run-trip").status == RunStatus.CANCELLED)


async def test_a_read_only_app_looks_and_does_nothing(on: Bench) -> None:
    crash(on, "trip")
    app = app_on(on, read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("c")
        await pilot.pause()
        assert isinstance(app.screen, RecoveryScreen)
        assert on.store.run("run-trip").token == 1


@pytest.mark.parametrize(("keys", "sent"), [(["3"], None), (["1", "ctrl+s"], "by hand")])
async def test_a_call_of_unknown_outcome_is_decided_about(tmp_path: Path, keys: list[str], sent: Any) -> None:
    on = bench(tmp_path, [python("a", "tests.engine.effect_nodes:sends", None)])
    effect_nodes.reset()
    effect_nodes.troubles["send"] = [TimeoutError("no answer")]
    on.start({"to": "anna", "cls": "at_most_once"}, "mail")
    on.go("run-mail")
    app = app_on(on)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("i")
        await wait_for(pilot, lambda: isinstance(app.screen, MenuDialog))
        assert "call it again, under another key" in screen_text(app)
        await pilot.press(keys[0])
        if len(keys) > 1:
            await wait_for(pilot, lambda: isinstance(app.screen, AnswerDialog))
            app.screen.query_one("#reply", TextArea).text = '{"as": "done", "result": "by hand"}'
            await pilot.press(*keys[1:])
        await wait_for(pilot, lambda: on.store.run("run-mail").status == RunStatus.PENDING)
        await wait_for(pilot, lambda: app.screen is screen and screen.current is None)
    assert on.go("run-mail").status == "done"
    assert (on.state("mail")["sent"], effect_nodes.names()) == (sent, ["send"])
