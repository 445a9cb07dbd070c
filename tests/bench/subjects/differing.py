"""What changed between two states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.bench.harness import Case, Work

_WORKS: Final = "tests.bench.works.differing"
_MESSAGES: Final = 1_000


def cases(size: int) -> Iterator[Case]:
    """The kinds of changes; how long a thread is does not matter to them."""
    for kind in ("append", "edit", "insert", "none", "all"):
        yield _diff(kind, min(size, _MESSAGES))


def _diff(kind: str, count: int) -> Case:
    options = {"kind": kind, "count": count}
    return Case(
        f"diff-{kind}",
        f"diff of {count:,} messages, {kind} / deepdiff / orjson.dumps of both",
        Work(f"{_WORKS}:diff_ours", options),
        Work(f"{_WORKS}:diff_peer", options) if kind not in ("none", "all") else None,
        Work(f"{_WORKS}:diff_floor", options),
        {"ours/floor": 2, "peer/ours": 400},
    )
