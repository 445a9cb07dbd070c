"""The process that runs a scene on a disk of our making; started with its job as JSON in `sys.argv`.

Prints nothing: what came of it is pickled into the job's file.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.crash.disk import stand_in
from tests.crash.disk.images import Attempt, Deed


def record(folder: str, kind: str, synchronous: str | None, journal: str) -> list[Deed]:
    """Make a store and run a run in it, every deed of the disk on record, and every event the run told of.

    ``synchronous`` is put in the place of what the store asks for; ``journal`` is the mode that somebody gave the file.
    """
    if synchronous is not None:
        stand_in.synchronous[:] = [synchronous]
    disk, scene = _disk(Path(folder))
    scene.make(kind)
    stand_in.connect(scene.path).execute(f"PRAGMA journal_mode = {journal}")
    disk.mark("made")
    _run(scene, lambda event: disk.mark(event.kind))
    return disk.deeds


def fail(start: str, folder: str, numbers: list[int], lasting: bool) -> list[Attempt]:
    """Run the run of a scene once for each number, in a copy that is left there; that deed of the disk's fails."""
    from tests.crash.forks import warm

    warm()
    found = []
    for number in numbers:
        copy = Path(folder) / str(number)
        shutil.copytree(start, copy)
        found.append(_forked(lambda number=number, copy=copy: _failing(copy, number, lasting)))
    return found


def _failing(folder: Path, number: int, lasting: bool) -> Attempt:
    from stores.errors import StoreError

    disk, scene = _disk(folder, lambda deed: deed >= number if lasting else deed == number)
    told: list[str] = []
    try:
        _run(scene, lambda event: told.append(event.fields.get("status") or event.kind))
    except StoreError as error:
        told.append(type(error).__name__)
    return Attempt(number, tuple(disk.refused), told[-1])


def _disk(folder: Path, fails: Callable[[int], bool] = lambda number: False) -> Any:
    from tests.crash.disk.recording import Disk
    from tests.crash.effect_scenes import EffectScene

    return Disk(folder / "world.txt", fails), EffectScene(folder)


def _run(scene: Any, tell: Callable[[Any], None]) -> None:
    from tt_debug.engine.surroundings import StopFlag
    from tt_debug.engine.worker import WorkflowJob, run_here

    run_here(WorkflowJob(scene.path, "r", folder=str(scene.folder)), StopFlag(), tell)


def _forked(work: Callable[[], Attempt]) -> Attempt:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException), os.fdopen(writer, "wb") as pipe:
            pickle.dump(work(), pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(told)


if __name__ == "__main__":
    stand_in.install()
    job = json.loads(sys.argv[1])
    done = {"record": record, "fail": fail}[job.pop("what")](**job.pop("given"))
    Path(job["to"]).write_bytes(pickle.dumps(done))
