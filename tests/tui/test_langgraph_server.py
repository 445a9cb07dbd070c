"""A LangGraph server in the interface: its threads, a fork that it names, and a run on it."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.langgraph_server import Server
from tests.tui.conftest import screen_text, unsafe_characters, wait_for
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.edit import EditDialog


@pytest.fixture
def server(langgraph_server: Server) -> Server:
    return langgraph_server


async def test_a_thread_of_a_server_is_forked_and_run_where_it_lives(server: Server) -> None:
    thread = server.thread("trip", {"city": "Łódź", "notes": []})
    session = Session.open(server.url)
    app = TtDebugApp([OpenStore(server.url, "dev", session)])
    async with app.run_test(size=(140, 40)) as pilot:
        screen = app.show_thread(app.stores[0], thread)

        def at_rest() -> bool:
            shown = screen.details is not None and screen.details.ref == screen.selected
            return shown and not app.loader.busy and not screen.running

        await wait_for(pilot, at_rest)
        assert "research" in screen_text(app)
        screen.go_to("1")
        await wait_for(pilot, at_rest)
        await pilot.press("f")
        await wait_for(pilot, lambda: isinstance(app.screen, EditDialog) and not app.loader.busy)
        name = app.screen.query_one("#fork-name", Input)
        await wait_for(pilot, lambda: name.placeholder == "the store names it")
        assert name.value == ""
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: isinstance(app.screen, ConfirmDialog) and app.screen.is_mounted)
        plan = " ".join(screen_text(app).split())
        assert "assistant trip on the server" in plan
        await pilot.press("ctrl+r")

        def ran() -> bool:
            """The run may be over before anybody looks."""
            header = screen.view.headers.get(screen.selected) if screen.view and screen.selected else None
            return header is not None and header.ref.thread != thread and header.next == ("approve",) and at_rest()

        await wait_for(pilot, ran)
        text = screen_text(app)
        assert "approve" in text
        assert unsafe_characters(text) == set()
    assert screen.selected is not None
    state = session.load(session.resolve(screen.selected.thread)).state
    assert state["notes"] == ["planned", "planned", "looked at Łódź", "Łódź is fine"]
    session.close()
