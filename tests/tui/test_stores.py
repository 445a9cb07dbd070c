"""Starting without a store: what is offered, opening it, and what happens when that fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.cells import cell_len

from stores.model import NewCheckpoint, Ref, StoreInfo
from stores.native.sqlite import create_native
from stores.protocol import Writer
from stores.registry import open_store
from tests.builders import sql_file
from tests.tui.conftest import screen_lines, screen_text, settled, unsafe_characters, wait_for
from tests.tui.fakes import HOSTILE
from tt_debug.tui.app import TtDebugApp, run_app
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.opening import Opening, label_of, only_graph
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.screens.stores import StoresScreen, choices
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.threads_view import ThreadsView


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one native store of one thread; nothing of the machine's own."""
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TT_DEBUG_STORE", raising=False)
    place = tmp_path / "work"
    place.mkdir()
    create_native(place / "agent.db")
    store = open_store(str(place / "agent.db"), read_only=False)
    assert isinstance(store, Writer)
    store.append(NewCheckpoint(Ref("t", "", "1f0a0000-0000-6000-8000-000000000001"), None, {"a": 1}, "input"))
    store.close()
    monkeypatch.chdir(place)
    return place


def test_files_the_configured_store_and_the_demo_are_offered(folder: Path) -> None:
    (folder / "notes.txt").write_text("no store")
    shutil.copyfile(folder / "agent.db", folder / "old.sqlite")
    offered = choices(folder, {"TT_DEBUG_STORE": "postgresql://me:secret@db/agents"})
    assert [choice.name for choice in offered][1:] == ["agent.db", "old.sqlite", "Demo"]
    assert "secret" not in offered[0].name
    assert offered[0].url == "postgresql://me:secret@db/agents"
    assert offered[-1].url is None


def test_the_database_of_the_pg_variables_is_offered(folder: Path) -> None:
    named = [
        choices(folder, {"PGHOST": "db", "PGDATABASE": "agents", "PGUSER": "me", "PGPASSWORD": "secret"})[0],
        choices(folder, {"PGSERVICE": "prod"})[0],
    ]
    assert [choice.name for choice in named] == ["postgresql://me@db/agents", "service=prod"]
    assert {choice.url for choice in named} == {"postgresql://"}
    assert choices(folder, {"PGPASSWORD": "secret"})[0].name == "agent.db"


def test_the_only_graph_of_langgraph_json_serves(folder: Path) -> None:
    config = folder / "langgraph.json"
    assert only_graph(config) is None
    config.write_text(json.dumps({"graphs": {"agent": "./agent.py:graph"}}))
    assert only_graph(config) == "agent"
    assert "graph agent of langgraph.json" in choices(folder, {})[0].note
    opening = Opening().with_graph_of(folder)
    assert opening.graph is not None
    assert (opening.graph.graph, opening.graph.folder) == ("agent", folder)
    for text in (json.dumps({"graphs": {"a": "x:y", "b": "x:z"}}), "[]", "{", json.dumps({"graphs": []})):
        config.write_text(text)
        assert only_graph(config) is None


async def test_choosing_a_file_opens_it(folder: Path) -> None:
    app = TtDebugApp(opening=Opening())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert isinstance(app.screen, StoresScreen)
        assert "agent.db" in screen_text(app)
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.screen, HomeScreen))
        await wait_for(pilot, lambda: app.screen.query_one(ThreadsView).row_count == 1)
        assert app.tour is None
        await pilot.press("q")
        await settled(pilot, app)
        assert isinstance(app.screen, StoresScreen), "back goes back to the choice"
    for store in app.stores:
        store.session.close()


async def test_enter_again_that_comes_late_does_not_open_a_file_twice(folder: Path) -> None:
    app = TtDebugApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: isinstance(app.screen, StoresScreen) and app.screen.is_mounted)
        offered = app.screen.query_one("#choices", Panel)
        offered.action_row("open")
        await wait_for(pilot, lambda: isinstance(app.screen, HomeScreen))
        offered.action_row("open")
        await settled(pilot, app)
        assert [type(screen) for screen in app.screen_stack[1:]] == [StoresScreen, HomeScreen]


async def test_choosing_the_demo_opens_both_stores_and_starts_the_tour(folder: Path) -> None:
    app = TtDebugApp(opening=Opening())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("G", "enter")
        await wait_for(pilot, lambda: isinstance(app.screen, HomeScreen))
        assert len(app.stores) == 2
        assert app.tour is not None
        await settled(pilot, app)
        assert "Tour:" in screen_text(app)
    for store in app.stores:
        store.session.close()


async def test_a_file_that_is_no_store_is_told_and_the_list_stays(folder: Path) -> None:
    (folder / "agent.db").write_text("not a database")
    app = TtDebugApp(opening=Opening())
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await wait_for(pilot, lambda: "opening:" in screen_text(app))
        assert isinstance(app.screen, StoresScreen)
        assert len(app._notifications) == 1, "said once"


async def test_of_a_file_with_unknown_tables_the_likely_ones_are_offered_and_the_chosen_one_opens(folder: Path) -> None:
    script = "".join(
        f"CREATE TABLE {name} (run TEXT, seq INTEGER, prev INTEGER, payload TEXT);"
        f"INSERT INTO {name} VALUES ('r1', 1, NULL, '{{}}'), ('r1', 2, 1, '{{}}'), ('r1', 3, 2, '{{}}');"
        for name in ("history", "archive")
    )
    (folder / "agent.db").unlink()
    sql_file(folder / "agent.db", script)
    app = TtDebugApp(opening=Opening())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.screen, MenuDialog) and app.screen.is_mounted)
        await settled(pilot, app)
        text = screen_text(app)
        assert "1  history" in text
        assert "2  archive" in text
        assert "thread=run id=seq state=payload parent=prev" in text
        await pilot.press("2")
        await wait_for(pilot, lambda: isinstance(app.screen, HomeScreen))
        await wait_for(pilot, lambda: app.screen.query_one(ThreadsView).row_count == 1)
        assert app.tour is None
        assert "table=archive" in app.stores[0].url
    for store in app.stores:
        store.session.close()


async def test_of_tables_that_are_no_history_the_error_is_told(folder: Path) -> None:
    (folder / "agent.db").unlink()
    sql_file(folder / "agent.db", "CREATE TABLE users (name TEXT)")
    app = TtDebugApp(opening=Opening())
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await wait_for(pilot, lambda: "no checkpoints that tt-debug knows" in " ".join(screen_text(app).split()))
        assert isinstance(app.screen, StoresScreen)


def test_a_given_store_that_cannot_be_opened_is_an_error_before_anything_is_drawn(folder: Path) -> None:
    from stores.errors import Unreachable

    with pytest.raises(Unreachable):
        run_app("nowhere.db", read_only=False, graph=None, workflow=None)
    assert not (folder / "nowhere.db").exists()


async def test_hostile_tables_in_the_offer_are_text(folder: Path) -> None:
    (folder / "agent.db").unlink()
    name = HOSTILE.replace("\ud800", "").replace("\x00", "").replace('"', "")
    tables = (f'"{name} {number}"' for number in range(2))
    script = "".join(
        f"CREATE TABLE {table} (run TEXT, seq INTEGER, prev INTEGER, payload TEXT);"
        f"INSERT INTO {table} VALUES ('r1', 1, NULL, '{{}}'), ('r1', 2, 1, '{{}}');"
        for table in tables
    )
    sql_file(folder / "agent.db", script)
    app = TtDebugApp(opening=Opening())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.screen, MenuDialog) and app.screen.is_mounted)
        await settled(pilot, app)
        assert "1  [/red]" in screen_text(app)
        assert unsafe_characters(screen_text(app)) == set()
        assert all(cell_len(line) == 80 for line in screen_lines(app))


@pytest.mark.parametrize(
    ("path", "url", "label"),
    [
        ("/data/trip.db", "/data/trip.db", "trip.db"),
        (None, "postgresql://me:***@db.example:6432/agents?schema=tenant_a", "agents/tenant_a@db.example:6432"),
        (None, "postgresql://me@/agents?host=/run/pg&port=5432", "agents"),
        (None, "langgraph+http://127.0.0.1:2024", "127.0.0.1:2024"),
        (None, "memory:", "memory:"),
    ],
)
def test_a_store_has_a_short_name(path: str | None, url: str, label: str) -> None:
    info = StoreInfo(url, "kind", "id", frozenset(), True, path=path)
    assert label_of(cast(Any, SimpleNamespace(info=info))) == label
