"""`python -m tests.bench`: measure, print the table, write it as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.bench import data
from tests.bench.cases import cases
from tests.bench.harness import SECONDS, Figure, Result, measure
from tests.bench.soak import walk

_HEAD = ("metric", "ours", "peer", "floor", "ours/floor", "peer/ours", "peak MiB", "")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what was asked for, a line as soon as it is known."""
    asked = _arguments().parse_args(argv)
    if asked.soak is not None:
        _soak(data.talks(9, 1_000), asked.soak * 60)
        return
    results = []
    print(_line(_HEAD))  # noqa: T201
    for case in cases(1_000_000 if asked.big else asked.size):
        if asked.only and not any(case.id.startswith(name) for name in asked.only):
            continue
        result = measure(case)
        results.append(result)
        print(_line(_columns(result)), flush=True)  # noqa: T201
    if asked.json is not None:
        asked.json.write_text(json.dumps([_record(result) for result in results], indent=1))
    for result in results:
        for missed in result.missed:
            print(f"{result.case.id}: {missed}")  # noqa: T201


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("make bench", description=__doc__)
    parser.add_argument("only", nargs="*", help="the beginnings of the metrics to measure, all by default")
    parser.add_argument("--size", type=int, default=10_000, help="checkpoints of the longest thread")
    parser.add_argument("--big", action="store_true", help="up to a million checkpoints")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="walk a large file instead; does memory grow?")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    return parser


def _soak(path: Path, seconds: float) -> None:
    print(f"{'seconds':>8}{'looked at':>12}{'MiB':>8}")  # noqa: T201
    for passed, looked, memory in walk(path, seconds, seconds / 20):
        print(f"{passed:>8.0f}{looked:>12,}{memory:>8.0f}", flush=True)  # noqa: T201


def _columns(result: Result) -> tuple[str, ...]:
    figures, ratios = result.figures, result.ratios
    times = [_shown(figures.get(name)) for name in ("ours", "peer", "floor")]
    shares = [f"{ratios[name]:.3g}" if name in ratios else "" for name in ("ours/floor", "peer/ours")]
    met = "" if not result.case.targets else "missed" if result.missed else "met"
    return (result.case.id, *times, *shares, f"{figures['ours'].peak:.0f}", met)


def _shown(figure: Figure | None) -> str:
    if figure is None:
        return ""
    if figure.unit != SECONDS:
        return f"{figure.value:.4g} {figure.unit}"
    return f"{figure.value:.2f} s" if figure.value >= 1 else f"{figure.value * 1000:.3g} ms"


def _line(columns: Iterable[str]) -> str:
    name, *rest = columns
    return f"{name:<16}" + "".join(f"{part:>12}" for part in rest)


def _record(result: Result) -> dict[str, object]:
    return {
        "metric": result.case.id,
        "title": result.case.title,
        "figures": {
            name: {"value": each.value, "unit": each.unit, "rounds": each.rounds, "peak_mib": each.peak}
            for name, each in result.figures.items()
        },
        "ratios": result.ratios,
        "targets": dict(result.case.targets),
        "missed": result.missed,
    }


if __name__ == "__main__":
    main()
