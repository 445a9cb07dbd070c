"""The edit form on LangGraph threads: what is left behind, edits as a node, a graph that changed. On real stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Checkbox, Input, Static, TextArea

from tests.engine.graph_threads import AGENTS, started
from tests.tui.conftest import screen_text, wait_for
from tt_debug.session.plans import GraphTarget
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.edit import EditDialog
from tt_debug.tui.dialogs.notice import NoticeDialog
from tt_debug.tui.opening import Opening
from tt_debug.tui.screens.thread import ThreadScreen


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))


class Shown:
    """A Thread screen over a real store."""

    def __init__(self, app: TtDebugApp, pilot: Pilot[Any], screen: ThreadScreen) -> None:
        self.app, self.pilot, self.screen = app, pilot, screen

    def _at_rest(self) -> bool:
        details = self.screen.details
        return details is not None and details.ref == self.screen.selected and not self.app.loader.busy

    async def rest(self) -> None:
        await wait_for(self.pilot, lambda: self._at_rest() and not self.screen.running)
        await self.pilot.pause()

    async def dialog(self, kind: type[Any]) -> Any:
        await wait_for(self.pilot, lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted)
        await self.rest()
        return self.app.screen

    @property
    def text(self) -> str:
        return screen_text(self.app)


@asynccontextmanager
async def shown(path: Path, graph: str) -> AsyncIterator[Shown]:
    target = GraphTarget(graph, folder=AGENTS)
    session = Session.open(str(path), graph=target)
    app = TtDebugApp([OpenStore(str(path), path.name, session)], opening=Opening(graph=target))
    async with app.run_test(size=(120, 50)) as pilot:
        found = Shown(app, pilot, app.show_thread(app.stores[0], "t"))
        await found.rest()
        yield found


async def test_the_form_says_what_is_left_behind_and_keeps_it_in_a_fork(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "crossing:builder", value={"topic": "rain", "log": ["in"]})
    async with shown(path, "crossing:builder") as it:
        await it.pilot.press("e")
        form: EditDialog = await it.dialog(EditDialog)
        assert "2 open questions (deep, left)" in it.text
        assert "1 finished result (quick)" in it.text
        form.query_one("#draft", TextArea).text = '{"topic": "snow", "log": ["in"]}'
        form.query_one("#in-place", Checkbox).value = True
        await it.pilot.pause()
        form.query_one("#keep", Checkbox).value = True
        await it.pilot.pause()
        assert not form.query_one("#in-place", Checkbox).value
        await it.pilot.press("ctrl+s")
        await wait_for(it.pilot, lambda: it.app.screen is it.screen)
        await it.rest()
        session = it.screen.session
        assert {ask.node for ask in session.approvals("t-fork-1")} == {"left", "below"}
        assert session.load(session.resolve("t-fork-1")).state["topic"] == "snow"


async def test_an_edit_as_a_node_asks_shows_what_comes_out_and_saves(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "steered:builder", value={"mood": "bad", "log": ["in"]})
    async with shown(path, "steered:builder") as it:
        await it.pilot.press("e")
        form: EditDialog = await it.dialog(EditDialog)
        form.query_one("#draft", TextArea).text = '{"mood": "good", "log": ["in", "look", "rest"]}'
        form.query_one("#in-place", Checkbox).value = True
        form.query_one("#as-node", Input).value = "look"
        await it.pilot.pause()
        assert "the graph's code runs" in str(form.query_one("#node-note", Static).render())
        await it.pilot.press("ctrl+s")
        await it.dialog(ConfirmDialog)
        assert "the branches of look" in it.text
        session = it.screen.session
        before = session.resolve("t")
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: "what comes out" in it.text and not it.app.loader.busy)
        assert '"bad" → "good"' in it.text
        assert "party" in it.text
        assert "nothing is saved yet" in it.text
        assert session.resolve("t") == before
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: it.app.screen is it.screen)
        await it.rest()
        assert it.screen.selected == session.resolve("t") != before
        assert session.load(session.resolve("t")).header.next == ("party",)


@pytest.mark.soak  # the session's own test of it runs every time
async def test_a_graph_that_changed_is_asked_about(tmp_path: Path) -> None:
    path = started(tmp_path / "t.sqlite", "steered:builder", value={"mood": "good"}, interrupt_before=["look"])
    async with shown(path, "steered:builder") as it:
        await it.pilot.press("s")
        await it.dialog(ConfirmDialog)
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: it.screen.running)
        await it.rest()
    async with shown(path, "steered:longer") as it:
        await it.pilot.press("c")
        await it.dialog(ConfirmDialog)
        await it.pilot.press("ctrl+r")
        await it.dialog(NoticeDialog)
        assert "node sweep is new" in it.text
        await it.pilot.press("ctrl+r")
        await it.dialog(ConfirmDialog)
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: it.screen.running)
        await it.rest()
        session = it.screen.session
        assert session.load(session.resolve("t")).state["log"] == ["look", "party", "sweep"]
