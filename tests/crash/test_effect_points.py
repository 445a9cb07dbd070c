"""Kill a run with effects at every write point, for each class of effect, and go on: nothing is lost or done twice."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stores.effects import EffectClass
from tests.crash.effect_scenes import KILLED, Scene, check, finish

pytestmark = pytest.mark.crash

ROLLED_BACK = ("sqlite.begun", "sqlite.written")
"""Points inside a transaction that others stand in too: every kill there is rolled back. Left to the long runs."""


@pytest.fixture
def place() -> Iterator[Path]:
    """In memory where there is such a place: a kill of a process loses nothing of what was written, synced or not."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def numbered(file: Path) -> list[str]:
    """The points that were passed, each as name#pass."""
    counted: Counter[str] = Counter()
    found = []
    for name in file.read_text().splitlines():
        counted[name] += 1
        found.append(f"{name}#{counted[name]}")
    return found


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", EffectClass.ALL)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_kill_at_any_point_loses_nothing_and_does_nothing_twice(place: Path, kind: str, every: bool) -> None:
    start = Scene(place / "start")
    start.make(kind)
    clean = start.copy(place / "clean")
    assert clean.work(TT_DEBUG_POINTS=str(place / "points")) == 0
    points = numbered(place / "points")
    assert {name.split("#")[0] for name in points} >= {
        "native.effect-entered", "native.effect-begun", "run.effect-begun", "run.effect-called", "native.effect-ended",
        "run.effect-ended", "run.substep-before-commit", "native.substep-committed", "run.substep-committed",
    } | ({"native.statement-executed"} if kind == EffectClass.TRANSACTIONAL else set())  # fmt: skip
    check(clean, clean, [], kind, "clean")
    holds = 0
    # Each class takes its turn at the points, and together they take all; the long runs take all for each.
    turn, classes = EffectClass.ALL.index(kind), len(EffectClass.ALL)
    chosen = points if every else [at for at in points if at.split("#")[0] not in ROLLED_BACK][turn::classes]
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
