"""Kill a run with effects at every write point, for each class of effect, and go on: nothing is lost or done twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stores.effects import EffectClass
from tests.crash.effect_scenes import EffectScene, check, finish
from tests.crash.forks import KILLED
from tests.crash.scenes import numbered, place

__all__ = ["place"]

pytestmark = pytest.mark.crash


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", EffectClass.ALL)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_kill_at_any_point_loses_nothing_and_does_nothing_twice(place: Path, kind: str, every: bool) -> None:
    start = EffectScene(place / "start")
    start.make(kind)
    clean = start.copy(place / "clean")
    assert clean.work(TT_DEBUG_POINTS=str(place / "points")) == 0
    points = numbered(place / "points")
    assert {name.split("#")[0] for name in points} >= {
        "native.effect-entered", "native.effect-begun", "run.effect-begun", "run.effect-called", "native.effect-ended",
        "run.effect-ended", "run.substep-before-commit", "native.substep-committed", "run.substep-committed",
        "native.chunks-inserted",
    } | ({"native.statement-executed"} if kind == EffectClass.TRANSACTIONAL else set())  # fmt: skip
    check(clean, clean, [], kind, "clean")
    holds = 0
    # What the classes differ in is taken for each; at the other points they take turns.
    turn, classes = EffectClass.ALL.index(kind), len(EffectClass.ALL)
    alike = [at for at in points if "effect" not in at and not at.startswith("run.substep")]
    chosen = [at for at in points if every or at not in alike or at in alike[turn::classes]]
    for number, at in enumerate(chosen):
        scene = start.copy(place / str(number))
        killed = scene.work(TT_DEBUG_POINTS=str(scene.folder / "points"), TT_DEBUG_KILL_AT=at)
        assert killed == KILLED, f"{at}: not killed, {killed}"
        history = scene.rows("checkpoints")
        holds += finish(scene, at)
        check(scene, clean, history, kind, at)
        shutil.rmtree(scene.folder)
    print(f"{kind}: {len(chosen)} kills, {holds} holds")  # noqa: T201
    assert (holds > 0) == (kind == EffectClass.AT_MOST_ONCE)
