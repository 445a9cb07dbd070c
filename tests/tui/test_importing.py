"""Importing from Home: a file is asked for, its threads appear; what is wrong with it is said and nothing changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from stores.native.sqlite import create_native
from tests.tui.conftest import screen_text, settled, wait_for
from tt_debug.demo import prepare
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.dialogs.file import FileDialog
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.screens.base import BaseScreen


def exported(folder: Path, kind: str) -> Path:
    """A thread of the demo, of its native or its LangGraph file, as `tt-debug export --reveal` writes it."""
    files = prepare(folder / "demo")
    path, thread = (files.native, "trip-planner") if kind == "native" else (files.langgraph, "trip-kyoto")
    session = Session.open(str(path), read_only=True)
    target = folder / "thread.jsonl"
    target.write_text("".join(json.dumps(line) + "\n" for line in session.export(thread)))
    session.close()
    return target


def empty_store(folder: Path) -> TtDebugApp:
    """An app over a new native store."""
    path = folder / "new.db"
    create_native(path)
    return TtDebugApp([OpenStore(str(path), path.name, Session.open(str(path)))])


async def ask(pilot: Pilot[Any], app: TtDebugApp, path: str) -> None:
    """Type a path into the dialog, and Enter."""
    assert isinstance(app.screen, BaseScreen)
    app.screen.perform("import")
    await wait_for(pilot, lambda: isinstance(app.screen, FileDialog) and app.screen.is_mounted)
    await pilot.pause()
    app.screen.query_one(Input).value = path
    await pilot.press("enter")


async def test_the_threads_of_a_file_appear_and_read_as_conversations(tmp_path: Path) -> None:
    file, app = exported(tmp_path, "langgraph"), empty_store(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await ask(pilot, app, str(file))
        await wait_for(pilot, lambda: app.listings[0].threads)
        await settled(pilot, app)
        assert [info.thread for info in app.listings[0].threads] == ["trip-kyoto"]
        assert app.done[-1].words.startswith("imported 1 thread, ")
        assert app.done[-1].command == f"tt-debug import {tmp_path}/new.db {file}"
        screen = app.show_thread(app.stores[0], "trip-kyoto")
        await wait_for(pilot, lambda: screen.details is not None and not app.loader.busy)
        assert {turn.message.role for turn in screen.details.turns} >= {"human", "ai"}  # type: ignore[union-attr]
    app.stores[0].session.close()


async def test_a_file_that_is_not_there_keeps_the_dialog_and_a_wrong_one_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = empty_store(tmp_path)
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text("[1]\n")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await ask(pilot, app, "nowhere.jsonl")
        await wait_for(pilot, lambda: "nowhere.jsonl is no file." in screen_text(app))
        app.screen.query_one(Input).value = ""
        await pilot.press("enter")
        await wait_for(pilot, lambda: "Type the path of a file." in screen_text(app))
        app.screen.query_one(Input).value = str(wrong)
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.screen, NoticeDialog) and app.screen.is_mounted)
        await settled(pilot, app)
        assert "Nothing was imported" in screen_text(app)
        assert app.done == []
    app.stores[0].session.close()


async def test_only_a_store_of_ours_takes_threads_in(tmp_path: Path) -> None:
    path = prepare(tmp_path).langgraph
    app = TtDebugApp([OpenStore(str(path), path.name, Session.open(str(path)))])
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert isinstance(app.screen, BaseScreen)
        app.screen.perform("import")
        await pilot.pause()
        assert "(langgraph) takes no threads in" in "".join(note.message for note in app._notifications)
    app.stores[0].session.close()
