"""Home: listing, filter, order, preview, opening."""

from __future__ import annotations

from tests.tui.conftest import app_over, screen_lines, wait_for
from tests.tui.fakes import FakeSession
from tt_debug.tui.screens.home import HomeScreen
from tt_debug.tui.widgets.threads_view import ThreadsView


async def test_home_lists_the_threads_newest_write_first(session: FakeSession) -> None:
    app = app_over(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: app.screen.query_one(ThreadsView).row_count == 5)
        assert isinstance(app.screen, HomeScreen)
        view = app.screen.query_one(ThreadsView)
        names = [view.row(n).info.thread for n in range(5)]  # type: ignore[union-attr]
        assert names[0] == "screening-long-fork-1"
        assert names[-1] == "写作-plan"
        text = "\n".join(screen_lines(app))
        assert "waiting" in text
        assert text.rstrip().endswith("? keys")
