"""Between the command and the first rows nothing is imported, and no style made, that these do not need."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.screen import Screen

from tests.stores.handmade import Row, handmade, uuid
from tests.tui.conftest import app_over, screen_text, wait_for
from tests.tui.fakes import demo_session
from tt_debug.tui.loader import Loader
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.widgets.panel import Panel
from tt_debug.tui.widgets.threads_view import ThreadsView

LATER = {
    *("tt_debug.session.metrics", "tt_debug.session.plans", "tt_debug.session.questions", "tt_debug.session.undoing"),
    *(
        "tt_debug.tui.draft",
        "tt_debug.tui.screens.answers",
        "tt_debug.tui.screens.stores",
        "tt_debug.tui.screens.thread",
    ),
    *("tt_debug.conversation", "tt_debug.tui.palette", "tt_debug.tui.rows.values"),
    *("tt_debug.tui.dialogs", "tt_debug.engine.events", "stores.runs", "stores.effects", "stores.postgres_address"),
    *("textual.widgets._text_area", "textual.document", "tree_sitter"),
}
"""What can be done from the list of threads, and what is shown after it; together 100 ms."""

STARTS = """
import json, sys
from tt_debug.cli import main
from tt_debug.cli.front import Front

def open_screen(screen):
    from tt_debug.tui.app import TtDebugApp
    from tt_debug.tui.widgets.threads_view import ThreadsView

    drawn = ThreadsView.build

    def first(self, row, width):
        ThreadsView.build = drawn
        print(json.dumps(sorted(sys.modules)), file=sys.stderr)
        self.app.exit(0)
        return drawn(self, row, width)

    ThreadsView.build = first
    run = TtDebugApp.run
    TtDebugApp.run = lambda self: run(self, headless=True)
    return main.open_screen(screen)

sys.exit(main.main(sys.argv[1:], Front(open_screen, has_screen=lambda: True)))
"""


def test_the_first_row_is_drawn_without_what_it_leads_to(tmp_path: Path) -> None:
    store = handmade(tmp_path / "trip.db", [Row(uuid(1)), Row(uuid(2), uuid(1))])
    done = subprocess.run([sys.executable, "-c", STARTS, str(store)], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stderr))
    assert {"tt_debug.tui.screens.home", "stores.langgraph.sqlite"} <= modules
    assert not LATER & modules


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


async def test_threads_that_were_read_meanwhile_stand_in_the_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as soon as that is asked for: a machine that is fast enough."""

    def call(self: Loader, owner: Any, kind: str, work: Any, answer: Any, **more: Any) -> None:
        self.post(owner, answer(work()))

    frames: list[int] = []
    display = App._display

    def displayed(self: App[Any], screen: Screen[Any], renderable: Any) -> None:
        if isinstance(screen, HomeScreen) and renderable is not None:
            frames.append(screen.query_one(ThreadsView).row_count)
        display(self, screen, renderable)

    monkeypatch.setattr(Loader, "call", call)
    monkeypatch.setattr(App, "_display", displayed)
    session = demo_session()
    app = app_over(session)
    async with app.run_test() as pilot:
        await wait_for(pilot, lambda: "trip-planner" in screen_text(app))
    assert frames[0] == len(session.heads)
    assert [call for call, _ in session.calls].count("threads") == 1


def test_what_a_key_changes_is_drawn_at_once() -> None:
    told = "import tt_debug.tui.app; from textual import screen; print(screen.UPDATE_PERIOD)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert float(done.stdout) <= 0.005
