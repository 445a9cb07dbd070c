"""Copying: a menu of what there is under the cursor, its limits, hostile and secret texts, the report of a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.errors import Corrupt
from stores.model import Opaque, Tagged
from tests.tui.conftest import app_over, screen_text, settled, unsafe_characters, wait_for
from tests.tui.fakes import HOSTILE, FakeSession
from tests.tui.sample_threads import message
from tests.tui.thread_app import Opened, thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.redaction import Hidden
from tt_debug.tui.copying import CLIPBOARD, fits, hex_text, of_value, report, warning
from tt_debug.tui.dialogs.menu import MenuDialog
from tt_debug.tui.widgets.panel import Panel


def offered(value: object, path: tuple[str | int, ...] = ("k",)) -> dict[str, str]:
    """What can be copied of a value, by name."""
    return {item.name: item.text() for item in of_value(value, path)}


def test_each_kind_of_value_offers_what_it_has() -> None:
    assert offered("a b") == {"text": "a b", "JSON": '"a b"', "path": "k"}
    assert offered(7) == {"value": "7", "JSON": "7", "path": "k"}
    assert offered({"a": [1]}, ("p", 0)) == {"JSON": '{\n  "a": [\n    1\n  ]\n}', "path": "p[0]"}
    assert offered({"a": 1}, ()) == {"JSON": '{\n  "a": 1\n}'}
    assert list(offered(message("ai", "hello", "m"))) == ["message text", "JSON", "path"]
    assert offered(Opaque("pickle", b"\x80\x04ab"))["bytes in hex"].startswith("00000000  80 04 61 62")
    assert list(offered(Tagged("a.B", "x"))) == ["JSON", "path"]
    assert offered(Hidden("text")) == {"path": "k"}


def test_bytes_stand_in_lines_of_sixteen() -> None:
    assert hex_text(bytes(range(60, 78))).splitlines() == [
        "00000000  3c 3d 3e 3f 40 41 42 43 44 45 46 47 48 49 4a 4b  <=>?@ABCDEFGHIJK",
        "00000010  4c 4d                                            LM",
    ]


def test_the_limit_is_of_bytes() -> None:
    assert fits("x" * CLIPBOARD)
    assert not fits("x" * (CLIPBOARD + 1))
    assert not fits("京" * 30_000)


def test_what_would_act_on_a_terminal_is_warned_of() -> None:
    assert warning("plain\ntext 京") == ""
    assert warning("\x1b]0;x\x07") == "it holds characters that act on a terminal"


def test_a_report_tells_what_and_where_and_with_which_versions() -> None:
    text = report({"store": "native /tmp/x.db", "thread": "t"}, "page 7 is damaged")
    assert text.splitlines()[:4] == ["page 7 is damaged", "", "store: native /tmp/x.db", "thread: t"]
    assert "tt-debug" in text.splitlines()[-1]
    assert "Textual" in text.splitlines()[-1]


async def menu(it: Opened, *keys: str) -> list[str]:
    """Open the menu, press these, and give what was copied."""
    copied: list[str] = []
    it.app.copy_to_clipboard = copied.append  # type: ignore[method-assign]
    await it.pilot.press("y")
    await wait_for(it.pilot, lambda: isinstance(it.app.screen, MenuDialog) and it.app.screen.is_mounted)
    await it.pilot.pause()
    for key in keys:
        await it.pilot.press(key)
    await wait_for(it.pilot, lambda: it.app.screen is it.screen)
    return copied


async def test_the_menu_is_used_by_letter_by_cursor_and_left_by_escape() -> None:
    session = TripSession()
    async with thread_screen("trip-planner", (120, 40), session) as it:
        await it.press("2")
        it.screen.views.state.go_to(("plan", "status"))
        await it.rest()
        assert await menu(it, "v") == ["review"]
        assert "text: sent to the terminal's clipboard" in it.told
        assert await menu(it, "p") == ["plan.status"]
        assert await menu(it, "enter") == ["review"]
        assert await menu(it, "j", "enter") == ['"review"']
        assert await menu(it, "escape") == []
        assert await menu(it, "i") == [session.heads["trip-planner"].id]


async def test_a_message_is_copied_as_its_text() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("4", "g")
        assert await menu(it, "m") == ["Plan a trip to 京都 for 5 people 🙂"]


async def test_a_line_of_any_panel_is_copied_as_it_is_shown() -> None:
    async with thread_screen("broken", (120, 40)) as it:
        await it.press("5", "g")
        copied = await menu(it, "l")
        assert len(copied) == 1
        assert copied[0].strip()


async def test_a_long_text_goes_to_a_file_that_only_its_owner_reads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session = TripSession()
    session.add("large", {"text": "x" * 100_000, "n": 7})
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with thread_screen("large", (120, 40), session) as it:
        await it.press("2", "g")
        assert await menu(it, "v") == []
        (file,) = tmp_path.iterdir()
        assert file.read_text() == "x" * 100_000
        assert file.stat().st_mode & 0o077 == 0
        assert file.name in it.told
        assert "more than a terminal takes" in it.told


async def test_secrets_are_left_out_and_that_is_said() -> None:
    async with thread_screen("trip-planner", (120, 40)) as it:
        await it.press("1")
        (text,) = await menu(it, "j")
        assert "sk-very-secret" not in text
        assert "$redacted" in text
        assert "secrets are left out, S shows them" in it.told
        await it.press("S")
        (text,) = await menu(it, "j")
        assert "sk-very-secret" in text


async def test_hostile_texts_are_text_in_the_menu_and_copied_as_they_are_with_a_warning() -> None:
    session = TripSession(sample=False)
    session.add("t", {HOSTILE: HOSTILE})
    async with thread_screen("t", (120, 40), session) as it:
        await it.press("2", "g")
        await it.pilot.press("y")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, MenuDialog) and it.app.screen.is_mounted)
        await it.pilot.pause()
        assert unsafe_characters(screen_text(it.app)) == set()
        await it.pilot.press("escape")
        assert await menu(it, "v") == [HOSTILE]
        assert "it holds characters that act on a terminal" in it.told


async def test_a_failure_is_copied_as_a_report() -> None:
    session = TripSession()
    async with thread_screen("trip-planner", (120, 40), session) as it:
        session.failing[it.ref("trip-planner", 22)] = Corrupt("page 7 is damaged", hint="try: tt-debug doctor")
        await it.press("comma", "comma", "2")
        assert "y copies a report" in " ".join(it.text.split())
        (text,) = await menu(it, "r")
        assert text.startswith("page 7 is damaged. try: tt-debug doctor\n")
        assert "thread: trip-planner" in text
        assert it.ref("trip-planner", 22).id in text


async def test_the_list_of_threads_offers_names_and_the_report_of_a_failure(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        copied: list[str] = []
        app.copy_to_clipboard = copied.append  # type: ignore[method-assign]
        await pilot.press("y")
        await wait_for(pilot, lambda: isinstance(app.screen, MenuDialog) and app.screen.is_mounted)
        await pilot.press("t")
        await settled(pilot, app)
        assert copied == ["screening-long-fork-1"]
        session.broken.add("load")
        await pilot.press("j")
        await wait_for(pilot, lambda: "copies a report" in " ".join(screen_text(app).split()))
        await pilot.press("y")
        await wait_for(pilot, lambda: isinstance(app.screen, MenuDialog) and app.screen.is_mounted)
        await pilot.press("r")
        await settled(pilot, app)
        assert "cannot be read" in copied[-1]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_menu_shows_each_of_its_rows(size: tuple[int, int]) -> None:
    async with thread_screen("trip-planner", size) as it:
        await it.pilot.press("2", "y")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, MenuDialog) and it.app.screen.is_mounted)
        await it.pilot.pause()
        panel = it.app.screen.query_one("#menu", Panel)
        assert panel.scrollable_content_region.height == panel.row_count > 2
