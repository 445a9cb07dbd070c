"""Whole commands, from the shell's prompt back to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench import data
from tests.bench.harness import Case, Work

_PROCESS: Final = "tests.bench.works.starting:process"


def cases(size: int) -> Iterator[Case]:
    """What must be there at once."""
    nothing = Work(_PROCESS, {"argv": ["{python}", "-c", "pass"]})
    small = str(data.linear(min(size, 1_000)))
    for id, argv, most in (
        ("help", ["--help"], 3.5),
        ("threads-command", ["threads", small], 8),
        ("log-command", ["log", small, "agent", "--limit", "50"], 8),
    ):
        ours = Work(_PROCESS, {"argv": ["{tt-debug}", *argv]})
        shown = " ".join(Path(part).name if part == small else part for part in argv)
        yield Case(id, f"tt-debug {shown} / python -c pass", ours, None, nothing, {"ours/floor": most}, rounds=9)
