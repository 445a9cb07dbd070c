"""A walk through whole files, thread by thread, tab by tab: each line is exactly as wide as the terminal."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from tests.builders import KEPT, langgraph_file
from tests.tui.conftest import screen_lines, settled, unsafe_characters, wait_for
from tt_debug.demo import prepare
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.screens.thread import ThreadScreen
from tt_debug.tui.screens.thread_panels import TABS
from tt_debug.tui.widgets.row_view import RowView

SIZES = [(80, 24), (120, 40), (200, 60)]


def check(app: TtDebugApp) -> None:
    """The screen, and every row of its lists, whether in view or not."""
    check_lines(app)
    for view in app.screen.query(RowView):
        if view.display and view.size.width:
            check_rows(view)


def check_lines(app: TtDebugApp) -> None:
    """What stands on the screen fits it and holds nothing that a terminal would obey."""
    width, height = app.size
    lines = screen_lines(app)
    assert len(lines) == height
    for line in lines:
        assert cell_len(line) == width, line
        assert unsafe_characters(line) == set(), line


def check_rows(view: RowView) -> None:
    """Every row of a list, in view or not, fits its width without being cut off by the widget."""
    width = view.scrollable_content_region.width
    for row in range(min(view.row_count, 400)):
        drawn = "".join(segment.text for segment in view.build(row, width))
        assert cell_len(drawn) <= width, (view.id, row, drawn)
        assert unsafe_characters(drawn) == set(), (view.id, row, drawn)


async def walk_thread(pilot: Pilot[Any], app: TtDebugApp, number: int, thread: str, rows: int) -> None:
    """Open a thread, unfold every branch, visit rows from its end and look at every tab."""
    screen: ThreadScreen = app.show_thread(app.stores[number], thread)
    await wait_for(pilot, lambda: screen.is_mounted)
    await settled(pilot, app)
    check(app)
    if screen.view is not None:
        screen.unfolded = frozenset(screen.view.headers)
        screen.lay_out()
        await settled(pilot, app)
    last = screen.graph.row_count
    for row in {0, *range(max(last - rows, 0), last)}:
        screen.graph.cursor = row
        screen.follow(force=True)
        await settled(pilot, app)
        for name, _ in TABS:
            screen.action_tab(name)
            await pilot.pause()
            check_lines(app)
            check_rows(screen.views.named(name))
    app.pop_screen()
    await pilot.pause()


async def walk(urls: list[str], size: tuple[int, int], rows: int, threads: int | None = None) -> None:
    """Walk through stores."""
    sessions = [Session.open(url, read_only=True) for url in urls]
    stores = [OpenStore(url, Path(url).name, session) for url, session in zip(urls, sessions, strict=True)]
    app = TtDebugApp(stores, read_only=True)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        check(app)
        for number, session in enumerate(sessions):
            for info in islice(session.threads(), threads):
                await walk_thread(pilot, app, number, info.thread, rows)
        await pilot.press("a")
        await settled(pilot, app)
        check(app)
    for session in sessions:
        session.close()


NAMES = sorted(path.name.removesuffix(".xz") for path in (KEPT / "langgraph").glob("*.sqlite.xz"))
CLOSED = {"empty_file.sqlite", "foreign_schema.sqlite", "not_a_database.sqlite", "truncated_header.sqlite"}
ALWAYS = {"hostile.sqlite", "lg1.2.24_sqlite3.1.2.sqlite", "special_encrypted.sqlite", "truncated_60pct.sqlite"}
"""What is walked through every time: the others look alike, and take their turn in the long runs."""


def _every_time(value: Any, always: Collection[Any]) -> Any:
    return value if value in always else pytest.param(value, marks=pytest.mark.soak)


"""Files of which nothing can be read."""


@pytest.mark.parametrize("name", [_every_time(name, ALWAYS) for name in NAMES if name not in CLOSED])
async def test_a_kept_file_can_be_walked_through(name: str, tmp_path: Path) -> None:
    path = langgraph_file(name, tmp_path)
    await walk([str(path)], SIZES[NAMES.index(name) % 3], rows=1, threads=2)


@pytest.mark.parametrize("size", [_every_time(size, SIZES[:1]) for size in SIZES])
async def test_the_demo_can_be_walked_through(size: tuple[int, int], tmp_path: Path) -> None:
    files = prepare(tmp_path)
    await walk([str(files.native), str(files.langgraph)], size, rows=1, threads=2)
