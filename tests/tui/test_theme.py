"""Colours: every text can be read on what it stands on, in every theme; and none at all where none is wanted."""

from __future__ import annotations

import pytest
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tests.tui.conftest import app_over, settled
from tests.tui.fakes import demo_session
from tt_debug.tui.theme import INKS, READABLE, contrast, ink_style, own_variables, readable
from tt_debug.tui.widgets.key_bar import KeyBar
from tt_debug.tui.widgets.threads_view import ThreadsView
from tt_debug.tui.widgets.title_bar import TitleBar

THEMES = sorted(name for name in BUILTIN_THEMES if not name.startswith("ansi"))
PAIRS = [
    *(("foreground", ground) for ground in ("background", "surface", "panel")),
    *((f"text-{role}", ground) for role in ("primary", "secondary", "accent") for ground in ("background", "panel")),
    *((f"text-{role}", f"{role}-muted") for role in ("primary", "success", "warning", "error")),
    *((f"text-{role}", ground) for role in ("success", "warning", "error") for ground in ("background", "surface")),
    *((f"tt-{name}", "background") for name in ("human", "ai", "tool", "system", "added", "removed", "changed")),
    *((f"tt-{name}", "background") for name in ("key", "string", "number", "constant")),
    *((f"tt-lane-{number}", "background") for number in range(6)),
    ("block-cursor-foreground", "block-cursor-background"),
]


@pytest.mark.parametrize("theme", THEMES)
def test_every_pair_of_a_text_and_its_ground_can_be_read(theme: str) -> None:
    variables = BUILTIN_THEMES[theme].to_color_system().generate()
    every = {**variables, **own_variables(variables)}
    poor = {
        pair: round(ratio, 2)
        for pair in PAIRS
        if (ratio := contrast(Color.parse(every[pair[0]]), Color.parse(every[pair[1]]))) < READABLE
    }
    assert poor == {}


def test_contrast_is_that_of_the_guidelines() -> None:
    black, white = Color(0, 0, 0), Color(255, 255, 255)
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(white, white) == 1
    assert contrast(Color.parse("#777777"), white) == pytest.approx(4.48, abs=0.01)


def test_what_can_be_read_stays_as_it_is_and_what_cannot_comes_near() -> None:
    white = Color(255, 255, 255)
    assert readable(Color.parse("#333333"), [white]) == Color.parse("#333333")
    mended = readable(Color.parse("#ffaa00"), [white])
    assert READABLE <= contrast(mended, white) < READABLE + 1
    middle = [Color(119, 119, 119)]
    assert readable(Color(120, 120, 120), middle, least=20) in (Color(0, 0, 0), white)


def test_a_theme_may_set_its_own_and_the_terminals_colours_are_left_alone() -> None:
    variables = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    assert own_variables({**variables, "tt-human": "#123456"})["tt-human"] == "#123456"
    plain = own_variables(BUILTIN_THEMES["ansi-dark"].to_color_system().generate())
    assert plain["tt-human"] == "ansi_green"
    assert "text-success" not in plain


def drawn(style: Style, ground: Color | None = None) -> float:
    """The contrast of what a widget draws, on ``ground`` where the style has none of its own."""
    assert style.color is not None
    below = style.bgcolor or (ground.rich_color if ground is not None else None)
    assert below is not None
    sides = (style.color.get_truecolor(), below.get_truecolor())
    return contrast(*(Color(side.red, side.green, side.blue) for side in sides))


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "solarized-light", "gruvbox"])
async def test_what_is_drawn_can_be_read(theme: str) -> None:
    app = app_over(demo_session())
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        app.theme = theme
        await pilot.pause()
        screen = app.screen
        threads, title, keys = (screen.query_one(kind) for kind in (ThreadsView, TitleBar, KeyBar))
        for name in INKS:
            assert drawn(threads.ink(name), threads.background_colors[1]) >= READABLE, name
        for widget, names in (
            (threads, ["row--cursor"]),
            (title, sorted(TitleBar.COMPONENT_CLASSES)),
            (keys, ["key-bar--key", "key-bar--label"]),
        ):
            for name in names:
                assert drawn(widget.get_component_rich_style(name)) >= READABLE, name
        # Keys that cannot be used now are dim, and still to be read.
        assert drawn(keys.get_component_rich_style("key-bar--off")) >= 3


async def test_inks_follow_the_theme() -> None:
    app = app_over(demo_session())
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        threads = app.screen.query_one(ThreadsView)
        for theme in ("textual-dark", "textual-light"):
            app.theme = theme
            await pilot.pause()
            assert threads.ink("plain").color == Color.parse(app.theme_variables["foreground"]).rich_color


@pytest.mark.parametrize("name", ["added-word", "removed-word"])
def test_words_of_a_diff_are_never_told_by_colour_alone(name: str) -> None:
    ground = Color(0, 0, 0)
    for theme in ("textual-dark", "textual-light", "nord", "ansi-dark"):
        variables = BUILTIN_THEMES[theme].to_color_system().generate()
        style = ink_style(name, {**variables, **own_variables(variables)}, ground)
        assert style.underline or style.strike
        assert style.color != style.bgcolor, "where the terminal's own colours are all there is"
