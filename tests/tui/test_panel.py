"""Panels of ready lines: where the cursor's sign stands, and the air around titles."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from tt_debug.tui.rows.pieces import Piece
from tt_debug.tui.theme import own_variables
from tt_debug.tui.widgets.panel import Panel

LINES = ((Piece("one"),), (Piece("two"),))


class Host(App[None]):
    """A list and a text, of which one has the focus."""

    CSS = ".bare { border: none; border-top: solid $foreground; }"

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        return {**variables, **own_variables(variables)}

    def compose(self) -> ComposeResult:
        yield Panel(id="list")
        yield Panel(id="text")

    def on_mount(self) -> None:
        self.query_one("#list", Panel).show(LINES, ("first", "second"))
        self.query_one("#text", Panel).show(LINES)


@pytest.mark.parametrize(("focus", "marked"), [("list", (" ", "▌")), ("text", ("▌", "▌"))])
async def test_a_list_marks_its_cursor_always_a_text_with_the_focus(focus: str, marked: tuple[str, str]) -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.query_one(f"#{focus}").focus()
        await pilot.pause()
        drawn = [app.query_one(name, Panel).render_line(0).text.rstrip() for name in ("#text", "#list")]
        assert drawn == [f"{sign}one" for sign in marked]


async def test_a_title_on_a_bare_rule_has_air_around_it() -> None:
    app = Host()
    async with app.run_test() as pilot:
        panel = app.query_one("#list", Panel)
        panel.border_title = "1 Graph"
        panel.add_class("bare")
        await pilot.pause()
        assert app.screen._compositor.render_strips()[0].text.startswith("─ 1 Graph ─")
        panel.remove_class("bare")
        panel.styles.border = ("solid", "white")
        await pilot.pause()
        assert app.screen._compositor.render_strips()[0].text.startswith("┌─ 1 Graph ─")
