"""The key bar: fits by rank, is never clipped, always ends in the help key."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult

from tt_debug.tui.actions import KeyHint, key_hints
from tt_debug.tui.widgets.key_bar import KeyBar, fit

WIDTHS = range(60, 201)


@pytest.mark.parametrize("where", ["home", "thread", "approvals", "stores", "help", "log"])
def test_the_bar_holds_what_it_keeps_at_every_width(where: str) -> None:
    hints = key_hints(where)
    for width in WIDTHS:
        kept = fit(hints, width)
        cells = sum(cell_len(f"{hint.keys} {hint.label}") + 2 for hint in kept) + len("? keys")
        assert cells + 2 <= width
        assert [hint for hint in hints if hint in kept] == list(kept)


def test_the_lowest_rank_goes_first() -> None:
    hints = [KeyHint("a", "low", 1, "a"), KeyHint("b", "high", 9, "b"), KeyHint("c", "mid", 5, "c")]
    assert [hint.label for hint in fit(hints, 8 + len("b high") + 2 + len("c mid") + 2)] == ["high", "mid"]


def test_pairs_of_keys_share_a_word() -> None:
    labels = {hint.label: hint.keys for hint in key_hints("thread")}
    assert labels["step"] == ",."
    assert labels["event"] == "<>"


class _Bar(App[None]):
    def compose(self) -> ComposeResult:
        yield KeyBar(id="keys")


async def test_the_drawn_line_ends_in_keys_at_60_to_200_columns() -> None:
    app = _Bar()
    async with app.run_test(size=(80, 24)):
        bar = app.query_one(KeyBar)
        for where in ("home", "thread", "approvals"):
            bar.show(key_hints(where))
            for width in WIDTHS:
                line = bar.line(width)
                assert line.cell_length == width
                assert line.text.endswith(" ? keys ")


async def test_a_click_tells_which_action_it_was() -> None:
    pressed: list[str] = []

    class Clicked(_Bar):
        CSS = "KeyBar { height: 1; }"

        def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
            pressed.append(event.action)

    app = Clicked()
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one(KeyBar).show([KeyHint("f", "fork", 9, "fork")])
        await pilot.pause()
        await pilot.click("#keys", offset=(2, 0))
        await pilot.click("#keys", offset=(76, 0))
        await pilot.pause()
    assert pressed == ["fork", "help"]
