"""Home: listing, filter, order, preview, opening, and what it says when there is nothing or something is broken."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import replace

import pytest
from textual.widgets import Input

from stores.model import Checkpoint, Value
from tests.tui.conftest import app_over, screen_lines, screen_text, settled, wait_for
from tests.tui.fakes import FakeSession, demo_session
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.glyphs import Glyphs
from tt_debug.tui.preferences import Preferences
from tt_debug.tui.rows import preview
from tt_debug.tui.rows.home import detail_lines
from tt_debug.tui.rows.pieces import text_of
from tt_debug.tui.rows.preview import Preview
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.row_view import RowView
from tt_debug.tui.widgets.threads_view import ThreadsView
from tt_debug.tui.widgets.title_bar import TitleBar
from tt_debug.usage import Price, Prices


def names(app: TtDebugApp) -> list[str]:
    """The threads listed, top to bottom; a heading as its text."""
    view = app.screen.query_one(ThreadsView)
    rows = [view.row(number) for number in range(view.row_count)]
    return [row.info.thread if row.info is not None else row.text for row in rows]


async def test_home_lists_the_threads_newest_write_first(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        assert isinstance(app.screen, HomeScreen)
        assert names(app)[0] == "screening-long-fork-1"
        assert names(app)[-1] == "写作-plan"
        title = app.screen.query_one(TitleBar).title
        assert (title.waiting, title.failed, title.read_only) == (1, 1, False)
        assert screen_lines(app)[-1].rstrip().endswith("? keys")


@pytest.mark.parametrize(("width", "told"), [(80, False), (120, False), (200, True)])
async def test_where_there_is_room_checkpoints_and_last_writes_are_told(
    session: FakeSession, width: int, told: bool
) -> None:
    app = app_over(session)
    async with app.run_test(size=(width, 30)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        view = app.screen.query_one(ThreadsView)
        heading = "".join(segment.text for segment in view.build_header(view.size.width))
        row = "".join(segment.text for segment in view.build(3, view.size.width))
        assert row.split()[0] == "screening-long"
        assert ("checkpoints" in heading) is told
        assert bool(re.search(r" 25  2026-09-1\d \d\d:\d\d *$", row)) is told


def with_usage(session: FakeSession, thread: str, tokens: int) -> None:
    """Let the head of a thread tell of one model call."""
    ref = session.heads[thread]
    usage = {"input_tokens": tokens, "output_tokens": 0}
    said = {"type": "ai", "content": "yes", "id": "m1", "usage_metadata": usage, "response_metadata": {"model": "m-1"}}
    session.checkpoints[ref] = replace(session.checkpoints[ref], state={"messages": [said]})


@pytest.mark.parametrize(("prices", "told"), [({}, "4.0M tok"), ({"m": Price(0.5, 1.0)}, "$2.00")])
async def test_what_was_used_is_told_of_the_heads_that_were_read(
    session: FakeSession, prices: dict[str, Price], told: str
) -> None:
    with_usage(session, "trip-planner", 4_000_000)
    app = app_over(session, preferences=Preferences(prices=Prices(prices)))
    async with app.run_test(size=(160, 40)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        await settled(pilot, app)
        view = app.screen.query_one(ThreadsView)
        assert "cost" not in "".join(segment.text for segment in view.build_header(90))
        await pilot.press("j")
        await wait_for(pilot, lambda: told in "".join(segment.text for segment in view.build(1, 90)))
        assert "cost" in "".join(segment.text for segment in view.build_header(90))
        rows = [[segment.text.strip() for segment in view.build(row, 90)] for row in (0, 2)]
        assert "?" in rows[0], "its messages do not tell"
        assert "…" in rows[1], "it was not read"
        assert "4.0M tokens in 1 call, " in screen_text(app)
        assert "cost" not in "".join(segment.text for segment in view.build_header(60))


def test_names_of_details_of_any_length_stand_apart_from_their_values(session: FakeSession) -> None:
    info = replace(session.threads()[0], meta={"workflow_hash": "abc", "a" * 40: 1})
    drawn = [text_of(line) for line in detail_lines(info, session.info)]
    assert f'{"workflow_hash":<22}"abc"' in drawn
    assert f"{'a' * 19}…  1" in drawn


async def test_each_status_has_a_word(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        await settled(pilot, app)
        text = screen_text(app)
        for word in ("‖ waiting", "× failed", "✓ done"):
            assert word in text


async def test_enter_on_a_thread_that_is_filtered_away_by_then_opens_nothing(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        await pilot.press("G")
        with app.batch_update():
            app.screen.query_one(ThreadsView).action_row("open")
            app.screen.query_one("#filter", Input).value = "zzz"
        await settled(pilot, app)
        assert names(app) == []
        assert isinstance(app.screen, HomeScreen)


async def test_the_filter_narrows_while_it_is_typed_and_esc_shows_all(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        await pilot.press("slash", *"PLAN")
        await pilot.pause()
        assert names(app) == ["trip-planner", "plan-42", "写作-plan"]
        assert "3 of 5" in screen_text(app)
        assert screen_lines(app)[-1].strip().startswith("⏎ done  Esc clear")
        await pilot.press("enter")
        assert app.screen.focused is app.screen.query_one(ThreadsView)
        assert len(names(app)) == 3
        await pilot.pause()
        assert "sort" in screen_lines(app)[-1]
        await pilot.press("escape")
        await pilot.pause()
        assert len(names(app)) == 5
        await pilot.press("slash", *"zzz")
        await settled(pilot, app)
        assert "no thread with “zzz” in its name; Esc shows all" in screen_text(app)


async def test_the_order_goes_round(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        newest = names(app)
        await pilot.press("o")
        await pilot.pause()
        assert names(app) == sorted(newest, key=str.casefold)
        await pilot.press("o")
        await pilot.pause()
        assert names(app)[0] == "写作-plan"
        await pilot.press("o")
        await pilot.pause()
        assert names(app)[:2] == ["plan-42", "trip-planner"]
        await pilot.press("o")
        await pilot.pause()
        assert names(app) == newest


async def test_the_cursor_stays_on_its_thread(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        await pilot.press("j", "j")
        view = app.screen.query_one(ThreadsView)
        await pilot.pause()
        before = view.current
        await pilot.press("o", "r")
        await settled(pilot, app)
        assert view.current is not None
        assert before is not None
        assert view.current.info == before.info


async def test_the_preview_follows_the_cursor(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        await pilot.press("j")
        await wait_for(pilot, lambda: "book_hotel waits for an answer" in screen_text(app))
        await pilot.press("j")
        await wait_for(pilot, lambda: "booking.example" in screen_text(app))
        await pilot.press("j")
        await wait_for(pilot, lambda: "◇ screening-long-fork-1" in screen_text(app))


async def test_at_80_cells_the_preview_shows_the_newest_messages_and_where_the_thread_stands(
    session: FakeSession,
) -> None:
    ref = session.threads()[0].head
    assert ref is not None
    messages = [{"type": "ai", "content": f"message {number}", "id": str(number)} for number in range(20)]
    session.checkpoints[ref] = replace(session.checkpoints[ref], state={"messages": messages})
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: "message 19" in screen_text(app))
        title = next(line for line in screen_lines(app) if "2 Last messages" in line)
        assert "checkpoints" in title


async def test_a_state_without_messages_is_not_called_messages() -> None:
    session = FakeSession()
    session.grow("alone", 1)
    ref = session.heads["alone"]
    session.checkpoints[ref] = replace(session.checkpoints[ref], state={"amount": 12})
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: "amount  12" in screen_text(app))
        assert "2 State   ✓ done  1 checkpoint ─" in screen_text(app)
        assert "1 thread · 1 checkpoint " in screen_text(app)
        assert "Last messages" not in screen_text(app)


async def test_a_fork_of_the_preview_opens(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        panel = app.screen.query_one("#forks", Panel)
        await wait_for(pilot, lambda: panel.row_count == 1)
        opened: list[str] = []
        app.show_thread = lambda store, thread, ref=None, **rest: opened.append(thread)  # type: ignore[assignment,method-assign,return-value]
        await pilot.press("3", "enter")
        await pilot.pause()
        assert opened == ["screening-long"]


async def test_several_stores_stand_under_their_names() -> None:
    first, second = demo_session(), demo_session()
    second.label = "agent.sqlite"
    app = app_over(first, second)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 12)
        assert names(app)[0] == "demo.db · native · 5 threads"
        assert names(app)[6] == "agent.sqlite · native · 5 threads"
        await settled(pilot, app)
        view = app.screen.query_one(ThreadsView)
        assert view.cursor == 1, "a heading is passed over"
        await pilot.press("j", "j", "j", "j", "j")
        assert view.cursor == 7


async def test_a_store_that_cannot_be_read_says_so_and_its_neighbour_lives_on() -> None:
    good, bad = demo_session(), demo_session()
    bad.label = "torn.db"
    bad.broken.add("threads")
    app = app_over(bad, good)
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 7)
        await settled(pilot, app)
        assert "page 7" in names(app)[0]
        assert "try: tt-debug doctor" in screen_text(app) or "try: tt-debug doctor" in names(app)[0]
        assert "trip-planner" in screen_text(app)


async def test_a_head_that_cannot_be_read_says_so_in_the_preview(session: FakeSession) -> None:
    session.broken.add("load")
    app = app_over(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_for(pilot, lambda: "page 7" in screen_text(app))
        assert len(names(app)) == 5


async def test_what_is_said_in_the_preview_is_not_said_again(session: FakeSession) -> None:
    session.broken.add("load")
    app = app_over(session)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await wait_for(pilot, lambda: "page 7" in screen_text(app))
        await settled(pilot, app)
        assert [notice.message for notice in app._notifications] == []


async def test_an_empty_store_says_what_to_do() -> None:
    app = app_over(FakeSession())
    async with app.run_test(size=(100, 30)) as pilot:
        await wait_for(pilot, lambda: "No threads in demo.db" in screen_text(app))
        assert "tt-debug demo" in screen_text(app)


async def test_the_command_of_this_screen_can_be_copied(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: len(names(app)) == 5)
        await pilot.press("Y")
        assert app.clipboard == "tt-debug threads /tmp/demo.db"


async def test_the_preview_of_a_long_conversation_keeps_no_key_waiting(
    session: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_on, conversation = set(), preview.conversation

    def noted(state: Mapping[str, Value]) -> object:
        asked_on.add(threading.get_ident())
        return conversation(state)

    monkeypatch.setattr(preview, "conversation", noted)
    app = app_over(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
    assert asked_on
    assert threading.get_ident() not in asked_on


async def test_a_preview_that_was_asked_for_before_its_panel_had_its_width_is_asked_for_again(
    session: FakeSession,
) -> None:
    app = app_over(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        panel, asked, read = app.screen.query_one("#messages", Panel), [], preview.preview

        def noted(checkpoint: Checkpoint, width: int, glyphs: Glyphs) -> Preview:
            asked.append(width)
            return read(checkpoint, width, glyphs)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(preview, "preview", noted)
            patch.setattr(Panel, "text_width", 20)
            app.screen.query_one(ThreadsView).post_message(RowView.Highlighted(app.screen.query_one(ThreadsView), 0))
            await settled(pilot, app)
            patch.setattr(Panel, "text_width", 50)
            panel.post_message(Panel.Resized(panel))
            await settled(pilot, app)
    assert asked == [20, 50]
