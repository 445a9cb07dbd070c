"""Kill a process at every write point of every story, do the act again, and compare with one that nobody disturbed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.scenes import killed_at, kills, place, told
from tests.crash.stories import STORIES

__all__ = ["place"]

pytestmark = pytest.mark.crash


@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", STORIES)
def test_a_kill_at_any_point_changes_nothing_in_the_end(place: Path, name: str, every: bool) -> None:
    story = STORIES[name]
    whole = told(story, place / "clean")
    assert {at.split("#")[0] for _, at in kills(whole)} >= story.points
    chosen = kills(whole, every)
    for number, (act, at) in enumerate(chosen):
        killed_at(whole, act, at, place / str(number))
    print(f"{name}: {len(chosen)} kills at {len({at.split('#')[0] for _, at in chosen})} points")  # noqa: T201
