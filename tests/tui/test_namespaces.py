"""Subgraph histories in the Thread screen, on a file that LangGraph wrote: folded, opened, walked, compared."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from stores.model import Header, Ref
from tests.stores.langgraph_files import CURRENT, unpack
from tests.tui.conftest import screen_text, wait_for
from tests.tui.thread_fakes import START
from tt_debug.session.session import Session
from tt_debug.session.thread_view import ThreadView
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.rows.graph import GraphFacts, graph_line
from tt_debug.tui.rows.graph_columns import columns_for
from tt_debug.tui.rows.graph_items import TimeItems, graph_items
from tt_debug.tui.rows.pieces import text_of
from tt_debug.tui.screens.thread import ThreadScreen


class Inside:
    """A Thread screen on one thread of the file."""

    def __init__(self, app: TtDebugApp, screen: ThreadScreen, press: object) -> None:
        self.app = app
        self.screen = screen
        self._press = press

    async def press(self, *keys: str) -> None:
        """Keys, one after the other, each until what it asked for is shown."""
        for key in keys:
            await self._press.press(key)  # type: ignore[attr-defined]
            await wait_for(self._press, self.at_rest)  # type: ignore[arg-type]
            await self._press.pause()  # type: ignore[attr-defined]

    def at_rest(self) -> bool:
        """Whether the panels show what the cursor is on."""
        shown = self.screen.details is not None and self.screen.details.ref == self.screen.selected
        return shown and not self.app.loader.busy

    @property
    def here(self) -> tuple[str, int | None]:
        """Namespace (its first node) and step under the cursor."""
        header = self.screen.header()
        assert header is not None
        return header.ref.ns.split(":")[0], header.step

    @property
    def rows(self) -> list[str]:
        """The graph's rows as text."""
        graph = self.screen.graph
        return [text_of(graph.piece_line(row, 60)) for row in range(graph.row_count)]


@asynccontextmanager
async def inside(tmp_path: Path, thread: str, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Inside]:
    path = unpack(CURRENT, tmp_path)
    session = Session.open(str(path), read_only=True)
    app = TtDebugApp([OpenStore(str(path), path.name, session)], read_only=True, ascii_only=False)
    async with app.run_test(size=size) as pilot:
        screen = app.show_thread(app.stores[0], thread)
        it = Inside(app, screen, pilot)
        await wait_for(pilot, it.at_rest)
        yield it
    session.close()


async def test_a_subgraph_is_folded_to_one_row_that_counts_it(tmp_path: Path) -> None:
    async with inside(tmp_path, "subgraph-nested") as it:
        assert [row[:19] for row in it.rows if "◇" in row] == ["├─◇ ▸ mid ⌂ 8  ✓ do"]
        assert [row.split()[1] for row in it.rows if "◇" not in row] == ["-1", "0", "1", "2", "3"]


async def test_opened_it_is_stepped_through_at_any_depth(tmp_path: Path) -> None:
    async with inside(tmp_path, "subgraph-nested") as it:
        await it.press("g", "j", "j", "j", "enter")
        assert it.here == ("mid", -1)
        assert [row[:13].rstrip() for row in it.rows if "▾" in row or "◇" in row] == ["├─╮ ▾ mid ⌂", "│ ├─◇ ▸ inner"]
        await it.press("full_stop", "full_stop")
        assert it.here == ("mid", 1)
        # Forward stays in the namespace; the nested one is a branch of its own.
        await it.press("full_stop")
        assert it.here == ("mid", 2)
        await it.press("comma", "j", "enter")
        assert it.here == ("mid", -1)
        assert it.screen.selected is not None
        assert it.screen.selected.ns.count("|") == 1
        assert "⌂ mid / inner" in screen_text(it.app).splitlines()[0]
        await it.press("full_stop")
        assert it.here == ("mid", 0)


async def test_back_from_its_first_row_leads_to_what_called_it(tmp_path: Path) -> None:
    async with inside(tmp_path, "subgraph-nested") as it:
        await it.press("g", "j", "j", "j", "enter", "comma")
        assert it.here == ("", 1)


async def test_its_end_is_not_made_the_trunk_but_left_for_it(tmp_path: Path) -> None:
    async with inside(tmp_path, "subgraph-nested") as it:
        await it.press("g", "j", "j", "j", "enter", "0")
        assert it.here == ("mid", 2)
        await it.press("0")
        assert it.here == ("", 3)
        assert it.screen.trunk == it.screen.selected


async def test_its_steps_are_compared_with_each_other_and_with_the_root(tmp_path: Path) -> None:
    async with inside(tmp_path, "subgraph-nested") as it:
        await it.press("g", "j", "j", "space", "j", "enter", "full_stop", "full_stop", "d")
        details = it.screen.details
        assert details is not None
        assert details.base is not None
        assert (details.base.ns, details.ref.ns.split(":")[0]) == ("", "mid")
        assert details.compared.rows
        await it.press("1", "space", "full_stop", "space")
        assert details.compared.empty == ""


async def test_each_call_of_one_that_keeps_its_state_stands_under_its_caller(tmp_path: Path) -> None:
    async with inside(tmp_path, "subgraph-persistent") as it:
        shown = ["memory" if "▸ memory ⌂ 3" in row else row.split()[1] for row in it.rows]
        assert shown == ["-1", "0", "memory", "1", "2", "3", "memory", "4"]
        # What its second call changed is told against the end of the first.
        await it.press("g", "j", "j", "j", "j", "j", "j", "enter")
        assert it.here == ("memory", 2)
        details = it.screen.details
        assert details is not None
        assert details.base is not None
        assert details.base.ns == "memory"


async def test_a_thread_that_waits_in_a_subgraph_says_so_at_its_own_end_and_inside(tmp_path: Path) -> None:
    async with inside(tmp_path, "subgraph-interrupt-waiting") as it:
        await it.press("g", "j", "j", "enter")
        waiting = [row for row in it.rows if "waiting" in row]
        assert len(waiting) == 2
        assert "ask" in waiting[0]
        assert "writer" in waiting[1]


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_subgraphs_have_room_in_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with inside(tmp_path, "subgraph-nested", size) as it:
        await it.press("g", "j", "j", "j", "enter")
        text = screen_text(it.app)
        assert "▾ mid ⌂" in text
        assert "▸ inner ⌂ 4" in text
        assert "⌂ mid" in text.splitlines()[0]


def fan_out(calls: int) -> ThreadView:
    """A root step that called one subgraph so many times."""
    main = [Header(Ref("t", "", f"m{n}"), Ref("t", "", f"m{n - 1}") if n else None, n, "loop", START) for n in (0, 1)]
    inner = [
        Header(
            Ref("t", f"child:{n}", f"c{n}"),
            None,
            0,
            "input",
            START + timedelta(seconds=1),
            meta={"parents": {"": "m0"}},
        )
        for n in range(calls)
    ]
    return ThreadView("t", main[-1].ref, [[*main, *inner]], copies=True)


def test_many_calls_at_one_step_are_one_row() -> None:
    view = fan_out(30)
    items = graph_items(view.rows())
    facts = GraphFacts(view.headers, view.head)
    rows = [text_of(graph_line(item, columns_for(60, items, view.headers), facts)) for item in items]
    assert rows[1].startswith("├─◇ ▸ 30 calls, 30 steps…")
    assert len(rows) == 3
    listed = graph_items(view.rows(), frozenset({(items[1].ref, items[1].lane)}))
    assert len(listed) == 32


def test_in_the_order_of_time_a_row_says_which_subgraph_it_is_of() -> None:
    view = fan_out(1)
    assert [item.title for item in TimeItems(view)] == ["t", "t", "t / child"]
