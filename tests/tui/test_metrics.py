"""The Metrics screen over real stores: what it shows, of what, while it is read, and where it leads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from stores.model import Checkpoint, NewCheckpoint, Ref, Value
from tests.builders import langgraph_file, native_file
from tests.cli.samples import HOSTILE
from tests.tui.conftest import screen_text, settled, unsafe_characters, wait_for
from tt_debug.demo import prepare
from tt_debug.pruning import Why
from tt_debug.session.session import Session
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.measuring import BARS, KeyRow, NodeRow, Room, spread
from tt_debug.tui.opening import OpenStore
from tt_debug.tui.preferences import Preferences
from tt_debug.tui.rows import metrics as rows
from tt_debug.tui.rows.pieces import cells, text_of
from tt_debug.tui.screens.metrics import MetricsScreen
from tt_debug.tui.screens.thread import ThreadScreen
from tt_debug.tui.widgets.panel import Panel
from tt_debug.usage import Price, Prices


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TT_DEBUG_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def demo(home: Path) -> Iterator[TtDebugApp]:
    path = str(prepare(home / "demo").native)
    session = Session.open(path)
    yield TtDebugApp([OpenStore(path, "trip.db", session)], ascii_only=False)
    session.close()


async def metrics(pilot: Pilot[Any], app: TtDebugApp) -> MetricsScreen:
    await settled(pilot, app)
    await pilot.press("M")
    await wait_for(pilot, lambda: isinstance(app.screen, MetricsScreen))
    await settled(pilot, app)
    assert isinstance(app.screen, MetricsScreen)
    return app.screen


def nodes(screen: MetricsScreen) -> list[str]:
    return [row.node for row in screen.query_one("#nodes", Panel).keys if isinstance(row, NodeRow)]


async def test_a_store_s_figures_its_ranges_and_orders(demo: TtDebugApp) -> None:
    async with demo.run_test(size=(120, 40)) as pilot:
        screen = await metrics(pilot, demo)
        text = screen_text(demo)
        assert "3 ✓" in text
        assert "no usage in messages" in text
        assert "could be freed" in text
        assert "must stay. The other" in text
        assert "Nothing is deleted here." in text
        assert nodes(screen)[:2] == ["search", "reserve_hotel"]
        await pilot.press("o")
        assert nodes(screen)[0] == "collect_hotels", "by p95"
        await pilot.press("o")
        assert nodes(screen)[0] == "fetch_quote", "by errors"
        await pilot.press("minus")
        await settled(pilot, demo)
        assert "last 30 days" in screen_text(demo)
        await pilot.press("plus", "plus")
        await settled(pilot, demo)
        assert "all time" in screen_text(demo)
        assert any("longer" in toast.message for toast in demo._notifications)


async def test_a_node_leads_to_its_slowest_steps(demo: TtDebugApp) -> None:
    async with demo.run_test(size=(80, 24)) as pilot:
        await metrics(pilot, demo)
        await pilot.press("enter")
        assert isinstance(demo.screen, MenuDialog)
        await pilot.press("1")
        await wait_for(pilot, lambda: isinstance(demo.screen, ThreadScreen) and demo.screen.details is not None)
        assert isinstance(demo.screen, ThreadScreen)
        header = demo.screen.header()
        assert header is not None
        assert header.nodes == ("search",)


async def test_of_a_thread_and_between_a_and_the_cursor(demo: TtDebugApp) -> None:
    async with demo.run_test(size=(120, 40)) as pilot:
        await settled(pilot, demo)
        screen = demo.show_thread(demo.stores[0], "trip-planner")
        await wait_for(pilot, lambda: screen.is_mounted and screen.details is not None)
        await settled(pilot, demo)
        whole = await metrics(pilot, demo)
        assert "read_request" in nodes(whole)
        assert whole.command_line().startswith("tt-debug stats ")
        assert "--line" not in whole.command_line()
        await pilot.press("q")
        await settled(pilot, demo)
        screen.select_ref(screen.line[16])
        await settled(pilot, demo)
        await pilot.press("space", "G")
        await settled(pilot, demo)
        part = await metrics(pilot, demo)
        assert "A=15 → B=21" in screen_text(demo)
        assert "read_request" not in nodes(part)
        assert "rank_hotels" in nodes(part)
        assert "--from" in part.command_line()
        assert "--line" in part.command_line()


async def test_it_can_be_stopped_and_says_that_there_is_more(demo: TtDebugApp, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, reached = threading.Event(), threading.Event()
    session = demo.stores[0].session
    load, count = session.load_once, [0]

    def slow(ref: Ref) -> Checkpoint:
        count[0] += 1
        if count[0] > 5:
            reached.set()
            gate.wait()
        return load(ref)

    monkeypatch.setattr(session, "load_once", slow)
    async with demo.run_test(size=(120, 40)) as pilot:
        await settled(pilot, demo)
        await pilot.press("M")
        await wait_for(pilot, reached.is_set)
        await pilot.press("escape")
        gate.set()
        await settled(pilot, demo)
        assert isinstance(demo.screen, MetricsScreen)
        assert "there is more" in screen_text(demo)
        assert count[0] < 10


async def test_copying_has_all_of_it_as_json(demo: TtDebugApp) -> None:
    async with demo.run_test(size=(80, 24)) as pilot:
        screen = await metrics(pilot, demo)
        copyables = {item.key: item.text() for item in screen.copyables()}
        assert copyables["n"] == "search"
        assert '"p95_seconds"' in copyables["j"]
        await pilot.press("2")
        assert {item.key: item.text() for item in screen.copyables()}["p"] == "messages"


async def test_cost_by_the_users_prices_and_hostile_names(home: Path) -> None:
    def ai(number: int) -> dict[str, Value]:
        usage = {"input_tokens": 1_000_000, "output_tokens": 0}
        about = {"model_name": HOSTILE if number else "gpt-4o"}
        return {"type": "ai", "id": f"m{number}", "usage_metadata": usage, "response_metadata": about}

    first, second = Ref(HOSTILE, "", "1" * 8), Ref(HOSTILE, "", "2" * 8)
    path = native_file(
        home / "spent.db",
        [
            NewCheckpoint(first, None, {HOSTILE: [ai(0)]}, "step", nodes=(HOSTILE,)),
            NewCheckpoint(second, first, {HOSTILE: [ai(0), ai(1)], "[/]": 1}, "step", nodes=("[@click=app.quit]x[/]",)),
        ],
    )
    session = Session.open(str(path))
    preferences = Preferences(prices=Prices({"gpt-4o": Price(2.5, 10.0)}, "€"))
    app = TtDebugApp([OpenStore(str(path), "spent.db", session)], ascii_only=False, preferences=preferences)
    async with app.run_test(size=(120, 40)) as pilot:
        await metrics(pilot, app)
        text = screen_text(app)
        assert "€2.50  2.0M tok  + 1.0M tok" in text
        assert unsafe_characters(text) == set()
        await pilot.press("enter")
        await settled(pilot, app)
        assert unsafe_characters(screen_text(app)) == set()
    session.close()


async def test_langgraph_s_own_threads(home: Path) -> None:
    path = str(langgraph_file("lg1.2.24_sqlite3.1.2.sqlite", home))
    session = Session.open(path, read_only=True)
    app = TtDebugApp([OpenStore(path, "lg", session)], ascii_only=False, read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await metrics(pilot, app)
        text = screen_text(app)
        assert "cost unknown" in text
        assert "as JSON. Nothing is deleted" not in text, "the store tells its rows' own bytes"
    session.close()


def test_a_course_is_spread_over_the_time_from_its_first_to_its_last() -> None:
    assert spread((), ()) == ()
    assert spread((5.0,), (3.0,))[0] == 3.0
    found = spread((0.0, 0.0, 10.0), (1.0, 2.0, 4.0))
    assert (len(found), found[0], found[-1], sum(found)) == (BARS, 3.0, 4.0, 7.0)
    assert spread((0.0, 0.0, 10.0), (1.0, 2.0, 4.0), longest=True)[0] == 2.0


@pytest.mark.parametrize("width", [10, 40, 76, 120])
def test_lines_fit_their_width_whatever_the_names(width: int) -> None:
    ref = Ref("t", "", "1")
    node = NodeRow(HOSTILE * 5, 3, 1, 0.5, 1000.0, 3000.0, 1, 60.0, ((3.0, ref),))
    waited = NodeRow("京都" * 20, 0, 0, None, None, 0.0, 2, 7200.0, ())
    key = KeyRow("👩‍👩‍👧" * 9, 10**12, -5.0, False, 10**11)
    for line in (
        rows.node_heading(width),
        rows.node_line(node, 3000.0, width),
        rows.node_line(waited, 0.0, width),
        rows.key_line(key, 10**12, width),
        rows.key_line(KeyRow("v", 10, 0.0, True, 0), 10, width),
        *rows.room_lines(Room(1, 2, 3, 4, False, {Why.HEAD: (1, 3)}), f"tt-debug gc {HOSTILE}", width),
    ):
        assert cells(line) <= width
        assert unsafe_characters(text_of(line)) == set()


def test_what_a_person_was_asked_in_has_no_run_time() -> None:
    waited = NodeRow("ask", 0, 0, None, None, 0.0, 2, 7200.0, ())
    assert "waited 2h00m for a person" in text_of(rows.node_line(waited, 10.0, 120))


async def test_a_time_range_leaves_older_threads_out(home: Path) -> None:
    ref = Ref("t", "", "1" * 8)
    path = native_file(home / "old.db", [NewCheckpoint(ref, None, {"a": 1}, "input")])
    session = Session.open(str(path))
    created = session.headers_of("t")[0].created
    assert created is not None
    assert datetime.now(UTC) - created < timedelta(minutes=5)
    app = TtDebugApp([OpenStore(str(path), "old.db", session)], ascii_only=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await metrics(pilot, app)
        await pilot.press(*["minus"] * 4)
        await settled(pilot, app)
        assert "last hour" in screen_text(app)
        assert "No step has two times" in screen_text(app)
    session.close()


def test_why_something_stays_is_wrapped_beside_how_much_does() -> None:
    room = Room(1, 9, 50, 100, False, {Why.HEAD: (1, 50)})
    lines = [text_of(line) for line in rows.room_lines(room, "tt-debug gc x", 32)]
    at = next(number for number, line in enumerate(lines) if "1 stay" in line)
    assert " ".join(" ".join(lines).split()).startswith("8 of 9 checkpoints must stay. The other 1 could be freed, 50")
    unsized = rows.room_lines(Room(1, 2, 0, 0, False, {Why.HEAD: (1, 0)}), "tt-debug gc x", 200)
    assert "The other 1 could be freed, of how many bytes this store does not tell. Nothing is" in text_of(unsized[0])
    nothing = text_of(rows.room_lines(Room(0, 2, 0, 9, True, {}), "x", 200)[0])
    assert nothing == "2 of 2 checkpoints must stay. Nothing is deleted here."
    assert lines[at + 1].startswith(" " * len("      1 stay  "))
    assert all(len(line) <= 32 for line in lines)
