"""Editing in the user's own editor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.widgets import TextArea

from tests.tui.conftest import wait_for
from tests.tui.edit_form import form, verdict
from tests.tui.thread_app import thread_screen
from tests.tui.thread_fakes import TripSession
from tt_debug.tui.widgets.state_view import StateView


async def test_a_value_too_large_for_the_form_is_left_to_the_editor() -> None:
    session = TripSession(sample=False)
    session.add("large", {"text": "x" * 1_200_000})
    async with thread_screen("large", session=session) as it:
        await it.press("e")
        assert it.app.screen is it.screen
        await wait_for(it.pilot, lambda: "too large for a form" in it.told)


async def test_the_users_editor_hands_its_text_to_the_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from contextlib import nullcontext

    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\nprintf \'"draft"\' > "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    async with thread_screen(size=(120, 40)) as it:
        monkeypatch.setattr(it.app, "suspend", nullcontext)
        it.screen.go_to("15")
        await it.rest()
        await it.press("2")
        it.screen.query_one("#state", StateView).go_to(("plan", "status"))
        await it.press("E")
        dialog = await form(it)
        assert dialog.query_one("#draft", TextArea).text == '"draft"'
        await wait_for(it.pilot, lambda: "valid · 1 change" in verdict(dialog))


async def test_an_editor_that_cannot_be_started_leaves_the_screen_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []

    @contextmanager
    def suspend() -> Iterator[None]:
        """As Textual's own: what comes out of it leaves the terminal to itself."""
        happened.append("left")
        yield
        happened.append("back")

    monkeypatch.setenv("VISUAL", "/nowhere/editor --wait")
    async with thread_screen() as it:
        monkeypatch.setattr(it.app, "suspend", suspend)
        await it.press("E")
        await wait_for(it.pilot, lambda: "/nowhere/editor --wait: " in it.told)
        assert happened == ["left", "back"]


async def test_without_an_editor_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with thread_screen() as it:
        await it.press("E")
        await wait_for(it.pilot, lambda: "neither $VISUAL nor $EDITOR is set" in it.told)
