"""Bookmarks on screen: a checkpoint is named and unnamed, seen in the graph and on the timeline, listed, found."""

from __future__ import annotations

from pathlib import Path

from tests.builders import native_file
from tests.tui.conftest import screen_lines, screen_text, settled, wait_for
from tests.tui.fakes import HOSTILE, FakeSession
from tests.tui.thread_app import Opened, thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.session.session import Session
from tt_debug.tui.app import OpenStore, TtDebugApp
from tt_debug.tui.dialogs.bookmark import BookmarkDialog
from tt_debug.tui.screens.bookmarks import BookmarksScreen
from tt_debug.tui.screens.log import LogScreen


def in_dialog(it: Opened) -> bool:
    return isinstance(it.app.screen, BookmarkDialog)


async def named(it: Opened, *keys: str) -> None:
    """Open the dialog by its key, type, and wait until it has ended."""
    await it.pilot.press("m")
    await it.until(lambda: in_dialog(it))
    await it.pilot.press(*keys)
    await it.until(lambda: not in_dialog(it))
    await it.rest()


async def test_a_checkpoint_is_named_and_that_is_seen_everywhere() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("comma", "comma")
        at = it.screen.selected
        assert at is not None
        await named(it, *"good", "tab", *"before the change", "enter")
        assert [(mark.ref, mark.name, mark.note) for mark in it.session.marks.all()] == [
            (at, "good", "before the change")
        ]
        row = next(line for line in screen_lines(it.app) if "good" in line and "★" in line)
        assert "plan" in row or "agent" in row or "tools" in row or "summarize" in row
        assert "★" in screen_lines(it.app)[-2], "the timeline's marks"
        assert "trip-planner@good" in it.told
        assert (
            it.app.done[-1].command
            == f"tt-debug mark /tmp/demo.db trip-planner@{at.id} good --note 'before the change'"
        )


async def test_an_empty_name_takes_it_away_and_esc_changes_nothing() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        at = it.screen.selected
        assert at is not None
        await named(it, *"one", "enter")
        await named(it, "ctrl+d")
        assert it.session.marks.kept == {}
        await named(it, *"one", "enter")
        await named(it, *"two", "escape")
        assert it.session.marks.kept[at].name == "one"
        await named(it, *["backspace"] * 3, "enter")
        assert it.session.marks.kept == {}
        assert "★" not in it.text
        assert it.app.done[-1].command.endswith("--remove")
        await it.pilot.press("m")
        await it.until(lambda: in_dialog(it))
        await it.pilot.press("enter")
        await it.pilot.pause()
        assert in_dialog(it), "there is none to take away, so that is no name"
        assert "1 to 80 characters" in it.text


async def test_a_name_that_another_has_is_refused_in_the_dialog() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await named(it, *"good", "enter")
        await it.press("comma", "comma")
        await it.pilot.press("m", *"good", "enter")
        await it.pilot.pause()
        assert "Another checkpoint of this thread has that name." in it.text
        await it.pilot.press("at", "enter")
        await it.pilot.pause()
        assert "could not be told from a thread" in it.text


async def test_events_stop_at_bookmarks() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("home")
        await it.press("full_stop", "full_stop")
        step = it.step
        await named(it, *"here", "enter")
        await it.press("home", "greater_than_sign")
        assert it.step == step


async def test_it_is_a_note_so_reading_only_allows_it() -> None:
    async with thread_screen("trip-planner", (120, 40), read_only=True) as it:
        await named(it, *"seen", "enter")
        assert [mark.name for mark in it.session.marks.all()] == ["seen"]


async def test_the_list_goes_to_a_checkpoint_renames_and_gives_the_command() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("comma", "comma", "comma")
        at = it.screen.selected
        await named(it, *"good", "enter")
        await it.press("end")
        await it.pilot.press("apostrophe")
        await it.until(lambda: isinstance(it.app.screen, BookmarksScreen) and "Bookmarks  1" in it.text)
        assert at is not None
        assert it.app.screen.command_line() == f"tt-debug mark /tmp/demo.db trip-planner@{at.id} good"  # type: ignore[attr-defined]
        await it.pilot.press("m")
        await it.until(lambda: in_dialog(it))
        await it.pilot.press(*"better", "enter")
        await it.until(lambda: "better" in it.text)
        await it.pilot.press("enter")
        await it.until(lambda: it.app.screen is it.screen)
        await it.rest()
        assert it.screen.selected == at
        await it.pilot.press("at")
        await it.until(lambda: isinstance(it.app.screen, LogScreen))
        await it.pilot.pause()
        assert "tt-debug mark" in it.text


async def test_the_picker_finds_bookmarks_and_stays_on_the_screen_that_shows_it() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("comma", "comma", "comma")
        at = it.screen.selected
        await named(it, *"waypoint", "enter")
        await it.press("end")
        await it.pilot.press("t", *"wayp")
        await it.until(lambda: "★ waypoint" in it.text)
        await it.pilot.press("enter")
        await it.until(lambda: it.app.screen is it.screen and it.screen.selected == at)
        await it.pilot.press("colon", *"wayp")
        await it.until(lambda: "bookmark waypoint" in it.text)


async def test_no_bookmarks_say_how_to_make_one() -> None:
    app = TtDebugApp([OpenStore("/tmp/d", "d", FakeSession())])  # type: ignore[arg-type]
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("apostrophe")
        await wait_for(pilot, lambda: "m names the one under the cursor" in screen_text(app))
        await pilot.press("m", "enter", "y", "Y")
        await pilot.press("escape")
        await wait_for(pilot, lambda: not isinstance(app.screen, BookmarksScreen))


async def test_hostile_names_from_elsewhere_do_no_harm() -> None:
    session = TripSession()
    session.marks.put(session.heads["trip-planner"], HOSTILE, HOSTILE)
    async with thread_screen("trip-planner", (120, 40), session) as it:
        await it.until(lambda: "★" in it.text)
        assert "\x1b" not in it.text
        await it.pilot.press("apostrophe")
        await it.until(lambda: "Bookmarks  1" in it.text)
        assert "\x1b" not in it.text


async def test_the_name_lies_in_our_own_record_and_the_command_line_knows_it(tmp_path: Path) -> None:
    path = native_file(tmp_path / "n.db")
    before = path.read_bytes()
    app = TtDebugApp([OpenStore(str(path), path.name, Session.open(str(path)))], read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await wait_for(pilot, lambda: getattr(app.screen, "selected", None) is not None)
        await pilot.press("m", *"kept", "enter")
        await wait_for(pilot, lambda: [each.mark.name for each in app.bookmarks] == ["kept"])
        other = Session.open(str(path))
        (mark,) = other.marks.all()
        assert other.resolve(f"{mark.ref.thread}@kept") == mark.ref
        other.close()
    assert path.read_bytes() == before
