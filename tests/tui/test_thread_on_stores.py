"""The main job in the interface, on real stores: step to 15, fork, mend the state, run to the right end."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import TextArea

from stores.model import Ref
from tests.tui.conftest import screen_text, settled, unsafe_characters, wait_for
from tt_debug.demo import prepare
from tt_debug.session.plans import GraphTarget
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.edit import EditDialog
from tt_debug.tui.screens.thread import ThreadScreen
from tt_debug.tui.widgets.state_view import StateView


def opened(tmp_path: Path, kind: str, **options: Any) -> tuple[Session, Path, str]:
    """A session over one of the demo's two files, and its long thread."""
    files = prepare(tmp_path)
    if kind == "native":
        return Session.open(str(files.native), **options), files.native, "trip-planner"
    graph = GraphTarget(files.graph, folder=tmp_path)
    return Session.open(str(files.langgraph), graph=graph, **options), files.langgraph, "trip-kyoto"


def history(session: Session, thread: str) -> list[tuple[Ref, str]]:
    """A thread's own checkpoints and their states."""
    view = session.open_thread(thread)
    return [(ref, repr(session.load(ref).state)) for ref in view.headers if ref.thread == thread]


@pytest.mark.parametrize("kind", ["native", "langgraph"])
async def test_a_fork_at_15_with_the_mended_budget_reaches_the_right_end(tmp_path: Path, kind: str) -> None:
    session, path, thread = opened(tmp_path, kind)
    before = history(session, thread)
    app = TtDebugApp([OpenStore(str(path), path.name, session)])
    async with app.run_test(size=(120, 40)) as pilot:
        screen = app.show_thread(app.stores[0], thread)

        def at_rest() -> bool:
            shown = screen.details is not None and screen.details.ref == screen.selected
            return shown and not app.loader.busy and not screen.running

        await wait_for(pilot, at_rest)
        assert "OVER B" in screen_text(app)
        screen.go_to("15")
        await wait_for(pilot, at_rest)
        await pilot.press("2")
        screen.query_one("#state", StateView).go_to(("budget", "per_night"))
        await pilot.press("e")
        await wait_for(pilot, lambda: isinstance(app.screen, EditDialog) and bool(app.screen.query("#draft")))
        area = app.screen.query_one("#draft", TextArea)
        assert area.text == "96000"
        area.text = "32000"
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog) and app.screen.is_mounted)
        assert "rank_hotels" in screen_text(app)
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: screen.running)
        await wait_for(pilot, lambda: not screen.running)
        await settled(pilot, app)
        assert screen.selected is not None
        assert screen.selected.thread == f"{thread}-fork-1"
        state = session.load(screen.selected).state
        assert "within the b" in str(state["summary"])
        text = screen_text(app)
        assert "✓ write_summary" in text
        assert f"▾ {thread}" in text
        assert unsafe_characters(text) == set()
    assert history(session, thread) == before
    ran = [ref for ref in session.open_thread(thread).headers if ref.thread == f"{thread}-fork-1"]
    assert len(ran) == 7
    session.close()


@pytest.mark.parametrize(("kind", "compared"), [("native", "15 → 16"), ("langgraph", "14 → 15")])
async def test_a_fork_without_a_change_is_shown_and_can_be_resumed(tmp_path: Path, kind: str, compared: str) -> None:
    session, path, thread = opened(tmp_path, kind)
    app = TtDebugApp([OpenStore(str(path), path.name, session)])
    async with app.run_test(size=(80, 24)) as pilot:
        screen = app.show_thread(app.stores[0], thread)
        await wait_for(pilot, lambda: screen.details is not None and not app.loader.busy)
        screen.go_to("15")
        await wait_for(pilot, lambda: screen.details is not None and screen.details.ref == screen.selected)
        await pilot.press("f")
        await wait_for(pilot, lambda: isinstance(app.screen, EditDialog) and app.screen.is_mounted)
        await pilot.press("ctrl+s")
        fork = f"{thread}-fork-1"
        await wait_for(pilot, lambda: screen.selected is not None and screen.selected.thread == fork)
        await wait_for(pilot, lambda: screen.details is not None and screen.details.ref == screen.selected)
        await wait_for(pilot, lambda: compared in screen_text(app))
        assert "rank_hotels  " in screen_text(app)
        await pilot.press("c")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog) and app.screen.is_mounted)
        await pilot.pause()
        assert f"Resume {fork}" in screen_text(app)
    session.close()


@pytest.mark.parametrize("kind", ["native", "langgraph"])
async def test_looking_at_everything_leaves_the_file_and_its_folder_as_they_were(tmp_path: Path, kind: str) -> None:
    session, path, thread = opened(tmp_path, kind, read_only=True)
    before = hashlib.sha256(path.read_bytes()).hexdigest(), sorted(tmp_path.iterdir())
    app = TtDebugApp([OpenStore(str(path), path.name, session)], read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        screen: ThreadScreen = app.show_thread(app.stores[0], thread)
        await wait_for(pilot, lambda: screen.details is not None)
        for key in ("g", "j", "j", "2", "4", "5", "6", "d", "space", "comma", "percent_sign", "1", "G", "r", "o", "o"):
            await pilot.press(key)
            await wait_for(pilot, lambda: not app.loader.busy)
    session.close()
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), sorted(tmp_path.iterdir())) == before
