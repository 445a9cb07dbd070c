"""The Thread screen: moving, folding, sizes; a panel that fails leaves the others alone."""

from __future__ import annotations

import threading

import pytest
from rich.cells import cell_len
from textual import events
from textual.widgets import Input

from stores.errors import Corrupt
from stores.model import Header, Ref
from tests.tui.conftest import screen_lines
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.tui.widgets.diff_view import DiffView
from tt_debug.tui.widgets.key_bar import KeyBar
from tt_debug.tui.widgets.messages_view import MessagesView
from tt_debug.tui.widgets.timeline import Timeline

SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.mark.parametrize("size", SIZES)
async def test_it_opens_at_the_head_with_graph_panels_timeline_and_keys(size: tuple[int, int]) -> None:
    async with thread_screen(size=size) as it:
        lines = screen_lines(it.app)
        assert it.step == 24
        assert "demo.db › trip-planner" in lines[0]
        assert "step 24/24" in lines[0]
        assert "1 Graph" in lines[1]
        assert "3 Diff" in it.text
        assert "24 agent ‹head" in it.text
        assert "26/26 +31.0s" in it.text
        assert lines[-1].rstrip().endswith("? keys")
        assert it.screen.focused is it.screen.graph


async def test_comma_and_full_stop_walk_the_line_from_any_panel() -> None:
    async with thread_screen() as it:
        await it.press("comma")
        assert it.step == 23
        await it.press("2", "comma", "comma")
        assert it.step == 21
        assert it.screen.focused is it.screen.query_one("#state")
        await it.press("full_stop")
        assert it.step == 22
        await it.press("0")
        assert it.step == 24
        await it.press("full_stop")
        assert it.step == 24


async def test_the_panels_follow_the_cursor() -> None:
    async with thread_screen(size=(120, 40)) as it:
        await it.press("comma", "comma")
        assert it.screen.details is not None
        assert it.screen.details.ref == it.ref("trip-planner", 22)
        assert "21 tools → 22 plan" in it.text
        assert "step 22 · plan" in it.text


async def test_many_keys_in_a_row_load_the_last_checkpoint_and_not_each_on_the_way() -> None:
    async with thread_screen() as it:
        it.session.loads.clear()
        await it.pilot.press(*["comma"] * 12)
        await it.rest()
        asked = {ref for ref in it.session.loads if ref == it.ref("trip-planner", 12)}
        assert it.step == 12
        assert asked
        assert it.screen.details is not None
        assert it.screen.details.ref == it.ref("trip-planner", 12)


async def test_the_old_state_stays_dimmed_while_another_is_read() -> None:
    async with thread_screen() as it:
        it.session.gate = threading.Event()
        diff = it.screen.query_one(DiffView)
        await it.pilot.press("comma")
        await it.until(lambda: diff.stale)
        assert diff.row_count > 0
        it.session.gate.set()
        it.session.gate = None
        await it.rest()
        assert not diff.stale


async def test_events_are_reached_with_less_and_greater() -> None:
    async with thread_screen() as it:
        await it.press("less_than_sign")
        assert it.step == 11
        await it.press("greater_than_sign")
        assert it.step == 11


async def test_a_fork_unfolds_into_a_lane_folds_again_and_can_become_the_line() -> None:
    async with thread_screen(size=(120, 40)) as it:
        await it.press("less_than_sign", "j")
        item = it.screen.graph.item()
        assert item is not None
        assert (item.kind, item.title) == ("fold", "ryokan")
        await it.press("enter")
        assert "├─╮ ▾ ryokan  ✓ done" in it.text
        assert it.screen.selected is not None
        assert it.screen.selected.thread == "ryokan"
        assert "trip-planner › ryokan" in it.text
        await it.press("full_stop")
        assert it.screen.selected.thread == "ryokan"
        assert it.step == 13
        await it.press("h")
        assert "▸ ryokan" in it.text
        await it.press("enter", "0", "0")
        assert it.screen.trunk == it.session.heads["ryokan"]
        assert "├─◇ ▸ trip-planner" in it.text


async def test_what_is_said_is_not_said_again_while_it_stands_there() -> None:
    async with thread_screen() as it:
        await it.press("full_stop", "full_stop", "full_stop")
        assert it.told.count("this is the end of the line") == 1
        await it.press("g", "comma")
        assert "this is the first checkpoint of the line" in it.told


async def test_keys_sent_at_once_mean_what_they_mean_one_by_one() -> None:
    async with thread_screen() as it:
        # As a terminal sends them: in one go.
        for key, character in (("slash", "/"), ("f", "f"), ("e", "e"), ("o", "o"), ("q", "q")):
            it.app.post_message(events.Key(key, character))
        await it.until(lambda: it.screen.query_one("#search", Input).value == "feoq")
        await it.press("escape")
        assert it.app.screen is it.screen
        for key, character in (("2", "2"), ("down", None), ("z", "z")):
            it.app.post_message(events.Key(key, character))
        await it.until(lambda: it.screen.maximized is not None)
        assert it.screen.maximized.id == "state"


async def test_clicking_the_timeline_goes_there() -> None:
    async with thread_screen(size=(120, 40)) as it:
        await it.pilot.click(Timeline, offset=(1, 0))
        await it.rest()
        assert it.step == -1


async def test_time_order_and_back() -> None:
    async with thread_screen(size=(120, 40)) as it:
        await it.press("o")
        assert len(it.screen.graph.items) == 32
        assert it.step == 24
        await it.press("o")
        assert len(it.screen.graph.items) == 28


async def test_a_checkpoint_that_cannot_be_read_says_so_and_the_rest_lives_on() -> None:
    session = TripSession()
    bad = session.resolve("trip-planner@23")
    session.failing[bad] = Corrupt("checkpoint 23 is cut off", hint="try: tt-debug doctor")
    async with thread_screen(session=session) as it:
        assert "24 agent" in it.text
        await it.press("comma")
        assert "checkpoint 23 is cut off. try: tt-debug doctor" in it.text
        await it.press("comma")
        assert it.screen.details is not None
        assert "+1" in it.text


async def test_a_parent_that_cannot_be_read_costs_the_diff_only() -> None:
    session = TripSession()
    session.failing[session.resolve("trip-planner@23")] = Corrupt("gone", hint="")
    async with thread_screen(session=session) as it:
        assert "gone" in it.text
        await it.press("2")
        assert "messages" in it.text
        assert "14 items" in it.text


async def test_a_thread_that_is_not_there_says_so() -> None:
    session = TripSession()
    async with thread_screen(session=session) as it:
        screen = it.app.show_thread(it.app.stores[0], "nobody")
        await it.until(lambda: screen.is_mounted and "no thread 'nobody'" in it.text)


async def test_the_failed_step_stands_in_the_graph_with_its_error() -> None:
    async with thread_screen("broken", size=(120, 40)) as it:
        await it.until(lambda: "HTTPError: 502" in it.text)
        row = next(line for line in screen_lines(it.app) if "2 deploy" in line)
        assert "×" in row
        assert "failed" in row
        await it.press("5")
        assert "× deploy  failed" in it.text


async def test_the_open_question_stands_in_the_graph_and_among_the_writes() -> None:
    async with thread_screen("review", size=(120, 40)) as it:
        await it.until(lambda: "waiting: Approve ¥96,000?" in it.text)
        await it.press("5")
        assert "‖ ask  waiting" in it.text
        assert 'question  "Approve ¥96,000?"' in it.text


@pytest.mark.parametrize("width", [60, 80, 99, 100, 120, 160, 200])
async def test_every_line_fills_the_width_and_the_last_ends_in_the_help_key(width: int) -> None:
    async with thread_screen("写作-计划", size=(width, 24)) as it:
        for key in "23456":
            await it.press(key)
        lines = screen_lines(it.app)
        assert {cell_len(line) for line in lines} == {width}
        assert it.screen.query_one(KeyBar).line(width).text.rstrip().endswith("? keys")


async def test_resizing_keeps_the_cursor_and_the_focus() -> None:
    async with thread_screen() as it:
        await it.press("comma", "comma", "4")
        await it.pilot.resize_terminal(140, 40)
        await it.rest()
        assert it.step == 22
        assert it.screen.query_one(MessagesView).has_focus
        await it.pilot.resize_terminal(80, 24)
        await it.rest()
        assert it.step == 22
        assert it.screen.tab == "messages"


async def test_the_commands_say_what_is_on_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    async with thread_screen() as it:
        copied: list[str] = []
        monkeypatch.setattr(it.app, "copy_to_clipboard", copied.append)
        ref = it.screen.selected
        assert ref is not None
        await it.press("Y")
        assert copied[-1] == "tt-debug log /tmp/demo.db trip-planner --graph --all"
        await it.press("d", "Y")
        assert copied[-1] == f"tt-debug diff /tmp/demo.db trip-planner@{ref.id}"
        await it.press("2", "j", "Y")
        assert copied[-1] == f"tt-debug show /tmp/demo.db trip-planner@{ref.id} --path 'messages[0]'"


async def test_a_thread_of_two_thousand_steps_opens_and_moves() -> None:
    session = TripSession(sample=False)
    for number in range(2_000):
        session.add("long", {"n": number}, node="agent", next=("agent",))
    async with thread_screen("long", session=session, size=(120, 40)) as it:
        assert it.step == 1998
        await it.press("g")
        assert it.step == -1
        it.screen.go_to("50%")
        await it.rest()
        assert it.step == 998


def _headers(session: TripSession) -> list[Header]:
    return [point.header for point in session.checkpoints.values()]


async def test_reading_again_keeps_the_cursor_by_address() -> None:
    async with thread_screen(size=(120, 40)) as it:
        await it.press("comma", "comma")
        before = it.screen.selected
        base = Ref("trip-planner", "", _headers(it.session)[5].ref.id)
        it.session.add("late", {"n": 1}, parent=base, source="fork")
        await it.press("r")
        assert it.screen.selected == before
        assert "▸ late" in it.text
