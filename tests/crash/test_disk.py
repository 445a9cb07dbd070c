"""Power cuts and failing disks under the store's own code: what was told as durable is there, the rest never was."""

from __future__ import annotations

import json
import pickle
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stores.effects import EffectClass
from stores.errors import Conflict, StoreError
from stores.native.sqlite import NativeStore, create_native
from stores.runs import RunStatus
from tests.crash.disk.images import Deed, image
from tests.crash.effect_scenes import EffectScene, check, finish
from tests.crash.forks import forgetting
from tests.crash.scenes import place

__all__ = ["place"]

pytestmark = pytest.mark.crash

ACKNOWLEDGED = ("step_finished", "substep_finished")
"""Events that say that a checkpoint is durable."""


def recorder(place: Path, what: str, **given: Any) -> Any:
    """What the process on a disk of ours found; it must not be this one, which has its own SQLite."""
    job = {"what": what, "to": str(place / "told"), "given": given}
    root = str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-m", "tests.crash.disk.recorder", json.dumps(job)], check=True, cwd=root)
    return pickle.loads((place / "told").read_bytes())


@dataclass(frozen=True)
class Recorded:
    """A run on a disk that forgot nothing, and everything the disk did."""

    scene: EffectScene
    deeds: list[Deed]

    def cut(self, at: int, dice: random.Random, folder: Path) -> EffectScene:
        """The scene as it is found after the power went."""
        folder.mkdir()
        for name in ("crash_effect_nodes.py", "flow.json"):
            shutil.copy(self.scene.folder / name, folder)
        world = (self.scene.folder / "world.txt").read_bytes()
        if seen := self.deeds[at - 1].seen:
            (folder / "world.txt").write_bytes(world[:seen])
        for name, data in image(self.deeds, at, dice).items():
            (folder / name).write_bytes(data)
        return EffectScene(folder)

    def acknowledged(self, at: int) -> int:
        """How many checkpoints were told of as durable by then, the input's among them."""
        return 1 + sum(deed.kind == "mark" and deed.name in ACKNOWLEDGED for deed in self.deeds[:at])

    @property
    def made(self) -> int:
        """The first place at which the store and its run are known to be there."""
        return 1 + next(at for at, deed in enumerate(self.deeds) if (deed.kind, deed.name) == ("mark", "made"))


def recorded(place: Path, kind: str, journal: str = "WAL", synchronous: str | None = None) -> Recorded:
    folder = place / f"{kind} {synchronous}"
    given = {"folder": str(folder), "kind": kind, "synchronous": synchronous, "journal": journal}
    deeds = recorder(place, "record", **given)
    scene = EffectScene(folder)
    assert scene.rows("runs", "status") == [(RunStatus.COMPLETED,)]
    return Recorded(scene, deeds)


def lost(whole: Recorded, at: int, dice: random.Random, folder: Path) -> tuple[EffectScene, int]:
    """The scene after a cut, and how many acknowledged checkpoints are not in it; what is there is as it was."""
    scene = whole.cut(at, dice, folder)
    found = recovered(scene)
    rows = found.rows("checkpoints")
    assert rows == whole.scene.rows("checkpoints")[: len(rows)], at
    shutil.rmtree(found.folder)
    return scene, max(0, whole.acknowledged(at) - len(rows))


def recovered(scene: EffectScene) -> EffectScene:
    """A copy in which SQLite has made of the remains of its log what it makes of them; nothing else was opened."""
    found = scene.copy(scene.folder.with_name("recovered"))
    with closing(sqlite3.connect(found.path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return found


def cuts(whole: Recorded, count: int, dice: random.Random) -> list[int]:
    """That many places, the end among them; every one where there are no more."""
    places = range(whole.made, len(whole.deeds) + 1)
    return sorted({len(whole.deeds), *dice.sample(places, min(count, len(places)))})


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("kind", "journal", "count", "resumed"),
    [
        (EffectClass.IDEMPOTENT, "WAL", 60, 4),
        (EffectClass.TRANSACTIONAL, "DELETE", 60, 2),
        *(
            pytest.param(kind, journal, 2000, 100, marks=pytest.mark.soak)
            for kind in EffectClass.ALL
            for journal in ("WAL", "DELETE")
        ),
    ],
)
def test_a_power_cut_loses_no_step_that_was_told_of(
    place: Path, kind: str, journal: str, count: int, resumed: int
) -> None:
    whole, dice = recorded(place, kind, journal), random.Random(count)
    chosen = [at for _ in range(1 + count // 300) for at in cuts(whole, count, dice)]
    going_on = set(dice.sample(range(len(chosen)), min(resumed, len(chosen))))
    for number, at in enumerate(chosen):
        scene, steps = lost(whole, at, dice, place / "cut")
        assert steps == 0, at
        if number in going_on:
            history = whole.scene.rows("checkpoints")[: whole.acknowledged(at)]
            with forgetting(scene.folder), suppress(Conflict):  # a run that had ended is not run
                scene.run_here()
            scene.resolve()
            finish(scene, str(at))
            check(scene, whole.scene, history, kind, str(at))
        shutil.rmtree(scene.folder)
    print(f"{kind}, {journal}: {len(chosen)} power cuts, {len(going_on)} gone on from, 0 acknowledged steps lost")  # noqa: T201


def test_a_power_cut_while_a_store_is_made_leaves_none_or_a_whole_one(place: Path) -> None:
    whole, dice = recorded(place, EffectClass.PROBE), random.Random(1)
    found: Counter[str] = Counter()
    for at in sorted(dice.sample(range(1, whole.made), 30)):
        scene = whole.cut(at, dice, place / "cut")
        try:
            store = NativeStore(Path(scene.path))
        except StoreError:
            found["none"] += 1
            create_native(scene.path)
            store = NativeStore(Path(scene.path))
        else:
            found["whole"] += 1
        assert store.threads().items == () or store.run("r").status == RunStatus.PENDING
        store.close()
        assert scene.rows("pragma_integrity_check") == [("ok",)], at
        shutil.rmtree(scene.folder)
    assert min(found["none"], found["whole"]) > 0


@pytest.mark.parametrize(("synchronous", "journal"), [("NORMAL", "WAL"), ("FULL", "DELETE")])
def test_with_less_syncing_a_power_cut_would_lose_steps(place: Path, synchronous: str, journal: str) -> None:
    whole, dice = recorded(place, EffectClass.REPEATABLE, journal, synchronous), random.Random(2)
    losses = []
    for at in cuts(whole, 60, dice):
        scene, steps = lost(whole, at, dice, place / "cut")
        losses.append(steps)
        shutil.rmtree(scene.folder)
    assert sum(losses) > 0
    print(f"{synchronous}, {journal}: {sum(map(bool, losses))} of {len(losses)} cuts lose acknowledged steps")  # noqa: T201


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize(
    ("kind", "journal", "every"),
    [
        (EffectClass.IDEMPOTENT, "WAL", 29),
        pytest.param(EffectClass.IDEMPOTENT, "WAL", 1, marks=pytest.mark.soak),
        pytest.param(EffectClass.TRANSACTIONAL, "DELETE", 1, marks=pytest.mark.soak),
    ],
)
def test_a_write_or_sync_that_fails_is_told_and_leaves_what_was_durable(
    place: Path, kind: str, journal: str, every: int, lasting: bool
) -> None:
    folder = place / f"failing {kind} {lasting} {every}"
    folder.mkdir()
    start = EffectScene(folder / "start")
    start.make(kind)
    with closing(sqlite3.connect(start.path)) as db:
        db.execute(f"PRAGMA journal_mode = {journal}")
    clean = start.copy(folder / "clean")
    assert clean.work() == 0
    first, ends = 1, Counter[str]()
    while True:
        numbers = list(range(first, first + 9 * every, every))
        given = {"start": str(start.folder), "folder": str(folder), "numbers": numbers, "lasting": lasting}
        for attempt in recorder(place, "fail", **given):
            at = f"{attempt.number}: {', '.join(attempt.refused)}"
            scene = EffectScene(folder / str(attempt.number))
            found = recovered(scene)
            history = found.rows("checkpoints")
            shutil.rmtree(found.folder)
            assert attempt.ended in ("Unreachable", "done"), (at, attempt.ended)
            assert finish(scene, at) == 0
            found = recovered(scene)  # who looks rolls nothing back, and a run that had ended wrote nothing more
            check(found, clean, history, kind, at)
            ends[attempt.ended if attempt.refused else "clean"] += 1
            shutil.rmtree(found.folder)
            shutil.rmtree(scene.folder)
        first = numbers[-1] + every
        if ends["clean"]:
            break
    assert ends["Unreachable"] > 0
    print(f"{'lasting' if lasting else 'single'} failures: {dict(ends)}")  # noqa: T201
