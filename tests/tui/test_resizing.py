"""Making the terminal smaller, down to nothing, and large again: nothing breaks, and all looks as before."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from rich.cells import cell_len, set_cell_size
from textual.command import CommandPalette

from tests.tui.conftest import screen_lines, wait_for
from tests.tui.state_scenes import SCENES, Stage
from tt_debug.tui.app import TtDebugApp
from tt_debug.tui.screens.base import MIN_HEIGHT, MIN_WIDTH

OPEN = (
    "home",
    "thread-failed",
    "edit",
    "confirm",
    "answer",
    "copy",
    "import",
    "palette",
    "help",
    "pager",
    "approvals",
    "state-failed-read",
)
EVERY_TIME = ("home", "thread-failed", "edit", "palette")
"""The others are resized in the long runs."""
DIALOGS = ("edit", "confirm", "answer", "copy", "import", "palette")
OFTEN, SOMETIMES = 50, 5
"""Sizes that a dialog goes through in the long runs, and every time."""
ODD = ((1, 1), (10, 3), (300, 100))
ON_THE_WAY = ((MIN_WIDTH, MIN_HEIGHT), (MIN_WIDTH - 1, MIN_HEIGHT - 1), (20, 5), (3, 2), (1, 1), (200, 60))


def shown(app: TtDebugApp) -> list[str]:
    """The screen without its last column, in which the thumb of a scrollbar may have moved by a part of a cell."""
    return [set_cell_size(line, app.size.width - 1) for line in screen_lines(app)]


@pytest.mark.parametrize(
    "name", [name if name in EVERY_TIME else pytest.param(name, marks=pytest.mark.soak) for name in OPEN]
)
async def test_down_to_nothing_and_back(name: str, tmp_path: Path) -> None:
    scene = SCENES[name]
    app = scene.app(tmp_path)
    async with app.run_test(size=scene.sizes[0]) as pilot:
        stage = Stage(pilot, [0.0])
        await scene.drive(stage)
        app.clear_notifications()
        await stage.still()
        before, focused = shown(app), app.focused
        for size in ON_THE_WAY:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert {cell_len(line) for line in screen_lines(app)} <= {size[0]}
        await pilot.resize_terminal(*scene.sizes[0])
        await stage.still()
        assert shown(app) == before
        assert app.focused is focused
    for gate in stage.gates:
        gate.set()


def some_sizes(seed: str, number: int) -> list[tuple[int, int]]:
    """So many, the same for the same seed, with the oddest ones among them."""
    chance = random.Random(seed)
    found = [(chance.randint(1, 300), chance.randint(1, 100)) for _ in range(number - len(ODD))]
    return chance.sample([*found, *ODD], number)


@pytest.mark.parametrize(
    ("name", "number"),
    [("confirm", SOMETIMES), *(pytest.param(name, OFTEN, marks=pytest.mark.soak) for name in DIALOGS)],
)
async def test_a_dialog_lives_through_any_sizes(name: str, number: int, tmp_path: Path) -> None:
    """One after the other, not always with the time to draw one before the next comes."""
    scene = SCENES[name]
    app = scene.app(tmp_path)
    async with app.run_test(size=scene.sizes[0]) as pilot:
        stage = Stage(pilot, [0.0])
        await scene.drive(stage)
        app.clear_notifications()
        await stage.still()
        before, focused, screen = shown(app), app.focused, app.screen
        for at, size in enumerate(some_sizes(name, number)):
            await pilot.resize_terminal(*size)
            assert app.screen is screen
            if at % 3 == 0:
                await wait_for(pilot, lambda: {cell_len(line) for line in screen_lines(app)} <= {app.size.width})
        await pilot.resize_terminal(*scene.sizes[0])
        await stage.still()
        assert shown(app) == before
        assert app.focused is focused
    for gate in stage.gates:
        gate.set()


async def test_the_palette_lives_in_a_few_columns(tmp_path: Path) -> None:
    """Textual's list would divide by the width that is left for its text."""
    scene = SCENES["palette"]
    app = scene.app(tmp_path)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        await pilot.press("colon")
        await wait_for(pilot, lambda: isinstance(app.screen, CommandPalette))
        for width in (6, 5, 4, 3, 2, 1):
            await pilot.resize_terminal(width, 12)
            await wait_for(pilot, lambda: {cell_len(line) for line in screen_lines(app)} <= {app.size.width})
        assert isinstance(app.screen, CommandPalette)
