"""Whatever a store holds is shown as text: no control reaches the terminal, no markup is read, nothing crashes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

import tt_debug
from stores.model import Interrupt, Opaque, Partial, Ref, Status, Tagged, Task, Value, Write
from stores.runs import Approval
from stores.supervision import Breakpoint
from tests.tui.conftest import screen_text, unsafe_characters, wait_for
from tests.tui.fakes import HOSTILE, START
from tests.tui.sample_threads import message
from tests.tui.thread_app import Opened, thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.session.journal import Mark
from tt_debug.tui.dialogs.answer import AnswerDialog
from tt_debug.tui.dialogs.base import Dialog
from tt_debug.tui.dialogs.bookmark import BookmarkDialog
from tt_debug.tui.dialogs.breakpoint import BreakpointDialog
from tt_debug.tui.dialogs.edit import EditDialog
from tt_debug.tui.widgets.live_view import LiveView


def deep(levels: int) -> Value:
    """A value nested so often."""
    value: Value = HOSTILE
    for _ in range(levels):
        value = {"[/red]": value}
    return value


def hostile() -> TripSession:
    """A thread whose every text attacks, on every panel."""
    session = TripSession(sample=False)
    state: dict[str, Value] = {
        "messages": [
            message("human", HOSTILE, HOSTILE),
            message("ai", HOSTILE * 50, "m", tool_calls=[{"name": HOSTILE, "args": {HOSTILE: HOSTILE}}], name=HOSTILE),
        ],
        HOSTILE: HOSTILE,
        "big": "x\x1b" * 1_000_000,
        "deep": deep(500),
        "class": Tagged(HOSTILE, {HOSTILE: HOSTILE}),
        "bytes": Opaque(HOSTILE, b"\x1b"),
        "partial": Partial(HOSTILE, (HOSTILE,)),
        "list": [HOSTILE] * 250,
    }
    session.add(HOSTILE, state, source="input", next=(HOSTILE,))
    asked = Interrupt(HOSTILE, {"question": HOSTILE})
    tasks = (
        Task(HOSTILE, HOSTILE, "", "failed", (Write(HOSTILE, HOSTILE),), HOSTILE),
        Task("w", HOSTILE, "", "waiting", (), None, (asked,)),
    )
    changed = {**state, HOSTILE: HOSTILE + " again", "more\x1b": HOSTILE, "bytes": Opaque("b", b"\x1b2")}
    session.add(HOSTILE, changed, node=HOSTILE, next=(HOSTILE,), status=Status.FAILED, tasks=tasks, source="loop")
    session.add("fork " + HOSTILE, state, parent=next(iter(session.checkpoints)), source=HOSTILE)
    return session


def harmless(it: Opened) -> bool:
    """Whether nothing on the screen would act on a terminal."""
    return unsafe_characters(screen_text(it.app)) == set()


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.soak), (200, 60)])
async def test_every_panel_shows_hostile_texts_as_text(size: tuple[int, int]) -> None:
    async with thread_screen(HOSTILE, session=hostile(), size=size) as it:
        assert "[/red] [b]bold[/b]" in it.text
        for key in "123456":
            await it.press(key)
            for move in ("j", "enter", "l", "j", "j", "G", "k", "h"):
                await it.press(move)
                assert harmless(it), (key, move)


async def test_forks_pins_searches_and_messages_too() -> None:
    async with thread_screen(HOSTILE, session=hostile(), size=(120, 40)) as it:
        await it.press("g", "space", "j", "enter", "o", "o", "percent_sign", "0")
        assert harmless(it)
        await it.pilot.press("slash", *"[/red]", "enter")
        await it.rest()
        assert harmless(it)
        await it.press("n", "Y", "y")
        assert harmless(it)


async def test_the_form_and_the_question_too() -> None:
    async with thread_screen(HOSTILE, session=hostile(), size=(120, 40)) as it:
        await it.press("f")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, EditDialog) and it.app.screen.is_mounted)
        await wait_for(it.pilot, lambda: not it.app.loader.busy)
        assert harmless(it)
        await it.press("escape")
        await it.press("c")
        await wait_for(it.pilot, lambda: it.app.screen is not it.screen)
        await it.pilot.pause()
        assert harmless(it)
        await it.press("escape")
        await it.press("2", "g", "j", "e")
        await wait_for(it.pilot, lambda: isinstance(it.app.screen, EditDialog) and it.app.screen.is_mounted)
        await wait_for(it.pilot, lambda: not it.app.loader.busy)
        assert harmless(it)


async def test_what_stands_in_a_field_to_type_in_too_and_stays_as_it_is() -> None:
    schema: dict[str, Value] = {"type": "object", "required": [HOSTILE], "properties": {HOSTILE: {"default": HOSTILE}}}
    dialogs: list[Dialog[Any]] = [
        BreakpointDialog(Breakpoint("b1", "effect", HOSTILE, HOSTILE, HOSTILE), HOSTILE, lambda condition: condition),
        BookmarkDialog(HOSTILE, Mark(Ref("t", "", "1"), HOSTILE, HOSTILE, START), ()),
        AnswerDialog(Approval("1", "t", "", "1", "n", HOSTILE, schema), "reply"),
    ]
    async with thread_screen("cheap", size=(120, 40)) as it:
        for dialog in dialogs:
            it.app.push_screen(dialog)
            await wait_for(it.pilot, lambda dialog=dialog: it.app.screen is dialog and dialog.is_mounted)
            await it.pilot.pause()
            assert harmless(it), type(dialog)
            for field in dialog.query(Input):
                assert field.value in (HOSTILE, "")
            await it.press("escape")


async def test_what_a_run_prints_too() -> None:
    from tests.tui.test_run import event

    async with thread_screen("cheap") as it:
        it.screen.query_one(LiveView).add(
            [event("output", stream="stderr", text=HOSTILE), event(HOSTILE, node=HOSTILE)]
        )
        it.screen.show_tab("live")
        await it.pilot.pause()
        assert "[/red] [b]bold[/b]" in it.text
        assert harmless(it)


def test_no_other_field_is_used() -> None:
    modules = (Path(tt_debug.__file__).parent / "tui").rglob("*.py")
    assert [path.name for path in modules if re.search(r"\bInput\(", path.read_text())] == []
