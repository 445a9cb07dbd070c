"""Histories as text: all of one beside git's, and each checkpoint as another process commits it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tests.bench import data, git_data
from tests.bench.harness import Case, Work

_PROCESS: Final = "tests.bench.works.starting:process"
_TAILING: Final = "tests.bench.works.tailing"
_NEWEST: Final = "50"
_JUDGED: Final = 100_000  # of a shorter history the start of an interpreter is what is measured


def cases(size: int) -> Iterator[Case]:
    """At each length of a thread; where git is missing the commands are measured alone."""
    for count, name in data.sizes(min(size, 100_000)):
        path = str(data.linear(count))
        for id, words, limit, least in (
            ("log", [], [], 1 / 0.6),
            ("log-graph", ["--graph", "--all"], [], 1 / 0.6),
            ("log-newest", ["--limit", _NEWEST], ["-n", _NEWEST], 1 / 0.3),
        ):
            ours = Work(_PROCESS, {"argv": ["{tt-debug}", "log", path, "agent", *words]})
            aims = {"peer/ours": least} if count == _JUDGED else {}
            title = f"tt-debug {' '.join(['log', *words])} of {name} checkpoints / git log of as many commits"
            yield Case(f"{id}-{name}", title, ours, _git(count, limit), None, aims)
    where = {"path": str(data.linear(min(size, 10_000))), "thread": "agent"}
    yield Case("tail", "from a commit to its row in tt-debug tail, p95; 40 ms wanted", Work(f"{_TAILING}:told", where))
    for count, name in data.sizes(min(size, 100_000)):
        on_screen = {"path": str(data.linear(count)), "thread": "agent"}
        words = f"from a commit to its row on the screen, {name} checkpoints, p95; 40 ms wanted"
        yield Case(f"follow-{name}", words, Work(f"{_TAILING}:shown", on_screen), rounds=3)
    yield Case(
        "follow-idle",
        "processor that the interface takes while it follows and nothing is written; 0.5 % wanted",
        Work(f"{_TAILING}:shown_idle", where),
        rounds=3,
    )
    yield Case(
        "tail-idle",
        "processor that tt-debug tail takes while nothing is written; 0.5 % wanted",
        Work(f"{_TAILING}:idle", where),
        rounds=3,
    )


def _git(count: int, limit: Sequence[str]) -> Work | None:
    if shutil.which("git") is None:
        return None

    def options() -> Mapping[str, Sequence[str]]:
        place = str(git_data.linear(count))
        return {"argv": ["git", "-C", place, "log", "--graph", "--oneline", "--all", *limit]}

    return Work(_PROCESS, options)
