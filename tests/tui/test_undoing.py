"""Taking back a fork or an edit on screen: what that does is said first, and what cannot be taken back says why."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from stores.model import Change
from tests.builders import native_file
from tests.stores.handmade import Row, handmade, uuid
from tests.tui.conftest import screen_text, settled, wait_for
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.screens.thread import ThreadScreen

THREAD = "trip"
EDIT = (Change("add", ("undone",), new=1),)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[TtDebugApp, Pilot[Any], Session]]:
    """Home over a small store of ours."""
    session = Session.open(str(native_file(folder / "n.db")))
    app = TtDebugApp([OpenStore(str(session.info.path), "n.db", session)])
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        yield app, pilot, session
    session.close()


async def until_asked(app: TtDebugApp, pilot: Pilot[Any], kind: type[object]) -> str:
    """Press ``u`` and wait for its dialog; what the screen says then."""
    await pilot.press("u")
    await wait_for(pilot, lambda: isinstance(app.screen, kind))
    await pilot.pause()
    return " ".join(screen_text(app).split())


async def agree(app: TtDebugApp, pilot: Pilot[Any]) -> None:
    await pilot.press("ctrl+s")
    await settled(pilot, app)
    await settled(pilot, app)


def names(session: Session) -> list[str]:
    return [info.thread for info in session.threads()]


async def test_a_fork_and_an_edit_from_the_thread_and_the_fork_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, pilot, session):
        thread = names(session)[0]
        head = session.resolve(thread)
        edited = session.edit(head, EDIT)
        session.fork(edited.ref, "mine")
        app.show_thread(app.stores[0], thread, edited.ref)
        await settled(pilot, app)
        screen = app.screen
        assert isinstance(screen, ThreadScreen)
        asked = await until_asked(app, pilot, NoticeDialog)
        assert f"Undo the edit of {thread}" in asked
        assert "undone" in asked
        await pilot.press("escape")
        assert session.resolve(thread) == edited.ref
        await until_asked(app, pilot, NoticeDialog)
        await agree(app, pilot)
        assert session.load(session.resolve(thread)).state == session.load(head).state
        assert screen.selected == session.resolve(thread)
        assert app.done[-1].command == f"tt-debug undo {session.info.path} {shlex.quote(thread)} --yes"
        assert "out of sight" in await until_asked(app, pilot, NoticeDialog)
        await agree(app, pilot)
        assert "mine" not in names(session)
        assert screen.view is not None
        assert "mine" not in {ref.thread for ref in screen.view.headers}
        await pilot.press("q", "U")
        await wait_for(pilot, lambda: isinstance(app.screen, MenuDialog))
        await pilot.press("1")
        await wait_for(pilot, lambda: "mine" in names(session))
        await wait_for(pilot, lambda: "mine" in screen_text(app))


async def test_what_something_came_after_stays_and_the_list_of_what_was_done_knows_its_writes(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, pilot, session):
        thread = names(session)[0]
        made = session.fork(session.resolve(thread), "mine")
        session.edit(made.ref, EDIT)
        app.note_done("forked", made=(app.stores[0], made.ref))
        app.note_done("looked")
        await settled(pilot, app)
        await pilot.press("at", "u")
        await pilot.pause()
        assert "only forks and edits can be taken back" in [notice.message for notice in app._notifications][-1]
        await pilot.press("j")
        assert "has gone on since that fork" in await until_asked(app, pilot, NoticeDialog)
        await pilot.press("escape")
        await pilot.pause()
        assert "mine" in names(session)


async def test_forks_and_edits_of_earlier_sessions_are_on_the_list_too_and_can_be_taken_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, pilot, session):
        thread = names(session)[0]
        session.edit(session.resolve(thread), EDIT)
        session.fork(session.resolve(thread), "mine")
        now = session.fork(session.resolve(thread), "new")
        app.note_done("forked new", made=(app.stores[0], now.ref))
        await pilot.press("at")
        await wait_for(pilot, lambda: "on record" in screen_text(app))
        lines = [line.strip("┃▌ ").split() for line in screen_text(app).splitlines()[2:6]]
        assert lines[0] == ["forked", "new"]
        assert "⏎ copy" in screen_text(app)
        assert lines[1][-3:] == ["writes", "of", "ours"]
        assert [line[2:4] for line in lines[2:]] == [["fork", "mine"], ["edit", thread.split()[0]]]
        await pilot.press("j")
        assert app.screen.command_line().endswith(f"mine@{session.resolve('mine').id}")  # type: ignore[attr-defined]
        assert "Undo the fork mine" in await until_asked(app, pilot, NoticeDialog)
        await agree(app, pilot)
        await wait_for(pilot, lambda: "taken back" in screen_text(app))
        assert "mine" not in names(session)


async def test_the_same_fork_in_a_copy_of_the_store_is_on_the_list_too(tmp_path: Path) -> None:
    sessions = [Session.open(str(handmade(tmp_path / name, [Row(uuid(1))]))) for name in ("a.db", "b.db")]
    first, second = (session.fork(session.resolve("t"), "mine") for session in sessions)
    assert first.ref == second.ref
    app = TtDebugApp([OpenStore(str(each.info.path), str(each.info.path)[-4:], each) for each in sessions])
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        app.note_done("forked mine", made=(app.stores[0], first.ref))
        await pilot.press("at")
        await settled(pilot, app)
        assert [word for word in ("a.db", "b.db") if f"on record · {word}" in screen_text(app)] == ["b.db"]
    for session in sessions:
        session.close()
