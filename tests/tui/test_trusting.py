"""A run that the database's names keep from starting: which, and trusting them for one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.tui.conftest import wait_for
from tests.tui.test_confirm import asked
from tests.tui.thread_app import thread_screen
from tt_debug.engine.events import Event
from tt_debug.errors import Untrusted
from tt_debug.session.plans import GraphTarget, RunPlan, RunRequest, RunResult
from tt_debug.tui.dialogs.confirm import ConfirmDialog
from tt_debug.tui.dialogs.notice import NoticeDialog


async def test_names_can_be_trusted_once_they_were_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    async with thread_screen("cheap") as it:
        plan, execute = it.session.plan, it.session.execute
        trusted: list[tuple[str, ...]] = []

        def planned(request: RunRequest) -> RunPlan:
            found = plan(request)
            graph = request.graph or GraphTarget("agent:graph", trust=("agent.Old",))
            return replace(found, request=replace(found.request, graph=graph))

        def executed(agreed: RunPlan, on_event: Callable[[Event], None]) -> RunResult:
            assert agreed.request.graph is not None
            trusted.append(agreed.request.graph.trust)
            if len(trusted) == 1:
                raise Untrusted(
                    "checkpoint 1 in thread 'cheap' holds trap.\x1b[2JRec", ("trap.Rec",), hint="--trust it"
                )
            return execute(agreed, on_event)

        monkeypatch.setattr(it.session, "plan", planned)
        monkeypatch.setattr(it.session, "execute", executed)
        await it.press("c")
        await asked(it, ConfirmDialog)
        await it.pilot.press("ctrl+r")
        dialog = await asked(it, NoticeDialog)
        await wait_for(it.pilot, lambda: "Nothing has run yet." in it.text)
        assert "trap.␛[2JRec" in it.text
        assert dialog.query_one("#cancel").has_focus
        await it.pilot.press("ctrl+r")
        await asked(it, ConfirmDialog)
        await it.pilot.press("ctrl+r")
        await wait_for(it.pilot, lambda: len(trusted) == 2)
        assert trusted == [("agent.Old",), ("agent.Old", "trap.Rec")]
