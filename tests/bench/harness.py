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
MILLION: Final = 1_000_000
SECONDS: Final = "s"
_MEBI: Final = 1 << 20
_AT_LEAST: Final = "peer/ours"


@dataclass(frozen=True, slots=True)
class Work:
    """One thing to be measured: ``setup``, "package.module:function", is called once with ``options``, or with what
    they give when it comes up (data that takes long to make), and gives what is called in every round. ``setup`` is
    not measured; what gives an `Amount` has measured itself."""

    setup: str
    options: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Amount:
    """What a round measured itself: seconds of a part of it, or something else than time: "bytes", "steps"."""

    value: float
    unit: str = SECONDS


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table. ``floor`` is what no implementation could go below, ``peer`` the usual one.

    ``targets`` name the most that ours/floor, the peak in MiB ("peak"), and the least that peer/ours should be:
    {"ours/floor": 1.6, "peer/ours": 50, "peak": 48}. ``seconds`` are what a round is given: of quick work, done again
    and again until they have passed, the median counts. A process that has just been woken takes several times as long
    for its first tenth of a millisecond.
    """

    id: str
    title: str
    ours: Work
    peer: Work | None = None
    floor: Work | None = None
    targets: Mapping[str, float] = field(default_factory=dict)
    rounds: int = ROUNDS
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Figure:
    """The median, each round, and the peak of the process's memory in MiB, less that before the work."""

    value: float
    rounds: tuple[float, ...]
    peak: float
    unit: str = SECONDS


def rounds_at(count: int, usual: int = ROUNDS) -> int:
    """How often to measure what goes over ``count`` checkpoints: over a million a question takes minutes, and is asked
    once after it has warmed up."""
    return usual if count < MILLION else 1


@dataclass(frozen=True, slots=True)
class Result:
    """What a case came to."""

    case: Case
    figures: Mapping[str, Figure]

    @property
    def ratios(self) -> dict[str, float]:
        """ours/floor and peer/ours, where both are there."""
        found, values = {}, {name: figure.value for name, figure in self.figures.items()}
        if "floor" in values:
            found["ours/floor"] = values["ours"] / values["floor"]
        if "peer" in values:
            found["peer/ours"] = values["peer"] / values["ours"]
        return found

    @property
    def missed(self) -> list[str]:
        """The targets that are not met, in words."""
        got = self.ratios | {"peak": self.figures["ours"].peak}
        return [
            f"{name} {got[name]:.3g}, wanted {'≥' if name == _AT_LEAST else '≤'} {wanted:g}"
            for name, wanted in self.case.targets.items()
            if name in got and (got[name] < wanted if name == _AT_LEAST else got[name] > wanted)
        ]


class _Side:
    """A work in its own process, which does a round for every line it is sent."""

    def __init__(self, work: Work, seconds: float) -> None:
        options = work.options() if callable(work.options) else work.options
        argv = [sys.executable, "-m", "tests.bench.harness", work.setup, json.dumps(dict(options)), str(seconds)]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def round(self) -> tuple[float, str, float]:
        """What one round came to and its unit, and the peak of memory so far in MiB."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # one that has died says so by its silence
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended in the middle")
        value, unit, peak = json.loads(line)
        return value, unit, peak


def measure(case: Case) -> Result:
    """Every side of the case, in turn, as often as it says."""
    works = {"ours": case.ours, "peer": case.peer, "floor": case.floor}
    taken: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    peaks: dict[str, float] = {}
    with ExitStack() as stack:
        sides = {
            name: stack.enter_context(_Side(work, case.seconds)) for name, work in works.items() if work is not None
        }
        for number in range(case.rounds + 1):
            for name, side in sides.items():
                value, units[name], peaks[name] = side.round()
                if number:
                    taken.setdefault(name, []).append(value)
    figures = {
        name: Figure(statistics.median(each), tuple(each), peaks[name], units[name]) for name, each in taken.items()
    }
    return Result(case, figures)


def _child(setup: str, options: str, seconds: str) -> None:
    module, _, name = setup.partition(":")
    work: Callable[[], object] = getattr(importlib.import_module(module), name)(**json.loads(options))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in sys.stdin:
        amount = median(work, float(seconds))
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / _MEBI
        print(json.dumps([amount.value, amount.unit, peak]), flush=True)  # noqa: T201


def median(work: Callable[[], object], seconds: float) -> Amount:
    """What the work comes to, done at least once, and again until ``seconds`` have passed."""
    amounts: list[Amount] = []
    begun = time.perf_counter()
    while not amounts or time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        kept = work()
        taken = time.perf_counter() - start
        amounts.append(kept if isinstance(kept, Amount) else Amount(taken))
        del kept
    return Amount(statistics.median(each.value for each in amounts), amounts[0].unit)


if __name__ == "__main__":
    # By its name, so that an `Amount` of the works is an `Amount` here.
    importlib.import_module("tests.bench.harness")._child(*sys.argv[1:])
