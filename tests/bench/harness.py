"""Measuring works against each other: each in a process of its own, all of a case round by round in turn.

Owns processes, rounds and medians; refuses to know what is measured. A figure is the median of its rounds, after a
round that warms up; where machines are shared only the ratio of two figures of one case means something.
"""

from __future__ import annotations

import importlib
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Self

ROUNDS: Final = 5
_MEBI: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Work:
    """One thing to be measured: ``setup``, "package.module:function", is called once with ``options`` and gives what
    is called in every round. ``setup`` is not measured."""

    setup: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table. ``floor`` is what no implementation could go below, ``peer`` the usual one.

    ``targets`` name the least or most that a ratio should be: {"ours/floor": 1.6, "peer/ours": 50}.
    """

    id: str
    title: str
    ours: Work
    peer: Work | None = None
    floor: Work | None = None
    targets: Mapping[str, float] = field(default_factory=dict)
    rounds: int = ROUNDS


@dataclass(frozen=True, slots=True)
class Figure:
    """Seconds (the median, and each round) and the peak of the process's memory in MiB, less that before the work."""

    seconds: float
    rounds: tuple[float, ...]
    peak: float


@dataclass(frozen=True, slots=True)
class Result:
    """What a case came to."""

    case: Case
    figures: Mapping[str, Figure]

    @property
    def ratios(self) -> dict[str, float]:
        """ours/floor and peer/ours, where both are there."""
        found, seconds = {}, {name: figure.seconds for name, figure in self.figures.items()}
        if "floor" in seconds:
            found["ours/floor"] = seconds["ours"] / seconds["floor"]
        if "peer" in seconds:
            found["peer/ours"] = seconds["peer"] / seconds["ours"]
        return found

    @property
    def missed(self) -> list[str]:
        """The targets that are not met, in words."""
        ratios = self.ratios
        return [
            f"{name} {ratios[name]:.3g}, wanted {'≤' if name == 'ours/floor' else '≥'} {wanted:g}"
            for name, wanted in self.case.targets.items()
            if name in ratios and (ratios[name] > wanted if name == "ours/floor" else ratios[name] < wanted)
        ]


class _Side:
    """A work in its own process, which does a round for every line it is sent."""

    def __init__(self, work: Work) -> None:
        argv = [sys.executable, "-m", "tests.bench.harness", work.setup, json.dumps(dict(work.options))]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def round(self) -> tuple[float, float]:
        """Seconds of one round, and the peak of memory so far in MiB."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # one that has died says so by its silence
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended in the middle")
        seconds, peak = json.loads(line)
        return seconds, peak


def measure(case: Case) -> Result:
    """Every side of the case, in turn, as often as it says."""
    works = {"ours": case.ours, "peer": case.peer, "floor": case.floor}
    taken: dict[str, list[float]] = {}
    peaks: dict[str, float] = {}
    with ExitStack() as stack:
        sides = {name: stack.enter_context(_Side(work)) for name, work in works.items() if work is not None}
        for number in range(case.rounds + 1):
            for name, side in sides.items():
                seconds, peaks[name] = side.round()
                if number:
                    taken.setdefault(name, []).append(seconds)
    figures = {name: Figure(statistics.median(each), tuple(each), peaks[name]) for name, each in taken.items()}
    return Result(case, figures)


def _child(setup: str, options: str) -> None:
    module, _, name = setup.partition(":")
    work: Callable[[], object] = getattr(importlib.import_module(module), name)(**json.loads(options))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in sys.stdin:
        start = time.perf_counter()
        kept = work()
        seconds = time.perf_counter() - start
        del kept
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / _MEBI
        print(json.dumps([seconds, peak]), flush=True)  # noqa: T201


if __name__ == "__main__":
    _child(*sys.argv[1:])
