"""Searching the rows of the graph, on the event loop and off it, and going to a place by its name."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from textual import events
from textual.command import CommandList
from textual.widgets import Input

from stores.model import Ref
from tests.tui.thread_app import thread_screen
from tt_debug.session.thread_view import ThreadView
from tt_debug.tui.screens import thread_places, thread_searching


@pytest.mark.parametrize("long", [2_000, 0])
async def test_searching_in_the_graph_wraps_and_esc_forgets_it(monkeypatch: pytest.MonkeyPatch, long: int) -> None:
    """A long one is searched off the event loop."""
    monkeypatch.setattr(thread_searching, "LONG", long)
    async with thread_screen() as it:
        await it.pilot.press("slash", *"summarize", "enter")
        await it.until(lambda: it.step == 3)
        await it.press("n")
        await it.until(lambda: it.step == 7)
        await it.press("N")
        await it.until(lambda: it.step == 3)
        await it.press("N")
        await it.until(lambda: it.step == 23)
        assert it.told == "from the top again\nfrom the end again"
        await it.press("escape", "n")
        assert it.step == 23
        await it.press("slash", *"nowhere", "enter")
        await it.until(lambda: "no row of this panel has “nowhere”" in it.told)
        assert it.step == 23


async def test_each_key_of_a_burst_counts_though_the_search_is_off_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thread_searching, "LONG", 0)
    async with thread_screen() as it:
        await it.press("slash", *"summarize", "enter")
        assert it.step == 3
        for keys, step in (("nnn", 15), ("NNn", 11), ("n" * 7, 15)):
            for key in keys:
                it.app.post_message(events.Key(key, key))
            await it.rest()
            assert it.step == step


async def test_a_search_that_is_forgotten_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_searching, "LONG", 0)
    async with thread_screen() as it:
        await it.press("slash", *"summarize", "enter")
        it.app.post_message(events.Key("n", "n"))
        it.app.post_message(events.Key("escape", None))
        await it.rest()
        assert it.step == 3
        assert "no row" not in it.told


async def test_a_hit_is_gone_to_where_it_stands_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Branches above it may have been opened or folded away while it was looked for."""
    monkeypatch.setattr(thread_searching, "LONG", 0)
    async with thread_screen(size=(120, 40)) as it:
        await it.press("slash", *"summarize", "enter")
        graph = it.screen.graph
        while_searched, go_on = threading.Event(), threading.Event()
        search_ahead = graph.search_ahead

        def slowly(*args: Any, **more: Any) -> Any:
            find = search_ahead(*args, **more)

            def found() -> Any:
                hit = find()
                while_searched.set()
                go_on.wait()
                return hit

            return found

        monkeypatch.setattr(graph, "search_ahead", slowly)
        it.app.post_message(events.Key("N", "N"))
        await it.until(while_searched.is_set)
        rows = graph.row_count
        it.screen.unfolded |= frozenset(it.screen.view.line(it.session.heads["ryokan"]))
        it.screen.lay_out()
        await it.until(lambda: graph.row_count > rows)
        go_on.set()
        await it.rest()
        assert it.step == 23


@pytest.mark.parametrize("typed", ["15", "swap"])
async def test_enter_again_in_one_go_closes_the_palette_and_no_more(typed: str) -> None:
    async with thread_screen() as it:
        await it.press("colon", *typed)
        await it.until(lambda: it.app.screen.query_one(CommandList).option_count)
        box = it.app.screen.query_one(Input)
        for _ in range(4):
            box.post_message(Input.Submitted(box, box.value))
        await it.rest()
        assert it.app.screen is it.screen


async def test_places_typed_in_the_palette() -> None:
    async with thread_screen() as it:
        it.screen.go_to("15")
        await it.rest()
        assert it.step == 15
        it.screen.go_to("50%")
        await it.rest()
        assert it.step == 11
        it.screen.go_to("99")
        await it.rest()
        assert it.step == 11


async def test_a_place_on_a_long_line_is_looked_for_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_places, "LONG", 20)
    looks = []
    found = thread_places.place

    def place(view: ThreadView, line: Sequence[Ref], text: str) -> Ref | None:
        looks.append(threading.current_thread() is threading.main_thread())
        return found(view, line, text)

    monkeypatch.setattr(thread_places, "place", place)
    async with thread_screen() as it:
        it.screen.go_to("15")
        await it.until(lambda: it.step == 15)
        it.screen.go_to("99")
        await it.until(lambda: "nothing called 99 on this line" in it.told)
    assert looks == [False, False]
