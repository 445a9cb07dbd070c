"""What a panel shows when all is not well: notices of a store, rows in trouble, states too large, diffs too long."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import Any

import pytest

from stores.errors import Corrupt
from stores.model import Checkpoint, Opaque, Partial, StoreInfo, Tagged, Value
from tests.tui.conftest import app_over, screen_lines, screen_text, settled, unsafe_characters
from tests.tui.fakes import HOSTILE, FakeSession, demo_session
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.tui.rows.sizes import HUGE, sizes_of
from tt_debug.tui.screens import thread_following
from tt_debug.tui.widgets.banner import Banner


class Noticed(FakeSession):
    """A session over a store that has something to say."""

    notices: tuple[str, ...] = ()

    @property
    def info(self) -> StoreInfo:
        return replace(super().info, notices=self.notices)


def noticed(*notices: str) -> Noticed:
    demo = demo_session()
    session = Noticed(checkpoints=demo.checkpoints, heads=demo.heads)
    session.notices = notices
    return session


async def test_what_a_store_has_to_say_stands_above_the_list_until_escape() -> None:
    app = app_over(noticed("schema v5, known up to v4: reading only", "2 rows cannot be read"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        lines = screen_lines(app)
        assert lines[1].strip() == "! schema v5, known up to v4: reading only"
        assert "! 2 rows cannot be read  · Esc hides this" in lines[2]
        assert "1 Threads" in lines[3]
        await pilot.press("r")
        await settled(pilot, app)
        await pilot.press("escape")
        await settled(pilot, app)
        assert "schema v5" not in screen_text(app)
        await pilot.press("r")
        await settled(pilot, app)
        assert "schema v5" not in screen_text(app)


async def test_several_stores_are_told_apart_and_too_many_notices_are_counted() -> None:
    one, two = noticed(*(f"trouble {number}" for number in range(5))), noticed("other")
    two.label = "two.db"
    app = app_over(one, two)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        text = screen_text(app)
        assert "! demo.db: trouble 2" in text
        assert "trouble 3" not in text
        assert "and 3 more: tt-debug doctor tells them" in text


async def test_a_hostile_notice_is_text() -> None:
    app = app_over(noticed(HOSTILE))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert "[/red] [b]bold[/b]" in screen_text(app)
        assert unsafe_characters(screen_text(app)) == set()


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_a_row_in_trouble_says_so_above_its_panels(size: tuple[int, int]) -> None:
    session = TripSession()
    ref = session.resolve("trip-planner@20")
    point = session.checkpoints[ref]
    session.checkpoints[ref] = replace(point, header=replace(point.header, problem=f"its metadata is lost {HOSTILE}"))
    async with thread_screen("trip-planner", size, session) as it:
        assert "! its metadata" not in it.text
        it.screen.select_ref(ref)
        await it.rest()
        assert "! its metadata is lost" in it.text
        assert unsafe_characters(it.text) == set()
        await it.press("comma")
        assert it.screen.query_one("#trouble", Banner).sentences == ()


async def test_a_value_put_together_from_other_rows_says_so() -> None:
    session = TripSession()
    head = session.heads["trip-planner"]
    point = session.checkpoints[head]
    session.checkpoints[head] = replace(point, rebuilt={"plan": "from a snapshot and 3 writes"})
    async with thread_screen("trip-planner", (120, 40), session) as it:
        line = next(line for line in it.text.splitlines() if " plan " in line and "rebuilt" in line)
        assert "3 keys" in line
        await it.press("6")
        it.screen.views.meta.go_to(("rebuilt", "plan"))
        await it.rest()
        assert "from a snapshot and 3 writes" in it.text


async def test_a_change_of_a_rebuilt_value_says_so_too() -> None:
    session = TripSession()
    head = session.heads["trip-planner"]
    base = session.checkpoints[head].header.parent
    assert base is not None
    session.checkpoints[base] = replace(session.checkpoints[base], rebuilt={"usage": "lists joined", "messages": "x"})
    async with thread_screen("trip-planner", (120, 40), session) as it:
        text = it.text
        assert re.search(r"≡ usage  rebuilt", text)
        assert re.search(r"≡ messages  \d+ → \d+, \d+ unchanged  rebuilt", text)


def huge(session: TripSession, thread: str = "big") -> None:
    """A state that says it is too large, and the one before it."""
    state: dict[str, Value] = {
        "messages": [{"role": "user", "content": "hello", "id": str(number)} for number in range(300)],
        "small": {"a": 1, "b": 2},
        "text": "x" * 1_234_567,
    }
    session.add(thread, state, source="input", next=("load",))
    head = session.add(thread, {**state, "small": {"a": 2, "b": 2}}, node="load")
    point = session.checkpoints[head]
    session.checkpoints[head] = replace(point, header=replace(point.header, size=HUGE + 1))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_of_a_huge_state_keys_and_sizes_are_shown_until_more_is_asked_for(size: tuple[int, int]) -> None:
    session = TripSession()
    huge(session)
    async with thread_screen("big", size, session) as it:
        await it.press("2")
        rows = [line for line in it.text.splitlines() if re.search(" (messages|small|text) ", line)]
        assert len(rows) == 3
        assert [" 1.2M" in row for row in rows] == [False, False, True]
        assert "13  2 keys" in rows[1]
        assert "hello" not in it.text
        await it.press("g", "j", "enter")
        assert "a  2" in it.text
        assert "hello" not in it.text


async def test_a_huge_state_is_compared_when_that_is_asked_for() -> None:
    session = TripSession()
    huge(session)
    async with thread_screen("big", (120, 40), session) as it:
        assert "not compared yet: this state has 5.0M  ⏎ goes on" in it.text
        await it.press("3", "enter")
        assert "~ small.a  1 → 2" in it.text


async def test_a_long_diff_stops_and_goes_on_when_asked() -> None:
    session = TripSession(sample=False)
    session.add("t", {"n": {str(number): 0 for number in range(4100)}}, source="input")
    session.add("t", {"n": {str(number): 1 for number in range(4100)}}, node="count")
    async with thread_screen("t", (120, 40), session) as it:
        await it.press("3", "G")
        assert "2,100 more changes  ⏎ goes on" in it.text
        await it.press("enter")
        assert len(it.screen.views.diff.rows) == 4001
        await it.press("G", "enter")
        assert len(it.screen.views.diff.rows) == 4100


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("x" * 1000, 1000, 1000),
        ("é", 2, 2),
        ([1, 2, 3], 7, 7),
        ({1: "a"}, 7, 9),
        (Opaque("bytes", b"x" * 500), 500, 500),
        ([Opaque("bytes", b"x" * 500)], 500, 510),
        (Tagged("a.B", {"k": "v" * 100}), 100, 120),
        (Partial("seed", ("w" * 100,)), 100, 130),
        ("\ud800" * 10, 10, 40),
        ([2**70, "\ud800"], 1, 60),
        (None, 4, 4),
    ],
)
def test_sizes_are_near_what_a_value_takes_as_json(value: Value, least: int, most: int) -> None:
    assert least <= sizes_of({"k": value})["k"] <= most


def test_a_deep_value_has_a_size_too() -> None:
    deep: Any = "x" * 100
    for _ in range(3000):
        deep = [deep]
    assert 100 <= sizes_of({"k": deep})["k"] < 20_000


def test_a_checkpoint_without_a_size_is_not_huge() -> None:
    session = TripSession()
    point: Checkpoint = session.checkpoints[session.heads["trip-planner"]]
    assert (point.header.size or 0) < HUGE


async def test_a_step_that_could_not_be_read_is_not_said_to_be_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_following, "SLOW", 0.001)
    session = TripSession()
    async with thread_screen("trip-planner", (120, 40), session) as it:
        session.failing[it.ref("trip-planner", 23)] = Corrupt("page 7 cannot be read")
        shown = it.screen.show_pending
        calls: list[bool] = []

        def pending(*, slow: bool = False) -> None:
            calls.append(slow)
            shown(slow=slow)

        it.screen.show_pending = pending  # type: ignore[method-assign]
        session.gate = threading.Event()
        await it.pilot.press("comma")
        await it.until(lambda: True in calls)
        assert "◐ step 23…" in it.text
        session.gate.set()
        await it.rest()
        assert "page 7 cannot be read" in it.text
        assert "step 23…" not in it.text


async def test_what_was_not_compared_has_no_counts() -> None:
    session = TripSession()
    huge(session)
    async with thread_screen("big", (120, 40), session) as it:
        assert "not compared yet" in it.text
        assert "+0 ~0 -0" not in it.text, "nobody knows what changed"
    async with thread_screen("review", (80, 24)) as it:
        await it.press("3", "1", "g")
        assert "nothing to compare it with" in it.text
        assert "+0 ~0 -0" not in it.text


async def test_what_could_not_be_read_looks_like_an_error() -> None:
    session = TripSession()
    session.failing[it_ref := session.resolve("trip-planner@23")] = Corrupt("page 7 cannot be read")
    async with thread_screen("trip-planner", (120, 40), session) as it:
        await it.press("comma")
        assert it.screen.selected == it_ref
        state = it.screen.views.state
        strip = state.render_line(0)
        assert strip.text.startswith(" × page 7 cannot be read")
        assert any(segment.style and segment.style.color == state.ink("error").color for segment in strip)  # type: ignore[union-attr]
        await it.press("comma")
        assert "×" not in state.render_line(0).text


async def test_a_partly_known_value_counts_its_writes_once() -> None:
    session = TripSession()
    session.add("parts", {"one": Partial(1, ([1],)), "two": Partial(1, ([1], [2]))}, source="input")
    async with thread_screen("parts", (120, 40), session) as it:
        assert "partly known: 1 write on a start value" in it.text
        assert it.text.count("2 writes") == 1
