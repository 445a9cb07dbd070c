"""Between the command and the first rows nothing is imported, and no style made, that these do not need."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

from tests.tui.conftest import app_over, screen_text, wait_for
from tests.tui.fakes import demo_session
from tt_debug.tui.widgets.panel import Panel

LATER = {
    *("tt_debug.session.metrics", "tt_debug.session.plans", "tt_debug.session.questions", "tt_debug.session.undoing"),
    *("tt_debug.tui.draft", "tt_debug.tui.screens.answers", "tt_debug.tui.screens.thread", "stores.runs"),
}
"""What can be done from the list of threads, and what is shown after it; together 70 ms."""


def test_the_list_of_threads_imports_nothing_of_what_it_leads_to() -> None:
    told = "import json, sys, tt_debug.tui.app, tt_debug.tui.screens.home; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert not LATER & set(json.loads(done.stdout))


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_styles_are_made_once_before_the_first_rows(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Counter[DOMNode] = Counter()
    apply = Stylesheet.apply

    def counted(self: Stylesheet, node: DOMNode, **more: Any) -> None:
        made[node] += 1
        apply(self, node, **more)

    monkeypatch.setattr(Stylesheet, "apply", counted)
    app = app_over(demo_session())
    async with app.run_test(size=size) as pilot:
        await wait_for(pilot, lambda: "trip-planner" in screen_text(app))
        panels = list(app.screen.query(Panel))
        assert [made[panel] for panel in panels] == [1] * len(panels) != []


def test_what_a_key_changes_is_drawn_at_once() -> None:
    told = "import tt_debug.tui.app; from textual import screen; print(screen.UPDATE_PERIOD)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert float(done.stdout) <= 0.005
